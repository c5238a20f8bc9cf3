"""Rulesets × hosts × operations → decision, rule and deciding ACL. Transforms.

A host that no ACL of a ruleset names is answered by ``<any-other>``. ACLs are numbered in the order
in which they decide; what is best among them is ``best``.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from aclkit.model.acl import ANY_OTHER
from aclkit.model.enums import AclPermissionType
from aclkit.model.semantics import Semantics
from aclkit.pipeline.explain.best import (
    ALLOW,
    DENY,
    Wildcards,
    acl_no_of,
    best_of_best,
    better_allow,
    better_deny,
    moved_back,
)
from aclkit.pipeline.explain.frames import ANY_HOST_NO
from aclkit.pipeline.explain.rank import OF_OPERATION, OF_PATTERN, other_criteria
from aclkit.pipeline.explain.reach import Late
from aclkit.pipeline.explain.rulesets import SET
from aclkit.rules.decide.order import Criterion, Order
from aclkit.rules.decide.rules import ALLOWED, DEFAULT_DENY, DENIED, MATCHING_ACL
from aclkit.runtime.frame import are_few_texts, is_small, join_known

RULING: Final = ("ruleset_id", "host", "operation", "decision", "rule", "deciding_acl_id")


def rank_acls(numbered: DataFrame, semantics: Semantics) -> DataFrame:
    """Number the ACLs in the order in which they decide, the operation asked for aside.

    ``acl_no`` counts them from 1, ``first_no`` is that of the first ACL with which one stands
    equal in all that goes before the operation. Patterns have counted their ACLs, so no sort is
    larger than the ACLs of one rank of patterns.
    """
    criteria = other_criteria(semantics)
    at = [criterion.column for criterion in criteria].index(OF_OPERATION)
    before, behind = (
        [_column(one, semantics) for one in part] for part in (criteria[:at], criteria[at + 1 :])
    )
    within = Window.partitionBy(OF_PATTERN)
    first = F.rank().over(within.orderBy(*before)) if before else F.lit(1)
    return (
        numbered.withColumn("place", F.row_number().over(within.orderBy(*before, *behind)))
        .withColumn("first_place", first)
        .select(
            OF_PATTERN,
            "group_no",
            "resource_type",
            "operation",
            (F.col("permission_type") == "ALLOW").alias("is_allow"),
            "acl_host_no",
            (F.col("acls_before") + F.col("first_place")).alias("first_no"),
            (F.col("acls_before") + F.col("place")).alias("acl_no"),
            "acl_id",
        )
    )


def best_of_hosts(
    parts: DataFrame,
    best: DataFrame,
    count: int,
    wildcards: Wildcards,
    *,
    heirs: DataFrame | None = None,
    late: Late,
    semantics: Semantics,
    partitions: int,
) -> DataFrame:
    """Return what is best in the groups of a ruleset, a row per host that one of them names.

    They lie by their fingerprints over as many parts as the contents do, so that neither these nor
    what comes of them moves.

    Args:
        parts: (set1, set2, pair, group_no), see ``rulesets.parts_of``.
        best: result of ``best.of_named_hosts``.
        count: how many rows that are.
        wildcards: the patterns that may be met last.
        heirs: such rows that the rulesets have from their classes, if they do.
        late: for which resources they are.
        semantics: names the deciding ACL.
        partitions: over how many the contents of rulesets are spread.
    """
    own = join_known(parts, best, "group_no", are_few=is_small(count)).select(
        *SET, "host_no", *moved_back(wildcards, late)
    )
    own = own.repartition(partitions, *SET)
    rows = own if heirs is None else own.unionByName(heirs)
    return rows.groupBy(*SET, "host_no").agg(*best_of_best(semantics))


def inherited(contents: DataFrame, of_classes: DataFrame) -> DataFrame:
    """Return what rulesets have from their classes for named hosts; see ``best_of_hosts``."""
    shared = of_classes.withColumnsRenamed({"set1": "class1", "set2": "class2"})
    return (
        contents.select(*SET, "class1", "class2")
        .join(shared, on=["class1", "class2"], how="inner")
        .drop("class1", "class2")
    )


def decide_rulesets(
    contents: DataFrame, named: DataFrame, operations: DataFrame, semantics: Semantics
) -> DataFrame:
    """Return the rulings of all rulesets that hold an ACL, the ACL by its precedence.

    One for ``<any-other>`` and every operation, and one for each host that an ACL answering the
    operation names; there the best of both decides.

    Args:
        contents: (set1, set2, ruleset_id, resource_type) and what is best for any other host.
        named: result of ``best_of_hosts``.
        operations: the operations of each resource type.
        semantics: names the deciding ACL.
    """
    of_any = contents.select(*SET, "ruleset_id", "resource_type", *_arrays())
    others = of_any.withColumn("host_no", F.lit(ANY_HOST_NO))
    of_hosts = named.select(*SET, "host_no", *_arrays())
    for_hosts = of_any.withColumnsRenamed(
        {"denies": "other_denies", "allows": "other_allows"}
    ).join(of_hosts, on=[*SET], how="inner")
    deny, allow = _at("denies"), _at("allows")
    return (
        others.unionByName(for_hosts, allowMissingColumns=True)
        .join(operations, on="resource_type", how="inner")
        .where((F.col("host_no") == ANY_HOST_NO) | F.coalesce(deny, allow).isNotNull())
        .select(
            "ruleset_id",
            "host_no",
            "operation",
            better_deny(deny, _at("other_denies")).alias("deny"),
            better_allow(allow, _at("other_allows"), semantics).alias("allow"),
        )
    )


def name_rulings(decided: DataFrame, acl_ids: DataFrame, count: int, hosts: DataFrame) -> DataFrame:
    """Return ``explain_ruling`` rows: decision, rule, and the ACL of each precedence.

    Args:
        decided: result of ``decide_rulesets``.
        acl_ids: (acl_no, acl_id).
        count: how many these are.
        hosts: (host_no, host).
    """
    denied, allowed = F.col("deny").isNotNull(), F.col("allow").isNotNull()
    acl_no, are_few = acl_no_of(F.coalesce("deny", "allow")), are_few_texts(count)
    if not are_few:
        # A null would send all that no ACL answers, most rows, into one task of the join.
        nowhere = F.xxhash64("ruleset_id", "operation").bitwiseOR(F.lit(-1 << 63))
        acl_no = F.coalesce(acl_no, nowhere)
    ids = acl_ids.select(
        F.col("acl_no").cast("bigint").alias("acl_no"), F.col("acl_id").alias("deciding_acl_id")
    )
    numbered = decided.withColumn("acl_no", acl_no)
    return (
        join_known(numbered, ids, "acl_no", are_few=are_few, how="left")
        .join(hosts, on="host_no", how="left")
        .withColumns(
            {
                "host": F.coalesce("host", F.lit(ANY_OTHER)),
                "decision": F.when(allowed & ~denied, ALLOWED).otherwise(DENIED),
                "rule": F.when(denied | allowed, MATCHING_ACL).otherwise(DEFAULT_DENY),
            }
        )
        .select(*RULING)
    )


def _column(criterion: Criterion, semantics: Semantics) -> Column:
    """Return a criterion's column: id and operation by their texts, a permission by its code."""
    if criterion.fields in (("acl_id",), ("operation",)):
        return F.col(*criterion.fields)
    if criterion.fields != ("permission_type",):
        return F.col(criterion.column)
    order = Order("", semantics)
    known = [(name, criterion.key(order, name)) for name in AclPermissionType.__members__]
    ranks = F.create_map(*[F.lit(value) for pair in known for value in pair])
    return F.coalesce(ranks[F.col("permission_type")], F.lit(criterion.key(order, "UNKNOWN")))


def _arrays() -> tuple[Column, Column]:
    return F.array(*DENY).alias("denies"), F.array(*ALLOW).alias("allows")


def _at(precedences: str) -> Column:
    return F.get(F.col(precedences), F.col("operation_no"))
