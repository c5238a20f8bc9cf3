"""Rulesets × hosts × operations → decision, rule and deciding ACL. Transforms.

Every ACL gets a *precedence* for each operation it answers: one number, the order in which matching
ACLs decide. Its highest bits are what goes before the operation, then how the ACL answers it, and
the lowest all that goes behind, which is also the ACL's number. Of each group the best DENY and the
best ALLOW are kept per host, in a column for each operation; a ruleset's are the best of its
groups'. A host that no ACL of a ruleset names is answered by ``<any-other>``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from aclkit.model.acl import ANY_OTHER
from aclkit.model.enums import AclPermissionType
from aclkit.model.semantics import BROKER, Semantics
from aclkit.pipeline.explain.frames import ANY_HOST_NO, OPERATIONS
from aclkit.pipeline.explain.rank import OF_OPERATION, OF_PATTERN, other_criteria
from aclkit.pipeline.explain.reach import Late, pattern_of, resource_of
from aclkit.pipeline.explain.rulesets import SET
from aclkit.rules.decide.order import Criterion, Order
from aclkit.rules.decide.rules import (
    ALLOWED,
    DEFAULT_DENY,
    DENIED,
    MATCHING_ACL,
)

RULING: Final = ("ruleset_id", "host", "operation", "decision", "rule", "deciding_acl_id")

_DENY: Final = tuple(f"deny{n}" for n in range(OPERATIONS))
_ALLOW: Final = tuple(f"allow{n}" for n in range(OPERATIONS))
_BITS: Final = 28
_BITS_OF_OPERATION: Final = 6
"""Of a precedence: the lowest bits say which ACL it is."""
MOST_ACLS: Final = (1 << _BITS) - 1
"""So many ACLs can be told apart."""
_LATE: Final = 1 << 62
"""Added to the precedence of an ACL that the broker meets last; precedences stay below it."""


@dataclass(frozen=True, slots=True)
class Wildcards:
    """Ids of the patterns that a broker may meet last: LITERAL ``*``, and empty names in ALLOWs."""

    of_denies: tuple[int, ...]
    of_allows: tuple[int, ...]


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


def with_precedence(ranked: DataFrame, hosts: DataFrame, covers: DataFrame) -> DataFrame:
    """Return a row per (ACL, operation it answers, host it names) with its precedence."""
    return (
        ranked.join(F.broadcast(covers), on=["resource_type", "operation", "is_allow"], how="inner")
        .join(F.broadcast(hosts), on="acl_host_no", how="inner")
        .withColumn(
            "precedence",
            F.shiftleft(F.col("first_no").cast("bigint"), _BITS + _BITS_OF_OPERATION)
            + F.shiftleft(F.col(OF_OPERATION).cast("bigint"), _BITS)
            + F.col("acl_no"),
        )
    )


def best_of_groups(ranked: DataFrame, semantics: Semantics) -> DataFrame:
    """Return each group's best DENY and ALLOW per host, a column for each operation.

    Args:
        ranked: result of ``with_precedence``; nothing of it moves.
        semantics: names the deciding ACL.
    """
    at = F.col("precedence")
    denies = [
        F.min(F.when(~F.col("is_allow") & (F.col("operation_no") == n), at)).alias(name)
        for n, name in enumerate(_DENY)
    ]
    allows = [
        _best_allow(semantics)(F.when(F.col("is_allow") & (F.col("operation_no") == n), at)).alias(
            name
        )
        for n, name in enumerate(_ALLOW)
    ]
    best = ranked.groupBy(OF_PATTERN, "group_no", "host_no").agg(*denies, *allows)
    return best.drop(OF_PATTERN)


def best_of_rulesets(
    parts: DataFrame,
    best: DataFrame,
    of_classes: DataFrame | None,
    wildcards: Wildcards,
    *,
    late: Late,
    semantics: Semantics,
    partitions: int,
) -> DataFrame:
    """Return each ruleset's best DENY and ALLOW per host that one of its groups names.

    Args:
        parts: (set1, set2, class1, class2, pair, group_no), see ``rulesets.parts_of``.
        best: result of ``best_of_groups``.
        of_classes: this function's result for the class rulesets, if some are part of these.
        wildcards: the patterns that may be met last.
        late: for which resources they are.
        semantics: names the deciding ACL.
        partitions: over how many the work is spread.
    """
    rows = parts.join(best, on="group_no", how="inner").select(
        *SET,
        "host_no",
        *_moved_back(_DENY, wildcards.of_denies, late.deny_below),
        *_moved_back(_ALLOW, wildcards.of_allows, late.all_below),
    )
    if of_classes is not None:
        shared = of_classes.withColumnsRenamed({"set1": "class1", "set2": "class2"})
        inherited = (
            parts.select(*SET, "class1", "class2")
            .distinct()
            .join(F.broadcast(shared), on=["class1", "class2"], how="inner")
        )
        rows = rows.unionByName(inherited.drop("class1", "class2"))
    return (
        rows.repartition(partitions, *SET)
        .groupBy(*SET, "host_no")
        .agg(
            *[F.min(name).alias(name) for name in _DENY],
            *[_best_allow(semantics)(name).alias(name) for name in _ALLOW],
        )
    )


def decide_rulesets(
    rulesets: DataFrame, best: DataFrame, operations: DataFrame, semantics: Semantics
) -> DataFrame:
    """Return the rulings of all rulesets that hold an ACL, the ACL by its precedence.

    One for ``<any-other>`` and every operation, and one for each host that an ACL answering the
    operation names; there the best of both decides.

    Args:
        rulesets: (set1, set2, ruleset_id, resource_type).
        best: result of ``best_of_rulesets``.
        operations: the operations of each resource type.
        semantics: names the deciding ACL.
    """
    arrays = best.select(
        *SET, "host_no", F.array(*_DENY).alias("denies"), F.array(*_ALLOW).alias("allows")
    )
    other = arrays.where(F.col("host_no") == ANY_HOST_NO).drop("host_no")
    named = arrays.where(F.col("host_no") != ANY_HOST_NO)
    both = rulesets.select(*SET, "ruleset_id", "resource_type").join(other, on=[*SET], how="left")
    others = both.select(
        "ruleset_id",
        "resource_type",
        F.lit(ANY_HOST_NO).alias("host_no"),
        "denies",
        "allows",
        F.lit(None).cast("array<bigint>").alias("other_denies"),
        F.lit(None).cast("array<bigint>").alias("other_allows"),
    )
    for_hosts = both.withColumnsRenamed({"denies": "other_denies", "allows": "other_allows"}).join(
        named, on=[*SET], how="inner"
    )
    deny, allow = _at("denies"), _at("allows")
    return (
        others.unionByName(for_hosts.drop(*SET))
        .join(F.broadcast(operations), on="resource_type", how="inner")
        .where((F.col("host_no") == ANY_HOST_NO) | F.coalesce(deny, allow).isNotNull())
        .select(
            "ruleset_id",
            "host_no",
            "operation",
            F.least(deny, _at("other_denies")).alias("deny"),
            _better_allow(allow, _at("other_allows"), semantics).alias("allow"),
        )
    )


def name_rulings(decided: DataFrame, acl_ids: DataFrame, hosts: DataFrame) -> DataFrame:
    """Return ``explain_ruling`` rows: decision, rule, and the ACL of each precedence.

    Args:
        decided: result of ``decide_rulesets``.
        acl_ids: (acl_no, acl_id).
        hosts: (host_no, host).
    """
    denied, allowed = F.col("deny").isNotNull(), F.col("allow").isNotNull()
    acl_no = F.coalesce("deny", "allow").bitwiseAND((1 << _BITS) - 1)
    # A null would send all that no ACL answers, most rows, into one task of the join.
    nowhere = F.xxhash64("ruleset_id", "operation").bitwiseOR(F.lit(-1 << 63))
    ids = acl_ids.select(
        F.col("acl_no").cast("bigint").alias("acl_no"), F.col("acl_id").alias("deciding_acl_id")
    )
    return (
        decided.withColumn("acl_no", F.coalesce(acl_no, nowhere))
        .join(ids, on="acl_no", how="left")
        .join(F.broadcast(hosts), on="host_no", how="left")
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


def _moved_back(names: Sequence[str], patterns: Sequence[int], late_below: int) -> list[Column]:
    """Return precedences, those of ACLs that the broker meets last put behind all others."""
    if not patterns or not late_below:
        return [F.col(name) for name in names]
    is_late = (resource_of(F.col("pair")) < late_below) & pattern_of(F.col("group_no")).isin(
        *patterns
    )
    return [(F.col(name) + F.when(is_late, _LATE).otherwise(0)).alias(name) for name in names]


def _at(precedences: str) -> Column:
    return F.get(F.col(precedences), F.col("operation_no"))


def _best_allow(semantics: Semantics) -> Callable[[Column | str], Column]:
    """Return the ALLOW that decides: the broker names the last one, aclkit the first."""
    return F.max if semantics.deciding_acl == BROKER else F.min


def _better_allow(left: Column, right: Column, semantics: Semantics) -> Column:
    if semantics.deciding_acl == BROKER:
        return F.greatest(left, right)
    return F.least(left, right)
