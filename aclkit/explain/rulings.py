"""Rulesets × hosts × operations → decision, rule and deciding ACL. Transforms.

Each group's best DENY and best ALLOW per operation and host are found once; a ruleset's are the
best of its groups'. A host that no ACL of a ruleset names is answered by ``<any-other>``.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from aclkit.decide.rules import (
    ALLOWED,
    DEFAULT_ALLOW,
    DEFAULT_DENY,
    DENIED,
    MATCHING_ACL,
    SUPER_USER,
)
from aclkit.explain.rulesets import NONE, OTHER, SUPER
from aclkit.model.acl import ANY_OTHER
from aclkit.model.enums import AclPermissionType
from aclkit.model.semantics import BROKER, Semantics

RULING: Final = ("ruleset_id", "host", "operation", "decision", "rule", "deciding_acl_id")


def rank_entries(
    acls: DataFrame,
    ranks: tuple[DataFrame, DataFrame, DataFrame],
    covers: DataFrame,
    host_match: DataFrame,
    semantics: Semantics,
) -> DataFrame:
    """Return one row per (ACL, operation it answers, host it names), with its place in the order.

    ``ranks`` are those of patterns, principals and hosts. The row of an ACL for every host has
    host ``<any-other>`` alone.
    """
    patterns, principals, hosts = (F.broadcast(frame) for frame in ranks)
    universal = host_match.where(F.col("host") == ANY_OTHER).select("acl_host", "host")
    named = host_match.join(universal.select("acl_host"), on="acl_host", how="left_anti")
    reduced = universal.unionByName(named.select("acl_host", "host"))
    ranked = (
        acls.withColumn("is_allow", F.col("permission_type") == "ALLOW")
        .join(patterns, on=["resource_type", "pattern_type", "resource_name"], how="inner")
        .join(principals, on="principal", how="inner")
        .join(hosts, on="host", how="inner")
        .join(F.broadcast(covers), on=["resource_type", "operation", "is_allow"], how="inner")
        .withColumnRenamed("host", "acl_host")
        .join(F.broadcast(reduced), on="acl_host", how="inner")
    )
    return ranked.select(
        "pattern_id",
        "principal",
        "host",
        F.col("asked").alias("operation"),
        "is_allow",
        (F.col("pattern_type").eqNullSafe("LITERAL") & (F.col("resource_name") == "*")).alias(
            "is_wildcard"
        ),
        _place(semantics).alias("place"),
    )


def best_of_groups(entries: DataFrame, groups: DataFrame, semantics: Semantics) -> DataFrame:
    """Return each group's best DENY and ALLOW per operation and host."""
    return (
        entries.join(
            groups.select("pattern_id", "principal", "group_id"),
            on=["pattern_id", "principal"],
            how="inner",
        )
        .groupBy("group_id", "operation", "host")
        .agg(
            F.min(F.when(~F.col("is_allow"), F.col("place"))).alias("deny"),
            _best_allow(F.when(F.col("is_allow"), F.col("place")), semantics).alias("allow"),
            F.max("is_wildcard").alias("is_wildcard"),
        )
    )


def decide_rulesets(
    rulesets: DataFrame, best: DataFrame, operations: DataFrame, semantics: Semantics
) -> DataFrame:
    """Return the rulings of all rulesets that hold an ACL.

    A ruling for ``<any-other>`` and every operation, and one for each host that an ACL answering
    the operation names; there the best of both decides. One shuffle, by ruleset, does it all.

    Args:
        rulesets: (ruleset_id, resource_type, group_ids, wildcard_last).
        best: result of ``best_of_groups``.
        operations: the operations of each resource type.
        semantics: names the deciding ACL.
    """
    places = (
        rulesets.select("ruleset_id", "wildcard_last", F.explode("group_ids").alias("group_id"))
        .join(best, on="group_id", how="inner")
        .withColumn("late", F.col("wildcard_last") & F.col("is_wildcard"))
        .repartition("ruleset_id")
        .groupBy("ruleset_id", "operation", "host")
        .agg(
            F.min(F.when(F.col("deny").isNotNull(), F.struct("late", "deny"))).alias("deny"),
            _best_allow(F.col("allow"), semantics).alias("allow"),
        )
        .groupBy("ruleset_id", "operation")
        .agg(
            F.max(F.when(_is_other(), F.struct("deny", "allow"))).alias("other"),
            F.collect_list(F.when(~_is_other(), F.struct("host", "deny", "allow"))).alias("named"),
        )
    )
    every = (
        rulesets.select("ruleset_id", "resource_type")
        .join(F.broadcast(operations), on="resource_type", how="inner")
        .join(places, on=["ruleset_id", "operation"], how="left")
    )
    nobody = F.struct(
        F.lit(ANY_OTHER).alias("host"),
        F.col("other.deny").alias("deny"),
        F.col("other.allow").alias("allow"),
    )
    hosts = F.concat(F.array(nobody), F.coalesce("named", F.array().cast(_type_of(places))))
    return _with_ruling(
        every.select("ruleset_id", "operation", "other", F.explode(hosts).alias("one")).select(
            "ruleset_id",
            "operation",
            F.col("one.host").alias("host"),
            F.least("one.deny", "other.deny").alias("deny"),
            _better_allow("one.allow", "other.allow", semantics).alias("allow"),
        )
    ).select(*RULING)


def fixed_rulings(operations: DataFrame, *, allow_everyone: bool) -> DataFrame:
    """Return the rulings of the rulesets without ACLs: ``super``, ``none:TYPE``, ``other:TYPE``."""
    default = (ALLOWED, DEFAULT_ALLOW) if allow_everyone else (DENIED, DEFAULT_DENY)
    supers = _fixed(operations.select("operation").distinct(), F.lit(SUPER), ALLOWED, SUPER_USER)
    nones = _fixed(operations, F.concat_ws(":", F.lit(NONE), "resource_type"), *default)
    others = _fixed(
        operations, F.concat_ws(":", F.lit(OTHER), "resource_type"), DENIED, DEFAULT_DENY
    )
    return supers.unionByName(nones).unionByName(others)


def _fixed(operations: DataFrame, ruleset_id: Column, decision: str, rule: str) -> DataFrame:
    return operations.select(
        ruleset_id.alias("ruleset_id"),
        F.lit(ANY_OTHER).alias("host"),
        "operation",
        F.lit(decision).alias("decision"),
        F.lit(rule).alias("rule"),
        F.lit(None).cast("string").alias("deciding_acl_id"),
    )


def _is_other() -> Column:
    return F.col("host") == ANY_OTHER


def _type_of(places: DataFrame) -> DataType:
    return places.schema["named"].dataType


def _with_ruling(found: DataFrame) -> DataFrame:
    denied, allowed = F.col("deny").isNotNull(), F.col("allow").isNotNull()
    return found.withColumns(
        {
            "decision": F.when(allowed & ~denied, ALLOWED).otherwise(DENIED),
            "rule": F.when(denied | allowed, MATCHING_ACL).otherwise(DEFAULT_DENY),
            "deciding_acl_id": F.coalesce("deny.deny.acl_id", "allow.acl_id"),
        }
    )


def _place(semantics: Semantics) -> Column:
    """Return an entry's sort key, as ``specific_key`` and ``compare_standard_acls`` order them."""
    if semantics.deciding_acl == BROKER:
        permission = F.create_map(*[F.lit(x) for p in AclPermissionType for x in (p.name, int(p))])
        permission_rank = F.coalesce(permission[F.col("permission_type")], F.lit(0))
        return F.struct(
            "pattern_rank",
            "operation_rank",
            "principal_rank",
            "host_rank",
            permission_rank.alias("permission_rank"),
            "acl_id",
        )
    return F.struct(
        "pattern_rank",
        "principal_rank",
        "host_rank",
        "cover",
        "name_order",
        "principal_order",
        "host_order",
        "operation_order",
        "acl_id",
    )


def _best_allow(place: Column, semantics: Semantics) -> Column:
    """Return the ALLOW that decides: the broker names the last one, aclkit the first."""
    return F.max(place) if semantics.deciding_acl == BROKER else F.min(place)


def _better_allow(left: str, right: str, semantics: Semantics) -> Column:
    if semantics.deciding_acl == BROKER:
        return F.greatest(left, right)
    return F.least(left, right)
