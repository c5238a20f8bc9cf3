"""What runs of ``scale`` cost for each decision, ruling and ACL → a picture, both axes by tens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from tests.tools.benchmarks.scale_table import COSTS, Row, amount, many

_WIDTH, _HEIGHT = 760, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 132, 58, 52
_ROOM = 0.15
"""Tens of decisions left free beside the first and the last case."""

# Its own ground, so that it is legible on any page; the colours follow the reader's choice.
_STYLE = """\
.ground{fill:#fff}.grid{stroke:#e3e5e8}.case{stroke:#c9cdd2;stroke-dasharray:2 4}
text{font:12px system-ui,sans-serif;fill:#4a5058}.title{font-size:15px;fill:#16191d}
.line{fill:none;stroke-width:2}.name{font-weight:600}
.line.a{stroke:#0b62c4}.line.b{stroke:#b3470b}.line.c{stroke:#1f7a3a}
.dot.a,.name.a{fill:#0b62c4}.dot.b,.name.b{fill:#b3470b}.dot.c,.name.c{fill:#1f7a3a}
@media (prefers-color-scheme:dark){
.ground{fill:#16191d}.grid{stroke:#2c3138}.case{stroke:#454c55}
text{fill:#b4bac2}.title{fill:#f0f2f4}
.line.a{stroke:#6db1ff}.line.b{stroke:#ff9d5c}.line.c{stroke:#6fce8a}
.dot.a,.name.a{fill:#6db1ff}.dot.b,.name.b{fill:#ff9d5c}.dot.c,.name.c{fill:#6fce8a}
}"""


@dataclass(frozen=True, slots=True)
class _Plane:
    """Decisions and seconds → where they are; the ends are powers of ten."""

    left: float
    right: float
    low: int
    high: int

    def x(self, decisions: float) -> float:
        share = (log10(decisions) - self.left) / (self.right - self.left)
        return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, seconds: float) -> float:
        share = (log10(seconds) - self.low) / (self.high - self.low)
        return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM), 1)


def picture(rows: Sequence[Row]) -> str:
    """Return the picture as SVG, of the runs that were not stopped.

    Args:
        rows: one of each case, the smallest first.

    Raises:
        ValueError: all were stopped.
    """
    done = [row for row in rows if row.stopped is None]
    costs = [cost for of in COSTS.values() for row in done if (cost := of(row))]
    if not costs:
        raise ValueError("expected a run that was not stopped")
    plane = _Plane(
        log10(done[0].decisions) - _ROOM,
        log10(done[-1].decisions) + _ROOM,
        floor(log10(min(costs))),
        ceil(log10(max(costs))),
    )
    said = "; ".join(f"{row.case}: {_said(row)}" for row in done)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"'
            f' width="{_WIDTH}" height="{_HEIGHT}">',
            f"<title>What a decision, a ruling and an ACL cost</title><desc>{escape(said)}</desc>",
            f"<style>{_STYLE}</style>",
            f'<rect class="ground" width="{_WIDTH}" height="{_HEIGHT}" rx="8"/>',
            _text(_LEFT, 24, "Wall time of a cold run, for each decision, ruling and ACL", "title"),
            *_grid(plane),
            *_cases(plane, done),
            *(part for of, tone in zip(COSTS, "abc", strict=True)
              for part in _line(plane, done, of, tone)),
            "</svg>\n",
        ]
    )  # fmt: skip


def _grid(plane: _Plane) -> Iterator[str]:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    for power in range(plane.low, plane.high + 1):
        y = plane.y(10.0**power)
        yield f'<path class="grid" d="M{_LEFT} {y}H{right}"/>'
        label = amount(10.0**power).replace(".00", "").replace(".0", "")
        yield _text(_LEFT - 8, y + 4, label, anchor="end")
    for power in range(ceil(plane.left), floor(plane.right) + 1):
        x = plane.x(10.0**power)
        yield f'<path class="grid" d="M{x} {_TOP}V{bottom}"/>'
        yield _text(x, bottom + 18, many(10**power), anchor="middle")
    yield _text((_LEFT + right) / 2, _HEIGHT - 12, "decisions", anchor="middle")


def _cases(plane: _Plane, rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        x = plane.x(row.decisions)
        yield f'<path class="case" d="M{x} {_TOP}V{_HEIGHT - _BOTTOM}"/>'
        yield _text(x, _TOP - 8, row.case, anchor="middle")


def _line(plane: _Plane, rows: Sequence[Row], of: str, tone: str) -> Iterator[str]:
    points = [
        (plane.x(row.decisions), plane.y(cost), cost) for row in rows if (cost := COSTS[of](row))
    ]
    way = "L".join(f"{x} {y}" for x, y, _ in points)
    yield f'<path class="line {tone}" d="M{way}"/>'
    for x, y, cost in points:
        yield f'<circle class="dot {tone}" cx="{x}" cy="{y}" r="4"/>'
        yield _text(x, y - 10, amount(cost), anchor="middle")
    x, y, _ = points[-1]
    yield _text(x + 32, y + 4, f"for each {of}", f"name {tone}")


def _said(row: Row) -> str:
    return ", ".join(f"{amount(cost)} for each {of}" for of in COSTS if (cost := COSTS[of](row)))


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'
