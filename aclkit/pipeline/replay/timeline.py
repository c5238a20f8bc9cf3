"""Ranges and transaction records of a cluster → legs, spans and faults of its history. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aclkit.model.facts import RECORD
from aclkit.pipeline.replay.ranges import Itinerary, Range, plan
from aclkit.pipeline.replay.transactions import COMMITTED, Fault, Marker, Span, find_spans


@dataclass(frozen=True, slots=True)
class Timeline:
    """Everything about a cluster's history that is small: where it goes and what it skips."""

    itinerary: Itinerary
    spans: tuple[Span, ...]
    faults: tuple[Fault, ...]

    @property
    def committed(self) -> tuple[Span, ...]:
        """The spans of transactions that took effect."""
        return tuple(span for span in self.spans if span.outcome == COMMITTED)


def draw_timeline(
    ranges: Sequence[Range],
    markers: Iterable[Marker],
    *,
    high_watermark: int | None = None,
    accept_holes: bool = False,
) -> Timeline:
    """Plan the way through the log and pair its transaction records leg by leg."""
    itinerary = plan(ranges, high_watermark=high_watermark, accept_holes=accept_holes)
    known = sorted(markers)
    spans: list[Span] = []
    faults: list[Fault] = []
    for leg in itinerary.legs:
        if leg.fact != RECORD:
            continue
        inside = (m for m in known if leg.from_offset <= m.log_offset < leg.to_offset)
        leg_spans, leg_faults = find_spans(inside, leg.to_offset)
        spans.extend(leg_spans)
        faults.extend(leg_faults)
    return Timeline(itinerary, tuple(spans), tuple(faults))
