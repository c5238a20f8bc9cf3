"""Text of ``kafka-acls --list`` → the ACLs of a listing, and rejects.

Names are not escaped in it: they may hold commas, parentheses and whole fields. So every line is
taken apart from its fixed outer texts, and the last fields from the right
(kafka.admin.AclCommand up to 3.9, org.apache.kafka.tools.AclCommand since 4.0). What the tool logs
is left out; a word that is none of Kafka's makes its line a reject.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from aclkit.errors import DataError
from aclkit.model.acl import is_storable
from aclkit.model.enums import AclOperation, AclPermissionType, CodedEnum, PatternType, ResourceType
from aclkit.model.facts import SourceRow
from aclkit.pipeline.sources.listing import acl_row
from aclkit.pipeline.sources.masking import mask_text, numbered, reject_line
from aclkit.pipeline.sources.tool_output import without_log

_HEADER: Final = ("Current ACLs for resource `ResourcePattern(resourceType=", ")`:")
_ENTRY: Final = ("(principal=", ")")
_PRINCIPAL: Final = ("ACLs for principal `", "`")


def read_acls_list(lines: Iterable[str], source: str) -> Iterator[SourceRow]:
    """Read a listing; an ACL that stands in it twice, as under two principals, is read once.

    kafka-acls prints nothing of a cluster without ACLs. A text of log lines alone reads like that
    too: whether it may be believed is for the caller to say.

    Raises:
        DataError: no line is one of kafka-acls', and something else is there.
    """
    resource: tuple[str, str, str] | None = None
    seen: set[tuple[str, ...]] = set()
    is_known, first = False, ""
    for number, text in without_log(numbered(lines), _is_line):
        first = first or text.strip()
        if (header := _parse_header(text)) or _between(text, *_PRINCIPAL) is not None:
            is_known, resource = True, header
            if header and (bad := _bad_word(header[::2], _HEADER_WORDS)):
                resource = None
                yield reject_line(text, source=source, position=number, reason=bad)
        elif resource and (entry := _parse_entry(text)):
            is_known = True
            if bad := _bad_word(entry[2:], _ENTRY_WORDS):
                yield reject_line(text, source=source, position=number, reason=bad)
            elif (*resource, *entry) not in seen:
                seen.add((*resource, *entry))
                yield acl_row(source, *resource, *entry)
        elif text.strip():
            yield reject_line(text, source=source, position=number, reason=_reason(text))
            resource = resource if _is_indented(text) else None
        else:
            resource = None
    if first and not is_known:
        raise DataError(
            f"{source}: expected the text of kafka-acls --list, found {mask_text(first)[:120]}"
        )


_HEADER_WORDS: Final[tuple[type[CodedEnum], ...]] = (ResourceType, PatternType)
_ENTRY_WORDS: Final[tuple[type[CodedEnum], ...]] = (AclOperation, AclPermissionType)
_WHAT: Final[dict[type[CodedEnum], str]] = {
    ResourceType: "resource type",
    PatternType: "pattern type",
    AclOperation: "operation",
    AclPermissionType: "permission type",
}


def _bad_word(words: Iterable[str], enums: Iterable[type[CodedEnum]]) -> str | None:
    """Return which word is none of Kafka's, if one is; acted on, ALLOV would deny."""
    for word, enum in zip(words, enums, strict=True):
        if not enum.is_word(word):
            return f"{word[:40]!r} is no {_WHAT[enum]} of Kafka's"
    return None


def _is_line(text: str) -> bool:
    """Whether a text is a whole line of kafka-acls, with nothing of a log behind it."""
    if header := _parse_header(text):
        return _bad_word(header[::2], _HEADER_WORDS) is None
    if entry := _parse_entry(text):
        return _bad_word(entry[2:], _ENTRY_WORDS) is None
    return _between(text, *_PRINCIPAL) is not None


def _parse_header(text: str) -> tuple[str, str, str] | None:
    """Read resource type, name and pattern type of a group of ACLs."""
    inner = _between(text, *_HEADER)
    if inner is None:
        return None
    resource_type, comma, rest = inner.partition(", name=")
    name, mark, pattern_type = rest.rpartition(", patternType=")
    if not (comma and mark):
        return None
    return (resource_type, name, pattern_type) if is_storable(name) else None


def _parse_entry(text: str) -> tuple[str, str, str, str] | None:
    """Read principal, host, operation and permission type of an ACL."""
    inner = _between(text.removeprefix(" ").removeprefix("\t"), *_ENTRY)
    if inner is None or not _is_indented(text):
        return None
    rest, mark_permission, permission_type = inner.rpartition(", permissionType=")
    rest, mark_operation, operation = rest.rpartition(", operation=")
    principal, mark_host, host = rest.rpartition(", host=")
    if not (mark_permission and mark_operation and mark_host):
        return None
    if not (is_storable(principal) and is_storable(host)):
        return None
    return principal, host, operation, permission_type


def _between(text: str, start: str, end: str) -> str | None:
    """Return what stands between two outer texts; up to 3.9 a space may follow."""
    text = text.removesuffix(" ")
    if len(text) < len(start) + len(end) or not (text.startswith(start) and text.endswith(end)):
        return None
    return text[len(start) : -len(end)]


def _is_indented(text: str) -> bool:
    return text.startswith(("\t", " \t"))


def _reason(text: str) -> str:
    if _parse_entry(text):
        return "an ACL without the line that names its resource"
    if _is_indented(text):
        return "expected (principal=…, host=…, operation=…, permissionType=…)"
    return "not a line of kafka-acls --list"
