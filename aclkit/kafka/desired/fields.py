"""The words of a format → the seven fields of an ACL, or the reasons why it is none. Pure.

A word is matched exactly: tools do so too, and an ACL that one of them would refuse must not look
as if it existed. ANY, MATCH and UNKNOWN exist in filters only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from aclkit.kafka.acls.command import pascal_case
from aclkit.kafka.desired.model import DesiredAcl, Place, Problem
from aclkit.model.acl import BINDING, Acl, is_storable
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from aclkit.model.phrases import most_like
from aclkit.model.principal import split_principal
from aclkit.model.resource import CLUSTER_NAME


def _words(enum: type[ResourceType | PatternType | AclOperation | AclPermissionType]) -> list[str]:
    return [name for name in enum.__members__ if name not in ("UNKNOWN", "ANY", "MATCH")]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a format for resource types, pattern types, operations and permissions.

    Each maps a word of the format to Kafka's name.
    """

    resource_type: Mapping[str, str]
    pattern_type: Mapping[str, str]
    operation: Mapping[str, str]
    permission_type: Mapping[str, str]


CAPITALS: Final = Words(
    *({name: name for name in _words(enum)} for enum in (
        ResourceType, PatternType, AclOperation, AclPermissionType
    ))
)  # fmt: skip
"""The names of the enums of Kafka."""

PASCAL: Final = Words(
    *({pascal_case(name): name for name in _words(enum)} for enum in (
        ResourceType, PatternType, AclOperation, AclPermissionType
    ))
)  # fmt: skip
"""The words of kafka-acls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """The seven fields of an ACL as a file writes them, in its own words.

    Attributes:
        names: what the file calls a field, where that is not our name.
    """

    resource_type: str
    resource_name: str
    pattern_type: str
    principal: str
    host: str
    operation: str
    permission_type: str
    names: Mapping[str, str]


def desired_acl(
    raw: Raw, words: Words, place: Place, cluster: str | None = None
) -> DesiredAcl | list[Problem]:
    """Return the ACL, or all reasons why the fields are none."""
    problems = [Problem(place, text) for text in _faults(raw, words)]
    if problems:
        return problems
    fields = {name: getattr(raw, name) for name in BINDING}
    for name in _WORDS:
        fields[name] = getattr(words, name)[fields[name]]
    return DesiredAcl(Acl(acl_id="", **fields), place, cluster=cluster)


_WORDS: Final = ("resource_type", "pattern_type", "operation", "permission_type")
_TEXTS: Final = ("resource_name", "principal", "host")


def _faults(raw: Raw, words: Words) -> Iterator[str]:
    for name in _WORDS:
        known: Mapping[str, str] = getattr(words, name)
        word: str = getattr(raw, name)
        if word not in known:
            yield _unknown_word(raw.names.get(name, name), word, known)
    for name in _TEXTS:
        text: str = getattr(raw, name)
        called = raw.names.get(name, name)
        if not text:
            yield f"{called} is empty. Write a value"
        elif any("\ud800" <= letter <= "\udfff" for letter in text):
            yield f"{called} has bytes that are not UTF-8. Write the file as UTF-8"
        elif not is_storable(text):
            yield f"{called} is longer than a name of Kafka can be (32,767 bytes). Shorten it"
    if raw.principal and split_principal(raw.principal) is None:
        called = raw.names.get("principal", "principal")
        yield f"{called} {_quoted(raw.principal)} has no type. Write User:{raw.principal[:60]}"
    kind = words.resource_type.get(raw.resource_type)
    if kind == "CLUSTER" and raw.resource_name not in ("", CLUSTER_NAME):
        called = raw.names.get("resource_name", "resource_name")
        yield f"{called} of the cluster is {_quoted(raw.resource_name)}. Write {CLUSTER_NAME}"


def _unknown_word(called: str, word: str, known: Mapping[str, str]) -> str:
    like = next((each for each in known if each.lower() == word.lower()), None)
    plain = word.upper().replace("_", "")
    like = like or next((each for each in known if each.upper().replace("_", "") == plain), None)
    if not word:
        return f"{called} is empty. Write one of: {', '.join(known)}"
    if plain in ("ANY", "MATCH", "UNKNOWN"):
        return f"{called} {_quoted(word)} exists in filters only. Write one of: {', '.join(known)}"
    like = like or most_like(word, known)
    hint = f"Did you mean {like}?" if like else f"Write one of: {', '.join(known)}"
    return f"{called} {_quoted(word)} is unknown. {hint}"


def _quoted(text: str) -> str:
    return f"'{text[:60]}'"
