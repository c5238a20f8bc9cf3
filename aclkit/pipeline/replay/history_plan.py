"""Ranges and transaction records of a cluster → stretches, spans, faults of its history. Pure.

And what to tell of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from aclkit.model.facts import RECORD
from aclkit.model.values import dataclass
from aclkit.pipeline.replay.ranges import Itinerary, plan
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.replay.transactions import OPEN, Fault, Marker, Span, find_spans


@dataclass(frozen=True, slots=True)
class HistoryPlan:
    """Everything about a cluster's history that is small: where it goes and what it skips."""

    itinerary: Itinerary
    spans: tuple[Span, ...]
    faults: tuple[Fault, ...]


def plan_history(
    ranges: Sequence[Range],
    markers: Iterable[Marker],
    *,
    high_watermark: int | None = None,
    accept_holes: bool = False,
) -> HistoryPlan:
    """Plan the way through the log and pair its transaction records stretch by stretch."""
    itinerary = plan(ranges, high_watermark=high_watermark, accept_holes=accept_holes)
    known = sorted(markers)
    spans: list[Span] = []
    faults: list[Fault] = []
    for stretch in itinerary.stretches:
        if stretch.fact != RECORD:
            continue
        inside = (m for m in known if stretch.from_offset <= m.log_offset < stretch.to_offset)
        spans_here, faults_here = find_spans(inside, stretch.to_offset)
        spans.extend(spans_here)
        faults.extend(faults_here)
    return HistoryPlan(itinerary, tuple(spans), tuple(faults))


def notes_on(plan: HistoryPlan, high_watermark: int | None) -> Iterator[str]:
    """Yield how far history goes and what it had to leave out."""
    if high_watermark is None:
        yield "No --high-watermark given: every complete batch is treated as committed."
    for start, end in plan.itinerary.bridged:
        if start == 0:
            yield (
                f"History begins with the snapshot at offset {end}. Earlier changes are unknown."
            )
        else:
            yield (
                f"Offsets {describe_spans([(start, end)])} are missing; the snapshot at offset "
                f"{end} replaces them. Only the difference between their beginning and their "
                "end is known."
            )
    if plan.itinerary.doubtful:
        yield note_on_doubt(plan.itinerary.doubtful)
    if plan.itinerary.holes:
        yield f"Offsets {describe_spans(plan.itinerary.holes)} could not be read."
    waiting = [span for span in plan.spans if span.outcome == OPEN]
    if waiting:
        yield (
            f"The transaction that began at offset {waiting[-1].begin} has not ended. Its "
            "records have no effect yet."
        )


def note_on_doubt(spans: Sequence[tuple[int, int]]) -> str:
    """Write of which offsets it is not known whether what was read there is in the log."""
    return (
        f"It is unknown whether offsets {describe_spans(spans)} were committed: the log between "
        "them and a newer leader was not read, or a snapshot contradicts them. Changes there are "
        "uncertain."
    )


def describe_spans(spans: Sequence[tuple[int, int]]) -> str:
    """Write half-open spans of offsets for people: ``12–19, 40``."""
    return ", ".join(f"{a}–{b - 1}" if b - a > 1 else f"{a}" for a, b in spans)
