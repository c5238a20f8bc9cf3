"""The nightly run: replay, materialize, findings, what changed, and the page that tells it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from aclkit.audit.findings.broker_settings_differ import note_resolved
from aclkit.audit.findings.differences import note_readings
from aclkit.audit.findings.facts import BROAD_SHARE
from aclkit.audit.findings.read import audit_of
from aclkit.audit.findings.registry import find_all
from aclkit.audit.findings.unknown import find_unknown, notes_on, staying, those_on_unknown
from aclkit.audit.reports.data import NightlySummary
from aclkit.audit.reports.gather import read_summary
from aclkit.audit.reports.markdown import render_summary
from aclkit.model.broker_settings import BrokerConfig, ResolvedSettings
from aclkit.model.findings import Finding
from aclkit.model.reading import preset_words
from aclkit.nightly.policies import Policies, conclude
from aclkit.pipeline.explain.materialize import (
    MaterializeOptions,
    is_decided,
    materialize,
    take_inventory,
)
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.replay.intake import Intake
from aclkit.pipeline.replay.job import replay
from aclkit.pipeline.replay.replay import ReplayOptions
from aclkit.runtime.progress import step, tell_first
from aclkit.warehouse.job_run import PublishedRun, RunSettings
from aclkit.warehouse.published import deciding_run
from aclkit.warehouse.reader import open_tables
from aclkit.warehouse.run import Run, findings_before, publish
from aclkit.warehouse.standing import MATERIALIZING


@dataclass(frozen=True, slots=True, kw_only=True)
class NightlyOptions:
    """What the user says about a nightly run.

    Attributes:
        cluster: the cluster, where one was named.
        replay: how to replay.
        materialize: how to decide.
        policies: what the team says about findings and decisions.
        resolved: how the settings of ``materialize`` came about.
        broad_share: the share of the topics that an ALLOW may reach without being ``over-broad``.
    """

    cluster: str | None
    replay: ReplayOptions
    materialize: MaterializeOptions
    policies: Policies
    resolved: ResolvedSettings | None = None
    broad_share: float = BROAD_SHARE


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


def run_nightly(run: Run, intake: Intake, options: NightlyOptions) -> NightlyResult:
    """Replay, decide, find and compare; publish once, as one run.

    Where neither log nor settings nor inventory brought anything new, the decisions and findings
    of the run before hold, and only the ``job_run`` row is written.
    """
    tell_first(preset_words(options.materialize.semantics))
    replayed = replay(run, intake, options.cluster, options.replay)
    told, before = run.settings, run.previous(MATERIALIZING)
    if options.resolved is not None:
        note_resolved(run, options.resolved)
    scope = take_inventory(run, options.materialize)
    is_audited = before is not None and _is_audited(before, run.job, told, options.broad_share)
    if before is not None and is_audited and is_decided(run, scope, options.materialize):
        run.settings = before.settings.updated(told)
        run.counts = {**before.counts, **run.counts, "access_changes": 0}
        run.notes.append("nothing new since the run before: its decisions and findings hold")
        run.notes.extend(those_on_unknown(before.notes))
    else:
        _decide(run, scope, options)
    publish(run)
    place = run.store.place
    spark = run.store.spark if place.is_uri else None
    with open_tables(place.text, spark=spark) as (published, tables):
        found = read_summary(tables, deciding_run(published, run.cluster_id))
    local = published if spark is None else None
    summary = conclude(found, replayed.exit_code, options.policies, local)
    return NightlyResult(
        findings=found.findings,
        summary=summary,
        page=render_summary(summary),
        exit_code=summary.exit_code or 0,
    )


def _is_audited(before: PublishedRun, job: str, told: RunSettings, broad_share: float) -> bool:
    """Whether the run whose decisions hold looked for findings, as this one would."""
    then = before.settings
    is_same = then.broad_share == broad_share and _brokers(then) == _brokers(told)
    return before.job == job and is_same


def _brokers(settings: RunSettings) -> tuple[BrokerConfig, ...] | None:
    return settings.told.brokers if settings.told is not None else None


def _decide(run: Run, scope: Scope, options: NightlyOptions) -> None:
    """Decide, and look for what is wrong."""
    chosen, share = options.materialize, options.broad_share
    result = materialize(run, scope, chosen)
    note_readings(run, result, chosen.settings)
    result.output.forget()
    with step("looking for findings"):
        who = (run.store, run.cluster_id)
        audit = audit_of(*who, chosen.settings, scope.semantics, broad_share=share)
        found = find_all(audit)
        unknown = find_unknown(audit, found, find_all)
        run.findings.extend(found)
        if unknown:
            run.findings.extend(staying(unknown, findings_before(run)))
            run.notes.extend(notes_on(unknown))
    run.settings = replace(run.settings, broad_share=share)
