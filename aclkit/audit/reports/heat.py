"""How much of each group of topics principals may use → heat maps, cell by cell. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from aclkit.audit.reports.data import HeatMap
from aclkit.model.operation import USES

PREFIX: Final = "^[._-]*[^._-]+[._-]?"
"""A topic's prefix, in Python as in DuckDB: up to the first separator behind a letter."""

Cell = tuple[int, str, str]
"""Level, "allowed of possible" in numbers, and percent."""

_LEVELS: Final = (0.0, 0.1, 0.3, 0.6, 0.999)
"""A cell is of the level of the last share that it exceeds."""

_prefix: Final = re.compile(PREFIX)


def prefix_of(topic: str) -> str:
    """Return the prefix by which a topic is grouped; without a letter it has none.

    >>> prefix_of("pay.eu.v1"), prefix_of("_pay"), prefix_of("--")
    ('pay.', '_pay', '')
    """
    found = _prefix.match(topic)
    return found[0] if found else ""


def heat_tables(heat: HeatMap | None) -> list[tuple[str, list[tuple[str, list[Cell]]]]]:
    """Return each use of operations with its rows: a principal and the cell of every prefix."""
    if heat is None or not (heat.prefixes and heat.principals):
        return []
    return [(use, list(_rows(heat, use))) for use in USES]


def _rows(heat: HeatMap, use: str) -> Iterator[tuple[str, list[Cell]]]:
    for principal, row in zip(heat.principals, heat.allowed[use], strict=True):
        cells = zip(row, heat.possible[use], strict=True)
        yield principal, [(_level(n, of), f"{n} of {of}", _percent(n, of)) for n, of in cells]


def _level(allowed: int, possible: int) -> int:
    share = allowed / possible if possible else 0.0
    return sum(share > least for least in _LEVELS)


def _percent(allowed: int, possible: int) -> str:
    if not allowed or not possible:
        return "·"
    return f"{max(1, allowed * 100 // possible)}"
