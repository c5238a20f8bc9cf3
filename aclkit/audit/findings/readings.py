"""How ACLs are read → findings: odd records, where presets differ, and what decides besides ACLs.

Every record that decodes is an ACL and stays one; these findings show how the broker reads it. The
settings that decide may be unknown, differ, or read ACLs otherwise than before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from aclkit.model.acl import Acl, acl_words
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS, ResolvedSettings
from aclkit.model.enums import AclOperation
from aclkit.model.findings import INVENTORY, Finding, Kind
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.model.semantics import AUTO, BrokerSettings, Semantics, changed_settings, preset_words
from aclkit.rules.patterns.match import GLOB, LITERAL, PREFIXED, has_wildcard
from aclkit.warehouse.codecs import acl_of, acl_sql
from aclkit.warehouse.job_run import MATERIALIZING, PublishedRun, RunSettings
from aclkit.warehouse.published import run_settings
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.run import Run

DUPLICATE_FIX: Final = (
    "Remove the ACL, then add it once. kafka-acls selects ACLs by their fields, so it cannot "
    "remove only one copy. Try it on a test cluster first: a controller can reject the second "
    "removal."
)
"""AclControlManager.replay fails on the second of two: acl not found in existingAcls."""

DUPLICATE_ACL: Final = Kind(
    id="duplicate-acl",
    severity="low",
    summary="ACLs that the log holds several times",
    meaning=(
        "The log holds the same ACL under several ids. Removing one copy leaves the others in "
        "force. Brokers and controllers handle such ACLs differently."
    ),
    fix=DUPLICATE_FIX,
)
UNKNOWN_CODE: Final = Kind(
    id="unknown-code",
    severity="medium",
    summary="ACLs with a code that Kafka does not define",
    meaning=(
        "The ACL contains a code that no Kafka release uses in an ACL. Brokers still read the ACL. "
        "They treat an unknown pattern type as a prefix and an unknown permission as DENY. An "
        "unknown operation or resource type matches no request."
    ),
    fix="Find the program that wrote the ACL. Add the intended ACL, then remove the one found.",
)
READS_DIFFERENTLY: Final = Kind(
    id="reads-differently",
    severity="medium",
    summary="ACLs that Kafka and KIP-1042 read differently",
    depends="medium where decisions differ, info otherwise",
    meaning=(
        "KIP-1042 and today's brokers read the ACL differently. Kafka reads a GLOB pattern as a "
        "prefix. It reads a principal or host with * or ? as plain text, and KIP-1042 reads it as "
        "a glob. Kafka's LITERAL * does not match longer names that start with a star. The message "
        "counts decisions on known names only."
    ),
    fix="Write the ACL so that both read it the same way, or choose one with --semantics.",
    holds_for=INVENTORY,
)

_PATTERN_TYPES: Final = (LITERAL, PREFIXED, GLOB)
_PERMISSIONS: Final = ("ALLOW", "DENY")
_NO_STAR_IN_NAMES: Final = ("TOPIC", "CLUSTER")
"""Types whose resources never have a name that begins with ``*``."""


def find_duplicates(acls: Iterable[Acl]) -> Iterator[Finding]:
    """Yield each binding that stands under several ids; one removal by id leaves the others."""
    by_binding = grouped((acl.binding, acl) for acl in acls)
    for same in by_binding.values():
        if len(same) > 1:
            yield DUPLICATE_ACL.about(
                str(same[0]),
                f"The log holds {len(same):,} copies of {acl_words(same[0])}, under different ids.",
                acls=sorted(same, key=lambda acl: acl.acl_id),
            )


def find_unknown_codes(acls: Iterable[Acl]) -> Iterator[Finding]:
    """Yield each ACL with a code that no release gives an ACL, and how the broker treats it."""
    for acl in acls:
        treated = [text for text in _treatments(acl) if text]
        if treated:
            yield UNKNOWN_CODE.about(
                acl,
                f"{acl_words(acl)} has a code that Kafka does not define: {'; '.join(treated)}.",
                evidence=treated,
            )


def reads_differently(acls: Iterable[Acl]) -> dict[str, str]:
    """Return id → reason for the ACLs that presets kip-1042 and kafka read differently.

    An ACL that is not among them matches the same requests under both.
    """
    found = ((acl.acl_id, [text for text in _differences(acl) if text]) for acl in acls)
    return {acl_id: "; ".join(reasons) for acl_id, reasons in found if reasons}


def _treatments(acl: Acl) -> tuple[str | None, ...]:
    """Return how the broker treats each unknown code (StandardAuthorizerData)."""
    return (
        None
        if acl.resource_type in OPERATIONS_OF_TYPE
        else f"resource type {acl.resource_type} matches no request",
        None
        if acl.pattern_type in _PATTERN_TYPES
        else f"pattern type {acl.pattern_type} acts as PREFIXED",
        None
        if AclOperation.is_known(acl.operation) and acl.operation != "ANY"
        else f"operation {acl.operation} matches no request",
        None
        if acl.permission_type in _PERMISSIONS
        else f"permission {acl.permission_type} acts as DENY",
    )


def _differences(acl: Acl) -> tuple[str | None, ...]:
    return _pattern_difference(acl), _principal_difference(acl), _host_difference(acl)


def _pattern_difference(acl: Acl) -> str | None:
    # An empty GLOB and an empty prefix both are every name.
    if acl.pattern_type == GLOB and acl.resource_name:
        return f"KIP-1042 reads GLOB {acl.resource_name!r} as a glob, Kafka as a prefix"
    has_star_names = acl.resource_type in OPERATIONS_OF_TYPE.keys() - set(_NO_STAR_IN_NAMES)
    if has_star_names and (acl.pattern_type, acl.resource_name) == (LITERAL, "*"):
        return "Kafka's LITERAL '*' does not match longer names that start with '*'"
    return None


def _principal_difference(acl: Acl) -> str | None:
    parts = split_principal(acl.principal)
    if acl.principal == WILDCARD_PRINCIPAL or parts is None or not any(map(has_wildcard, parts)):
        return None
    return f"KIP-1042 reads principal {acl.principal!r} as a glob, Kafka as one principal"


def _host_difference(acl: Acl) -> str | None:
    if acl.host == "*" or not has_wildcard(acl.host):
        return None
    return f"KIP-1042 reads host {acl.host!r} as a glob, and no address matches it in Kafka"


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
