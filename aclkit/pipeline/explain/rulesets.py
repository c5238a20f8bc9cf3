"""Fingerprints of sets of groups → rulesets: their content, and ids that are hashes of it.

Equal rules have equal ids in every run. The content is looked up once per ruleset, at the first
pair that has it.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from aclkit.model.semantics import Semantics
from aclkit.pipeline.explain.best import (
    ALLOW,
    BEST,
    DENY,
    Wildcards,
    best_of_best,
    better_allow,
    better_deny,
    moved_back,
)
from aclkit.pipeline.explain.fixed import NONE, OTHER
from aclkit.pipeline.explain.reach import Late, content_id, packed_pair, resource_of
from aclkit.runtime.frame import is_small, join_known

LATE_DENY: Final = "deny"
LATE_ALL: Final = "all"
"""Among which ACLs of a ruleset the broker meets LITERAL ``*`` last; see ``reach.Late``."""

SET: Final = ("set1", "set2")
"""The fingerprint of a set of groups, the key of a ruleset within one run."""


def first_pairs(pairs: DataFrame) -> DataFrame:
    """Return each ruleset once, with ``pair``: the first pair that has it.

    ``class1`` and ``class2`` are the class rulesets that are part of it; ``only_group`` is the
    group that is all the rest, if there is one.
    """
    alike = [F.min(name).alias(name) for name in ("class1", "class2", "only_group")]
    return pairs.groupBy(*SET).agg(F.min(packed_pair()).alias("pair"), *alike)


def parts_of(reached: DataFrame, firsts: DataFrame) -> DataFrame:
    """Return the groups of each ruleset that concern its first pair directly.

    ``is_only`` marks a group that is the only one; such groups need not be looked up.
    """
    columns = (*SET, "class1", "class2", "pair", "group_no")
    is_only = F.col("only_group").isNotNull()
    alone = firsts.where(is_only).withColumnRenamed("only_group", "group_no").select(*columns)
    several = reached.select(packed_pair().alias("pair"), "group_no").join(
        firsts.where(~is_only), on="pair", how="inner"
    )
    return alone.withColumn("is_only", F.lit(True)).unionByName(
        several.select(*columns, F.lit(False).alias("is_only"))
    )


def with_groups(
    parts: DataFrame, groups: DataFrame, count: int, wildcards: Wildcards, late: Late
) -> DataFrame:
    """Return the parts with what their groups are: id, resource type, and what is best there.

    There are at most ``count`` groups.
    """
    known = groups.select("group_no", "group_id", "resource_type", *BEST)
    kept = (*SET, "class1", "class2", "pair", "is_only", "group_id", "resource_type")
    return join_known(parts, known, "group_no", are_few=is_small(count)).select(
        *kept, *moved_back(wildcards, late)
    )


def contents(
    parts: DataFrame,
    of_classes: DataFrame | None,
    late: Late,
    semantics: Semantics,
    partitions: int,
) -> DataFrame:
    """Return ``ruleset`` rows with their fingerprints and what is best, spread by the former.

    Args:
        parts: result of ``with_groups``.
        of_classes: the contents of the class rulesets that these build on, if they do.
        late: for which resources the broker meets LITERAL ``*`` last.
        semantics: names the deciding ACL.
        partitions: over how many the work is spread.
    """
    alike = ("resource_type", "pair", "class1", "class2")
    # To collect lists Spark sorts, uncompiled: of most rulesets there is nothing to collect.
    alone, several = (
        parts.where(which).repartition(partitions, *SET) for which in ("is_only", "NOT is_only")
    )
    own = alone.select(*SET, F.array("group_id").alias("own_ids"), *alike, *BEST).unionByName(
        several.groupBy(*SET).agg(
            F.collect_list("group_id").alias("own_ids"),
            *[F.min(name).alias(name) for name in alike],
            *best_of_best(semantics),
        )
    )
    group_ids, best = F.col("own_ids"), [F.col(name) for name in BEST]
    if of_classes is not None:
        # A null would send all that have no class's, perhaps most, into one task of the join.
        key = [F.coalesce(f"class{n}", f"set{n}").alias(f"key{n}") for n in (1, 2)]
        own = own.select("*", *key).join(_as_class(of_classes), on=["key1", "key2"], how="left")
        group_ids = F.concat("own_ids", F.coalesce("class_ids", F.array().cast("array<string>")))
        best = [
            *[better_deny(F.col(n), F.col(f"class_{n}")).alias(n) for n in DENY],
            *[better_allow(F.col(n), F.col(f"class_{n}"), semantics).alias(n) for n in ALLOW],
        ]
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
        *best,
    ).withColumn("ruleset_id", ruleset_id(F.col("group_ids"), F.col("wildcard_last")))


def _as_class(contents: DataFrame) -> DataFrame:
    """Return what a class ruleset adds to those that build on it."""
    return contents.select(
        F.col("set1").alias("key1"),
        F.col("set2").alias("key2"),
        F.col("group_ids").alias("class_ids"),
        *[F.col(name).alias(f"class_{name}") for name in BEST],
    )


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
