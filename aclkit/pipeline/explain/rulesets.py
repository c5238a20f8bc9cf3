"""Fingerprints of sets of groups → rulesets: their content, and ids that are hashes of it.

Equal rules have equal ids in every run. The content is looked up once per ruleset, at the first
pair that has it.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from aclkit.pipeline.explain.fixed import NONE, OTHER
from aclkit.pipeline.explain.reach import Late, content_id, packed_pair, resource_of

LATE_DENY: Final = "deny"
LATE_ALL: Final = "all"
"""Among which ACLs of a ruleset the broker meets LITERAL ``*`` last; see ``reach.Late``."""

SET: Final = ("set1", "set2")
"""The fingerprint of a set of groups, the key of a ruleset within one run."""


_GROUP: Final = ("group_no", "group_id", "resource_type")


def first_pairs(pairs: DataFrame) -> DataFrame:
    """Return each ruleset once, with ``pair``: the first pair that has it.

    ``class1``, ``class2`` say which class ruleset is part of it.
    """
    return pairs.groupBy(*SET).agg(
        F.min(packed_pair()).alias("pair"),
        F.min("class1").alias("class1"),
        F.min("class2").alias("class2"),
    )


def parts_of(reached: DataFrame, firsts: DataFrame) -> DataFrame:
    """Return the groups of each ruleset that concern its first pair directly."""
    return (
        reached.select(packed_pair().alias("pair"), *_GROUP)
        .join(firsts, on="pair", how="inner")
        .select(*SET, "class1", "class2", "pair", *_GROUP)
    )


def contents(
    parts: DataFrame, of_classes: DataFrame | None, late: Late, partitions: int
) -> DataFrame:
    """Return ``ruleset`` rows with their fingerprints, spread by these.

    Args:
        parts: result of ``parts_of``.
        of_classes: the contents of the class rulesets that these build on, if they do.
        late: for which resources the broker meets LITERAL ``*`` last.
        partitions: over how many the work is spread.
    """
    own = (
        parts.repartition(partitions, *SET)
        .groupBy(*SET)
        .agg(
            F.collect_list("group_id").alias("own_ids"),
            F.min("resource_type").alias("resource_type"),
            F.min("pair").alias("pair"),
            F.min("class1").alias("class1"),
            F.min("class2").alias("class2"),
        )
    )
    group_ids: Column = F.col("own_ids")
    if of_classes is not None:
        shared = of_classes.select(
            F.col("set1").alias("class1"),
            F.col("set2").alias("class2"),
            F.col("group_ids").alias("class_ids"),
        )
        own = own.join(F.broadcast(shared), on=["class1", "class2"], how="left")
        group_ids = F.concat("own_ids", F.coalesce("class_ids", F.array().cast("array<string>")))
    resource_no = resource_of(F.col("pair"))
    wildcard_last = F.when(resource_no < late.all_below, LATE_ALL).when(
        resource_no < late.deny_below, LATE_DENY
    )
    return own.select(
        *SET,
        "class1",
        "class2",
        "resource_type",
        F.sort_array(group_ids).alias("group_ids"),
        wildcard_last.alias("wildcard_last"),
    ).withColumn("ruleset_id", ruleset_id(F.col("group_ids"), F.col("wildcard_last")))


def ruleset_id(group_ids: Column, wildcard_last: Column) -> Column:
    """Hash a ruleset's content.

    ``wildcard_last`` tells apart resources whose deciding ACL the broker finds in another order.
    """
    return content_id(
        F.when(wildcard_last.isNull(), group_ids).otherwise(
            F.array_append(group_ids, F.concat(F.lit("* "), wildcard_last))
        )
    )


def fixed_id(has_acl: Column) -> Column:
    """Name the ruleset of a class pair that no group of the class concerns."""
    return F.concat_ws(":", F.when(has_acl, OTHER).otherwise(NONE), F.col("resource_type"))
