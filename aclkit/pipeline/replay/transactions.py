"""Begin, End and Abort records in log order → spans of offsets, and faults. Pure.

Source: Kafka's OffsetControlManager. A Begin inside a transaction, and an End or Abort outside
one, are faults: that record is skipped and nothing else changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from aclkit.model.facts import ABORT_TXN, BEGIN_TXN, END_TXN

COMMITTED: Final = "committed"
ABORTED: Final = "aborted"
OPEN: Final = "open"
MARKERS: Final = (BEGIN_TXN, END_TXN, ABORT_TXN)


class Marker(NamedTuple):
    """A Begin, End or Abort record."""

    log_offset: int
    record_type: str


class Span(NamedTuple):
    """Offsets ``begin`` < o < ``end`` belong to the transaction that began at ``begin``.

    What a committed span holds takes effect at ``end``; the rest has no effect, an open one not
    yet.
    """

    begin: int
    end: int
    outcome: str


class Fault(NamedTuple):
    """A transaction record that is invalid at its offset."""

    log_offset: int
    reason: str


def find_spans(markers: Iterable[Marker], until: int) -> tuple[list[Span], list[Fault]]:
    """Pair the markers of one gapless stretch of log, in any order given, into spans.

    Args:
        markers: the transaction records of the stretch.
        until: the offset at which the stretch ends; a transaction still open there has no
            effect up to it.
    """
    spans: list[Span] = []
    faults: list[Fault] = []
    begin: int | None = None
    for marker in sorted(markers):
        if marker.record_type == BEGIN_TXN:
            if begin is None:
                begin = marker.log_offset
            else:
                faults.append(Fault(marker.log_offset, _NESTED.format(begin)))
        elif begin is None:
            faults.append(Fault(marker.log_offset, _OUTSIDE.format(marker.record_type)))
        else:
            spans.append(Span(begin, marker.log_offset, _OUTCOME[marker.record_type]))
            begin = None
    if begin is not None:
        spans.append(Span(begin, until, OPEN))
    return spans, faults


_OUTCOME: Final = {END_TXN: COMMITTED, ABORT_TXN: ABORTED}
_NESTED: Final = "expected no transaction to be open, but one began at offset {}"
_OUTSIDE: Final = "{} without a transaction"
