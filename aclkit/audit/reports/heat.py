"""Published decisions of a cluster → how much of each group of topics each principal may use."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from aclkit.audit.reports.data import HeatMap
from aclkit.model.acl import ANY_OTHER
from aclkit.model.operation import OPERATIONS_OF_TYPE, USE_OF_OPERATION, USES
from aclkit.warehouse.duck import Tables, fetch
from aclkit.warehouse.views import pair_ruleset_sql

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


MOST_PRINCIPALS: Final = 50
MOST_PREFIXES: Final = 30
"""The rows and columns of a heat map: what a person can look at."""


def gather_heat(tables: Tables, cluster_id: str) -> HeatMap:
    """Read the heat maps: the principals of widest access, and the prefixes of most topics."""
    prefixes = fetch(tables, _PREFIXES, [cluster_id, ANY_OTHER])
    shown = prefixes[:MOST_PREFIXES]
    names = [name for name, _ in shown]
    operations = OPERATIONS_OF_TYPE["TOPIC"]
    uses = [USE_OF_OPERATION[operation] for operation in operations]
    ((principals,),) = fetch(tables, _SIZE, [cluster_id])
    cells: defaultdict[str, dict[tuple[str, str], int]] = defaultdict(dict)
    for principal, prefix, use, allowed in fetch(tables, _HEAT, [
        list(operations), uses, *[cluster_id, ANY_OTHER, names], *[cluster_id] * 3, MOST_PRINCIPALS,
    ]):  # fmt: skip
        cells[principal][use, prefix] = allowed
    return HeatMap(
        prefixes=tuple(shown),
        principals=tuple(cells),
        allowed={
            use: tuple(tuple(row.get((use, name), 0) for name in names) for row in cells.values())
            for use in USES
        },
        possible={use: tuple(topics * uses.count(use) for _, topics in shown) for use in USES},
        more_prefixes=len(prefixes) - len(shown),
        more_principals=principals - len(cells),
    )


_PREFIX: Final = f"regexp_extract(resource_name, '{PREFIX}')"
_PREFIXES: Final = (
    f"SELECT {_PREFIX} AS prefix, count(*) FROM resource WHERE cluster_id = ? "  # noqa: S608 -- this module's own text
    "AND resource_type = 'TOPIC' AND resource_name <> ? GROUP BY ALL ORDER BY count(*) DESC, prefix"
)
_SIZE: Final = "SELECT count(*) FROM principal WHERE cluster_id = ?"
# Few rulesets decide many pairs: these are counted by ruleset first, and only then by use.
_HEAT: Final = (
    "WITH purpose AS (SELECT unnest(CAST(? AS VARCHAR[])) AS operation, "  # noqa: S608 -- likewise
    "unnest(CAST(? AS VARCHAR[])) AS purpose), "
    f"topic AS (SELECT resource_name, {_PREFIX} AS prefix FROM resource WHERE cluster_id = ? "
    "AND resource_type = 'TOPIC' AND resource_name <> ? "
    "AND prefix IN (SELECT unnest(CAST(? AS VARCHAR[])))), "
    "open AS (SELECT ruleset_id, purpose, count(DISTINCT operation) AS operations "
    "FROM explain_ruling JOIN purpose USING (operation) "
    "WHERE cluster_id = ? AND decision = 'ALLOWED' GROUP BY ALL), "
    f"pair AS ({pair_ruleset_sql()}), "
    "alike AS (SELECT principal, prefix, ruleset_id, count(*) AS topics "
    "FROM pair JOIN topic USING (resource_name) "
    "WHERE cluster_id = ? AND resource_type = 'TOPIC' GROUP BY ALL), "
    "cell AS MATERIALIZED (SELECT principal, prefix, purpose, sum(topics * operations) AS allowed "
    "FROM alike JOIN open USING (ruleset_id) GROUP BY ALL), "
    "widest AS (SELECT principal, coalesce(sum(allowed), 0) AS total "
    "FROM principal LEFT JOIN cell USING (principal) WHERE cluster_id = ? "
    "GROUP BY ALL ORDER BY total DESC, principal LIMIT ?) "
    "SELECT principal, prefix, purpose, CAST(allowed AS BIGINT) "
    "FROM widest LEFT JOIN cell USING (principal) ORDER BY total DESC, principal"
)
