"""ACLs → shell scripts that add them: one kafka-acls for each, or one JVM for all. Pure.

They are run or pasted, in any locale and in sh, bash or zsh: so each is one command in
parentheses, with comments outside of them, and nothing in it acts on a terminal. Whatever an ACL
is called, it is added with that very name or the script ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Final
from urllib.parse import quote

from aclkit.kafka.acls.command import PROGRAM, options_of, with_operations, words_of
from aclkit.kafka.acls.options import AclOptions
from aclkit.kafka.acls.quoting import comment, shell_words
from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation, ResourceType
from aclkit.model.principal import split_principal
from aclkit.model.resource import CLUSTER_NAME

_ABOUT: Final = (
    "#!/bin/sh",
    "# Set BOOTSTRAP_SERVER to HOST:PORT, and COMMAND_CONFIG to a client's .properties file where",
    "# the cluster asks for a login. What is there already stays: a broken run is run again.",
)
_START: Final = ("(", "set -eu", ': "${BOOTSTRAP_SERVER:?}"')
_ADD: Final = (
    f"kafka_acls={PROGRAM}",
    f'command -v "$kafka_acls" >/dev/null || kafka_acls={PROGRAM}.sh',
    "add() {",
    '  set -- --add "$@"',
    '  [ -z "${COMMAND_CONFIG-}" ] || set -- --command-config "$COMMAND_CONFIG" "$@"',
    '  "$kafka_acls" --bootstrap-server "$BOOTSTRAP_SERVER" "$@"',
    "}",
)
_IN_UTF_8: Final = (
    "is_utf8() {",
    '  "${JAVA_HOME:+$JAVA_HOME/bin/}java" -XshowSettings:properties -version 2>&1 |',
    "    grep 'sun.jnu.encoding = UTF-8' >/dev/null",
    "}",
    "export LC_ALL",
    'for LC_ALL in C.UTF-8 en_US.UTF-8 "${LC_ALL:-${LC_CTYPE:-${LANG:-C}}}" none; do',
    "  ! is_utf8 || break",
    "done",
    'if [ "$LC_ALL" = none ]; then',
    "  echo 'nothing was added: expected a java that reads its arguments as UTF-8, as names' >&2",
    "  echo 'beyond ASCII need; found no such locale, or no java: set JAVA_HOME or LC_ALL' >&2",
    "  exit 1",
    "fi",
)
"""A JVM reads its arguments by the locale, and replaces what that has no letter for in silence."""

_RUN: Final = (
    "run=kafka-run-class",
    'command -v "$run" >/dev/null || run=$run.sh',
    "folder=$(mktemp -d)",
    "trap 'rm -rf \"$folder\"' EXIT",
    "trap 'exit 130' HUP INT TERM",
    'set -- "$folder/AddAcls.java" "$BOOTSTRAP_SERVER" ${COMMAND_CONFIG:+"$COMMAND_CONFIG"}',
    "cat >\"$folder/AddAcls.java\" <<'JAVA'",
)
_ASCII: Final = "!\"#$&'()*,-./:;<=>?@[\\]^_`{|}~"
"""What stands for itself in a line: not the percent sign, the plus, or the space between fields."""


def render_script(acls: Iterable[Acl]) -> tuple[list[str], list[Acl]]:
    """Write a script that adds ACLs with kafka-acls; and return those it cannot say.

    One command for all operations of a principal from a host on a resource pattern, each a JVM.
    kafka-acls trims names and knows no globs, no unknown codes, no principal without a colon, and
    of CLUSTER only the one name: ACLs that would come out otherwise stand there as comments.
    """
    commands: dict[AclOptions, list[str]] = {}
    unsaid: list[Acl] = []
    for acl in sorted(acls, key=lambda acl: acl.binding):
        options = options_of(acl)
        if options is None:
            unsaid.append(acl)
        else:
            commands.setdefault(options, []).append(acl.operation)
    adding = [
        ["add", *words_of(with_operations(options, operations))]
        for options, operations in commands.items()
    ]
    is_ascii = all(word.isascii() for words in adding for word in words)
    lines = [*_ABOUT, *_START, *(() if is_ascii else _IN_UTF_8), *_ADD, ""]
    lines += [*map(shell_words, adding), ")", *(comment(PROGRAM, acl) for acl in unsaid)]
    return lines, unsaid


def render_bulk(acls: Iterable[Acl]) -> tuple[list[str], list[Acl]]:
    """Write a script that adds ACLs in one JVM; and return those that no broker would take.

    It has a Java program in it, a page long, that kafka-run-class compiles and runs on Kafka's
    own client, and a line for each ACL. So it needs a JDK, and no kafka-acls: what that would trim
    or refuse, and a broker would take, is added too. Lines are ASCII, other bytes as in a URL.
    """
    by_binding = {acl.binding: acl for acl in acls}
    said = [binding for binding, acl in sorted(by_binding.items()) if _is_taken(acl)]
    unsaid = [acl for _, acl in sorted(by_binding.items()) if not _is_taken(acl)]
    lines = [*_ABOUT, "# It needs Kafka's kafka-run-class and a JDK, 11 or newer.", *_START, *_RUN]
    lines += [*_program(), "JAVA", '"$run" "$@" <<\'ACLS\'']
    lines += [" ".join(quote(field, safe=_ASCII) for field in binding) for binding in said]
    return [*lines, "ACLS", ")", *(comment("Kafka", acl) for acl in unsaid)], unsaid


def _is_taken(acl: Acl) -> bool:
    """Whether a broker would take an ACL from a client (AclApis, AclControlManager)."""
    return (
        acl.resource_type in _RESOURCE_TYPES
        and acl.pattern_type in ("LITERAL", "PREFIXED")
        and acl.operation in _OPERATIONS
        and acl.permission_type in ("ALLOW", "DENY")
        and bool(acl.resource_name)
        and (acl.resource_type != "CLUSTER" or acl.resource_name == CLUSTER_NAME)
        and split_principal(acl.principal) is not None
    )


_RESOURCE_TYPES, _OPERATIONS = (
    frozenset(enum.__members__) - {"UNKNOWN", "ANY"} for enum in (ResourceType, AclOperation)
)


@cache
def _program() -> tuple[str, ...]:
    return tuple((files("aclkit.kafka.acls") / "AddAcls.java").read_text("utf-8").splitlines())
