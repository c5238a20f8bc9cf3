"""All forms of desired state: those of other tools, and what Kafka's own tools and aclkit write.

Listings and records are read by the readers of sources, which report what they cannot use line by
line. In both an ACL is what a cluster holds: codes that this version does not know stay as they
are, and so do principals without a type. ANY, MATCH and UNKNOWN say that it is unknown which ACL
it is, so they are refused.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from aclkit.errors import DataError
from aclkit.kafka.desired import other_json
from aclkit.kafka.desired.documents import read_documents
from aclkit.kafka.desired.formats import Format
from aclkit.kafka.desired.model import DesiredAcl, Document, Part, Place, Problem
from aclkit.kafka.desired.read import Asked, Desired, desired_of
from aclkit.kafka.desired.registry import FORMATS
from aclkit.model import facts
from aclkit.model.acl import Acl
from aclkit.model.phrases import capitalized
from aclkit.pipeline.replay.transactions import COMMITTED, Marker, find_spans
from aclkit.pipeline.sources.acls_list import read_with_lines
from aclkit.pipeline.sources.files import read_user_file, unpack
from aclkit.pipeline.sources.records import read_records
from aclkit.pipeline.sources.rpk_list import is_rpk_header
from aclkit.questions.state import State
from aclkit.runtime.safe_read import LARGEST_DATA

_BEGINNING: Final = 1_000_000
"""Characters in which a form must show itself: names may be long."""

_LINES: Final = 200

_LIKE_LISTING: Final = re.compile(
    r".{0,10}(?:Current ACLs for resource `|ACLs for principal `|Adding ACLs for resource `"
    r"|Are you sure you want to (?:remove|delete))"
    r"|\s{0,20}\(principal="
    r"|(?:FILTERS|MATCHES)\s*$"
    r"|Dumping \S|baseOffset: \d|\| offset: \d"
    r"|[|+]?\s{0,20}[\"']?(?i:principal)[\"']?(?:\s{0,20}\||\s{2,20}\S|\t)"
)
"""A listing, sound or not, and the other outputs of Kafka's tools: their reader names them."""

_LIKE_RECORD: Final = re.compile(r'\s{0,20}\{.{0,2000}?"type"\s{0,5}:\s{0,5}"[A-Z_]{3,80}_RECORD"')
_OFFSET: Final = re.compile(r'\s{0,20}\{\s{0,20}"offset"\s{0,20}:\s{0,20}([0-9]{1,19})\s{0,20}[,}]')
_IN_FILTERS: Final = ("ANY", "MATCH", "UNKNOWN")


def _beginning(document: Document) -> Iterator[str]:
    """Yield the first lines that are not blank."""
    lines = document.text[:_BEGINNING].split("\n")
    return (line for line in lines[:_LINES] if line.strip())


def holds_listing(document: Document) -> bool:
    """Whether a text is the output of kafka-acls or rpk, or of a tool that is told from it."""
    return any(
        _LIKE_LISTING.match(line) or is_rpk_header(line.lstrip("#>|/; "))
        for line in _beginning(document)
    )


def read_listing(document: Document) -> Part:
    """Read a listing; it is all ACLs of a cluster."""
    acls: list[DesiredAcl] = []
    problems: list[Problem] = []
    try:
        rows = list(read_with_lines(document.lines(), document.name))
    except DataError as error:
        rows, problems = [], [_problem(document, error)]
    notes = [row.reason for _, row in rows if row.kind == facts.NOTE and row.reason]
    for line, row in rows:
        if row.kind == facts.REJECT:
            problems.append(Problem(document.place(line), _sentence(row.reason)))
        elif row.kind == facts.FACT:
            _put(_acl_of(row, ""), document.place(line), acls, problems)
    return Part(
        document=document.name,
        form=LISTING.name,
        reach="all",
        acls=acls,
        problems=problems,
        notes=[f"{document.name}: {note}" for note in notes],
    )


def holds_records(document: Document) -> bool:
    """Whether a text is JSON lines with records of a metadata log."""
    return any(_LIKE_RECORD.match(line) for line in _beginning(document))


def read_record_lines(document: Document) -> Part:
    """Read JSON lines: the ACLs that an empty cluster has after these records."""
    try:
        rows = list(read_records(document.lines(), document.name))
    except DataError as error:
        return _of_records(document, problems=[_problem(document, error)])
    problems = [
        Problem(document.place(row.position or 0), _sentence(row.reason))
        for row in rows
        if row.kind == facts.REJECT
    ]
    used = [row for row in rows if row.kind == facts.FACT]
    state, notes = apply_records(used, State())
    line_of = _lines_of_offsets(document)
    added = {
        row.acl_id: document.place(line_of.get(row.log_offset or 0, 0))
        for row in used
        if row.record_type == facts.ADD_ACL
    }
    acls: list[DesiredAcl] = []
    for acl_id, acl in state.acls.items():
        _put(replace(acl, acl_id=""), added[acl_id], acls, problems)
    return _of_records(document, acls, problems, [f"{document.name}: {note}" for note in notes])


def apply_records(rows: Sequence[facts.SourceRow], before: State) -> tuple[State, list[str]]:
    """Apply the additions and removals of records; those of a transaction at its end, if any.

    Returns:
        The state that they lead to, and which of them have no effect.
    """
    acls = dict(before.acls)
    effects, notes = _in_effect(rows)
    for row in effects:
        acl_id = row.acl_id or ""
        is_add = row.record_type == facts.ADD_ACL
        if is_add == (acl_id in acls):
            what = "adds an ACL that already exists" if is_add else _MISSING
            notes.append(f"Offset {row.log_offset} {what}: {acl_id}.")
        elif is_add:
            acls[acl_id] = _acl_of(row, acl_id)
        else:
            del acls[acl_id]
    return before.with_only(acls.values()), notes


_MISSING: Final = "removes an ACL that does not exist"


def _in_effect(rows: Sequence[facts.SourceRow]) -> tuple[list[facts.SourceRow], list[str]]:
    """Return the ACL records that take effect, in the order in which they do, and what does not.

    A file may hold records of other things too, within transactions as well.
    """
    placed = [(row.log_offset or 0, row) for row in rows]
    markers = [
        Marker(offset, row.record_type) for offset, row in placed if row.record_type in _MARKERS
    ]
    spans, faults = find_spans(markers, max((offset for offset, _ in placed), default=0) + 1)
    begins = [span.begin for span in spans]
    notes = [f"Offset {fault.log_offset}: {fault.reason}." for fault in faults]
    effects = []
    for offset, row in placed:
        if row.record_type not in _CHANGES:
            continue
        at = bisect_left(begins, offset) - 1
        span = spans[at] if at >= 0 and offset < spans[at].end else None
        if span is None or span.outcome == COMMITTED:
            effects.append((span.end if span else offset, offset, row))
        else:
            notes.append(f"Offset {offset} has no effect: its transaction is {span.outcome}.")
    return [row for *_, row in sorted(effects, key=lambda effect: effect[:2])], notes


_CHANGES: Final = (facts.ADD_ACL, facts.REMOVE_ACL)
_MARKERS: Final = (facts.BEGIN_TXN, facts.END_TXN, facts.ABORT_TXN)


def _acl_of(row: facts.SourceRow, acl_id: str) -> Acl:
    """Return the ACL of a row, under an id."""
    return Acl(acl_id=acl_id, **{name: getattr(row, name) or "" for name in Acl.__slots__[1:]})


def _of_records(
    document: Document,
    acls: Iterable[DesiredAcl] = (),
    problems: Iterable[Problem] = (),
    notes: Iterable[str] = (),
) -> Part:
    return Part(
        document=document.name,
        form=RECORDS.name,
        reach="asked",
        acls=tuple(acls),
        problems=tuple(problems),
        notes=tuple(notes),
    )


def _lines_of_offsets(document: Document) -> dict[int, int]:
    """Return the line of each offset; lines that state none are counted, as their reader does."""
    found: dict[int, int] = {}
    count = 0
    for number, line in enumerate(document.lines(), start=1):
        if line.strip():
            stated = _stated_offset(line)
            found[count if stated is None else stated] = number
            count += 1
    return found


def _stated_offset(line: str) -> int | None:
    if first := _OFFSET.match(line):
        return int(first[1])
    if '"offset"' not in line:
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    offset = record.get("offset") if isinstance(record, dict) else None
    return offset if type(offset) is int else None


def _put(acl: Acl, place: Place, acls: list[DesiredAcl], problems: list[Problem]) -> None:
    """Take an ACL, or say which of its words is of filters only."""
    words = {name: getattr(acl, name) for name in _WORDS}
    found = [
        Problem(
            place,
            f"The {name.replace('_', ' ')} is {word}, so it is unknown which ACL this is. Use the "
            "kafka-acls of the brokers' version, or remove the ACL",
        )
        for name, word in words.items()
        if word in _IN_FILTERS
    ]
    problems += found
    if not found:
        acls.append(DesiredAcl(acl, place))


_WORDS: Final = ("resource_type", "pattern_type", "operation", "permission_type")


def _problem(document: Document, error: DataError) -> Problem:
    """Return what a reader raised as a problem of the line that it names."""
    text = str(error).removeprefix(document.name)
    at = re.match(r", line ([0-9]{1,9}): ", text)
    rest = text[at.end() :] if at else text.removeprefix(": ")
    return Problem(document.place(int(at[1]) if at else 0), _sentence(rest))


def _sentence(reason: str | None) -> str:
    return capitalized(reason or "the line cannot be read")


LISTING: Final = Format(
    name="acls-list",
    title="output of kafka-acls --list (Kafka 2.3 or newer) or rpk acl list",
    holds=holds_listing,
    read=read_listing,
)
RECORDS: Final = Format(
    name="records",
    title="records of a metadata log as JSON lines",
    holds=holds_records,
    read=read_record_lines,
)

ALL_FORMATS: Final[tuple[Format, ...]] = (*FORMATS, LISTING, RECORDS, *other_json.FORMATS)
"""Every format that is read, in the order of asking."""


def read_wanted(paths: Sequence[str], asked: Asked) -> Desired:
    """Read files, folders, globs or stdin, packed or not.

    Raises:
        UsageError: a path names nothing, files are too large, or as in ``desired_of``.
        DataError: see ``desired_of``.
        SurroundingsError: a file cannot be read.
    """
    return desired_of(read_documents(paths, read_bytes), ALL_FORMATS, asked)


def read_bytes(path: str) -> bytes:
    """Read a file that may be packed."""
    return unpack(read_user_file(path, LARGEST_DATA), path, LARGEST_DATA)
