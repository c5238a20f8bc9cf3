"""Two readings of the same ACLs → which ACLs they read differently, and how much depends on it.

Wherever two readings decide differently, an ACL that they read differently decided in one of
them: what both read alike hits in both. Only between DefaultAllow and DefaultDeny nothing
decided; there the ACLs count that reach the resource in one reading alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.audit.collect import find_readings
from aclkit.audit.readings import reads_differently
from aclkit.explain.materialize import MaterializeOptions, MaterializeResult, alive_acls
from aclkit.explain.tables import (
    Scope,
    explain_view,
    write_inventory,
    write_rulesets,
    write_rulings,
)
from aclkit.findings import Finding
from aclkit.inventory.entry import Entry
from aclkit.inventory.survey import Inventory
from aclkit.model.acl import Acl
from aclkit.model.principal import WILDCARD_PRINCIPAL
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings, Semantics
from aclkit.patterns.match import has_wildcard, names_exactly, principal_matches, reaches
from aclkit.patterns.trie import PatternIndex
from aclkit.progress import step
from aclkit.publish import Run

_CELL: Final = ["principal", "host", "operation", "resource_type", "resource_name"]


def note_readings(run: Run, result: MaterializeResult, options: MaterializeOptions) -> None:
    """Add the findings about how ACLs are read, and what depends on the reading."""
    with step("comparing the readings"):
        acls = collect_acls(run)
        run.findings.extend(find_readings(acls, options.semantics))
        by_id = {acl.acl_id: acl for acl in acls}
        suspects = {i: (by_id[i], reason) for i, reason in reads_differently(acls).items()}
        run.findings.extend(find_differences(result, alive_acls(run), suspects, options.settings))


def collect_acls(run: Run) -> list[Acl]:
    """Collect the ACLs alive."""
    rows = alive_acls(run).select(*Acl.__slots__).orderBy("acl_id").collect()
    return [Acl(**row.asDict()) for row in rows]


def find_differences(
    result: MaterializeResult,
    acls: DataFrame,
    suspects: Mapping[str, tuple[Acl, str]],
    settings: BrokerSettings,
) -> list[Finding]:
    """Decide everything in the other reading too and count what each suspect ACL changes.

    Args:
        result: the materialize of this run.
        acls: the ACLs alive.
        suspects: ACL id → the ACL and how the readings differ on it.
        settings: super users and allow.everyone.
    """
    ours = result.scope
    theirs = replace(ours, semantics=_other(ours.semantics), is_trial=True, kept={})
    touched = _touched([acl for acl, _ in suspects.values()], ours, theirs.semantics)
    counts: Counter[str] = Counter()
    if touched.resources and touched.principals:
        theirs = replace(theirs, inventory=touched)
        write_inventory(theirs, settings)
        write_rulesets(theirs, acls)
        write_rulings(theirs, acls, allow_everyone=settings.allow_everyone)
        counts = _count(ours, theirs, [acl for acl, _ in suspects.values()])
        theirs.forget()
    return [_finding(acl, reason, counts[acl.acl_id]) for acl, reason in suspects.values()]


def _touched(suspects: Sequence[Acl], ours: Scope, other: Semantics) -> Inventory:
    """Keep what the suspects can make a difference for.

    A resource that a suspect reaches in one reading alone, or in both when the readings take its
    principal or host differently; a principal that a suspect matches in either reading.
    """
    patterns = [
        (number, acl.resource_type, acl.pattern_type, acl.resource_name)
        for number, acl in enumerate(suspects)
    ]
    indexes = [PatternIndex.build(patterns, semantics) for semantics in (ours.semantics, other)]
    by_identity = {
        number
        for number, acl in enumerate(suspects)
        if (acl.principal != WILDCARD_PRINCIPAL and not names_exactly(acl.principal, KIP_1042))
        or (acl.host != "*" and has_wildcard(acl.host))
    }

    def differs(entry: Entry) -> bool:
        first, second = (set(i.matches(entry.resource_type, entry.name)) for i in indexes)
        return bool(first ^ second or (first & by_identity))

    texts = {acl.principal for acl in suspects}
    principals = [
        entry
        for entry in ours.inventory.principals
        if any(
            principal_matches(text, entry.name, semantics)
            for text in texts
            for semantics in (ours.semantics, other)
        )
    ]
    resources = [entry for entry in ours.inventory.resources if differs(entry)]
    return replace(ours.inventory, principals=tuple(principals), resources=tuple(resources))


def _other(semantics: Semantics) -> Semantics:
    """Return the preset's reading that these settings are furthest from, deciding ACL kept."""
    preset = KAFKA if semantics.glob_patterns or semantics.identity_globs else KIP_1042
    return replace(preset, deciding_acl=semantics.deciding_acl)


def _count(ours: Scope, theirs: Scope, suspects: Sequence[Acl]) -> Counter[str]:
    asked = {
        "principal": ours.read("principal").join(
            theirs.read("principal").select("principal"), on="principal"
        ),
        "resource": theirs.read("resource"),
    }
    cells = (
        explain_view(ours, asked)
        .select(*_CELL, F.col("decision").alias("d1"), F.col("deciding_acl_id").alias("a1"))
        .join(
            explain_view(theirs, {}).select(
                *_CELL, F.col("decision").alias("d2"), F.col("deciding_acl_id").alias("a2")
            ),
            on=_CELL,
            how="inner",
        )
        .where(F.col("d1") != F.col("d2"))
    )
    rows = cells.groupBy("a1", "a2", "resource_type", "resource_name").count().collect()
    known = {acl.acl_id for acl in suspects}
    counts: Counter[str] = Counter()
    for row in rows:
        behind = {row["a1"], row["a2"]} & known
        if row["a1"] is None and row["a2"] is None:
            resource = (row["resource_type"], row["resource_name"])
            behind = {
                acl.acl_id
                for acl in suspects
                if reaches(acl, *resource, ours.semantics)
                != reaches(acl, *resource, theirs.semantics)
            }
        counts.update(dict.fromkeys(behind, row["count"]))
    return counts


def _finding(acl: Acl, reason: str, decisions: int) -> Finding:
    return Finding(
        finding="reads-differently",
        severity="medium" if decisions else "info",
        subject=str(acl),
        message=(
            f"KIP-1042 and today's brokers read this ACL differently: {reason}. "
            f"{decisions:,} decisions of the inventory differ"
        ),
        fix="write it so that both readings agree, or choose one with --semantics",
        acl_ids=(acl.acl_id,),
    )
