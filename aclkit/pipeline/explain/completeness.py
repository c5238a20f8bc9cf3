"""The written tables → every decision counted and a sample decided again, or a failed run.

The count is exact; that a decision is also right is looked at in a sample of all kinds of
decisions (``sample``). The
tables are read by another engine than wrote them, if they can be; see ``warehouse.reader``.
"""

from __future__ import annotations

from string import Template
from typing import Final

import pyarrow as pa

from aclkit.errors import DataError
from aclkit.model.acl import ANY_OTHER, Acl, Request
from aclkit.model.enums import AclOperation
from aclkit.model.semantics import BrokerSettings
from aclkit.pipeline.explain.near import Pattern, Resource, resources_matched
from aclkit.pipeline.explain.sample import draw_cells
from aclkit.pipeline.explain.scope import Scope
from aclkit.rules.decide.broker_rescan import BrokerRescan
from aclkit.rules.decide.rules import decide
from aclkit.rules.patterns.match import names_exactly, principal_matches
from aclkit.runtime.arrow import arrow_table
from aclkit.warehouse.codecs import ACL_COLUMNS, ALIVE_SQL, acl_of
from aclkit.warehouse.reader import Reader
from aclkit.warehouse.views import operations_sql

Key = tuple[str, str, str]
"""A principal and a resource: its type and name."""

SAMPLE: Final = 1_000
"""How many cells of the view are decided again by the pure rule, at most."""

_KEYS: Final = {
    "principal": "principal",
    "host": "host",
    "resource": "resource_type, resource_name",
    "explain_pair": "principal, resource_type, resource_name",
    "explain_class_pair": "principal_class, resource_type, resource_name",
    "ruleset": "ruleset_id",
    "explain_ruling": "ruleset_id, host, operation",
}
READ_BACK: Final = (*_KEYS, "acl_history")
"""The tables that are looked at, and ``explain`` where it was written."""


def check_completeness(
    scope: Scope,
    written: Reader,
    settings: BrokerSettings,
    expected: int,
    *,
    is_dense: bool,
    seed: str,
) -> dict[str, int]:
    """Check the tables as written: each decision is there once, a sample equals the pure rule.

    Args:
        scope: what was asked about.
        written: the tables ``READ_BACK``.
        settings: the brokers'.
        expected: how many decisions there must be.
        is_dense: ``explain`` was written and is opened too.
        seed: decides which cells are drawn.

    Returns:
        counts for the run's row.

    Raises:
        DataError: a key twice, a ruleset without its rulings, a pair without its ruleset, or a
            drawn cell that the pure rule decides differently.
    """
    written.keep("rulings_of_host", _RULINGS_OF_HOST)
    counts = _count_keys(written)
    decided = _rows_decided(written, counts["host"])
    ((acls,),) = written.rows(f"SELECT count(*) {ALIVE_SQL}")
    counts |= {"acls": acls, "rows_expected": expected, "rows_decided": decided}
    if decided != expected:
        raise DataError(f"Expected {expected:,} decisions, the written tables have {decided:,}")
    if is_dense:
        ((rows,),) = written.rows("SELECT count(decision) FROM explain")
        if rows != expected:
            raise DataError(f"Expected {expected:,} rows in explain, it has {rows:,}")
    return counts | {"cells_checked": _check_sample(scope, written, settings, seed)}


_BIT: Final = f"(1::BIGINT << list_position({list(AclOperation.__members__)}, operation))"
"""An operation as a bit, so that sets of operations are numbers; null for what is none."""

# Read once: of a large cluster's tables no other has as many rows.
_RULINGS_OF_HOST: Final = (
    f"SELECT ruleset_id, host, count(*) AS rulings, bit_or({_BIT}) AS operations, "  # noqa: S608 -- names of the contract
    f"bit_or({_BIT}) FILTER (decision IS NOT NULL) AS decided "
    "FROM explain_ruling GROUP BY ruleset_id, host"
)


def _rows_decided(written: Reader, hosts: int) -> int:
    """Count the decisions that the factored tables hold, without multiplying them out.

    A (class, resource) counts for each principal of the class and each host, and for every
    operation of the type when its ruleset has a ruling of any other host for all of them. A
    pair whose own ruleset lacks one takes its operations away again.
    """
    ((shared, broken, of_supers),) = written.rows(
        _DECIDED.substitute(operations=operations_sql(), any_other=f"'{ANY_OTHER}'", bit=_BIT)
    )
    return hosts * (int(shared or 0) - int(broken or 0) + int(of_supers or 0))


_DECIDED: Final = Template("""\
WITH operation AS ($operations),
known AS (
SELECT resource_type, count(*) AS known, bit_or($bit) AS operations
FROM operation GROUP BY resource_type
),
answered AS (
SELECT ruleset_id, decided FROM rulings_of_host WHERE host = $any_other
),
complete AS (
SELECT s.ruleset_id, k.known FROM ruleset s
JOIN answered a ON a.ruleset_id = s.ruleset_id
JOIN known k ON k.resource_type = s.resource_type AND k.operations = a.decided
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


def _count_keys(written: Reader) -> dict[str, int]:
    """Count the rows of every written table, and refuse a key that stands twice."""
    counts = {}
    for table, key in _KEYS.items():
        ((rows, told_apart),) = written.rows(_COUNTS[table])
        twice = (
            []
            if rows == told_apart
            else written.rows(
                f"SELECT {key}, count(*) FROM {table} GROUP BY {key} "  # noqa: S608 -- names of the contract
                "HAVING count(*) > 1 LIMIT 1"
            )
        )
        if twice:
            raise DataError(f"Expected one row per {key} in {table}, found {twice[0]}")
        counts[table] = int(rows)
    return counts


_COUNTS: Final = {
    table: f"SELECT count(*), count(DISTINCT hash({key})) FROM {table}"  # noqa: S608 -- names of the contract
    for table, key in _KEYS.items()
} | {
    "explain_ruling": "SELECT coalesce(sum(rulings), 0), "
    "coalesce(sum(bit_count(operations)), 0) FROM rulings_of_host"
}
"""The number of rows of a table, and of different ones: by hashes of their keys, rulings by their
operations. If both are equal, no key occurs twice; if not, two keys may have one hash, or a ruling
is of no operation."""


def _check_sample(scope: Scope, written: Reader, settings: BrokerSettings, seed: str) -> int:
    """Decide drawn cells of the view again by the pure rule; return how many."""
    cells = draw_cells(written, seed, SAMPLE)
    mine = _acls_of_pairs(scope, written, {(cell[0], cell[3], cell[4]) for cell in cells})
    rescan = BrokerRescan.of(scope.texts.patterns)
    for cell in cells:
        request = Request(**dict(zip(Request.__slots__, cell[:5], strict=True)))
        acls = mine[request.principal, request.resource_type, request.resource_name]
        is_last = rescan.wildcard_is_last(request.resource_type, request.resource_name)
        ruling = decide(acls, request, settings, scope.semantics, wildcard_is_last=is_last)
        right = (ruling.decision, ruling.rule, ruling.acl_id)
        if cell[5:] != right:
            raise DataError(f"{request}: the tables have {cell[5:]}, the rule gives {right}")
    return len(cells)


def _acls_of_pairs(scope: Scope, written: Reader, pairs: set[Key]) -> dict[Key, list[Acl]]:
    """Read the ACLs that reach each pair's resource and match its principal, without the trie.

    Of the others the rule only asks whether there are any: one stands for them.
    """
    resources = {(kind, name) for _, kind, name in pairs}
    reaching: dict[Resource, list[Pattern]] = {resource: [] for resource in resources}
    for pattern, resource in resources_matched(scope.texts.patterns, resources, scope.semantics):
        reaching[resource].append(pattern)
    acls = _acls_of(written, {pattern for found in reaching.values() for pattern in found})
    shared = [t for t in scope.texts.principals if not names_exactly(t, scope.semantics)]
    texts_of = {
        who: [t for t in {who, *shared} if principal_matches(t, who, scope.semantics)]
        for who, _, _ in pairs
    }
    found = {}
    for who, kind, name in pairs:
        near = [acls[pattern] for pattern in reaching[kind, name]]
        matching = [acl for of in near for text in texts_of[who] for acl in of.get(text, ())]
        others = [acl for of in near[:1] for same in of.values() for acl in same[:1]]
        found[who, kind, name] = matching or others[:1]
    return found


def _acls_of(written: Reader, patterns: set[Pattern]) -> dict[Pattern, dict[str, list[Acl]]]:
    """Read the ACLs alive of some patterns, by their principal text."""
    schema = pa.schema(dict.fromkeys(_PATTERN, pa.string()))
    written.give("reaching", arrow_table(sorted(patterns), schema))
    found: dict[Pattern, dict[str, list[Acl]]] = {pattern: {} for pattern in patterns}
    for row in written.rows(_REACHING):
        acl = acl_of(row)
        found[acl.pattern].setdefault(acl.principal, []).append(acl)
    return found


_PATTERN: Final = ("resource_type", "pattern_type", "resource_name")
_REACHING: Final = (
    f"SELECT {', '.join(f'h.{field}' for field in ACL_COLUMNS)} FROM acl_history h "  # noqa: S608 -- contract
    f"JOIN reaching r ON {' AND '.join(f'r.{name} = h.{name}' for name in _PATTERN)} "
    "WHERE h.removed_offset IS NULL"
)
