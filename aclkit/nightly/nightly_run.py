"""The nightly run: replay, materialize, findings, what changed, and the page that tells it.

Without news its decisions and findings are those of the previous run. Then too it has a page,
policies and an exit code: they depend on the day, and on files that are in no table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from aclkit.audit.findings.audit_input import BROAD_SHARE
from aclkit.audit.findings.audit_tables import acls_of, audit_of, show_openings
from aclkit.audit.findings.by_hand import REMOVED_WITHIN, Automation, find_by_hand
from aclkit.audit.findings.differences import note_readings
from aclkit.audit.findings.drift import DesiredFiles
from aclkit.audit.findings.leases import Leases
from aclkit.audit.findings.readings import (
    find_broker_settings_differ,
    find_reading_changed,
    find_super_users_unknown,
)
from aclkit.audit.findings.registry import find_all
from aclkit.audit.findings.rights import find_missing_rights, hidden_parts
from aclkit.audit.findings.unknown import find_unknown, notes_on, staying, those_on_unknown
from aclkit.audit.reports.data import NightlySummary
from aclkit.audit.reports.gather import read_summary
from aclkit.audit.reports.summary_page import render_summary
from aclkit.model.broker_settings import ResolvedSettings
from aclkit.model.findings import Finding
from aclkit.model.unread import HIDDEN
from aclkit.nightly.policies import Policies, conclude
from aclkit.pipeline.explain.decided import (
    MaterializeOptions,
    is_decided,
    take_inventory,
    unread_by,
)
from aclkit.pipeline.explain.materialize import materialize
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.replay.again import replay_again
from aclkit.pipeline.replay.intake import Intake
from aclkit.pipeline.replay.job import replay
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.pipeline.replay.record import ReplayResult
from aclkit.questions.by_whom.command import ByWhomOptions, find_by_whom
from aclkit.questions.by_whom.tables import has_read_logs, read_certain
from aclkit.questions.query.lifetimes import ACL_LEASE, AclEnd, read_ends
from aclkit.runtime.progress import step
from aclkit.warehouse.duck import open_tables
from aclkit.warehouse.job_run import PublishedRun, RunSettings
from aclkit.warehouse.published import deciding_run, reading_run
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.run import Run, findings_before, publish


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
        desired: the files in which the team keeps its ACLs, if they are compared.
        by_whom: the controllers' log, if it is read.
        automation: the principals that are meant to change ACLs; None where none were passed.
        leases: until when ACLs are needed.
        keeps_unchanged: a run that changes nothing leaves its row of ``job_run`` all the same.
    """

    cluster: str | None
    replay: ReplayOptions
    materialize: MaterializeOptions
    policies: Policies
    resolved: ResolvedSettings | None = None
    broad_share: float = BROAD_SHARE
    maps_names: bool = False
    desired: DesiredFiles | None = None
    by_whom: ByWhomOptions | None = None
    automation: Automation | None = None
    leases: Leases = field(default_factory=Leases)
    keeps_unchanged: bool = True

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
        is_kept: it was published; otherwise it changed nothing and left nothing.
        is_listed_again: see ``ReplayResult``.
        read: the newest run that read the sources when this one ended, its lock still held.
    """

    findings: tuple[Finding, ...]
    summary: NightlySummary
    page: str
    exit_code: int
    is_kept: bool = True
    is_listed_again: bool = False
    read: PublishedRun | None = None


def _begin_deciding(run: Run, options: NightlyOptions) -> Scope:
    """Note how the settings came about, and collect what is asked about."""
    if options.resolved is not None:
        run.notes.extend(options.resolved.notes)
        run.findings.extend(find_broker_settings_differ(options.resolved))
        run.findings.extend(find_super_users_unknown(options.resolved.settings))
    if options.desired is not None:
        findings, notes = options.desired.compared_with(acls_of(run.store, run.cluster_id))
        run.findings.extend(findings)
        run.notes.extend(notes)
    _ask_by_whom(run, options)
    _look_at_ends(run, options)
    return take_inventory(run, options.materialize)


def _note_missing_rights(run: Run, scope: Scope, intake: Intake, options: NightlyOptions) -> None:
    """Find which rights aclkit's user lacks on a live cluster, and what brokers hide from it."""
    told, listing = run.settings.told, intake.listing
    if told is not None and listing is not None and listing.filtered:
        acls = acls_of(run.store, run.cluster_id)
        who, settings = listing.asked_by, options.materialize.settings
        hidden = hidden_parts(listing.filtered, who, acls, settings, scope.semantics)
        unread = {**told.unread, **dict.fromkeys(hidden, HIDDEN)}
        run.settings = replace(run.settings, told=replace(told, unread=unread))
    run.findings.extend(find_missing_rights(unread_by(run)))


def _look_at_ends(run: Run, options: NightlyOptions) -> None:
    """Keep when ACLs end, and find those that end soon or should have ended."""
    leases, files = options.leases, options.desired
    if files is None and not leases.leases and ACL_LEASE not in run.store.versions:
        return  # most runs: no end is known, and none was
    acls = acls_of(run.store, run.cluster_id)
    if files is not None and files.desired is not None:
        leases = leases.with_files(files.desired.acls)
    elif files is not None:
        # One mistake in a file must not make all ends forgotten.
        leases = leases.with_known(acls, _known_ends(run))
    _write_ends(run, leases.ends_of(acls))
    run.findings.extend(leases.findings(acls, run.started_at))


def _known_ends(run: Run) -> dict[str, AclEnd]:
    with read_written(run.store, run.cluster_id, ACL_LEASE) as known:
        return read_ends(known.connection, run.cluster_id)


def _write_ends(run: Run, ends: Mapping[str, AclEnd]) -> None:
    """Put the ends of a cluster's ACLs in the place of those that are known, if they differ."""
    if _known_ends(run) == ends:
        return
    rows = [
        (run.cluster_id, acl_id, end.until, end.place, end.owner, end.reason)
        for acl_id, end in sorted(ends.items())
    ]
    run.store.replace(ACL_LEASE, rows, run.cluster_id)


def _ask_by_whom(run: Run, options: NightlyOptions) -> None:
    """Find who changed ACLs, and which changes were not made by the automation."""
    if options.by_whom is not None:
        find_by_whom(run, options.by_whom)
    if options.automation is None:
        return
    certain = read_certain(run.store, run.cluster_id, run.started_at - REMOVED_WITHIN)
    run.findings.extend(find_by_hand(certain, options.automation))
    if not has_read_logs(run.store, run.cluster_id):
        run.notes.append(
            "It is unknown who changed ACLs: no run has read the controllers' log. Pass "
            "--controller-log."
        )


def _holds_decisions(run: Run, scope: Scope, options: NightlyOptions) -> bool:
    """Whether the previous run's decisions and findings still hold; then this run keeps them."""
    told, before = run.settings, run.goes_on_from()
    if before is None or options.materialize.full:
        return False
    is_audited = before.job == run.job and _is_audited(before.settings, told, options)
    if not (is_audited and is_decided(run, scope, options.materialize)):
        return False
    # What was read is this run's alone.
    run.settings = replace(before.settings.updated(told), sources=told.sources)
    run.counts = {**before.counts, **run.counts, "access_changes": 0}
    run.notes.append("Nothing new since the previous run: its decisions and findings still hold.")
    run.notes.extend(those_on_unknown(before.notes))
    return True


def _end_night(
    run: Run, replayed: ReplayResult, options: NightlyOptions, *, is_kept: bool
) -> NightlyResult:
    """Publish, and check what is published against the policies."""
    if is_kept:
        publish(run)
    with open_tables(run.store.place.text) as (published, tables):
        found = read_summary(tables, deciding_run(published, run.cluster_id))
    summary = conclude(found, replayed.exit_code, options.policies, published)
    return NightlyResult(
        findings=found.findings,
        summary=summary,
        page=render_summary(summary),
        exit_code=summary.exit_code or 0,
        is_kept=is_kept,
        is_listed_again=replayed.is_listed_again,
        read=reading_run(published, run.cluster_id),
    )


def _changes_nothing(run: Run) -> bool:
    """Whether a run whose decisions are those of the previous one wrote and found nothing new.

    A previous run that decided has more findings than this one, which looked for those of the log,
    the settings and the team's files only.
    """
    before = run.goes_on_from()
    if before is None or run.store.versions != run.store.published:
        return False
    known = {found.fingerprint for found in run.findings_of(before.run_id)}
    own = {found.fingerprint for found in run.findings}
    return own <= known if before.decided_in == before.run_number else own == known


def _is_audited(then: RunSettings, told: RunSettings, options: NightlyOptions) -> bool:
    """Whether the run whose decisions hold looked for findings as this one would."""
    return (
        then.broad_share == options.broad_share
        and bool(then.has_builder) == options.has_builder
        and _by_cluster(then) == _by_cluster(told)
    )


def _by_cluster(settings: RunSettings) -> tuple[object, ...]:
    """Return what a live cluster reported, and what it did not."""
    told = settings.told
    return () if told is None else (told.brokers, told.unread)


def run_nightly(run: Run, intake: Intake, options: NightlyOptions) -> NightlyResult:
    """Replay, decide, find and compare; publish once, as one run.

    Where log, settings and inventory contain nothing new, the decisions and findings of the
    previous run still hold, and only the ``job_run`` row is written, or with ``keeps_unchanged``
    off nothing.
    """
    if run.rebuilt is not None:
        replay_again(run)
    replayed = replay(run, intake, options.cluster, options.replay)
    if run.rebuilt is not None:
        run.notes.extend(run.rebuilt.notes(run.store.runs, run.cluster_id))
    scope = _begin_deciding(run, options)
    _note_missing_rights(run, scope, intake, options)
    is_kept = True
    if not _holds_decisions(run, scope, options):
        _decide(run, scope, options)
    elif not options.keeps_unchanged:
        is_kept = not _changes_nothing(run)
    show_openings(run, options.materialize.settings, scope.semantics)
    return _end_night(run, replayed, options, is_kept=is_kept)


def _decide(run: Run, scope: Scope, options: NightlyOptions) -> None:
    """Decide, and look for what is wrong."""
    chosen, share = options.materialize, options.broad_share
    result = materialize(run, scope, chosen)
    run.findings.extend(find_reading_changed(run))
    note_readings(run, result, chosen)
    with step("Looking for findings"):
        audit = audit_of(
            run.store,
            run.cluster_id,
            chosen.settings,
            scope.semantics,
            broad_share=share,
            has_builder=options.has_builder,
            unread=unread_by(run),
        )
        found = find_all(audit)
        unknown = find_unknown(audit, found, find_all)
        run.findings.extend(found)
        if unknown:
            run.findings.extend(staying(unknown, findings_before(run)))
            run.notes.extend(notes_on(unknown))
    run.settings = replace(run.settings, broad_share=share, has_builder=options.has_builder)
