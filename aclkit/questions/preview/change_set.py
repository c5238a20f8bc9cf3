"""A file of records or a listing of ACLs, and a state → the state that the file leads to."""

from __future__ import annotations

import io
from bisect import bisect_left
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from aclkit.errors import DataError, UsageError
from aclkit.model import facts
from aclkit.model.acl import Acl
from aclkit.pipeline.replay.transactions import COMMITTED, Marker, find_spans
from aclkit.pipeline.sources.acls_list import read_acls_list
from aclkit.pipeline.sources.files import read_user_file, unpack
from aclkit.pipeline.sources.records import read_records
from aclkit.pipeline.sources.text_lines import text_lines, to_utf_8
from aclkit.questions.preview.state import State
from aclkit.runtime.safe_read import LARGEST_DATA
from aclkit.runtime.uri import shown

MOST_LINES: Final = 1_000_000
"""Lines of a change set; each is read whole before the first takes effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSet:
    """What a file comes to.

    Attributes:
        after: the state that it leads to.
        notes: what of it has no effect, and how it was read.
        is_listing: it was the whole new state; otherwise records that add and remove.
        unknown_removals: offsets of records that remove an ACL that the state does not have.
    """

    after: State
    notes: tuple[str, ...]
    is_listing: bool
    unknown_removals: tuple[int, ...] = ()


def read_change_set(path: str, before: State) -> ChangeSet:
    """Read JSON lines, or the text of ``kafka-acls --list``, as the planned change.

    Records add and remove, in their order, on top of the state. A listing is the whole new state:
    ACLs that it lacks are removed. The file's first character decides which one it is. No line is
    skipped silently: a line that cannot be used is an error.

    Raises:
        UsageError: there is no such file, or it is larger than change sets are.
        DataError: it is neither, or holds a line that cannot be used.
    """
    data = unpack(read_user_file(path, LARGEST_DATA), path, LARGEST_DATA)
    data = to_utf_8(data, shown(path))
    if data.count(b"\n") > MOST_LINES:
        raise UsageError(f"{shown(path)}: expected at most {MOST_LINES:,} lines, found more")
    # Not by way of sources.readers: what reads Kafka's own files takes a second to import.
    lines = text_lines(io.BytesIO(data))
    if data.removeprefix(BOM_UTF8).lstrip().startswith(b"{"):
        return apply_records(_usable(read_records(lines, shown(path))), before)
    rows = _usable(read_acls_list(lines, shown(path)))
    change = apply_listing(rows, before)
    if rows:
        return change
    note = f"{shown(path)} has no ACL. It is read as a listing of a cluster without ACLs."
    return replace(change, notes=(note,))


def apply_records(rows: Sequence[facts.SourceRow], before: State) -> ChangeSet:
    """Apply the additions and removals of records; those of a transaction at its end, if any."""
    acls = dict(before.acls)
    effects, notes = _in_effect(rows)
    unknown: list[int] = []
    for row in effects:
        acl_id = row.acl_id or ""
        is_add = row.record_type == facts.ADD_ACL
        if is_add == (acl_id in acls):
            said = (
                "adds an ACL that already exists"
                if is_add
                else ("removes an ACL that does not exist")
            )
            notes.append(f"Offset {row.log_offset} {said}: {acl_id}.")
            if not is_add:
                unknown.append(row.log_offset or 0)
        elif is_add:
            acls[acl_id] = acl_of(row, acl_id)
        else:
            del acls[acl_id]
    after = State(acls=acls, settings=before.settings)
    return ChangeSet(
        after=after, notes=tuple(notes), is_listing=False, unknown_removals=tuple(unknown)
    )


def apply_listing(rows: Sequence[facts.SourceRow], before: State) -> ChangeSet:
    """Take a listing for the whole state; ACLs that stay keep their ids."""
    every = (acl_of(row, f"listed-{number}") for number, row in enumerate(rows))
    listed = {acl.binding: acl for acl in every}
    acls = {name: acl for name, acl in before.acls.items() if acl.binding in listed}
    known = {acl.binding for acl in acls.values()}
    new = {acl.acl_id: acl for binding, acl in listed.items() if binding not in known}
    after = State(acls={**acls, **new}, settings=before.settings)
    return ChangeSet(after=after, notes=(), is_listing=True)


def _usable(rows: Iterable[facts.SourceRow]) -> list[facts.SourceRow]:
    """Return the facts of a file; a row that cannot be used ends it."""
    # All of it is read first: the reader reports a file of another kind only at its end.
    read = list(rows)
    bad = next((row for row in read if row.kind == facts.REJECT), None)
    if bad is not None:
        raise DataError(f"{bad.source}, line {bad.position}: {bad.reason}")
    return [row for row in read if row.kind == facts.FACT]


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


def acl_of(row: facts.SourceRow, acl_id: str) -> Acl:
    """Return the ACL of a row, under an id."""
    return Acl(acl_id=acl_id, **{name: getattr(row, name) or "" for name in Acl.__slots__[1:]})
