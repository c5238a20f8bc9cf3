"""Records of a metadata log and a state → the state that they lead to. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from aclkit.model import facts
from aclkit.model.acl import Acl
from aclkit.pipeline.replay.transactions import COMMITTED, Marker, find_spans
from aclkit.questions.state import State


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
            acls[acl_id] = acl_of(row, acl_id)
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


def acl_of(row: facts.SourceRow, acl_id: str) -> Acl:
    """Return the ACL of a row, under an id."""
    return Acl(acl_id=acl_id, **{name: getattr(row, name) or "" for name in Acl.__slots__[1:]})
