"""The words after kafka-acls → what each ACL is that they add, or why they add none. Pure.

What kafka-acls makes of its options, ``aclkit.kafka.acls.options`` says. It reads operations in any
case and without ``_`` (SecurityUtils.operation).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Final

from aclkit.errors import UsageError
from aclkit.kafka.acls.command import PROGRAM
from aclkit.kafka.acls.options import AclOptions, binding_filters, entries_by_resource
from aclkit.kafka.desired.fields import PASCAL, Raw
from aclkit.kafka.desired.shell import BRACES, Word
from aclkit.model.acl import BINDING, Acl
from aclkit.model.phrases import most_like
from aclkit.model.principal import java_trim, split_principal

ACTIONS: Final = ("--add", "--remove", "--list", "--help", "--version")
"""Options that say what kafka-acls does; all but the first two change nothing."""

_VALUES: Final = {
    f"--{name.replace('_', '-')}": name
    for name in AclOptions.__slots__
    if name not in ("cluster_resource", "producer", "consumer", "idempotent")
}
_FLAGS: Final = {
    "--cluster": "cluster_resource",
    "--producer": "producer",
    "--consumer": "consumer",
    "--idempotent": "idempotent",
}
_PASSED_OVER: Final = frozenset((
    "--bootstrap-server", "--bootstrap-controller", "--command-config", "--authorizer",
    "--authorizer-properties", "--zk-tls-config-file",
))  # fmt: skip
"""Options that say which cluster and how; the words after them are not looked at."""

_OPTION_OF_TYPE: Final = {
    "TOPIC": "--topic",
    "GROUP": "--group",
    "TRANSACTIONAL_ID": "--transactional-id",
    "DELEGATION_TOKEN": "--delegation-token",
    "USER": "--user-principal",
    "CLUSTER": "--cluster",
}
_OPERATIONS: Final = {word.upper(): word for word in PASCAL.operation}

_Given = list[tuple[str, str]]


def read_options(arguments: Sequence[Word]) -> tuple[list[Raw], list[str]]:
    """Return what each ACL is, or all reasons why the words add none."""
    given, faults = _options(arguments)
    faults += _faults(given)
    if faults:
        return [], faults
    try:
        asked = entries_by_resource(AclOptions(**_merged(given)))
    except UsageError as error:
        return [], [f"{PROGRAM} refuses the command: {str(error)[:300]}"]
    return [_raw(one.as_acl("")) for one in binding_filters(asked)], []


def _raw(acl: Acl) -> Raw:
    names = {"resource_name": _OPTION_OF_TYPE[acl.resource_type]}
    return Raw(**dict(zip(BINDING, acl.binding, strict=True)), names=names)


def _options(arguments: Sequence[Word]) -> tuple[_Given, list[str]]:
    """Return options and values of kafka-acls, and what cannot be one."""
    given: _Given = []
    faults: list[str] = []
    words = deque(arguments)
    while words:
        word = words.popleft()
        option, equals, value = word.text.partition("=")
        takes_value = option in _VALUES or option in _PASSED_OVER
        if word.why and not (equals and takes_value):
            faults.append(f"The command has {word.why}. Write out what stands there")
        elif takes_value:
            follows = Word(value, word.why) if equals else words.popleft() if words else None
            fault = _fault_of_value(option, follows)
            faults += [fault] if fault else []
            if option in _VALUES and follows is not None and not fault:
                given.append((_VALUES[option], follows.text))
        elif option in _FLAGS and not equals:
            given.append((_FLAGS[option], ""))
        elif option not in (*ACTIONS, "--force"):
            faults.append(_unknown_word(option))
            if words and option.startswith("--") and not words[0].text.startswith("--"):
                words.popleft()
    return given, faults


def _fault_of_value(option: str, value: Word | None) -> str | None:
    if value is None:
        return f"{option} has no value. Write one after it"
    if value.why and (option in _VALUES or value.why == BRACES):
        return f"The value of {option} has {value.why}. Write the value in quotes '…'"
    return None


def _unknown_word(text: str) -> str:
    """Say what is wrong with a word; one that is no option is not shown, it may be a password."""
    if not text.startswith("--"):
        return "A word belongs to no option. Put a value with blanks in quotes, or delete the word"
    like = most_like(text, [*_VALUES, *_FLAGS, *_PASSED_OVER])
    hint = f"Did you mean {like}?" if like else "Delete it"
    return f"The option '{text[:60]}' of {PROGRAM} is unknown. {hint}"


def _merged(given: _Given) -> dict[str, Any]:
    """Return the fields of ``AclOptions``."""
    fields: dict[str, list[str]] = {}
    for name, value in given:
        fields.setdefault(name, []).append(value)
    flags = set(_FLAGS.values())
    merged: dict[str, Any] = {
        name: True if name in flags else tuple(values) for name, values in fields.items()
    }
    if "resource_pattern_type" in fields:
        merged["resource_pattern_type"] = fields["resource_pattern_type"][0]
    return merged


def _faults(given: _Given) -> Iterator[str]:
    """Yield what is wrong with options that ``AclOptions`` would take."""
    values: dict[str, list[str]] = {}
    for name, value in given:
        values.setdefault(name, []).append(value)
    patterns = values.get("resource_pattern_type", [])
    if len(patterns) > 1:
        yield "--resource-pattern-type stands twice. Write a command for each"
    elif patterns and patterns[0].lower() in ("any", "match"):
        yield (
            f"--resource-pattern-type {patterns[0]} exists in filters only. Write literal or "
            "prefixed"
        )
    for text in values.get("operation", []):
        yield from _faults_of_operation(java_trim(text))
    principals = [*values.get("allow_principal", []), *values.get("deny_principal", [])]
    if not principals:
        yield "The command has no --allow-principal and no --deny-principal. Add one"
    for text in principals:
        if split_principal(text) is None:
            yield f"The principal '{text[:60]}' has no type. Write User:{text[:60]}"


def _faults_of_operation(text: str) -> Iterator[str]:
    if text.upper() in _OPERATIONS:
        return
    plain = text.upper().replace("_", "")
    if plain in ("ANY", "UNKNOWN"):
        yield f"--operation '{text[:60]}' exists in filters only. Write All for all operations"
        return
    like = _OPERATIONS.get(plain) or most_like(text, _OPERATIONS.values())
    hint = f"Did you mean {like}?" if like else f"Write one of: {', '.join(_OPERATIONS.values())}"
    yield f"--operation '{text[:60]}' is unknown. {hint}"
