"""Published decisions of a cluster → how far each principal reaches.

On how many topics it can do what, and how much of each group of topics it may use.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC
from typing import Final

from aclkit.audit.reports.data import HeatMap, ReportedPrincipal
from aclkit.model.acl import ANY_OTHER, Acl
from aclkit.model.findings import Finding
from aclkit.model.operation import OPERATIONS_OF_TYPE, USE_OF_OPERATION, USES
from aclkit.warehouse.acls_in_force import acls_in_force
from aclkit.warehouse.duck import Tables, fetch
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.views import SUPER_RULESET, pair_ruleset_sql

_ADMINISTER, _WRITE, _READ = "administer", "write", "read"
_PURPOSES: Final = {
    **{
        operation: _ADMINISTER
        for operation in OPERATIONS_OF_TYPE["TOPIC"]
        if USE_OF_OPERATION[operation] == _ADMINISTER
    },
    "WRITE": _WRITE,
    # Who can DESCRIBE a topic reads none of its records.
    "READ": _READ,
}


def gather_principals(
    tables: Tables, run: PublishedRun, findings: Collection[Finding]
) -> tuple[ReportedPrincipal, ...]:
    """Read all principals, those that administer, write and read most topics first.

    Args:
        tables: the tables.
        run: the run that decided.
        findings: those in force.
    """
    topics = _topics(tables, run.cluster_id)
    offset = _END if run.head_offset is None else run.head_offset
    acls = {name: known for name, *known in fetch(tables, _ACLS, [offset, run.cluster_id])}
    behind = acls_behind(tables, run, findings)
    numbers = Counter(name for each in findings for name in principals_of(each, behind))
    found = []
    for name, is_super in fetch(tables, _PRINCIPALS, [run.cluster_id]):
        denies, changed_at = acls.get(name, (0, None))
        found.append(
            ReportedPrincipal(
                name=name,
                is_super=is_super,
                administers=topics[name].get(_ADMINISTER, 0),
                writes=topics[name].get(_WRITE, 0),
                reads=topics[name].get(_READ, 0),
                denies=denies,
                findings=numbers[name],
                changed_at=changed_at and changed_at.replace(tzinfo=UTC),
            )
        )
    found.sort(key=lambda each: (-each.administers, -each.writes, -each.reads, each.name))
    return tuple(found)


def _topics(tables: Tables, cluster_id: str) -> Mapping[str, Mapping[str, int]]:
    """Count for each principal the topics that it can administer, write and read."""
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    asked = [
        list(_PURPOSES), list(_PURPOSES.values()), *[cluster_id] * 2, ANY_OTHER,
        *[cluster_id] * 3, SUPER_RULESET,
    ]  # fmt: skip
    for principal, purpose, number in fetch(tables, _TOPICS, asked):
        found[principal][purpose] = number
    return found


def principals_of(finding: Finding, acls: Mapping[str, Acl]) -> frozenset[str]:
    """Return the principals that a finding is about: those that its ACLs name, or its subject."""
    named = {acls[acl_id].principal for acl_id in finding.acl_ids if acl_id in acls}
    return frozenset(named | {finding.subject})


def acls_behind(
    tables: Tables, run: PublishedRun, findings: Iterable[Finding]
) -> Mapping[str, Acl]:
    """Read the ACLs behind findings, by id."""
    ids = sorted({acl_id for finding in findings for acl_id in finding.acl_ids})
    return {str(acl_id): acl for acl_id, acl in acls_in_force(tables, run, ids).items()}


_PRINCIPALS: Final = (
    "SELECT principal, coalesce(is_super_user, false) FROM principal WHERE cluster_id = ?"
)
# What a class has is counted once for all of its principals: then what pairs of their own change.
_TOPICS: Final = (
    "WITH purpose AS (SELECT unnest(CAST(? AS VARCHAR[])) AS operation, "
    "unnest(CAST(? AS VARCHAR[])) AS purpose), "
    "open AS (SELECT DISTINCT ruleset_id, purpose FROM explain_ruling "
    "JOIN purpose USING (operation) WHERE cluster_id = ? AND decision = 'ALLOWED'), "
    "topic AS (SELECT resource_name FROM resource WHERE cluster_id = ? "
    "AND resource_type = 'TOPIC' AND resource_name <> ?), "
    "of_class AS (SELECT principal_class, resource_name, purpose FROM explain_class_pair "
    "JOIN topic USING (resource_name) JOIN open USING (ruleset_id) "
    "WHERE cluster_id = ? AND resource_type = 'TOPIC'), "
    "person AS (SELECT principal, principal_class, coalesce(is_super_user, false) AS is_super "
    "FROM principal WHERE cluster_id = ?), "
    "own AS (SELECT principal, principal_class, resource_name, ruleset_id FROM explain_pair "
    "JOIN person USING (principal) JOIN topic USING (resource_name) "
    "WHERE cluster_id = ? AND resource_type = 'TOPIC' AND NOT is_super), "
    "shared AS (SELECT principal_class, purpose, count(*) AS topics FROM of_class GROUP BY ALL), "
    "counted AS (SELECT principal, purpose, topics "
    "FROM person JOIN shared USING (principal_class) WHERE NOT is_super "
    "UNION ALL SELECT principal, purpose, -count(*) "
    "FROM own JOIN of_class USING (principal_class, resource_name) GROUP BY ALL "
    "UNION ALL SELECT principal, purpose, count(*) FROM own JOIN open USING (ruleset_id) "
    "GROUP BY ALL "
    "UNION ALL SELECT principal, purpose, (SELECT count(*) FROM topic) FROM person, open "
    "WHERE is_super AND ruleset_id = ?) "
    "SELECT principal, purpose, CAST(sum(topics) AS BIGINT) FROM counted GROUP BY ALL"
)
_END: Final = 2**63 - 1
_ACLS: Final = (
    "WITH head AS (SELECT CAST(? AS BIGINT) AS at), "
    "moved AS (SELECT principal, permission_type, "
    "coalesce(removed_offset < head.at, false) AS is_gone, "
    "CAST(added_at AS TIMESTAMP) AS added_at, "
    "CASE WHEN is_gone THEN CAST(removed_at AS TIMESTAMP) END AS removed_at "
    "FROM acl_history, head WHERE cluster_id = ? AND effective_offset < head.at) "
    "SELECT principal, count(*) FILTER (permission_type = 'DENY' AND NOT is_gone), "
    "greatest(max(added_at), max(removed_at)) FROM moved GROUP BY principal"
)


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
