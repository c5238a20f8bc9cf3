"""The settings that decide → where they are unknown, differ, or read ACLs otherwise than before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS, ResolvedSettings
from aclkit.model.findings import Finding, Kind
from aclkit.model.semantics import AUTO, BrokerSettings, Semantics, changed_settings, preset_words
from aclkit.warehouse.codecs import acl_of, acl_sql
from aclkit.warehouse.job_run import MATERIALIZING, PublishedRun, RunSettings
from aclkit.warehouse.published import run_settings
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.run import Run

SUPER_USERS_UNKNOWN: Final = Kind(
    id="super-users-unknown",
    severity="high",
    summary="super users that aclkit does not know",
    meaning=(
        "aclkit does not know the super users of the brokers: no option names them, and no broker "
        "reports them. Kafka allows super users everything, even against a DENY. So every answer "
        "DENIED is wrong for a super user, and every list of principals lacks the super users."
    ),
    fix=(
        "Pass the brokers' super.users with --super-users or --server-properties, or pass "
        "--no-super-users if there are none."
    ),
)


def find_super_users_unknown(settings: BrokerSettings) -> Iterator[Finding]:
    """Yield one finding where the super users are unknown."""
    if SUPER_USERS not in settings.unknown:
        return
    known = ", ".join(sorted(settings.super_users))
    evidence = [f"{SUPER_USERS}: {f'only {known} known' if known else 'none known'}"]
    if ALLOW_EVERYONE in settings.unknown:
        evidence.append(f"{ALLOW_EVERYONE}: also unknown")
    yield SUPER_USERS_UNKNOWN.about(
        SUPER_USERS,
        "Super users are unknown, so every answer DENIED is wrong for a super user.",
        evidence=evidence,
    )


BROKER_SETTINGS_DIFFER: Final = Kind(
    id="broker-settings-differ",
    severity="high",
    summary="broker settings that differ",
    meaning=(
        "The brokers of a live cluster differ from each other or from the options of the run. The "
        "difference is in super.users, allow.everyone.if.no.acl.found or the authorizer. aclkit "
        "uses the options of the run, or else the broker with the lowest id. So some brokers can "
        "decide differently than aclkit."
    ),
    fix=(
        "Configure all brokers alike, then pass the same settings to aclkit run, for example with "
        "--server-properties."
    ),
)


def find_broker_settings_differ(resolved: ResolvedSettings) -> Iterator[Finding]:
    """Yield a finding for each setting that differs."""
    for key, message in resolved.differences:
        yield BROKER_SETTINGS_DIFFER.about(key, message)


READING_CHANGED: Final = Kind(
    id="reading-changed",
    severity="high",
    summary="ACLs read differently than in the previous run",
    meaning=(
        "The run read ACLs differently than the previous run, so it computed all decisions again. "
        "Another value of --semantics or of one of its settings causes this. Under --semantics "
        "auto, the first GLOB ACL of the cluster does. So do brokers of another version that read "
        "ranges (CIDR) differently, and an older aclkit whose default was kip-1042. aclkit reports "
        "the change once."
    ),
    fix=(
        "Check with aclkit changes which access changed. To read ACLs the same way in every run, "
        "pass --semantics kafka or --semantics kip-1042."
    ),
)
SUBJECT: Final = "cluster"
_NOT_COMPARED: Final = "The accesses of the previous run are unknown, so they were not compared."


def find_reading_changed(run: Run) -> Iterator[Finding]:
    """Yield one finding where a run that has decided reads ACLs otherwise than the one before."""
    before, now = run.previous(MATERIALIZING), run.settings
    if before is None or now.semantics is None:
        return
    then = run_settings(before)[1]
    if _deciding(then) == _deciding(now.semantics):
        return
    changes = run.counts.get("access_changes")
    moved = _NOT_COMPARED if changes is None else f"Changed accesses: {changes:,}."
    yield READING_CHANGED.about(
        SUBJECT,
        f"This run reads ACLs differently than run {before.run_number}. "
        f"Before: {preset_words(then)}. Now: {preset_words(now.semantics)}. {moved}",
        evidence=(
            *_reasons(before, now),
            *(f"setting {change}" for change in changed_settings(then, now.semantics)),
            *(_first_glob(run) if now.semantics.glob_patterns else ()),
        ),
    )


def _deciding(semantics: Semantics) -> Semantics:
    """Leave out which ACL is named: no decision depends on it."""
    return replace(semantics, deciding_acl="")


def _reasons(before: PublishedRun, now: RunSettings) -> Iterator[str]:
    """Yield who asked for another reading."""
    then = before.settings
    if then.semantics_asked is None:
        yield (
            f"aclkit {before.aclkit_version}, whose default was kip-1042, decided run "
            f"{before.run_number}"
        )
    elif then.semantics_asked != now.semantics_asked:
        yield f"--semantics was {then.semantics_asked} and is now {now.semantics_asked}"
    elif now.semantics_asked == AUTO and then.semantics_preset != now.semantics_preset:
        yield f"--semantics auto uses {now.semantics_preset} since the cluster has had a GLOB ACL"


def _first_glob(run: Run) -> Iterator[str]:
    with read_written(run.store, run.cluster_id, "acl_history") as read:
        rows = read.rows(acl_sql(_FIRST_GLOB, "effective_offset"))
    yield from (f"first GLOB ACL, at offset {row[-1]}: {acl_of(row)}" for row in rows)


_FIRST_GLOB: Final = (
    "FROM acl_history WHERE pattern_type = 'GLOB' ORDER BY effective_offset, acl_id LIMIT 1"
)
