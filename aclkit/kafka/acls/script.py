"""ACLs → shell scripts that add or remove them: a kafka-acls for each, or a JVM for all. Pure.

They are run or pasted, in any locale and in sh, bash or zsh: so each is one command in
parentheses, with comments outside of them, and nothing in it acts on a terminal. Whatever an ACL
is called, it is added with that very name or the script ends.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple
from urllib.parse import quote

from aclkit.kafka.acls.command import PROGRAM, options_of, with_operations, words_of
from aclkit.kafka.acls.options import AclOptions
from aclkit.kafka.acls.quoting import comment, shell_words
from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation, ResourceType
from aclkit.model.groups import grouped
from aclkit.model.principal import split_principal
from aclkit.model.resource import CLUSTER_NAME
from aclkit.model.visible import visible

_ABOUT: Final = (
    "#!/bin/sh",
    "# Set BOOTSTRAP_SERVER to HOST:PORT, and COMMAND_CONFIG to a client's .properties file where",
    "# the cluster asks for a login. What is there already stays: a broken run is run again.",
)
_START: Final = ("(", "set -eu", ': "${BOOTSTRAP_SERVER:?}"')
_FIND: Final = (
    f"kafka_acls={PROGRAM}",
    f'command -v "$kafka_acls" >/dev/null || kafka_acls={PROGRAM}.sh',
)
_ADD, _REMOVE = (
    (
        f"{name}() {{",
        f'  set -- {options} "$@"',
        '  [ -z "${COMMAND_CONFIG-}" ] || set -- --command-config "$COMMAND_CONFIG" "$@"',
        '  "$kafka_acls" --bootstrap-server "$BOOTSTRAP_SERVER" "$@"',
        "}",
    )
    for name, options in (("add", "--add"), ("remove", "--remove --force"))
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
    "  echo 'Nothing was added: names beyond ASCII need a Java that reads its arguments as "
    "UTF-8,' >&2",
    "  echo 'and no such locale or no java was found. Set JAVA_HOME or LC_ALL.' >&2",
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


class Frame(NamedTuple):
    """What stands in a script before its first ACL, and what a reader must know of it.

    Attributes:
        lines: the lines, word for word; comments before them are left out.
        commands: what may follow them, up to the last line.
        end: the last line; comments may follow.
    """

    lines: Sequence[str]
    commands: frozenset[str]
    end: str


def frames() -> Iterator[Frame]:
    """Yield the frames of scripts, longer ones first: of changes, of exports, of one JVM."""
    for locale in (_IN_UTF_8, ()):
        head = (*_START, *locale, *_FIND, *_ADD)
        yield Frame((*head, *_REMOVE), frozenset(("add", "remove", ":")), ")")
        yield Frame(head, frozenset(("add",)), ")")
    yield Frame((*_START, *_RUN, *_program()), frozenset(), "ACLS\n)")


def render_script(acls: Iterable[Acl]) -> tuple[list[str], list[Acl]]:
    """Write a script that adds ACLs with kafka-acls; and return those it cannot express.

    One command for all operations of a principal from a host on a resource pattern, each a JVM.
    kafka-acls trims names and knows no globs, no unknown codes, no principal without a colon, and
    of CLUSTER only the one name: ACLs that would come out otherwise stand there as comments.
    """
    said, unsaid = _by_options(acls)
    commands = [_words("add", options, acls) for options, acls in said.items()]
    lines = [*_ABOUT, *_beginning(commands), *_ADD, "", *map(shell_words, commands), ")"]
    return [*lines, *(comment(PROGRAM, acl) for acl in unsaid)], unsaid


def render_changes(
    added: Iterable[Acl], removed: Iterable[Mapping[Acl, str]]
) -> tuple[list[str], list[Acl]]:
    """Write a script that adds ACLs and then removes others; and return those it cannot express.

    The reason for each removal precedes its command. It is not a comment, because some shells do
    not accept pasted comments, but words that do nothing.

    Args:
        added: they are added before any ACL is removed.
        removed: ACLs and why each is removed, part by part. An ALLOW that cannot be expressed
            stays; then the parts after it are left out, and returned as well.
    """
    said, unsaid = _by_options(added)
    left_out = [_left_out("added", acl) for acl in unsaid]
    commands = [_words("add", options, acls) for options, acls in said.items()]
    lines = list(map(shell_words, commands))
    for part in removed:
        waits = any(acl.is_allow for acl in unsaid)
        said, left = ({}, list(part)) if waits else _by_options(part)
        unsaid += left
        left_out += (_left_out("removed", acl) for acl in left)
        for options, acls in said.items():
            commands.append(_words("remove", options, acls))
            lines += (f": {shlex.quote(visible(reason))}" for reason in _reasons(acls, part))
            lines.append(shell_words(commands[-1]))
    return _changes(commands, lines, left_out), unsaid


class Stage(NamedTuple):
    """Changes that belong together: ACLs come, and then others go.

    Attributes:
        title: what they are for.
        added: the ACLs that come.
        removed: the ACLs that go.
    """

    title: str
    added: Sequence[Acl]
    removed: Sequence[Acl]


def render_stages(stages: Iterable[Stage]) -> tuple[list[str], list[Acl]]:
    """Write a script of stages, one after the other; and return the ACLs of those left out.

    A stage is left out as a whole where kafka-acls cannot express one of its ACLs. Then ALLOWs may
    stay that should go, so later stages that remove a DENY are left out too. The title of a stage
    precedes its commands, as words that do nothing.
    """
    commands: list[list[str]] = []
    lines: list[str] = []
    left_out: list[str] = []
    unsaid: list[Acl] = []
    for title, added, removed in stages:
        waits = any(acl.is_allow for acl in unsaid) and not all(acl.is_allow for acl in removed)
        (come, stranger), (go, strange) = _by_options(added), _by_options(removed)
        if waits or stranger or strange:
            left_out += (_left_out("added", acl) for acl in added)
            left_out += (_left_out("removed", acl) for acl in removed)
            unsaid += [*added, *removed]
            continue
        words = [
            _words(action, options, acls)
            for action, said in (("add", come), ("remove", go))
            for options, acls in said.items()
        ]
        commands += words
        lines += [f": {shlex.quote(visible(title))}", *map(shell_words, words)]
    return _changes(commands, lines, left_out), unsaid


def _changes(
    commands: Iterable[Iterable[str]], lines: Iterable[str], left_out: Iterable[str]
) -> list[str]:
    """Return a script that adds and removes."""
    head = [*_ABOUT[:2], "# the cluster asks for a login. A broken run is run again."]
    return [*head, *_beginning(commands), *_ADD, *_REMOVE, "", *lines, ")", *left_out]


def _left_out(what: str, acl: Acl) -> str:
    """Write a comment, which does nothing either where a shell takes it for a command."""
    return f"# not {what}: {shlex.quote(visible(str(acl)))}"


def _by_options(acls: Iterable[Acl]) -> tuple[dict[AclOptions, list[Acl]], list[Acl]]:
    """Put ACLs together that one command makes; and return those that none does."""
    in_order = sorted(acls, key=lambda acl: acl.binding)
    asked = [(options_of(acl), acl) for acl in in_order]
    said = grouped((options, acl) for options, acl in asked if options is not None)
    return said, [acl for options, acl in asked if options is None]


def _reasons(acls: Iterable[Acl], part: Mapping[Acl, str]) -> Iterator[str]:
    """Yield why ACLs of one command go: with operations where reasons differ."""
    operations = grouped((part[acl], acl.operation) for acl in acls)
    for reason, some in operations.items():
        yield reason if len(operations) == 1 else f"{', '.join(some)}: {reason}"


def _words(action: str, options: AclOptions, acls: Iterable[Acl]) -> list[str]:
    return [action, *words_of(with_operations(options, (acl.operation for acl in acls)))]


def _beginning(commands: Iterable[Iterable[str]]) -> list[str]:
    """Return what stands before the functions that commands call."""
    is_ascii = all(word.isascii() for words in commands for word in words)
    return [*_START, *(() if is_ascii else _IN_UTF_8), *_FIND]


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
    lines += _program()
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
    # Here: readers of scripts start without it.
    from importlib.resources import files

    source = (files("aclkit.kafka.acls") / "AddAcls.java").read_text("utf-8")
    return (*source.splitlines(), "JAVA", '"$run" "$@" <<\'ACLS\'')
