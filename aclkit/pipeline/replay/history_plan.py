"""Ranges and transaction records of a cluster → stretches, spans, faults of its history. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aclkit.model.facts import RECORD
from aclkit.pipeline.replay.ranges import Itinerary, Range, plan
from aclkit.pipeline.replay.transactions import Fault, Marker, Span, find_spans


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
