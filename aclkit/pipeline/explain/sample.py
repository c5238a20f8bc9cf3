"""The written tables and a seed → some cells of the view ``explain``, drawn by stratum. SQL.

A stratum is how the ruleset stands (a pair's own, a class's, the super users'), the principal
class, the resource type, whether the ruling names its host, the decision and the rule. Drawn are
rulings: the first of each stratum, then the second of each, and so on up to a limit; each stands
for one cell that it decides. So no stratum is passed over for being small, as long as there are
no more of them than cells; within a large one a defect of few rulings may stay unseen. A ruling of
a class or of any other host has no cell where all that are tried have one of their own.
"""

from __future__ import annotations

from string import Template
from typing import Any, Final
from zlib import crc32

from aclkit.model.acl import ANY_OTHER, Request
from aclkit.pipeline.explain.steps import in_steps
from aclkit.warehouse.reader import Reader
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.views import EXPLAIN_TABLES, SUPER_RULESET, explain_sql, operations_sql

CELL: Final = (*Request.__slots__, "decision", "rule", "deciding_acl_id")
"""The columns of a cell: the request, and its decision in the tables."""


def draw_cells(written: Reader, seed: str, most: int) -> list[tuple[Any, ...]]:
    """Return up to so many cells of the view, as ``CELL``; the same ones for the same seed."""
    words = {
        "seed": crc32(seed.encode()),
        "most": most,
        "operations": operations_sql(),
        "any_other": f"'{ANY_OTHER}'",
        "super_ruleset": f"'{SUPER_RULESET}'",
        "tried": _TRIED,
        "lots": _LOTS,
        "looked_at": _LOOKED_AT * most,
        "counted_of": _COUNTED_OF,
    }
    for name, steps in _ASKED.items():
        filled = {step: Template(sql).substitute(words) for step, sql in steps.items()}
        written.keep(name, in_steps(filled))
    return written.rows(_view_of_cells())


def _view_of_cells() -> str:
    """Return the view ``explain`` of the drawn cells alone, its text as it is.

    To the view each cell is a cluster: one principal, one host, one resource and their rulings.
    """
    alone = {}
    for table in EXPLAIN_TABLES:
        _, *columns = TABLES[table].column_names
        same = " AND ".join(f"t.{name} = d.{name}" for name in _KEYS[table])
        of_host = f" AND t.host IN (d.host, '{ANY_OTHER}')" if table == "explain_ruling" else ""
        alone[table] = (
            f"(SELECT d.cell AS cluster_id, {', '.join(f't.{name}' for name in columns)} "  # noqa: S608 -- names of the contract
            f"FROM {table} t JOIN drawn_cell d ON {same}{of_host})"
        )
    return (
        f"SELECT {', '.join(f'e.{name}' for name in CELL)} FROM ({explain_sql(alone)}) AS e "  # noqa: S608 -- names of the contract
        "JOIN drawn_cell d ON d.cell = e.cluster_id AND d.operation = e.operation"
    )


_KEYS: Final = {
    "principal": ("principal",),
    "host": ("host",),
    "resource": ("resource_type", "resource_name"),
    "explain_pair": ("principal", "resource_type", "resource_name"),
    "explain_class_pair": ("principal_class", "resource_type", "resource_name"),
    "explain_ruling": ("ruleset_id", "operation"),
}
"""What of a drawn cell finds the rows of each table."""

_TRIED: Final = 16
"""Of so many principals of a class, and hosts, one is sought that no own ruleset or ruling has."""

_LOTS: Final = 1_000_000_000
_LOOKED_AT: Final = 4
"""A ruling has one of so many lots. Of a large stratum only the lowest lots are put in order, so
many that there are some times as many rulings as can be drawn."""
_COUNTED_OF: Final = 16
"""A stratum's rulings are counted in one of so many rulesets: to count all is to go once more
through the table with most rows. There are at least so many, so never too few are put in order."""

# Who is ruled by each ruleset, with what its rulings add to: few texts are hashed per ruling.
_RULED: Final = {
    "standing_of": """\
SELECT DISTINCT 'pair' AS standing, m.principal_class, p.resource_type, p.ruleset_id
FROM explain_pair p JOIN principal m ON m.principal = p.principal WHERE NOT m.is_super_user
UNION ALL
SELECT DISTINCT 'class', principal_class, resource_type, ruleset_id FROM explain_class_pair
UNION ALL
SELECT DISTINCT 'super', m.principal_class, r.resource_type, $super_ruleset
FROM principal m CROSS JOIN (SELECT DISTINCT resource_type FROM resource) r
WHERE m.is_super_user""",
    "ruled": """\
SELECT *, hash(standing, principal_class, resource_type) AS stratum,
       hash($seed, standing, principal_class, resource_type, ruleset_id) AS lot
FROM standing_of""",
}


def _rulings_of(ruled: str) -> dict[str, str]:
    """Return the steps to the rulings of rulesets, each with its stratum and a lot."""
    return {"operation": "$operations", "held": _HELD.replace("RULED", ruled), "ruling": _RULING}


# Only the ruleset of super users has rulings of operations that a type does not know. The
# rulings, of which there are most, stand on the left: of a join the right is kept in memory.
_HELD: Final = """\
SELECT r.*, g.operation, g.host, g.decision, g.rule
FROM explain_ruling g JOIN RULED r ON r.ruleset_id = g.ruleset_id WHERE r.standing <> 'super'
UNION ALL
SELECT r.*, g.operation, g.host, g.decision, g.rule
FROM RULED r
JOIN operation o ON o.resource_type = r.resource_type
JOIN explain_ruling g ON g.operation = o.operation AND g.ruleset_id = $super_ruleset
WHERE r.standing = 'super'"""

_RULING: Final = """\
SELECT standing, principal_class, resource_type, ruleset_id, operation, host,
       hash(stratum, host = $any_other, decision, rule) AS stratum,
       abs(hash(lot, operation, host) % $lots) AS lot
FROM held"""

_STRATA: Final = {
    "counted": "SELECT * FROM ruled WHERE lot % $counted_of = 0",
    **_rulings_of("counted"),
    "least": "SELECT stratum, count(*) AS rulings FROM ruling GROUP BY stratum",
}

_RULINGS: Final = {
    **_rulings_of("ruled"),
    "low": """\
SELECT r.* FROM ruling r LEFT JOIN stratum_least s ON s.stratum = r.stratum
WHERE s.rulings IS NULL
 OR r.lot * CAST(s.rulings AS DOUBLE) <= $lots * CAST($looked_at AS DOUBLE)""",
    "turn": """\
SELECT *, row_number() OVER (
       PARTITION BY stratum ORDER BY lot, principal_class, ruleset_id, operation, host
       ) AS nth FROM low""",
    "drawn": """\
SELECT standing, principal_class, resource_type, ruleset_id, operation, host
FROM turn ORDER BY nth, lot, ruleset_id, operation, host LIMIT $most""",
}

_CELLS: Final = {
    "drawn": """\
SELECT DISTINCT standing, principal_class, resource_type, ruleset_id FROM drawn_ruling""",
    "member": """\
SELECT principal, principal_class, is_super_user, row_number() OVER (
       PARTITION BY principal_class, is_super_user ORDER BY hash($seed, principal), principal
       ) AS nth
FROM principal""",
    "own_pair": """\
SELECT r.standing, r.principal_class, r.resource_type, r.ruleset_id,
       min_by(p.principal, hash($seed, p.principal, p.resource_name)) AS principal,
       min_by(p.resource_name, hash($seed, p.principal, p.resource_name)) AS resource_name
FROM explain_pair p
JOIN drawn r ON r.ruleset_id = p.ruleset_id AND r.resource_type = p.resource_type
JOIN member m ON m.principal = p.principal AND m.principal_class = r.principal_class
WHERE r.standing = 'pair' AND NOT m.is_super_user
GROUP BY r.standing, r.principal_class, r.resource_type, r.ruleset_id""",
    "resource_of_class": """\
SELECT r.standing, r.principal_class, r.resource_type, r.ruleset_id,
       min_by(p.resource_name, hash($seed, p.resource_name)) AS resource_name
FROM explain_class_pair p
JOIN drawn r ON r.ruleset_id = p.ruleset_id AND r.resource_type = p.resource_type
 AND r.principal_class = p.principal_class
WHERE r.standing = 'class'
GROUP BY r.standing, r.principal_class, r.resource_type, r.ruleset_id""",
    "tried_pair": """\
SELECT r.*, m.principal, m.nth
FROM resource_of_class r
JOIN member m ON m.principal_class = r.principal_class
 AND NOT m.is_super_user AND m.nth <= $tried""",
    "taken_pair": """\
SELECT p.principal, p.resource_type, p.resource_name
FROM explain_pair p
JOIN (SELECT DISTINCT principal, resource_type, resource_name FROM tried_pair) t
  ON t.principal = p.principal AND t.resource_type = p.resource_type
 AND t.resource_name = p.resource_name""",
    # A principal of the class that has no ruleset of its own there.
    "pair_of_class": """\
SELECT t.standing, t.principal_class, t.resource_type, t.ruleset_id,
       min_by(t.principal, t.nth) AS principal, t.resource_name
FROM tried_pair t
LEFT JOIN taken_pair p ON p.principal = t.principal
 AND p.resource_type = t.resource_type AND p.resource_name = t.resource_name
WHERE p.principal IS NULL
GROUP BY t.standing, t.principal_class, t.resource_type, t.ruleset_id, t.resource_name""",
    "pair_of_super_user": """\
SELECT r.standing, r.principal_class, r.resource_type, r.ruleset_id, m.principal,
       min_by(e.resource_name, hash($seed, e.resource_name)) AS resource_name
FROM drawn r
JOIN member m ON m.principal_class = r.principal_class AND m.is_super_user AND m.nth = 1
JOIN resource e ON e.resource_type = r.resource_type
WHERE r.standing = 'super'
GROUP BY r.standing, r.principal_class, r.resource_type, r.ruleset_id, m.principal""",
    "host_tried": """\
SELECT host FROM (
SELECT host, row_number() OVER (ORDER BY hash($seed, host), host) AS nth FROM host
) AS numbered WHERE nth <= $tried OR host = $any_other""",
    "of_any_other": """\
SELECT DISTINCT ruleset_id, operation FROM drawn_ruling WHERE host = $any_other""",
    "taken_host": """\
SELECT g.ruleset_id, g.operation, g.host
FROM explain_ruling g
JOIN of_any_other d ON d.ruleset_id = g.ruleset_id AND d.operation = g.operation
WHERE g.host <> $any_other""",
    # A ruling of any other host answers for a host that has none of its own.
    "host_of_any_other": """\
SELECT d.ruleset_id, d.operation,
       min_by(h.host, hash($seed, d.ruleset_id, d.operation, h.host)) AS asked_host
FROM of_any_other d
CROSS JOIN host_tried h
LEFT JOIN taken_host g ON g.ruleset_id = d.ruleset_id AND g.operation = d.operation
 AND g.host = h.host
WHERE g.host IS NULL
GROUP BY d.ruleset_id, d.operation""",
    "cell": """\
SELECT concat('cell ', row_number() OVER (ORDER BY d.ruleset_id, d.operation, d.host, p.principal,
       p.resource_type, p.resource_name)) AS cell, p.principal, d.principal_class,
       CASE WHEN d.host = $any_other THEN h.asked_host ELSE d.host END AS host,
       d.operation, p.resource_type, p.resource_name, d.ruleset_id
FROM drawn_ruling d
JOIN (SELECT * FROM own_pair UNION ALL SELECT * FROM pair_of_class
      UNION ALL SELECT * FROM pair_of_super_user) p
  ON p.standing = d.standing AND p.principal_class = d.principal_class
 AND p.resource_type = d.resource_type AND p.ruleset_id = d.ruleset_id
LEFT JOIN host_of_any_other h ON h.ruleset_id = d.ruleset_id AND h.operation = d.operation
WHERE d.host <> $any_other OR h.asked_host IS NOT NULL""",
}

_ASKED: Final = {
    "ruled": _RULED,
    "stratum_least": _STRATA,
    "drawn_ruling": _RULINGS,
    "drawn_cell": _CELLS,
}
"""What is computed one after another, each from those before it."""
