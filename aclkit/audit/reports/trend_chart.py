"""Runs of the past → the bars of the charts over them. Pure numbers; the template draws them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from aclkit.audit.reports.data import TrendPoint
from aclkit.audit.reports.words import thousands, utc
from aclkit.model.findings import SEVERITIES

WIDTH: Final = 320
HEIGHT: Final = 80
_WIDEST: Final = 28.0
_GAP: Final = 0.2


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle, of which style, and what it says."""

    x: float
    y: float
    width: float
    height: float
    style: str
    says: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars under a title; ``says`` is the same in words."""

    title: str
    says: str
    bars: tuple[Bar, ...]
    width: int = WIDTH
    height: int = HEIGHT


_Parts = Callable[[TrendPoint], Iterable[tuple[str, int]]]
_SHOWN: Final[tuple[tuple[str, _Parts], ...]] = (
    ("Findings", lambda point: ((name, point.findings.get(name, 0)) for name in SEVERITIES)),
    ("ACLs", lambda point: (("acls", point.acls),)),
    ("Access gained and lost", lambda point: (("gained", point.gained), ("lost", point.lost))),
)


def bars(points: Sequence[TrendPoint]) -> list[Chart]:
    """Draw what changed over two runs or more: findings, ACLs, access gained and lost."""
    return [_chart(title, points, parts) for title, parts in _SHOWN] if len(points) > 1 else []


def _chart(title: str, points: Sequence[TrendPoint], parts: _Parts) -> Chart:
    totals = [sum(value for _, value in parts(point)) for point in points]
    highest = max(*totals, 1)
    slot = min(_WIDEST, WIDTH / len(points))
    drawn: list[Bar] = []
    for place, point in enumerate(points):
        floor = float(HEIGHT)
        for style, value in parts(point):
            tall = value / highest * HEIGHT
            floor -= tall
            says = f"run {point.run_number}, {utc(point.started_at)}: {thousands(value)} {style}"
            left, wide = round(place * slot, 1), round(slot * (1 - _GAP), 1)
            drawn.append(Bar(left, round(floor, 1), wide, round(tall, 1), style, says))
    first, last = totals[0], totals[-1]
    says = f"{title}: {thousands(last)} in the newest run, {thousands(first)} in the first shown"
    return Chart(title, says, tuple(bar for bar in drawn if bar.height))
