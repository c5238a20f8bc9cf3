#!/bin/sh
# A custom policy check of Atlantis: judge the plan of $SHOWFILE, print the comment.
#
# Atlantis takes the check for passed unless its output has the word "fail", and older versions do
# not look at the exit code. So this script adds the word wherever the gate does not end with 0;
# aclkit itself writes it in no comment that passes.
set -eu

: "${SHOWFILE:?is not set; the step show comes first}"
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

code=0
GATE_PATHS=$SHOWFILE GATE_COMMENT=$work/comment.md GATE_SARIF='' GATE_SUMMARY_ENV='' \
  sh "${ACLKIT_GATE:-/opt/aclkit/ci/gate.sh}" 2>"$work/errors" || code=$?
if [ -f "$work/comment.md" ]; then cat "$work/comment.md"; else cat "$work/errors"; fi
if [ "$code" -ne 0 ]; then printf '\nThe policy check failed (exit code %s).\n' "$code"; fi
exit "$code"
