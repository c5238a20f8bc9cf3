"""A nightly run without news: its decisions and findings are those of the previous run.

It has a page, policies and an exit code like every nightly run: they depend on
the day, and on files that are in no table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from aclkit.audit.findings.audit_input import BROAD_SHARE
from aclkit.audit.findings.settings import find_broker_settings_differ, find_super_users_unknown
from aclkit.audit.findings.unknown import those_on_unknown
from aclkit.audit.reports.data import NightlySummary
from aclkit.audit.reports.gather import read_summary
from aclkit.audit.reports.summary_page import render_summary
from aclkit.model.broker_settings import BrokerConfig, ResolvedSettings
from aclkit.model.findings import Finding
from aclkit.nightly.policies import Policies, conclude
from aclkit.pipeline.explain.decided import MaterializeOptions, is_decided, take_inventory
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.pipeline.replay.record import ReplayResult
from aclkit.warehouse.job_run import PublishedRun, RunSettings
from aclkit.warehouse.published import deciding_run
from aclkit.warehouse.reader import open_tables
from aclkit.warehouse.run import Run, publish


@dataclass(frozen=True, slots=True, kw_only=True)
class NightlyOptions:
    """The options of a nightly run.

    Attributes:
        cluster: the cluster, where one was named.
        replay: how to replay.
        materialize: how to decide.
        policies: the team's policies for findings and decisions.
        resolved: where the settings of ``materialize`` come from.
        broad_share: the share of the topics that an ALLOW may cover without being ``over-broad``.
        maps_names: the brokers' file has ``ssl.principal.mapping.rules``.
    """

    cluster: str | None
    replay: ReplayOptions
    materialize: MaterializeOptions
    policies: Policies
    resolved: ResolvedSettings | None = None
    broad_share: float = BROAD_SHARE
    maps_names: bool = False

    @property
    def has_builder(self) -> bool:
        """Whether a principal builder or mapping rules are configured: names have any form."""
        return self.maps_names or self.materialize.given.attributes_of is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class NightlyResult:
    """What a nightly run found.

    Attributes:
        findings: all that are in force, muted ones too.
        summary: what the page shows, verdicts and exit code included.
        page: its Markdown.
        exit_code: the highest of all.
    """

    findings: tuple[Finding, ...]
    summary: NightlySummary
    page: str
    exit_code: int


def begin_deciding(run: Run, options: NightlyOptions) -> Scope:
    """Note how the settings came about, and collect what is asked about."""
    if options.resolved is not None:
        run.notes.extend(options.resolved.notes)
        run.findings.extend(find_broker_settings_differ(options.resolved))
        run.findings.extend(find_super_users_unknown(options.resolved.settings))
    return take_inventory(run, options.materialize)


def holds_decisions(run: Run, scope: Scope, options: NightlyOptions) -> bool:
    """Whether the previous run's decisions and findings still hold; then this run keeps them."""
    told, before = run.settings, run.goes_on_from()
    if before is None or options.materialize.full:
        return False
    if not _is_audited(before, run.job, told, options):
        return False
    if not is_decided(run, scope, options.materialize):
        return False
    # What was read is this run's alone.
    run.settings = replace(before.settings.updated(told), sources=told.sources)
    run.counts = {**before.counts, **run.counts, "access_changes": 0}
    run.notes.append("Nothing new since the previous run: its decisions and findings still hold.")
    run.notes.extend(those_on_unknown(before.notes))
    return True


def end_night(run: Run, replayed: ReplayResult, options: NightlyOptions) -> NightlyResult:
    """Publish, and check what is published against the policies."""
    publish(run)
    with open_tables(run.store.place.text) as (published, tables):
        found = read_summary(tables, deciding_run(published, run.cluster_id))
    summary = conclude(found, replayed.exit_code, options.policies, published)
    return NightlyResult(
        findings=found.findings,
        summary=summary,
        page=render_summary(summary),
        exit_code=summary.exit_code or 0,
    )


def _is_audited(before: PublishedRun, job: str, told: RunSettings, options: NightlyOptions) -> bool:
    """Whether the run whose decisions hold looked for findings, as this one would."""
    then = before.settings
    is_same = (
        then.broad_share == options.broad_share
        and bool(then.has_builder) == options.has_builder
        and _brokers(then) == _brokers(told)
    )
    return before.job == job and is_same


def _brokers(settings: RunSettings) -> tuple[BrokerConfig, ...] | None:
    return settings.told.brokers if settings.told is not None else None
