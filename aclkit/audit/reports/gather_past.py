"""Published runs of a cluster → the trend over them, and what the newest one changed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from typing import Final

import duckdb

from aclkit.audit.reports.data import Cause, ChangedNames, ReportedChange, TrendPoint
from aclkit.model.acl import Acl
from aclkit.model.findings import SEVERITIES
from aclkit.model.groups import grouped
from aclkit.model.resource import Resource
from aclkit.model.semantics import Semantics
from aclkit.questions.query.lifetimes import ChangeKey, read_changed_by
from aclkit.rules.patterns.match import names_exactly, principal_matches, reaches
from aclkit.warehouse.codecs import acl_of, acl_sql, behind_acl
from aclkit.warehouse.duck import Tables, fetch
from aclkit.warehouse.job_run import MATERIALIZING, PublishedRun
from aclkit.warehouse.published import run_settings
from aclkit.warehouse.views import ASKED, HOST

MOST_CHANGES: Final = 1_000
"""So many access changes are read, the largest; all are counted."""

MOST_RUNS: Final = 30
"""So many runs the trend goes back."""


def read_trend(connection: duckdb.DuckDBPyConnection, cluster_id: str) -> Iterator[TrendPoint]:
    """Yield the latest runs that decided, the oldest first.

    The findings in force after a run are its own and those of the run whose decisions it kept.
    """
    rows = fetch(connection, _RUNS, [cluster_id, list(MATERIALIZING), MOST_RUNS])
    numbers = [row[0] for row in rows]
    found: dict[int, dict[str, int]] = {number: dict.fromkeys(SEVERITIES, 0) for number in numbers}
    for number, severity, count in fetch(connection, _FOUND, [cluster_id, numbers]):
        found[number][severity] = count
    moved = {run_id: both for run_id, *both in fetch(connection, _MOVED, [cluster_id])}
    for number, run_id, started_at, seconds, status, acls in reversed(rows):
        gained, lost = moved.get(run_id, (0, 0))
        yield TrendPoint(
            run_number=number,
            started_at=started_at.replace(tzinfo=UTC),
            seconds=seconds,
            status=status,
            acls=acls,
            findings=found[number],
            gained=gained,
            lost=lost,
        )


def read_changes(tables: Tables, run: PublishedRun) -> tuple[tuple[ReportedChange, ...], int]:
    """Read the largest access changes of a run, and how many there are in all."""
    place = [run.cluster_id, run.run_id]
    ((number,),) = fetch(tables, _COUNT, place)
    rows = fetch(tables, _CHANGES, [*place, MOST_CHANGES])
    offsets = sorted({offset for row in rows for offset in row[-1] or ()})
    _, semantics = run_settings(run)
    causes = _read_causes(tables, run.cluster_id, offsets)
    changes = tuple(
        ReportedChange(
            who=principal or f"all principals of class {principal_class}",
            resource=str(Resource(resource_type, name)),
            gained=gained,
            lost=lost,
            cause=cause,
            cause_offsets=tuple(at or ()),
            causes=tuple(
                cause
                for offset in at or ()
                for cause in causes.get(offset, ())
                if _may_cause(cause.acl, principal, Resource(resource_type, name), semantics)
            ),
        )
        for (
            principal, principal_class, resource_type, name, gained, lost, cause, at,
        ) in rows
    )  # fmt: skip
    return changes, number


def read_names(tables: Tables, run: PublishedRun) -> tuple[ChangedNames, ...]:
    """Read which names came with a run, and which went: they changed nobody's access."""
    found = []
    for is_new, side in ((True, "before"), (False, "after")):
        place = [run.cluster_id, run.run_id]
        ((number,),) = fetch(tables, f"SELECT count(*) {_NAMES.format(side)}", place)
        if number:
            rows = fetch(tables, _NAMED.format(_NAMES.format(side)), [*place, MOST_CHANGES])
            names = tuple(_changed_name(*row, is_new=is_new) for row in rows)
            found.append(ChangedNames(is_new=is_new, names=names, number=number))
    return tuple(found)


def _changed_name(principal: str | None, kind: str, name: str, *, is_new: bool) -> ReportedChange:
    who = f"host {name}" if principal is None and kind == HOST else principal
    return ReportedChange(
        who="" if who is None else who,
        resource=str(Resource(kind, name)) if who is None else "",
        gained=0,
        lost=0,
        cause="came" if is_new else "gone",
    )


def _may_cause(acl: Acl, principal: str | None, resource: Resource, semantics: Semantics) -> bool:
    """Whether an ACL is about a change: a transaction moves others at the same offset."""
    if not reaches(acl, resource.resource_type, resource.resource_name, semantics):
        return False
    if principal is None:
        return not names_exactly(acl.principal, semantics)
    return principal_matches(acl.principal, principal, semantics)


def _read_causes(tables: Tables, cluster_id: str, offsets: list[int]) -> dict[int, list[Cause]]:
    """Read which ACLs were added or removed at log offsets."""
    found = []
    changed_by = read_changed_by(tables, cluster_id, offsets)
    for row in fetch(tables, _CAUSES, [cluster_id, offsets] * 2):
        offset, at, what = behind_acl(row)
        at = at and at.replace(tzinfo=UTC)
        acl = acl_of(row)
        by = changed_by.get(ChangeKey(acl.acl_id, what, offset))
        found.append((offset, Cause(offset=offset, at=at, what=what, acl=acl, by=by)))
    return grouped(found)


_RUNS: Final = (
    "SELECT run_number, run_id, CAST(started_at AS TIMESTAMP), coalesce(seconds, 0), status, "
    "coalesce(counts['acls'], 0) FROM job_run WHERE cluster_id = ? "
    "AND job IN (SELECT unnest(CAST(? AS VARCHAR[]))) ORDER BY run_number DESC LIMIT ?"
)
_FOUND: Final = (
    "SELECT r.run_number, f.severity, count(DISTINCT f.fingerprint) FROM job_run r "
    "JOIN job_run d ON d.cluster_id = r.cluster_id "
    "AND d.run_number IN (r.run_number, r.counts['decided_in_run']) "
    "JOIN finding f ON f.cluster_id = d.cluster_id AND f.run_id = d.run_id "
    "WHERE r.cluster_id = ? AND r.run_number IN (SELECT unnest(CAST(? AS BIGINT[]))) GROUP BY ALL"
)
# What one run alone asked about changed nobody's access: there one ruleset is null.
_MOVED: Final = (
    "SELECT run_id, CAST(sum(gained) AS BIGINT), CAST(sum(lost) AS BIGINT) FROM access_change "
    "WHERE cluster_id = ? AND ruleset_before IS NOT NULL AND ruleset_after IS NOT NULL "
    "GROUP BY run_id"
)
_COUNT: Final = (
    "SELECT count(*) FROM access_change WHERE cluster_id = ? AND run_id = ? "
    "AND ruleset_before IS NOT NULL AND ruleset_after IS NOT NULL"
)
_NAMES: Final = (
    f"FROM access_change WHERE cluster_id = ? AND run_id = ? AND ruleset_{{0}} IS NULL "
    f"AND '{ASKED}' IN (ruleset_before, ruleset_after)"
)
_NAMED: Final = (
    "SELECT principal, resource_type, resource_name {0} "
    "ORDER BY principal IS NULL, principal, resource_type, resource_name LIMIT ?"
)
_CHANGES: Final = (
    "SELECT principal, principal_class, resource_type, resource_name, gained, lost, cause, "
    "cause_offsets FROM access_change WHERE cluster_id = ? AND run_id = ? "
    "AND ruleset_before IS NOT NULL AND ruleset_after IS NOT NULL "
    "ORDER BY gained + lost DESC, principal, resource_type, resource_name LIMIT ?"
)
_MOVED_ACLS: Final = acl_sql(
    "FROM acl_history WHERE cluster_id = ? AND {0}_offset IN (SELECT unnest(CAST(? AS BIGINT[])))",
    "{0}_offset AS moved_offset",
    "CAST({1}_at AS TIMESTAMP)",
    "'{1}'",
)
_CAUSES: Final = (
    f"{_MOVED_ACLS.format('effective', 'added')} UNION ALL "
    f"{_MOVED_ACLS.format('removed', 'removed')} ORDER BY moved_offset, acl_id"
)


def read_moved(tables: Tables, run: PublishedRun, since: int) -> tuple[list[Acl], list[Acl]]:
    """Read the ACLs that came and went from an offset on up to the head of a run."""
    until = run.head_offset or 0
    found = (
        fetch(tables, sql, [run.cluster_id, since, until]) for sql in (_CAME_BETWEEN, _WENT_BETWEEN)
    )
    came, went = ([acl_of(row) for row in rows] for rows in found)
    return came, went


_BETWEEN: Final = (
    "FROM acl_history WHERE cluster_id = ? AND {at} >= ? AND {at} < ? ORDER BY {at}, acl_id"
)
_CAME_BETWEEN: Final = acl_sql(_BETWEEN.format(at="effective_offset"))
_WENT_BETWEEN: Final = acl_sql(_BETWEEN.format(at="removed_offset"))
