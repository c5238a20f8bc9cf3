"""A published run → its summary, the record that all reports show, and a report's explorer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import duckdb

import aclkit
from aclkit.audit.findings.baseline import Judged
from aclkit.audit.findings.registry import KINDS
from aclkit.audit.reports.as_html import numbered
from aclkit.audit.reports.data import AliveAcl, Explorer, NightlySummary, NumberedRuling, RunReport
from aclkit.audit.reports.gather_past import read_changes, read_names, read_trend
from aclkit.audit.reports.reach import gather_heat, gather_principals
from aclkit.audit.reports.words import names_words
from aclkit.model.acl import ANY_OTHER
from aclkit.model.findings import (
    AUTHORIZER_LOG_MISMATCH,
    REFUSED_ACCESS,
    UNUSED_GRANT,
    Finding,
    sort_findings,
)
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.questions.query.lifetimes import ChangeKey, first_seen, read_changed_by
from aclkit.questions.query.names import read_hosts, read_resources
from aclkit.rules.decide.rules import ALLOWED
from aclkit.warehouse.codecs import acl_of, acl_sql, behind_acl, finding_of, finding_sql
from aclkit.warehouse.duck import Tables, fetch
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import Published, deciding_run, read_again
from aclkit.warehouse.views import SUPER_RULESET, sql_of

MOST_PAIRS: Final = 2_000_000
"""Up to so many principals × resources the explorer is part of a report."""

MOST_PARTS: Final = 1_250_000
"""And up to so many rows of the factored tables: about 4 MB of the page."""


def gather_explorer(
    connection: duckdb.DuckDBPyConnection, cluster_id: str, acls: Sequence[AliveAcl]
) -> tuple[Explorer | None, str]:
    """Read all decisions in their factored form; beyond the limits say why not."""
    ((principals, resources, parts),) = fetch(connection, _EXPLORER_SIZES, [cluster_id] * 5)
    if principals * resources > MOST_PAIRS or parts > MOST_PARTS:
        return None, (
            f"This cluster has {principals:,} principals × {resources:,} resources, decided by "
            f"{parts:,} rows; a report holds up to {MOST_PAIRS:,} pairs and {MOST_PARTS:,} rows. "
            "Ask the warehouse instead: aclkit who-can OPERATION RESOURCE, aclkit what-can "
            "PRINCIPAL, aclkit why PRINCIPAL OPERATION RESOURCE."
        )
    return _ExplorerReader(connection, cluster_id, acls).read(), ""


class _Numbers(dict[Any, int]):
    """Numbers names in the order in which they are first asked for."""

    def __missing__(self, key: object) -> int:
        self[key] = len(self)
        return self[key]


class _ExplorerReader:
    """Reads the factored tables of one cluster, and gives every name its number."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, cluster_id: str, acls: Sequence[AliveAcl]
    ) -> None:
        self._ask: Callable[[str], list[tuple[Any, ...]]] = lambda text: fetch(
            connection, text, [cluster_id]
        )
        self._acls = tuple(acls)
        hosts = read_hosts(connection, cluster_id)
        self._hosts = tuple(host for host in hosts if host != ANY_OTHER)
        self._resources = read_resources(connection, cluster_id)
        self._classes, self._rules = _Numbers(), _Numbers()
        self._principals = tuple(
            (name, self._classes[kind], is_super) for name, kind, is_super in self._ask(_PRINCIPALS)
        )
        self._place_of = numbered(self._resources)
        self._number_of = numbered(ruleset for (ruleset,) in self._ask(_RULESETS))
        self._acl_of = numbered(alive.acl.acl_id for alive in acls)

    def read(self) -> Explorer:
        """Read it all; hosts that no ACL names are ruled on as any other."""
        return Explorer(
            principals=self._principals,
            hosts=self._hosts,
            resources=self._resources,
            operations=OPERATIONS_OF_TYPE,
            acls=self._acls,
            rulesets=self._members(),
            rulings=self._rulings(),
            super_ruleset=self._number_of.get(SUPER_RULESET, -1),
            classes=self._class_rulesets(),
            pairs=tuple(self._pairs()),
            rules=tuple(self._rules),
        )

    def _class_rulesets(self) -> tuple[tuple[int, ...], ...]:
        """Return the ruleset of every resource for each class; -1 where there is none."""
        found = [[-1] * len(self._resources) for _ in self._classes]
        for kind, resource_type, name, ruleset in self._ask(_CLASS_PAIRS):
            place = self._place_of.get(Resource(resource_type, name))
            if kind in self._classes and place is not None:
                found[self._classes[kind]][place] = self._number_of[ruleset]
        return tuple(map(tuple, found))

    def _rulings(self) -> tuple[tuple[NumberedRuling, ...], ...]:
        """Return the rulings of each ruleset, those on any other host with -1 for the host."""
        found: list[list[NumberedRuling]] = [[] for _ in self._number_of]
        host_of = numbered(self._hosts)
        for ruleset, operation, host, decision, rule, acl_id in self._ask(_RULINGS):
            verdict = decision == ALLOWED, self._rules[rule], self._acl_of.get(acl_id, -1)
            found[self._number_of[ruleset]].append((operation, host_of.get(host, -1), *verdict))
        return tuple(map(tuple, found))

    def _members(self) -> tuple[tuple[int, ...], ...]:
        """Return the ACLs of each ruleset."""
        group_of = dict(self._ask(_GROUPS))
        members: list[tuple[int, ...]] = [()] * len(self._number_of)
        for ruleset, groups in self._ask(_MEMBERS):
            if ruleset in self._number_of:
                ids = (acl_id for group in groups for acl_id in group_of.get(group, ()))
                held = map(self._acl_of.get, ids)
                members[self._number_of[ruleset]] = tuple(sorted(p for p in held if p is not None))
        return tuple(members)

    def _pairs(self) -> list[tuple[int, int, int]]:
        """Return the pairs that a class does not answer for."""
        principal_of = numbered(name for name, _, _ in self._principals)
        return sorted(
            (principal_of[principal], self._place_of[what], self._number_of[ruleset])
            for principal, *named, ruleset in self._ask(_PAIRS)
            if principal in principal_of and (what := Resource(*named)) in self._place_of
        )


_EXPLORER_SIZES: Final = (
    "SELECT (SELECT count(*) FROM principal WHERE cluster_id = ?), "
    "(SELECT count(*) FROM resource WHERE cluster_id = ?), "
    "(SELECT count(*) FROM explain_pair WHERE cluster_id = ?) "
    "+ (SELECT count(*) FROM explain_class_pair WHERE cluster_id = ?) "
    "+ (SELECT count(*) FROM explain_ruling WHERE cluster_id = ?)"
)
_PRINCIPALS: Final = (
    "SELECT principal, principal_class, coalesce(is_super_user, false) FROM principal "
    "WHERE cluster_id = ? ORDER BY principal"
)
_RULESETS: Final = (
    "SELECT DISTINCT ruleset_id FROM explain_ruling WHERE cluster_id = ? ORDER BY ruleset_id"
)
_CLASS_PAIRS: Final = (
    "SELECT principal_class, resource_type, resource_name, ruleset_id FROM explain_class_pair "
    "WHERE cluster_id = ?"
)
_PAIRS: Final = (
    "SELECT principal, resource_type, resource_name, ruleset_id FROM explain_pair "
    "WHERE cluster_id = ?"
)
_RULINGS: Final = (
    "SELECT ruleset_id, operation, host, decision, rule, deciding_acl_id FROM explain_ruling "
    "WHERE cluster_id = ? ORDER BY ruleset_id, operation, host"
)
_GROUPS: Final = "SELECT group_id, acl_ids FROM ruleset_group WHERE cluster_id = ?"
_MEMBERS: Final = "SELECT ruleset_id, group_ids FROM ruleset WHERE cluster_id = ?"


Judge = Callable[[Iterable[Finding]], Iterable[Judged]]
"""What says the states of findings: ``audit.baseline.classify``, given all but the findings."""

_AUDITING: Final = "run"
"""The job that looks for findings of every kind, those of ``usage`` aside."""
_OF_USAGE: Final = {UNUSED_GRANT.id, AUTHORIZER_LOG_MISMATCH.id, REFUSED_ACCESS.id}


def gather(
    connection: duckdb.DuckDBPyConnection,
    published: Published,
    summary: NightlySummary,
    *,
    now: datetime | None = None,
    has_access: bool = True,
) -> RunReport:
    """Read what reports show beside the summary of the newest run that decided.

    Args:
        connection: see ``duck.connect``, over all tables.
        published: the warehouse.
        summary: the run, see ``read_summary``.
        now: the time of the report.
        has_access: read what only HTML shows too: principals, the heat map and the explorer.

    Raises:
        UsageError: nothing was decided yet.
    """
    cluster_id, now = summary.cluster_id, now or datetime.now(UTC)
    run = deciding_run(published, cluster_id)
    acls = read_acls(connection, run)
    head = published.last_run(cluster_id).head_offset
    behind = {acl_id for finding, _ in summary.listed for acl_id in finding.acl_ids}
    report = RunReport(
        summary=summary,
        version=aclkit.__version__,
        made_at=now,
        finished_at=run.finished_at.replace(tzinfo=UTC) if run.finished_at else now,
        log_head=summary.head_offset if head is None else head,
        is_read_again=read_again(published, run) is not None,
        kinds=tuple(sorted(set(KINDS) - _OF_USAGE)) if run.job == _AUDITING else (),
        acls=_with_by(connection, cluster_id, (a for a in acls if a.acl.acl_id in behind)),
        trend=tuple(read_trend(connection, cluster_id)),
    )
    if not has_access:
        return report
    explorer, note = gather_explorer(connection, cluster_id, acls)
    heat = gather_heat(connection, cluster_id)
    return replace(
        report,
        since=first_seen(connection, cluster_id, (finding for finding, _ in summary.listed)),
        principals=gather_principals(connection, run, summary.findings),
        heat=heat,
        explorer=explorer,
        explorer_note=note,
    )


def read_acls(connection: duckdb.DuckDBPyConnection, run: PublishedRun) -> list[AliveAcl]:
    """Read the ACLs by which a run decided, with the record that added each."""
    rows = fetch(connection, _ACLS, [run.cluster_id, *[run.head_offset] * 3])
    added = ((acl_of(row), *behind_acl(row)) for row in rows)
    return [
        AliveAcl(acl=acl, added_offset=offset, added_at=at and at.replace(tzinfo=UTC))
        for acl, offset, at in added
    ]


def _with_by(
    connection: duckdb.DuckDBPyConnection, cluster_id: str, acls: Iterable[AliveAcl]
) -> dict[str, AliveAcl]:
    """Return ACLs by id, each with who may have added it, as far as that is known."""
    found = list(acls)
    by = read_changed_by(connection, cluster_id, (alive.added_offset for alive in found))
    return {
        alive.acl.acl_id: replace(
            alive, by=by.get(ChangeKey(alive.acl.acl_id, "added", alive.added_offset))
        )
        for alive in found
    }


def read_summary(tables: Tables, run: PublishedRun, judge: Judge | None = None) -> NightlySummary:
    """Read what a run that decided has published; what it ended with is not kept.

    Args:
        tables: see ``opening.open_tables``.
        run: the newest that decided.
        judge: what says the states of the findings, where there is a baseline or a mute.
    """
    cluster_id = run.cluster_id
    ((principals, hosts, resources),) = fetch(tables, _SIZES, [cluster_id] * 3)
    changes, number = read_changes(tables, run)
    names = read_names(tables, run)
    unaudited = () if run.job == _AUDITING else (_NOT_AUDITED,)
    summary = NightlySummary(
        cluster_id=cluster_id,
        run_id=run.run_id,
        started_at=run.began,
        seconds=run.seconds or 0.0,
        status=run.status,
        head_offset=run.head_offset or 0,
        acls=run.counts.get("acls", 0),
        principals=principals,
        hosts=hosts,
        resources=resources,
        rows_expected=run.counts.get("rows_expected", 0),
        rows_decided=run.counts.get("rows_decided", 0),
        notes=(*run.notes, *map(names_words, names), *unaudited),
        findings=tuple(sort_findings(map(finding_of, fetch(tables, _FINDINGS, [cluster_id])))),
        changes=changes,
        access_changes=number,
        names=names,
        exit_code=None,
        known_before=_known_before(tables, run),
    )
    return summary if judge is None else summary.with_states(judge(summary.findings))


def _known_before(tables: Tables, run: PublishedRun) -> frozenset[str] | None:
    """Read which findings were in force before a run; None where none looked for any."""
    if not fetch(tables, _AUDITED_BEFORE, [run.cluster_id, _AUDITING, run.run_number]):
        return None
    earlier = f"(SELECT * FROM job_run WHERE run_number < {run.run_number:d})"  # noqa: S608 -- a number
    in_force = sql_of("finding_current", {"job_run": earlier})
    rows = fetch(tables, finding_sql(f"FROM ({in_force}) WHERE cluster_id = ?"), [run.cluster_id])
    return frozenset(finding_of(row).fingerprint for row in rows)


_FINDINGS: Final = finding_sql("FROM finding_current WHERE cluster_id = ?")
_AUDITED_BEFORE: Final = (
    "SELECT 1 FROM job_run WHERE cluster_id = ? AND job = ? AND run_number < ? LIMIT 1"
)
_NOT_AUDITED: Final = "this run only decided; aclkit run looks for findings too"
_SIZES: Final = (
    "SELECT (SELECT count(*) FROM principal WHERE cluster_id = ?), "
    "(SELECT count(*) FROM host WHERE cluster_id = ?), "
    "(SELECT count(*) FROM resource WHERE cluster_id = ?)"
)
_ACLS: Final = acl_sql(
    "FROM acl_history WHERE cluster_id = ? AND (? IS NULL OR (effective_offset < ? "
    "AND (removed_offset IS NULL OR removed_offset >= ?))) "
    "ORDER BY resource_type, resource_name, pattern_type, principal, acl_id",
    "added_offset",
    "CAST(added_at AS TIMESTAMP)",
)
