#!/bin/sh
# Install aclkit into /opt/aclkit of a Debian: the steps of the Dockerfile. As root, once.
#
#   install.sh slim    questions and gates: no Java, no Spark
#   install.sh full    everything, with Java for Spark, and Delta's jars
#
# Packages have the versions and hashes of conf/requirements.lock.
set -eu

kind=${1:-}
project=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
target=/opt/aclkit

case $kind in
  slim) packages='python3 python3-venv ca-certificates git' ;;
  full) packages='python3 python3-venv ca-certificates git openjdk-17-jre-headless' ;;
  *)
    printf 'Error: %s is no kind of installation; expected slim or full.\n' "'$kind'" >&2
    exit 2
    ;;
esac

export DEBIAN_FRONTEND=noninteractive PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# Debian's own bundle holds the authorities of /usr/local/share/ca-certificates too.
export PIP_CERT="${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}"
apt-get -qq update
mkdir -p /usr/share/man/man1 # Java's packages expect it; small images lack it
# shellcheck disable=SC2086
apt-get -qq install -y --no-install-recommends $packages >/dev/null
rm -rf /var/lib/apt/lists/*

python3 -m venv "$target"
pip="$target/bin/python -m pip --quiet --no-input"
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

$pip wheel --no-deps --wheel-dir "$work" "$project"
wheel=$(find "$work" -name 'aclkit-*.whl')
if [ "$kind" = slim ]; then
  wanted="-r $project/conf/requirements-slim.txt"
else
  wanted="${wheel}[codecs,serve,x500]"
fi
# pip resolves what is wanted with the versions of the lock; then that part of the lock is installed.
"$target/bin/python" "$project/conf/ci/locked.py" versions \
  "$project/conf/requirements.lock" >"$work/versions.txt"
# shellcheck disable=SC2086
$pip install --dry-run --report "$work/report.json" -c "$work/versions.txt" $wanted
"$target/bin/python" "$project/conf/ci/locked.py" part \
  "$project/conf/requirements.lock" "$work/report.json" >"$work/part.txt"
$pip install --no-deps --require-hashes -r "$work/part.txt"
$pip install --no-deps "$wheel"
# Nothing is missing: pip finds all that is wanted without any index.
# shellcheck disable=SC2086
$pip install --no-index --dry-run -c "$work/versions.txt" $wanted

if [ "$kind" = full ]; then
  "$target/bin/aclkit" jars delta --folder "$target/jars"
fi
mkdir -p "$target/ci"
cp "$project/conf/ci/gate.sh" "$project/conf/ci/atlantis/policy-check.sh" \
  "$project/conf/ci/gitlab/comment.py" "$target/ci/"
chmod -R a+rX "$target"
