#!/bin/sh
# Install aclkit into a new virtual environment: the one way of the Dockerfile and of the Action.
#
#   venv.sh slim FOLDER    questions and gates: no Java, no Spark
#   venv.sh full FOLDER    everything but mcp and notebooks
#
#   PYTHON                 the Python to install with; default: python3
#
# All packages, also those that build others, have the versions and hashes of conf/*.lock. Each Python
# runs in a folder of this script's own and with -I: in CI the current folder is a stranger's branch.
set -eu

kind=${1:-} folder=${2:-}
project=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
case $kind in
  slim | full) ;;
  *)
    printf 'Error: %s is no kind of installation; expected slim or full.\n' "'$kind'" >&2
    exit 2
    ;;
esac
[ -n "$folder" ] || {
  printf 'Error: no folder given; expected slim FOLDER or full FOLDER.\n' >&2
  exit 2
}
case $folder in /*) ;; *) folder=$PWD/$folder ;; esac

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd -- "$work"

"${PYTHON:-python3}" -I -m venv -- "$folder"
install() {
  "$folder/bin/python" -I -m pip --quiet --no-input --disable-pip-version-check install \
    --no-deps --no-build-isolation "$@"
}
install --require-hashes --only-binary :all: -r "$project/conf/requirements-build.lock"
install --require-hashes -r "$project/conf/requirements-$kind.lock"
install --no-index "$project"
