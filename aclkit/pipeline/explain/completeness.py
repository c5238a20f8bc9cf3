"""The written tables → proof that every decision is there and right, or a failed run.

The tables are read back with SQL that both engines speak; see ``aclkit.warehouse.readback``.
"""

from __future__ import annotations

import random
from collections import defaultdict
from string import Template
from typing import Final

import pyarrow as pa

from aclkit.errors import DataError
from aclkit.model.acl import ANY_OTHER, Acl, Request
from aclkit.model.semantics import BrokerSettings
from aclkit.pipeline.explain.scope import Scope
from aclkit.rules.decide.broker_rescan import BrokerRescan
from aclkit.rules.decide.rules import decide
from aclkit.rules.patterns.match import pattern_matches, principal_matches
from aclkit.warehouse.codecs import ACL_COLUMNS, acl_of, behind_acl
from aclkit.warehouse.readback import Readback
from aclkit.warehouse.views import EXPLAIN_TABLES, explain_sql, operations_sql

SAMPLE: Final = 1_000
"""How many cells of the view are decided again by the pure rule."""

_KEYS: Final = {
    "principal": "principal",
    "host": "host",
    "resource": "resource_type, resource_name",
    "explain_pair": "principal, resource_type, resource_name",
    "explain_class_pair": "principal_class, resource_type, resource_name",
    "ruleset": "ruleset_id",
    "explain_ruling": "ruleset_id, host, operation",
}
_SAMPLED: Final = {"principal": 16, "host": 8, "resource": 6}
"""How many of each the cells are drawn from."""


READ_BACK: Final = (*_KEYS, "acl_history")
"""The tables that are looked at, and ``explain`` where it was written."""


def check_completeness(
    scope: Scope, written: Readback, settings: BrokerSettings, expected: int, *, is_dense: bool
) -> dict[str, int]:
    """Look at the tables as they were written: every decision once, a sample by the pure rule.

    Args:
        scope: what was asked about.
        written: the tables ``READ_BACK``.
        settings: the brokers'.
        expected: how many decisions there must be.
        is_dense: ``explain`` was written and is opened too.

    Returns:
        counts for the run's row.

    Raises:
        DataError: a key twice, a ruleset without its rulings, a pair without its ruleset, or a
            cell that the pure rule decides otherwise.
    """
    counts = _count_keys(written)
    decided = rows_decided(written, counts["host"])
    ((acls,),) = written.rows("SELECT count(*) FROM acl_history WHERE removed_offset IS NULL")
    counts |= {"acls": acls, "rows_expected": expected, "rows_decided": decided}
    if decided != expected:
        raise DataError(f"expected {expected:,} decisions, the written tables hold {decided:,}")
    if is_dense:
        ((rows,),) = written.rows("SELECT count(decision) FROM explain")
        if rows != expected:
            raise DataError(f"expected {expected:,} rows in explain, it holds {rows:,}")
    return counts | {"cells_checked": _check_sample(scope, written, settings)}


def rows_decided(written: Readback, hosts: int) -> int:
    """Count the decisions that the factored tables hold, without multiplying them out.

    A (class, resource) counts for each principal of the class and each host, and for every
    operation of the type when its ruleset has a ruling of any other host for all of them. A
    pair whose own ruleset lacks one takes its operations away again.
    """
    ((shared, broken, of_supers),) = written.rows(
        _DECIDED.substitute(operations=operations_sql(), any_other=f"'{ANY_OTHER}'")
    )
    return hosts * (int(shared or 0) - int(broken or 0) + int(of_supers or 0))


_DECIDED: Final = Template("""\
WITH operation AS ($operations),
known AS (SELECT resource_type, count(*) AS known FROM operation GROUP BY resource_type),
answered AS (
SELECT ruleset_id, count(*) AS answers FROM explain_ruling
WHERE host = $any_other AND decision IS NOT NULL GROUP BY ruleset_id
),
complete AS (
SELECT s.ruleset_id, k.known FROM ruleset s
JOIN answered a ON a.ruleset_id = s.ruleset_id
JOIN known k ON k.resource_type = s.resource_type AND k.known = a.answers
),
member AS (
SELECT principal_class, count(*) AS members FROM principal
WHERE NOT is_super_user GROUP BY principal_class
)
SELECT
(SELECT sum(m.members * c.known) FROM explain_class_pair p
 JOIN complete c ON c.ruleset_id = p.ruleset_id
 JOIN member m ON m.principal_class = p.principal_class) AS shared,
(SELECT sum(k.known) FROM explain_pair p JOIN known k ON k.resource_type = p.resource_type
 LEFT JOIN complete c ON c.ruleset_id = p.ruleset_id WHERE c.ruleset_id IS NULL) AS broken,
(SELECT count(*) FROM principal p CROSS JOIN resource r
 JOIN operation o ON o.resource_type = r.resource_type
 JOIN explain_ruling g ON g.ruleset_id = 'super' AND g.operation = o.operation
 WHERE p.is_super_user AND g.host = $any_other) AS of_supers""")


def _count_keys(written: Readback) -> dict[str, int]:
    """Count the rows of every written table, and refuse a key that stands twice."""
    counts = {}
    for table, key in _KEYS.items():
        ((rows, keys),) = written.rows(
            f"SELECT (SELECT count(*) FROM {table}), "  # noqa: S608 -- names of the contract
            f"(SELECT count(*) FROM (SELECT {key} FROM {table} GROUP BY {key}) AS k)"
        )
        if rows != keys:
            twice = written.rows(
                f"SELECT {key}, count(*) FROM {table} GROUP BY {key} "  # noqa: S608 -- names of the contract
                "HAVING count(*) > 1 LIMIT 1"
            )
            raise DataError(f"expected one row per {key} in {table}, found {twice[0]}")
        counts[table] = int(rows)
    return counts


def _check_sample(scope: Scope, written: Readback, settings: BrokerSettings) -> int:
    """Decide random cells of the view again by the pure rule; return how many."""
    names: dict[str, str] = {}
    for table in EXPLAIN_TABLES:
        few = _SAMPLED.get(table)
        names[table] = (
            f"(SELECT * FROM {table} ORDER BY random() LIMIT {few})"  # noqa: S608 -- names of the contract
            if few
            else table
        )
    columns = (*Request.__slots__, "decision", "rule", "deciding_acl_id")
    cells = written.rows(f"SELECT {', '.join(columns)} FROM ({explain_sql(names)}) AS cell")  # noqa: S608 -- names of the contract
    cells = random.sample(cells, min(SAMPLE, len(cells)))
    near = _acls_reaching(scope, written, {(cell[3], cell[4]) for cell in cells})
    mine: dict[tuple[str, str, str], list[Acl]] = {}
    rescan = BrokerRescan.of(scope.texts.patterns)
    for cell in cells:
        request = Request(**dict(zip(Request.__slots__, cell[:5], strict=True)))
        key = (request.principal, request.resource_type, request.resource_name)
        if key not in mine:
            mine[key] = _that_matter(near[key[1:]], request.principal, scope)
        is_last = rescan.wildcard_is_last(request.resource_type, request.resource_name)
        ruling = decide(mine[key], request, settings, scope.semantics, wildcard_is_last=is_last)
        right = (ruling.decision, ruling.rule, ruling.acl_id)
        if cell[5:] != right:
            raise DataError(f"{request}: the tables say {cell[5:]}, the rule says {right}")
    return len(cells)


def _that_matter(near: list[Acl], principal: str, scope: Scope) -> list[Acl]:
    """Keep the ACLs of a resource that match a principal.

    Of the others the rule only asks whether there are any: one stands for them.
    """
    matching = [acl for acl in near if principal_matches(acl.principal, principal, scope.semantics)]
    return matching or near[:1]


def _acls_reaching(
    scope: Scope, written: Readback, resources: set[tuple[str, str]]
) -> dict[tuple[str, str], list[Acl]]:
    """Read the ACLs that reach each resource, by the specification and not the index."""
    reaching = [
        (*resource, kind, pattern)
        for resource in sorted(resources)
        for of_type, kind, pattern in scope.texts.patterns
        if of_type == resource[0] and pattern_matches(kind, pattern, resource[1], scope.semantics)
    ]
    fields = ("resource_type", "name", "pattern_type", "pattern")
    columns = zip(*reaching, strict=True) if reaching else ([], [], [], [])
    written.give(
        "reaching",
        pa.table(dict(zip(fields, (pa.array(list(c), pa.string()) for c in columns), strict=True))),
    )
    found: defaultdict[tuple[str, str], list[Acl]] = defaultdict(list)
    for row in written.rows(
        f"SELECT {', '.join(f'h.{field}' for field in ACL_COLUMNS)}, r.name "  # noqa: S608 -- names of the contract
        "FROM acl_history h JOIN reaching r ON r.resource_type = h.resource_type "
        "AND r.pattern_type = h.pattern_type AND r.pattern = h.resource_name "
        "WHERE h.removed_offset IS NULL"
    ):
        one, (name,) = acl_of(row), behind_acl(row)
        found[one.resource_type, name].append(one)
    return found
