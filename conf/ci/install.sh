#!/bin/sh
# Install aclkit into /opt/aclkit of a Debian: the steps of the Dockerfile. As root, once.
#
#   install.sh slim    questions and gates: no Java, no Spark
#   install.sh full    everything, with Java for Spark, and Delta's jars
#
# venv.sh installs the packages, with the versions and hashes of conf/*.lock.
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

export DEBIAN_FRONTEND=noninteractive PIP_NO_CACHE_DIR=1
# Debian's own bundle holds the authorities of /usr/local/share/ca-certificates too.
export PIP_CERT="${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}"
apt-get -qq update
mkdir -p /usr/share/man/man1 # Java's packages expect it; small images lack it
# shellcheck disable=SC2086
apt-get -qq install -y --no-install-recommends $packages >/dev/null
rm -rf /var/lib/apt/lists/*

sh "$project/conf/ci/venv.sh" "$kind" "$target"

if [ "$kind" = full ]; then
  "$target/bin/aclkit" jars delta --folder "$target/jars"
fi
mkdir -p "$target/ci"
cp "$project/conf/ci/gate.sh" "$project/conf/ci/atlantis/policy-check.sh" \
  "$project/conf/ci/gitlab/comment.py" "$target/ci/"
chmod -R a+rX "$target"
