#!/bin/sh
# Run the steps of the Dockerfile without a container engine, and use what they made.
#
# A Debian made by debootstrap takes the place of the base image, a chroot that of the container. As
# in `docker run --read-only --tmpfs /tmp` the root is read-only, /tmp is in memory, and the user is
# nobody. Mounts and processes are in namespaces of their own and end with the script. Needs root,
# debootstrap and a mirror, which apt knows. Called by `make container-test`.
#
#   container_test.sh [full] [slim]      default: both; slim asks the warehouse that full made
#   CONTAINER_TEST_FOLDER                where systems are made; default: build/container
#
# What runs inside is expanded there:
# shellcheck disable=SC2016
set -eu

project=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
folder=${CONTAINER_TEST_FOLDER:-$project/build/container}

fail() {
  printf 'Error: %s\n' "$1" >&2
  exit "${2:-1}"
}

[ "$(id -u)" -eq 0 ] || fail "container_test.sh needs root, for chroot and mounts." 4
for program in debootstrap unshare chroot; do
  command -v "$program" >/dev/null || fail "$program is not installed (apt-get install $program)." 4
done
if [ "${CONTAINER_TEST_INSIDE:-}" != yes ]; then
  CONTAINER_TEST_INSIDE=yes exec unshare --mount --pid --fork --kill-child --propagation private sh "$0" "$@"
fi
[ "$#" -gt 0 ] || set -- full slim

mkdir -p "$folder"
folder=$(CDPATH='' cd -- "$folder" && pwd)
base=$folder/base
warehouse=$folder/warehouse
if [ ! -e "$base.made" ]; then
  rm -rf -- "$base"
  printf '==> debootstrap\n'
  # shellcheck disable=SC2016
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
  debootstrap --variant=minbase bookworm "$base" "$mirror" >"$folder/debootstrap.log" 2>&1 ||
    fail "debootstrap ended with an error; see $folder/debootstrap.log." 4
  touch "$base.made"
fi

# The variables of the Dockerfile, one word each.
variables=$(sed -n 's/^ENV //p' "$project/conf/ci/Dockerfile")

inside() { # as the container: nobody, the Dockerfile's variables and no other
  # shellcheck disable=SC2086
  chroot --userspec=65534:65534 "$root" /usr/bin/env -i $variables sh -c "cd /data; $1" sh </dev/null
}

check() { # NAME, COMMAND: the command ends with 0
  began=$(date +%s.%N)
  inside "$2" >"$folder/check.log" 2>&1 || {
    tail -n 20 "$folder/check.log" >&2
    fail "$kind: $1"
  }
  printf '  ok  %s (%s s)\n' "$1" "$(echo "$began $(date +%s.%N)" | awk '{ printf "%.1f", $2 - $1 }')"
}

install_kind() {
  rm -rf -- "$root"
  cp -a -- "$base" "$root"
  # Both are written by every container engine.
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  printf '127.0.0.1 localhost %s\n' "$(uname -n)" >"$root/etc/hosts"
  # Certificate authorities of this machine, for pip and for Maven's jars.
  mkdir -p "$root/usr/local/share/ca-certificates" "$root/src" "$root/data"
  cp -a /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/"
  mount --bind "$project" "$root/src"
  mount -o remount,bind,ro "$root/src"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    ${PIP_INDEX_URL:+PIP_INDEX_URL="$PIP_INDEX_URL"} \
    ${ACLKIT_MAVEN_REPOSITORY:+ACLKIT_MAVEN_REPOSITORY="$ACLKIT_MAVEN_REPOSITORY"} \
    sh /src/conf/ci/install.sh "$kind" </dev/null
  umount "$root/src"
}

make_read_only() {
  umount -l "$root/dev"
  umount "$root/proc"
  mount --bind "$root" "$root"
  mount -o remount,bind,ro "$root"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
  mount --bind "$project/tests/data/desired" "$root/data"
  mount -o remount,bind,ro "$root/data"
}

for kind; do
  root=$folder/$kind
  printf '==> install.sh %s\n' "$kind"
  began=$(date +%s)
  install_kind
  printf '  ok  installed (%s s, %s)\n' "$(($(date +%s) - began))" "$(du -shx "$root" | cut -f1)"
  make_read_only

  check "the user is nobody" 'test "$(id -un)" = nobody'
  check "the root is read-only" '! touch /x /opt/aclkit/x /data/x 2>/dev/null'
  check "help is printed" 'aclkit --help'
  check "desired show reads a plan" 'aclkit desired show terraform/2-plan.json'
  check "desired show reads KafkaUsers" 'aclkit desired show strimzi/users.yaml'
  check "diff compares two files" \
    'aclkit diff terraform/0-before.kafka-acls-list.txt terraform/0-before.kafka-acls-list.txt --fail-on any'
  check "the gate denies a plan with a gap" '
    cd /tmp
    GATE_PATHS=/data/terraform/2-plan.json GATE_SARIF=out.sarif GATE_SUMMARY_ENV=out.env \
      GATE_BASE=/data/terraform/1-after.kafka-acls-list.txt sh /opt/aclkit/ci/gate.sh
    test $? -eq 1 && grep -qx "ACLKIT_VERDICT=deny" out.env && test -s out.sarif &&
      test "$(head -n 1 aclkit-comment.md)" = "<!-- aclkit preview -->"'
  case $kind in
    slim)
      check "there is no Java, and no Spark" \
        '! command -v java && ! /opt/aclkit/bin/python -I -c "import pyspark" 2>/dev/null'
      cp -a -- "$warehouse" "$root/tmp/w"
      ;;
    full)
      check "the demo makes a warehouse" 'aclkit --warehouse /tmp/w demo'
      check "Spark answers" \
        'aclkit --warehouse /tmp/w sql --engine spark "SELECT count(*) AS acls FROM acl_current"'
      rm -rf -- "$warehouse"
      cp -a -- "$root/tmp/w" "$warehouse"
      ;;
  esac
  check "a question is answered" 'aclkit --warehouse /tmp/w who-can READ topic:payments.v1.events'
  check "the audit looks at the warehouse" 'aclkit --warehouse /tmp/w audit --fail-on never'
  check "the gate lets KafkaUsers go ahead" '
    cd /tmp
    GATE_PATHS=/data/strimzi/users.yaml GATE_WAREHOUSE=/tmp/w \
      sh /opt/aclkit/ci/gate.sh'
  umount -R -l "$root"
done
for kind; do rm -rf -- "${folder:?}/$kind"; done
rm -rf -- "$warehouse"
printf '==> all passed\n'
