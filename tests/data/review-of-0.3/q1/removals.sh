#!/bin/sh
# Set BOOTSTRAP_SERVER to HOST:PORT, and COMMAND_CONFIG to a client's .properties file where
# the cluster asks for a login. A broken run is run again.
(
set -eu
: "${BOOTSTRAP_SERVER:?}"
kafka_acls=kafka-acls
command -v "$kafka_acls" >/dev/null || kafka_acls=kafka-acls.sh
add() {
  set -- --add "$@"
  [ -z "${COMMAND_CONFIG-}" ] || set -- --command-config "$COMMAND_CONFIG" "$@"
  "$kafka_acls" --bootstrap-server "$BOOTSTRAP_SERVER" "$@"
}
remove() {
  set -- --remove --force "$@"
  [ -z "${COMMAND_CONFIG-}" ] || set -- --command-config "$COMMAND_CONFIG" "$@"
  "$kafka_acls" --bootstrap-server "$BOOTSTRAP_SERVER" "$@"
}

)
