"""Text of ``kafka-acls --list`` → the ACLs of a listing, and rejects.

Names are not escaped in it: they may hold commas, parentheses and whole fields. So every line is
taken apart from its fixed outer texts, and the last fields from the right
(kafka.admin.AclCommand up to 3.9, org.apache.kafka.tools.AclCommand since 4.0). What the tool logs
is left out; a word that is none of Kafka's makes its line a reject.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final

from aclkit.errors import DataError
from aclkit.model.acl import is_storable
from aclkit.model.enums import AclOperation, AclPermissionType, CodedEnum, PatternType, ResourceType
from aclkit.model.facts import SourceRow
from aclkit.pipeline.sources.listing import acl_row
from aclkit.pipeline.sources.masking import mask_text, numbered, reject_line
from aclkit.pipeline.sources.other_forms import READ, describe_form
from aclkit.pipeline.sources.rpk_list import is_rpk_header, read_rpk_list
from aclkit.pipeline.sources.tool_output import Line, is_log_line, without_log

_HEADER: Final = ("Current ACLs for resource `ResourcePattern(resourceType=", ")`:")
_ENTRY: Final = ("(principal=", ")")
_PRINCIPAL: Final = ("ACLs for principal `", "`")


def read_acls_list(lines: Iterable[str], source: str) -> Iterator[SourceRow]:
    """Read a listing; an ACL that stands in it twice, as under two principals, is read once.

    Read is a pasted one too: with blanks for tabs, and with one and the same sign in front of all
    lines. The table of ``rpk acl list`` is read as well; other forms are named.

    kafka-acls prints nothing of a cluster without ACLs. A text of log lines alone reads like that
    too: whether it may be believed is for the caller to say.

    Raises:
        DataError: no line is one of kafka-acls', and something else is there; or the text holds
            what kafka-acls prints of a change, behind which it lists some ACLs only.
    """
    numbers = numbered(lines)
    head = list(islice(numbers, _LOOKED_AT))
    texts = [text for _, text in head if text.strip() and not is_log_line(text)]
    everything = chain(head, numbers)
    if texts and is_rpk_header(texts[0]):
        yield from read_rpk_list(_without_log_lines(everything), source)
        return
    yield from _read_listing(_unmarked(everything, _mark_of(texts), source), source, texts)


def _read_listing(lines: Iterable[Line], source: str, head: Sequence[str]) -> Iterator[SourceRow]:
    resource: tuple[str, str, str] | None = None
    seen: set[tuple[str, ...]] = set()
    is_known, first = False, ""
    for number, text in without_log(lines, _is_line):
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
        elif text.startswith(_CHANGES):
            raise DataError(f"{source}, line {number}: {_OF_A_CHANGE}")
        elif text.strip():
            yield reject_line(text, source=source, position=number, reason=_reason(text))
            resource = resource if _is_indented(text) else None
        else:
            resource = None
    if first and not is_known:
        form = describe_form(head) or mask_text(first)[:120]
        raise DataError(f"{source}: expected {READ}, found {form}")


def _mark_of(head: Iterable[str]) -> str:
    """Return the sign that stands in front of the first line of kafka-acls, with its blanks."""
    for text in head:
        at = text.find(_HEADER[0])
        mark = text[: max(0, at)]
        if at > 0 and (not mark.strip() or mark.strip() in _MARKS):
            return mark
        if at == 0 or _between(text, *_PRINCIPAL) is not None:
            break
    return ""


def _unmarked(lines: Iterable[Line], mark: str, source: str) -> Iterator[Line]:
    """Take a sign away from the front of all lines.

    Raises:
        DataError: it does not stand in front of all: some may be meant not to count.
    """
    for number, text in lines:
        if text.startswith(mark):
            yield number, text[len(mark) :]
        elif not text.strip() or text.strip() == mark.strip():
            yield number, ""
        elif not mark.strip() or is_log_line(text):
            yield number, text
        else:
            raise DataError(
                f"{source}, line {number}: expected {mark.strip()!r} in front of each line, as in "
                "front of the first; remove it, or the lines that do not count"
            )


def _without_log_lines(lines: Iterable[Line]) -> Iterator[Line]:
    return (line for line in lines if not is_log_line(line[1]))


_LOOKED_AT: Final = 200
"""Lines by which a form is told."""

_MARKS: Final = ("#", "##", ">", ">>", "|", "//", "--", ";")
"""Signs that people and mail programs put in front of lines; a diff's are none of them."""

_CHANGES: Final = (
    "Adding ACLs for resource `",
    "Are you sure you want to remove ACLs",
    "Are you sure you want to delete all ACLs",
)
_OF_A_CHANGE: Final = (
    "the text is of kafka-acls --add or --remove, which then lists the ACLs of the changed "
    "resources only; write the output of kafka-acls --list alone to a file"
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
    inner = _between(text.lstrip(), *_ENTRY)
    if inner is None:
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
    """Return what stands between two outer texts; up to 3.9 a space may follow, pasted more."""
    text = text.rstrip()
    if len(text) < len(start) + len(end) or not (text.startswith(start) and text.endswith(end)):
        return None
    return text[len(start) : -len(end)]


def _is_indented(text: str) -> bool:
    return text[:1].isspace()


_CUT: Final = (
    "the line is wrapped or cut, as by the width of a terminal; write the output of kafka-acls "
    "--list to a file: kafka-acls --list > acls.txt"
)


def _reason(text: str) -> str:
    begin = text.lstrip()
    if begin.startswith((_HEADER[0], _ENTRY[0])) and not begin.rstrip().endswith((")`:", ")")):
        return _CUT
    if _parse_entry(text):
        return "an ACL without the line that names its resource"
    if _is_indented(text):
        return "expected (principal=…, host=…, operation=…, permissionType=…)"
    return "not a line of kafka-acls --list"
