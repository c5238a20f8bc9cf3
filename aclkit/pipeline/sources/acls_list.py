"""Text of ``kafka-acls --list`` → the ACLs of a listing, and rejects.

Names are not escaped in it: they may hold commas, parentheses and whole fields. So every line is
taken apart from its fixed outer texts, and the last fields from the right
(kafka.admin.AclCommand up to 3.9, org.apache.kafka.tools.AclCommand since 4.0). What the tool logs
is left out; a word that is none of Kafka's makes its line a reject.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Final

from aclkit.errors import DataError
from aclkit.model.acl import is_storable
from aclkit.model.enums import AclOperation, AclPermissionType, CodedEnum, PatternType, ResourceType
from aclkit.model.facts import SourceRow
from aclkit.pipeline.sources.listing import acl_row
from aclkit.pipeline.sources.masking import mask_text, numbered, reject_line
from aclkit.pipeline.sources.rpk_list import RPK_BEGIN, is_rpk_header, read_rpk_list
from aclkit.pipeline.sources.text_lines import NOT_UTF_8, Line, is_log_line, is_utf_8, without_log

_HEADER: Final = ("Current ACLs for resource `ResourcePattern(resourceType=", ")`:")
_ENTRY: Final = ("(principal=", ")")
_PRINCIPAL: Final = ("ACLs for principal `", "`")
_Resource = tuple[str, str, str]
_Entry = tuple[str, str, str, str]


def read_acls_list(lines: Iterable[str], source: str) -> Iterator[SourceRow]:
    """Read a listing; an ACL that it has twice is read once.

    A pasted listing is read too: with spaces for tabs, and with the same sign before all lines. The
    table of ``rpk acl list`` is read as well; the error for another known form names that form.

    For a cluster without ACLs kafka-acls prints nothing. A text that has only log lines reads like
    that too: the caller decides whether to believe it.

    Raises:
        DataError: no line is one of kafka-acls, but there are others; or the text holds what
            kafka-acls prints where it lists only some ACLs: for a change, or for principals.
    """
    return (row for _, row in read_with_lines(lines, source))


def read_with_lines(lines: Iterable[str], source: str) -> Iterator[tuple[int, SourceRow]]:
    """Read a listing as ``read_acls_list`` does, each row with the line on which it stands."""
    numbers = numbered(lines)
    head = list(islice(numbers, _LOOKED_AT))
    texts = [text for _, text in head if text.strip() and not is_log_line(text)]
    mark = _mark_of(texts)
    everything = _unmarked(chain(head, numbers), mark, source)
    first = next((text for text in texts if text.strip() != mark.strip()), "")
    if is_rpk_header(first.removeprefix(mark)):
        yield from read_rpk_list((line for line in everything if not is_log_line(line[1])), source)
        return
    yield from _read_listing(everything, source, texts)


@dataclass(slots=True, kw_only=True)
class _ListRead:
    """What is known so far.

    Attributes:
        source: what is read.
        resource: whose ACLs follow; None where that is not known.
        bare: the line that named the resource, until a line of an ACL follows it.
        is_known: a line was one of kafka-acls'.
        seen: the ACLs so far.
    """

    source: str
    resource: _Resource | None = None
    bare: Line | None = None
    is_known: bool = False
    seen: set[tuple[str, ...]] = field(default_factory=set)

    def end_group(self) -> Iterator[SourceRow]:
        """End the ACLs of a resource; kafka-acls names none without ACLs, so those are lost."""
        bare, self.bare, self.resource = self.bare, None, None
        if bare is not None:
            yield self.reject(bare, _NO_ACL)

    def reject(self, line: Line, reason: str) -> SourceRow:
        """Make the reject of a line."""
        number, text = line
        return reject_line(text, source=self.source, position=number, reason=reason)


def _read_listing(
    lines: Iterable[Line], source: str, head: Sequence[str]
) -> Iterator[tuple[int, SourceRow]]:
    reading, first = _ListRead(source=source), ""
    for line in without_log(lines, _is_line):
        first = first or line[1].strip()
        yield from ((line[0], row) for row in _read_line(reading, line))
    yield from ((row.position or 0, row) for row in reading.end_group())
    if first and not reading.is_known:
        form = describe_form(head) or mask_text(first)[:120]
        raise DataError(f"{source}: expected {READ}, found {form}")


def _read_line(reading: _ListRead, line: Line) -> Iterator[SourceRow]:
    text = line[1]
    _refuse_part(line, reading.source)
    header = _parse_header(text)
    if header or not text.strip():
        yield from reading.end_group()
    if not text.strip():
        return
    entry = None if header or not reading.resource else _parse_entry(text)
    reading.is_known = reading.is_known or bool(header or entry)
    reading.bare = None
    if reason := _fault(text, header, entry):
        yield reading.reject(line, reason)
        if header or _HEADER[0] in text or not (entry or _is_indented(text)):
            reading.resource = None
    elif header:
        reading.resource, reading.bare = header, line
    elif entry and reading.resource and (*reading.resource, *entry) not in reading.seen:
        reading.seen.add((*reading.resource, *entry))
        yield acl_row(reading.source, *reading.resource, *entry)


def _refuse_part(line: Line, source: str) -> None:
    """Refuse a text if only some ACLs are listed after the line."""
    number, text = line
    if text.startswith(_CHANGES):
        raise DataError(f"{source}, line {number}: {_OF_A_CHANGE}")
    if _between(text, *_PRINCIPAL) is not None:
        raise DataError(f"{source}, line {number}: {_OF_PRINCIPALS}")


def _fault(text: str, header: _Resource | None, entry: _Entry | None) -> str | None:
    """Return why a line cannot be used; None if it is a sound header or entry."""
    if not is_utf_8(text):
        return NOT_UTF_8
    if _JOINED.search(text):
        return _OF_JOINED
    if header or entry:
        bad = _bad_word(header[::2], _HEADER_WORDS) if header else None
        bad = _bad_word(entry[2:], _ENTRY_WORDS) if entry else bad
        return _FOLLOWED if bad and _TEXT_BEHIND.match(text) else bad
    return _reason(text)


def _mark_of(head: Iterable[str]) -> str:
    """Return the sign that stands in front of the first line of a tool, with its blanks."""
    for text in head:
        at = _begin_of(text)
        mark = text[: max(0, at)]
        if at > 0 and (not mark.strip() or mark.strip() in _MARKS):
            return mark
        if at == 0:
            break
    return ""


def _begin_of(text: str) -> int:
    """Return where in a line the line of a tool begins, be it kafka-acls or rpk; -1 is nowhere."""
    places = [text.find(begin) for begin in (_HEADER[0], _PRINCIPAL[0], *_CHANGES)]
    table = text.find(RPK_BEGIN)
    if is_rpk_header(text[max(0, table) :]):
        places.append(table)
    return min((at for at in places if at >= 0), default=-1)


def _unmarked(lines: Iterable[Line], mark: str, source: str) -> Iterator[Line]:
    """Remove a sign from the front of all lines; the space after it may be missing.

    Raises:
        DataError: some line does not begin with it: the marked ones may be meant not to count.
    """
    sign = mark.strip()
    for number, text in lines:
        if text.startswith(mark):
            yield number, text[len(mark) :]
        elif not text.strip() or text.strip() == sign:
            yield number, ""
        elif sign and text.startswith(mark.rstrip()):
            yield number, text[len(mark.rstrip()) :]
        elif not sign or is_log_line(text):
            yield number, text
        else:
            raise DataError(
                f"{source}, line {number}: expected {sign!r} at the start of each line, as in "
                "the first line. Remove the sign, or the lines that do not belong to the "
                "listing."
            )


_LOOKED_AT: Final = 200
"""The number of lines from which a form is recognized."""

_MARKS: Final = ("#", "##", ">", ">>", "|", "//", "--", ";")
"""Signs that people and mail programs put in front of lines; a diff's are none of them."""

_CHANGES: Final = (
    "Adding ACLs for resource `",
    "Are you sure you want to remove ACLs",
    "Are you sure you want to delete all ACLs",
)
_OF_A_CHANGE: Final = (
    "this is the output of kafka-acls --add or --remove, which lists only the ACLs of the "
    "changed resources. Write the output of kafka-acls --list to a file."
)

_OF_PRINCIPALS: Final = (
    "this is the output of kafka-acls --list --principal, which lists only the ACLs of these "
    "principals. Write the output of kafka-acls --list without --principal to a file."
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
            return f"unknown {_WHAT[enum]} {word[:40]!r}"
    return None


def _is_line(text: str) -> bool:
    """Whether a text is a whole line of kafka-acls, with no text of a log after it."""
    if _JOINED.search(text):
        return False
    if header := _parse_header(text):
        return _bad_word(header[::2], _HEADER_WORDS) is None
    if entry := _parse_entry(text):
        return _bad_word(entry[2:], _ENTRY_WORDS) is None
    return _between(text, *_PRINCIPAL) is not None


def _parse_header(text: str) -> _Resource | None:
    """Read resource type, name and pattern type of a group of ACLs."""
    inner = _between(text, *_HEADER)
    if inner is None:
        return None
    resource_type, comma, rest = inner.partition(", name=")
    name, mark, pattern_type = rest.rpartition(", patternType=")
    if not (comma and mark):
        return None
    return (resource_type, name, pattern_type) if is_storable(name) else None


def _parse_entry(text: str) -> _Entry | None:
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
    "the line is wrapped or cut, as by the width of a terminal; write the output to a file: "
    "kafka-acls --list > acls.txt"
)
_NO_ACL: Final = (
    "no ACL follows the line that names a resource; kafka-acls never prints a resource "
    "without ACLs, so lines are missing"
)
_FOLLOWED: Final = "there is text after the output of kafka-acls; remove it"
_OF_JOINED: Final = "two lines of kafka-acls are joined; put each on its own line"

_START: Final = r"(?:\(principal=|Current ACLs for resource `ResourcePattern\()"
_END: Final = (
    r"(?:, permissionType=[A-Z]{1,20}(?:\(-?[0-9]{1,3}\))?\)"
    r"|, patternType=[A-Z]{1,20}(?:\(-?[0-9]{1,3}\))?\)`:)"
)
_TEXT_BEHIND: Final = re.compile(rf"\s*{_START}.*{_END}\s*\S", re.DOTALL)
"""A whole line of kafka-acls and other text after it."""

_JOINED: Final = re.compile(rf"{_END}\s*{_START}")
"""The end of one line and the beginning of the next. A name may hold both, and then its ACL is
given up, with this reason: two ACLs that are read as one of an absurd name are worse."""


def _reason(text: str) -> str:
    begin = text.strip()
    if _parse_entry(text):
        return "an ACL without the line that names its resource"
    if begin.startswith((_HEADER[0], _ENTRY[0])):
        if _TEXT_BEHIND.match(begin):
            return _FOLLOWED
        if not begin.endswith((")`:", ")")):
            return _CUT
    if _is_indented(text):
        return "expected (principal=…, host=…, operation=…, permissionType=…)"
    return "not a line of kafka-acls --list"


READ: Final = "the output of kafka-acls --list (Kafka 2.3 or newer) or of rpk acl list"
"""The forms that are read."""


def describe_form(lines: Sequence[str]) -> str | None:
    """Return what a text is, by its first lines; None where that is not known.

    >>> describe_form(["apiVersion: kafka.strimzi.io/v1", "kind: KafkaUser"])
    'YAML of a Strimzi KafkaUser'
    """
    told = [line.strip() for line in lines if line.strip()]
    unsigned = [line.lstrip(_SIGNS) for line in told]
    for texts in (told, unsigned):
        for form, pattern in _FORMS:
            if any(pattern.match(text) for text in texts):
                return form
    return None


_SIGNS: Final = "#>|/; "
"""What stands in front of lines that were quoted or put into a comment."""

_FORMS: Final = tuple(
    (form, re.compile(pattern))
    for form, pattern in (
        ("the listing of kafka-acls up to Kafka 2.2; use a newer kafka-acls, which works "
            "with the same brokers", r"Current ACLs for resource `[A-Z][A-Za-z]+:.*`:$"),
        ("the output of rpk acl list --print-filters, or of filters that failed, which "
            "contains tables of filters and of ACLs; list without filters and --print-filters",
         r"(?:FILTERS|MATCHES)$"),
        ("a diff of two listings", r"[+-]\s?Current ACLs for resource `"),
        ("a listing whose lines are wrapped or cut, as by the width of a terminal",
         r".{0,4}Current ACLs for resource `ResourcePattern\((?!.*\)`:)"),
        ("a listing with other text after the lines that name resources; put each line of "
            "kafka-acls on its own line",
         r".{0,4}Current ACLs for resource `ResourcePattern\(.*\)`:\s*\S"),
        ("ACLs without the lines that name their resources, as grep leaves them",
         r"\(principal=.*, permissionType=[A-Z]+\)"),
        ("YAML of a Strimzi KafkaUser", r"(?:- )?kind:\s*[\"']?KafkaUser\b"),
        ("YAML with ACLs", r"(?:- )?(?:apiVersion|acls|principal|kind):(?:\s|$)"),
        ("a Terraform configuration",
         r"(?:resource|variable|module|locals|provider|terraform)\b.*\{$"),
        ("CSV of kafka-security-manager",
         r"KafkaPrincipal\s*[,;\t]\s*ResourceType\s*[,;\t]"),
        ("CSV with ACLs, as kafka-ui exports it",
         r"[\"']?Principal[\"']?\s*[,;\t]\s*[\"']?Resource"),
        ("CSV", r"[\"']?(?:principal|resource_?type)[\"']?\s*[,;\t]\s*[\"']?\w+[\"']?\s*[,;\t]"),
        ("a shell script",
         r"#!/|(?:.*/)?(?:kafka-acls|rpk acl|confluent kafka acl)(?:\.sh|\.bat)?\s.*--"),
        ("the text of kafka-dump-log; pass it as --source dump-log:FILE",
         r"Dumping \S|baseOffset: \d|\| offset: \d"),
        ("JSON; records of a metadata log are passed as --source records:FILE", r"[\[{]"),
        ("a table of another tool", r"[|+]?\s*[\"']?(?i:principal)[\"']?\s*(?:\||\s{2,}|\t)"),
    )
)  # fmt: skip
