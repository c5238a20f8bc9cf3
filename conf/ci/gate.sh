#!/bin/sh
# Judge a change of ACLs: run `aclkit preview apply`, keep its comment, end with its exit code.
# GitHub, GitLab, Atlantis and people run this one script. Input comes from the environment alone:
#
#   GATE_PATHS              the team's files, folders or globs, one a line (required)
#   GATE_BASE               the ACLs before the change, a file; or instead
#   GATE_WAREHOUSE          a published warehouse: what the cluster has. One of the two is needed
#   GATE_CONFIG             aclkit.toml, for access to a bucket
#   GATE_FROM               format of the files; default: told by their content
#   GATE_OF_CLUSTER         which cluster, if the files are for several
#   GATE_SCOPE              add, principals or all
#   GATE_FAIL_ON            gained, lost, gap (the default), any or none
#   GATE_WATCH, GATE_ASSERTIONS, GATE_REFERENCE
#                           files of aclkit preview apply. Take them from a protected branch
#   GATE_SUPER_USERS, GATE_ALLOW_EVERYONE (true or false), GATE_SERVER_PROPERTIES
#                           the brokers' settings, with GATE_BASE; a warehouse has its own
#   GATE_OPERATOR           whether Strimzi's User Operator removes ACLs of users without a
#                           KafkaUser: true or false; if empty, judged both ways
#   GATE_STRICT, GATE_ALLOW_EMPTY
#                           true turns the option on
#   GATE_COMMENT            Markdown file to write; default: aclkit-comment.md
#   GATE_SARIF              SARIF file to write; empty: none
#   GATE_SUMMARY_ENV        file of NAME=value lines to write; empty: none
#   GATE_ACLKIT             the program; default: aclkit
#
# Exit code: 0 pass or needs approval; 1 fail, or needs approval with GATE_STRICT; any other: no verdict.
# Only 0 lets a change go ahead. The files are never printed: a plan holds secrets.
set -eu

marker='<!-- aclkit preview -->'
aclkit=${GATE_ACLKIT:-aclkit}
comment=${GATE_COMMENT:-aclkit-comment.md}
sarif=${GATE_SARIF:-}
summary=${GATE_SUMMARY_ENV:-}
fail_on=${GATE_FAIL_ON:-gap}

# Where CI is set, aclkit reads no aclkit.toml that it happens to find: the branch may have put it there.
export CI=true
# A Python takes no module from the current folder either, whatever GATE_ACLKIT is.
export PYTHONSAFEPATH=1

usage() {
  printf 'Error: %s\n' "$1" >&2
  exit 2
}

is_on() {
  case $2 in
    true) return 0 ;;
    false | '') return 1 ;;
    *) usage "$1 is '$2'; expected true or false." ;;
  esac
}

[ -n "${GATE_PATHS:-}" ] || usage "GATE_PATHS is empty; expected files, one a line."
case "${GATE_BASE:+b}${GATE_WAREHOUSE:+w}" in
  b | w) ;;
  bw) usage "Both GATE_BASE and GATE_WAREHOUSE are set; expected one." ;;
  *) usage "Neither GATE_BASE nor GATE_WAREHOUSE is set; expected one." ;;
esac
if [ -n "${GATE_WAREHOUSE:-}" ]; then
  [ -z "${GATE_SUPER_USERS:-}${GATE_ALLOW_EVERYONE:-}${GATE_SERVER_PROPERTIES:-}" ] ||
    usage "GATE_WAREHOUSE has the brokers' settings; unset those of the gate."
fi

set --
[ -z "${GATE_BASE:-}" ] || set -- "$@" --base "$GATE_BASE"
[ -z "${GATE_WAREHOUSE:-}" ] || set -- "$@" --warehouse "$GATE_WAREHOUSE"
[ -z "${GATE_CONFIG:-}" ] || set -- "$@" --config "$GATE_CONFIG"
[ -z "${GATE_FROM:-}" ] || set -- "$@" --from "$GATE_FROM"
[ -z "${GATE_OF_CLUSTER:-}" ] || set -- "$@" --of-cluster "$GATE_OF_CLUSTER"
[ -z "${GATE_SCOPE:-}" ] || set -- "$@" --scope "$GATE_SCOPE"
[ -z "${GATE_WATCH:-}" ] || set -- "$@" --watch "$GATE_WATCH"
[ -z "${GATE_ASSERTIONS:-}" ] || set -- "$@" --assertions "$GATE_ASSERTIONS"
[ -z "${GATE_REFERENCE:-}" ] || set -- "$@" --reference "$GATE_REFERENCE"
[ -z "${GATE_SUPER_USERS:-}" ] || set -- "$@" --super-users "$GATE_SUPER_USERS"
[ -z "${GATE_SERVER_PROPERTIES:-}" ] || set -- "$@" --server-properties "$GATE_SERVER_PROPERTIES"
[ "$fail_on" = none ] || set -- "$@" --fail-on "$fail_on"
if [ -n "${GATE_ALLOW_EVERYONE:-}" ]; then
  if is_on GATE_ALLOW_EVERYONE "$GATE_ALLOW_EVERYONE"; then
    set -- "$@" --allow-everyone
  else
    set -- "$@" --no-allow-everyone
  fi
fi
if [ -n "${GATE_OPERATOR:-}" ]; then
  if is_on GATE_OPERATOR "$GATE_OPERATOR"; then
    set -- "$@" --operator
  else
    set -- "$@" --no-operator
  fi
fi
if is_on GATE_STRICT "${GATE_STRICT:-}"; then set -- "$@" --strict; fi
if is_on GATE_ALLOW_EMPTY "${GATE_ALLOW_EMPTY:-}"; then set -- "$@" --allow-empty; fi

# One path a line; aclkit itself expands globs.
set -f
before=$IFS
IFS='
'
# shellcheck disable=SC2086
set -- "$@" -- $GATE_PATHS
IFS=$before
set +f
for path; do
  [ "$path" != - ] || usage "GATE_PATHS has '-' (stdin); expected files."
done

# What an earlier run or the branch left behind is not taken for an answer of this one, and no
# link of the branch leads what is written to another place.
for file in "$comment" "$sarif" "$summary"; do
  [ -n "$file" ] || continue
  case $file in
    "$PWD"/*) part=$(dirname -- "${file#"$PWD"/}") ;;
    /*) part=/ ;;
    *) part=$(dirname -- "$file") ;;
  esac
  while [ "$part" != . ] && [ "$part" != / ]; do
    [ ! -L "$part" ] || usage "$part is a symbolic link; expected a folder."
    part=$(dirname -- "$part")
  done
  mkdir -p -- "$(dirname -- "$file")"
  rm -f -- "$file"
done
errors=$(mktemp)
trap 'rm -f -- "$errors"' EXIT

no_verdict() {
  if [ "$1" -eq 0 ]; then code=4; else code=$1; fi
  {
    printf '%s\n' "$marker"
    printf '## No verdict\n\n**aclkit cannot judge this change (exit code %s).**\n\n' "$code"
    if [ "$(wc -c <"$errors")" -gt 30000 ]; then
      printf "The errors are in the job's log.\n"
    else
      sed 's/^/    /' "$errors"
    fi
  } >"$comment"
  [ -z "$summary" ] || printf 'ACLKIT_VERDICT=none\n' >"$summary"
  exit "$code"
}

code=0
"$aclkit" preview apply --format markdown ${summary:+--summary-env "$summary"} "$@" \
  </dev/null >"$comment" 2>"$errors" || code=$?
cat "$errors" >&2
# A program that crashed ends with 1 too, but without a verdict.
case $code in 0 | 1) ;; *) no_verdict "$code" ;; esac
[ "$(head -n 1 "$comment")" = "$marker" ] || no_verdict "$code"

if [ -n "$sarif" ]; then
  second=0
  "$aclkit" preview apply --format sarif "$@" </dev/null >"$sarif" 2>"$errors" || second=$?
  if [ "$second" -ne "$code" ]; then
    cat "$errors" >&2
    printf 'Error: SARIF ended with exit code %s, the comment with %s.\n' "$second" "$code" >&2
    [ "$code" -ne 0 ] || code=$second
  fi
fi
exit "$code"
