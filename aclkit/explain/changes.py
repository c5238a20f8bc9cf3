"""The explain tables before and after a run → which accesses changed, and what caused it.

A row stands for one principal, or for all principals of a class that no own ACL concerns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from aclkit.decide.rules import ALLOWED
from aclkit.explain.frames import operations
from aclkit.explain.rulesets import SUPER
from aclkit.model.acl import ANY_OTHER

BY_SETTINGS: Final = "settings"
BY_INVENTORY: Final = "inventory"
BY_ACL: Final = "acl"

_RESOURCE: Final = ["resource_type", "resource_name"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The explain tables of one cluster as one run left them."""

    principal: DataFrame
    host: DataFrame
    explain_pair: DataFrame
    explain_class_pair: DataFrame
    explain_ruling: DataFrame
    ruleset: DataFrame
    ruleset_group: DataFrame


def changed_accesses(
    before: Decided, after: Decided, history: DataFrame, *, settings_changed: bool
) -> DataFrame:
    """Return the rows of ``access_change``, cluster and run aside.

    A pair counts as changed when its ruleset did, or when the ruleset's rulings did.
    """
    altered = _altered_rulings(before, after).persist()
    changes = (
        _named_pairs(before, after)
        .unionByName(_class_pairs(before, after))
        .join(F.broadcast(altered), on="ruleset_after", how="left")
        .where(
            ~F.col("ruleset_before").eqNullSafe(F.col("ruleset_after"))
            | F.coalesce("is_altered", F.lit(False))
        )
        .drop("is_altered")
        .distinct()
        .persist()
    )
    # Each is read several times below; persisted, it is computed once.
    steps = changes.select("ruleset_before", "ruleset_after", "resource_type").distinct().persist()
    moved = _moved_acls(steps, before, after, history).persist()
    counts = _count_cells(steps, before, after).persist()
    return _with_cause(changes, moved, counts, settings_changed=settings_changed)


def _named_pairs(before: Decided, after: Decided) -> DataFrame:
    """Return pairs that an own ACL reaches before or after, with both rulesets."""
    named = (
        before.explain_pair.select("principal", *_RESOURCE)
        .unionByName(after.explain_pair.select("principal", *_RESOURCE))
        .distinct()
    )
    return (
        named.join(_rulesets_of(named, before, "ruleset_before"), on=_key(), how="left")
        .join(_rulesets_of(named, after, "ruleset_after"), on=_key(), how="left")
        .select(
            "principal",
            F.lit(None).cast("string").alias("principal_class"),
            *_RESOURCE,
            "ruleset_before",
            "ruleset_after",
        )
    )


def _key() -> list[str]:
    return ["principal", *_RESOURCE]


def _rulesets_of(named: DataFrame, decided: Decided, column: str) -> DataFrame:
    """Return the ruleset of each named pair as one run had it: super, own, or the class's."""
    members = decided.principal.select("principal", "principal_class", "is_super_user")
    own = decided.explain_pair.select(*_key(), F.col("ruleset_id").alias("own_id"))
    shared = decided.explain_class_pair.select(
        "principal_class", *_RESOURCE, F.col("ruleset_id").alias("shared_id")
    )
    return (
        named.join(members, on="principal", how="inner")
        .join(shared, on=["principal_class", *_RESOURCE], how="inner")
        .join(own, on=_key(), how="left")
        .select(
            *_key(),
            F.when(F.col("is_super_user"), SUPER)
            .otherwise(F.coalesce("own_id", "shared_id"))
            .alias(column),
        )
    )


def _class_pairs(before: Decided, after: Decided) -> DataFrame:
    """Return class pairs with both rulesets, for each move of principals from class to class.

    A principal that only one of the runs asked about moves from or to no class; there the other
    ruleset is null. So is it for a resource that only one of them asked about.
    """
    moves = (
        _members(before, "class_before")
        .join(_members(after, "class_after"), on="principal", how="full")
        .select("class_before", "class_after")
        .distinct()
    )
    was = _shared(before, "class_before", "ruleset_before")
    now = _shared(after, "class_after", "ruleset_after")
    sides = (
        moves.join(was, on="class_before", how="inner")
        .unionByName(moves.join(now, on="class_after", how="inner"), allowMissingColumns=True)
        .groupBy("class_before", "class_after", *_RESOURCE)
        .agg(
            F.max("ruleset_before").alias("ruleset_before"),
            F.max("ruleset_after").alias("ruleset_after"),
        )
    )
    return sides.select(
        F.lit(None).cast("string").alias("principal"),
        F.coalesce("class_after", "class_before").alias("principal_class"),
        *_RESOURCE,
        "ruleset_before",
        "ruleset_after",
    )


def _members(decided: Decided, column: str) -> DataFrame:
    """Return each principal with its class; super users are a class of their own."""
    name = F.when(F.col("is_super_user"), SUPER).otherwise(F.col("principal_class"))
    return decided.principal.select("principal", name.alias(column))


def _shared(decided: Decided, class_column: str, ruleset_column: str) -> DataFrame:
    """Return class pairs under other column names, those of super users added."""
    ordinary = decided.explain_class_pair.select("principal_class", *_RESOURCE, "ruleset_id")
    supers = ordinary.select(
        F.lit(SUPER).alias("principal_class"), *_RESOURCE, F.lit(SUPER).alias("ruleset_id")
    ).distinct()
    return ordinary.unionByName(supers).toDF(class_column, *_RESOURCE, ruleset_column)


def _altered_rulings(before: Decided, after: Decided) -> DataFrame:
    """Return rulesets that both runs had, with other rulings."""
    columns = ["host", "operation", "decision", "rule", "deciding_acl_id"]

    def digest(decided: Decided, name: str) -> DataFrame:
        rows = F.sort_array(F.collect_list(F.struct(*columns)))
        return decided.explain_ruling.groupBy("ruleset_id").agg(F.xxhash64(rows).alias(name))

    return (
        digest(before, "was")
        .join(digest(after, "now"), on="ruleset_id", how="inner")
        .where(F.col("was") != F.col("now"))
        .select(F.col("ruleset_id").alias("ruleset_after"), F.lit(True).alias("is_altered"))
    )


def _with_cause(
    changes: DataFrame, moved: DataFrame, counts: DataFrame, *, settings_changed: bool
) -> DataFrame:
    """Add why and how much: settings, inventory, or the records behind it; gained and lost.

    What only one of the runs asked about counts when somebody may do something there. A ruleset
    whose rulings are written otherwise but mean the same is no change.
    """
    is_partial = F.col("c.ruleset_before").isNull() | F.col("c.ruleset_after").isNull()
    is_same = F.col("c.ruleset_before") == F.col("c.ruleset_after")
    cause = (
        F.when(F.lit(settings_changed), BY_SETTINGS)
        .when(is_partial | is_same, BY_INVENTORY)
        .otherwise(BY_ACL)
    )
    is_felt = (F.col("n.gained") > 0) | (F.col("n.lost") > 0)
    step = (
        F.col("c.ruleset_before").eqNullSafe(F.col("n.ruleset_before"))
        & F.col("c.ruleset_after").eqNullSafe(F.col("n.ruleset_after"))
        & (F.col("c.resource_type") == F.col("n.resource_type"))
    )
    acls = (F.col("c.ruleset_before") == F.col("m.ruleset_before")) & (
        F.col("c.ruleset_after") == F.col("m.ruleset_after")
    )
    return (
        changes.alias("c")
        .join(counts.alias("n"), on=step, how="left")
        .join(moved.alias("m"), on=acls, how="left")
        .where(is_felt | ~(is_partial | F.coalesce(is_same, F.lit(False))))
        .select(
            "c.*",
            cause.alias("cause"),
            F.coalesce("m.cause_offsets", F.array().cast("array<bigint>")).alias("cause_offsets"),
            F.coalesce("n.gained", F.lit(0)).alias("gained"),
            F.coalesce("n.lost", F.lit(0)).alias("lost"),
        )
    )


def _moved_acls(steps: DataFrame, before: Decided, after: Decided, history: DataFrame) -> DataFrame:
    """Return for each (ruleset before, after) the offsets at which their ACLs differ."""
    pairs = steps.select("ruleset_before", "ruleset_after").distinct()
    key = ["ruleset_before", "ruleset_after", "acl_id"]
    sides = (
        pairs.join(_acls_of(before, "ruleset_before"), on="ruleset_before", how="inner")
        .withColumn("had", F.lit(1))
        .unionByName(
            pairs.join(
                _acls_of(after, "ruleset_after"), on="ruleset_after", how="inner"
            ).withColumn("had", F.lit(0))
        )
        .groupBy(*key)
        .agg(F.min("had").alias("least"), F.max("had").alias("most"))
        .where(F.col("least") == F.col("most"))
    )
    moved_at = F.when(F.col("most") == 1, F.col("removed_offset")).otherwise(
        F.col("effective_offset")
    )
    return (
        sides.join(
            history.select("acl_id", "effective_offset", "removed_offset"), on="acl_id", how="inner"
        )
        .groupBy("ruleset_before", "ruleset_after")
        .agg(F.sort_array(F.collect_set(moved_at)).alias("cause_offsets"))
    )


def _acls_of(decided: Decided, column: str) -> DataFrame:
    """Return (ruleset, ACL) of one run."""
    parts = decided.ruleset.select(
        F.col("ruleset_id").alias(column), F.explode("group_ids").alias("group_id")
    )
    return parts.join(
        decided.ruleset_group.select("group_id", F.explode("acl_ids").alias("acl_id")),
        on="group_id",
        how="inner",
    ).select(column, "acl_id")


def _count_cells(steps: DataFrame, before: Decided, after: Decided) -> DataFrame:
    """Count for each step how many hosts × operations became ALLOWED or DENIED."""
    hosts = before.host.select("host").unionByName(after.host.select("host")).distinct()
    was = _cells(before, hosts, "ruleset_before", "was")
    now = _cells(after, hosts, "ruleset_after", "now")
    cells = (
        steps.join(was, on="ruleset_before", how="inner")
        .unionByName(steps.join(now, on="ruleset_after", how="inner"), allowMissingColumns=True)
        .join(operations(steps.sparkSession), on=["resource_type", "operation"], how="inner")
        .groupBy("ruleset_before", "ruleset_after", "resource_type", "host", "operation")
        .agg(F.max("was").alias("was"), F.max("now").alias("now"))
    )
    allowed_now = F.coalesce("now", F.lit(False))
    allowed_then = F.coalesce("was", F.lit(False))
    return cells.groupBy("ruleset_before", "ruleset_after", "resource_type").agg(
        F.count_if(allowed_now & ~allowed_then).alias("gained"),
        F.count_if(allowed_then & ~allowed_now).alias("lost"),
    )


def _cells(decided: Decided, hosts: DataFrame, ruleset: str, column: str) -> DataFrame:
    """Return whether each (ruleset, host, operation) is ALLOWED, for all hosts asked about."""
    rulings = decided.explain_ruling.select(
        "ruleset_id", "host", "operation", (F.col("decision") == ALLOWED).alias("allowed")
    )
    other = rulings.where(F.col("host") == ANY_OTHER).drop("host")
    return (
        other.withColumnRenamed("allowed", "other_allowed")
        .crossJoin(F.broadcast(hosts))
        .join(rulings, on=["ruleset_id", "host", "operation"], how="left")
        .select(
            F.col("ruleset_id").alias(ruleset),
            "host",
            "operation",
            F.coalesce("allowed", "other_allowed").alias(column),
        )
    )
