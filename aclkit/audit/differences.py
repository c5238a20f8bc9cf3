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

from aclkit.explain.materialize import MaterializeResult
from aclkit.explain.tables import (
    Scope,
    explain_view,
    write_inventory,
    write_rulesets,
    write_rulings,
)
from aclkit.findings import Finding
from aclkit.model.acl import Acl
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings, Semantics
from aclkit.patterns.match import reaches

_CELL: Final = ["principal", "host", "operation", "resource_type", "resource_name"]


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
    if not suspects:
        return []
    ours = result.scope.semantics
    other = _other(ours)
    scope = replace(result.scope, semantics=other, scratch={})
    write_inventory(scope, settings)
    write_rulesets(scope, acls)
    write_rulings(scope, acls, allow_everyone=settings.allow_everyone)
    counts = _count(result.scope, scope, [acl for acl, _ in suspects.values()])
    for frame in (scope.scratch or {}).values():
        frame.unpersist()
    return [_finding(acl, reason, counts[acl.acl_id]) for acl, reason in suspects.values()]


def _other(semantics: Semantics) -> Semantics:
    """Return the preset's reading that these settings are furthest from, deciding ACL kept."""
    preset = KAFKA if semantics.glob_patterns or semantics.identity_globs else KIP_1042
    return replace(preset, deciding_acl=semantics.deciding_acl)


def _count(ours: Scope, theirs: Scope, suspects: Sequence[Acl]) -> Counter[str]:
    cells = (
        explain_view(ours, {})
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
