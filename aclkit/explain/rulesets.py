"""ACLs, patterns and inventory → which set of ACLs applies to each pair. Transforms.

A group is the ACLs with one pattern and one principal; a ruleset is a set of groups. Their ids
are hashes of their content, so equal rules have equal ids in every run.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

SUPER: Final = "super"
NONE: Final = "none"
OTHER: Final = "other"


def group_acls(acls: DataFrame, patterns: DataFrame) -> DataFrame:
    """Return ``ruleset_group`` rows with the ``pattern_id`` of each."""
    pattern = ["resource_type", "pattern_type", "resource_name"]
    return (
        acls.groupBy("cluster_id", *pattern, "principal")
        .agg(F.array_sort(F.collect_list("acl_id")).alias("acl_ids"))
        .withColumn("group_id", content_id(F.col("acl_ids")))
        .join(F.broadcast(patterns.select("pattern_id", *pattern)), on=pattern, how="inner")
    )


def reach(resources: DataFrame, groups: DataFrame) -> DataFrame:
    """Pair each resource with the groups whose pattern reaches it.

    ``resources`` have ``pattern_ids``.
    """
    reached = resources.select(
        "resource_type", "resource_name", F.explode("pattern_ids").alias("pattern_id")
    )
    return reached.join(
        groups.select("pattern_id", "group_id", "principal"), on="pattern_id", how="inner"
    ).select("resource_type", "resource_name", "group_id", "principal")


def class_rulesets(
    resources: DataFrame, reached: DataFrame, class_texts: DataFrame, classes: DataFrame
) -> DataFrame:
    """Return (class, resource) with the groups that reach it through non-exact principals.

    Args:
        resources: all resources, with ``pattern_ids``.
        reached: result of ``reach``.
        class_texts: (principal_class, principal): the texts that match each class.
        classes: all principal classes.
    """
    shared = (
        reached.join(F.broadcast(class_texts), on="principal", how="inner")
        .groupBy("principal_class", "resource_type", "resource_name")
        .agg(F.collect_set("group_id").alias("group_ids"))
    )
    every = F.broadcast(classes).crossJoin(
        resources.select(
            "resource_type", "resource_name", (F.size("pattern_ids") > 0).alias("has_acl")
        )
    )
    return every.join(
        shared, on=["principal_class", "resource_type", "resource_name"], how="left"
    ).select(
        "principal_class",
        "resource_type",
        "resource_name",
        "has_acl",
        F.array_sort(F.coalesce("group_ids", _no_groups())).alias("group_ids"),
    )


def pair_rulesets(reached: DataFrame, principals: DataFrame, shared: DataFrame) -> DataFrame:
    """Return (principal, resource) that an own ACL reaches, with the groups of both kinds.

    Args:
        reached: result of ``reach``.
        principals: (principal, principal_class) that an ACL can name; super users left out.
        shared: result of ``class_rulesets``.
    """
    own = (
        reached.join(F.broadcast(principals), on="principal", how="inner")
        .groupBy("principal", "principal_class", "resource_type", "resource_name")
        .agg(F.collect_set("group_id").alias("own_ids"))
    )
    return (
        own.alias("own")
        .join(
            shared.where(F.size("group_ids") > 0).alias("shared"),
            on=["principal_class", "resource_type", "resource_name"],
            how="left",
        )
        .select(
            "own.principal",
            "resource_type",
            "resource_name",
            F.array_sort(
                F.array_union("own_ids", F.coalesce("shared.group_ids", _no_groups()))
            ).alias("group_ids"),
        )
    )


def with_ruleset_id(pairs: DataFrame, wildcard_last: Column) -> DataFrame:
    """Add ``wildcard_last`` and ``ruleset_id``, a hash of the groups.

    ``wildcard_last`` tells apart resources whose deciding DENY the broker finds in another order.
    """
    ids = F.col("group_ids")
    return pairs.withColumn("wildcard_last", wildcard_last).withColumn(
        "ruleset_id",
        content_id(F.when(F.col("wildcard_last"), F.array_append(ids, "*")).otherwise(ids)),
    )


def with_class_ruleset_id(shared: DataFrame, wildcard_last: Column) -> DataFrame:
    """Add ``ruleset_id`` to class pairs; where no group applies, one of the fixed rulesets."""
    kind = F.when(F.col("has_acl"), OTHER).otherwise(NONE)
    fixed = F.concat_ws(":", kind, "resource_type")
    named = with_ruleset_id(shared, wildcard_last)
    return named.withColumn(
        "ruleset_id", F.when(F.size("group_ids") == 0, fixed).otherwise(F.col("ruleset_id"))
    )


def content_id(texts: Column) -> Column:
    """Hash a sorted array of ids: 32 hex digits of sha-256."""
    return F.substring(F.sha2(F.concat_ws(",", texts), 256), 1, 32)


def _no_groups() -> Column:
    return F.array().cast("array<string>")
