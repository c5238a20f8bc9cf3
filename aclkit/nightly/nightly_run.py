"""The nightly run: replay, materialize, findings, what changed, and the page that tells it."""

from __future__ import annotations

from dataclasses import replace

from aclkit.audit.findings.differences import note_readings
from aclkit.audit.findings.read import audit_of
from aclkit.audit.findings.registry import find_all
from aclkit.audit.findings.settings import find_reading_changed
from aclkit.audit.findings.unknown import find_unknown, notes_on, staying
from aclkit.nightly.unchanged_run import (
    NightlyOptions,
    NightlyResult,
    begin_deciding,
    end_night,
    holds_decisions,
)
from aclkit.pipeline.explain.materialize import materialize
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.replay.again import replay_again
from aclkit.pipeline.replay.intake import Intake
from aclkit.pipeline.replay.job import replay
from aclkit.runtime.progress import step
from aclkit.warehouse.run import Run, findings_before


def run_nightly(run: Run, intake: Intake, options: NightlyOptions) -> NightlyResult:
    """Replay, decide, find and compare; publish once, as one run.

    Where log, settings and inventory contain nothing new, the decisions and findings of the
    previous run still hold, and only the ``job_run`` row is written.
    """
    if run.rebuilt is not None:
        replay_again(run)
    replayed = replay(run, intake, options.cluster, options.replay)
    if run.rebuilt is not None:
        run.notes.extend(run.rebuilt.notes(run.store.runs, run.cluster_id))
    scope = begin_deciding(run, options)
    if not holds_decisions(run, scope, options):
        _decide(run, scope, options)
    return end_night(run, replayed, options)


def _decide(run: Run, scope: Scope, options: NightlyOptions) -> None:
    """Decide, and look for what is wrong."""
    chosen, share = options.materialize, options.broad_share
    result = materialize(run, scope, chosen)
    run.findings.extend(find_reading_changed(run))
    note_readings(run, result, chosen)
    with step("Looking for findings"):
        who = (run.store, run.cluster_id)
        audit = audit_of(
            *who,
            chosen.settings,
            scope.semantics,
            broad_share=share,
            has_builder=options.has_builder,
        )
        found = find_all(audit)
        unknown = find_unknown(audit, found, find_all)
        run.findings.extend(found)
        if unknown:
            run.findings.extend(staying(unknown, findings_before(run)))
            run.notes.extend(notes_on(unknown))
    run.settings = replace(run.settings, broad_share=share, has_builder=options.has_builder)
