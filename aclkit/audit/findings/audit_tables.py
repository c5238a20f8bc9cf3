"""The tables of a run → what its audit looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from aclkit.audit.findings.audit_input import BROAD_SHARE, AuditInput, Life
from aclkit.audit.findings.denies import has_denies, with_openings
from aclkit.model.acl import Acl
from aclkit.model.findings import Finding, sort_findings
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.warehouse.codecs import (
    ALIVE_SQL,
    BROKERS_SQL,
    acl_of,
    acl_sql,
    behind_acl,
    brokers_of,
    finding_of,
    finding_sql,
)
from aclkit.warehouse.duck import Tables, fetch
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import Published, run_settings, unread_parts
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.run import Run
from aclkit.warehouse.store import Store

AUDITED: Final = (
    "acl_history", "resource_lifetime", "principal_lifetime", "principal", "resource", "broker",
)  # fmt: skip
"""The tables that ``audit_of`` asks, under their own names."""


def audit_of(
    store: Store,
    cluster_id: str,
    settings: BrokerSettings,
    semantics: Semantics,
    *,
    broad_share: float = BROAD_SHARE,
    has_builder: bool = False,
    unread: Iterable[str] = (),
) -> AuditInput:
    """Read the ACLs alive, lifetimes, inventory and brokers of a cluster, as this run wrote them.

    Args:
        store: has ``AUDITED``.
        cluster_id: the cluster.
        settings: super users and allow.everyone.
        semantics: how ACLs are read.
        broad_share: the share of the topics that more than is broad.
        has_builder: see ``AuditInput``.
        unread: see ``AuditInput``.
    """
    with read_written(store, cluster_id, *AUDITED) as tables:
        audit = _audit(lambda sql: tables.rows(sql, cluster_id), settings, semantics)
    return replace(
        audit, broad_share=broad_share, has_builder=has_builder, unread=frozenset(unread)
    )


def acls_of(store: Store, cluster_id: str) -> list[Acl]:
    """Read the ACLs alive of a cluster, as this run wrote them."""
    with read_written(store, cluster_id, "acl_history") as tables:
        return [acl_of(row) for row in tables.rows(_ACLS, cluster_id)]


def show_openings(run: Run, settings: BrokerSettings, semantics: Semantics) -> None:
    """Have the fix of each finding of a run about DENYs show what is allowed without these."""
    acls = acls_of(run.store, run.cluster_id) if run.findings else []
    if has_denies(run.findings, acls):
        audit = AuditInput(acls=acls, settings=settings, semantics=semantics)
        run.findings[:] = with_openings(sort_findings(run.findings), audit)


def audit_published(tables: Tables, published: Published, run: PublishedRun) -> AuditInput:
    """Read the same of a published warehouse, where its newest tables stand.

    Args:
        tables: has ``AUDITED``; see ``reader.open_tables``.
        published: the warehouse.
        run: the run whose decisions are published.
    """
    share = run.settings.broad_share
    return replace(
        _audit(lambda sql: fetch(tables, sql, [run.cluster_id]), *run_settings(run)),
        broad_share=BROAD_SHARE if share is None else share,
        has_builder=bool(run.settings.has_builder),
        unread=unread_parts(published, run),
    )


def read_findings(tables: Tables, run: PublishedRun) -> list[Finding] | None:
    """Read what was found in the published state; None where that run looked for nothing."""
    if run.settings.broad_share is None:
        return None
    return [finding_of(row) for row in fetch(tables, _FOUND, [run.cluster_id])]


_FOUND: Final = finding_sql("FROM finding_current WHERE cluster_id = ?")


def _audit(ask: Ask, settings: BrokerSettings, semantics: Semantics) -> AuditInput:
    """Make the input of an audit; each question to the tables is about one cluster."""
    rows = ask(_ACLS)
    acls = list(map(acl_of, rows))
    return AuditInput(
        acls=acls,
        semantics=semantics,
        settings=settings,
        topics=tuple(_lives(ask, _TOPICS)),
        users=tuple(_lives(ask, _USERS)),
        listed_topics=_names(ask, _LISTED_TOPICS),
        listed_principals=_names(ask, _LISTED_PRINCIPALS),
        asked_principals=sorted(_names(ask, _ASKED_PRINCIPALS)),
        resource_count=ask(_RESOURCES)[0][0],
        added_offsets={acl.acl_id: behind_acl(row)[0] for row, acl in zip(rows, acls, strict=True)},
        brokers=brokers_of(ask(f"{BROKERS_SQL}WHERE cluster_id = ?")).brokers,
    )


def _lives(ask: Ask, sql: str) -> Iterator[Life]:
    for name, first, last, topic_id in ask(sql):
        yield Life(name=name, first_offset=first, last_offset=last, topic_id=topic_id or "")


def _names(ask: Ask, sql: str) -> frozenset[str]:
    return frozenset(row[0] for row in ask(sql))


Ask = Callable[[str], Sequence[Sequence[Any]]]
"""Asks a SELECT with one ``?``, the cluster."""

_ACLS: Final = acl_sql(f"{ALIVE_SQL} AND cluster_id = ? ORDER BY acl_id", "added_offset")
_TOPICS: Final = (
    "SELECT resource_name, first_offset, last_offset, topic_id FROM resource_lifetime "
    "WHERE cluster_id = ? AND resource_type = 'TOPIC' ORDER BY resource_name, first_offset"
)
_USERS: Final = (
    # An owner of tokens is a user as long as it has some; that it has none is no deletion.
    "SELECT principal, first_offset, last_offset, NULL FROM principal_lifetime "
    "WHERE cluster_id = ? AND (last_offset IS NULL OR mechanism <> 'DELEGATION_TOKEN') "
    "ORDER BY principal, first_offset"
)
_LISTED_TOPICS: Final = (
    "SELECT resource_name FROM resource "
    "WHERE cluster_id = ? AND resource_type = 'TOPIC' AND origin = 'file'"
)
_LISTED_PRINCIPALS: Final = (
    "SELECT principal FROM principal WHERE cluster_id = ? AND origin = 'file'"
)
_ASKED_PRINCIPALS: Final = (
    "SELECT principal FROM principal WHERE cluster_id = ? AND NOT is_any_other"
)
_RESOURCES: Final = "SELECT count(*) FROM resource WHERE cluster_id = ? AND NOT is_any_other"
