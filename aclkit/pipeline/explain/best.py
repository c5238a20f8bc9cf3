"""ACLs in their order → the best DENY and ALLOW for each operation, of groups and rulesets.

Every ACL gets a *precedence* for each operation it answers: one number, the order in which matching
ACLs decide. Its highest bits are the criteria before the operation, then how the ACL answers it.
Its lowest bits are all criteria after that, which are also the ACL's number. What is best is a
column for each operation and permission: of a group for any other host, in the group's own row, and
for each host that is named in a row of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from aclkit.model.semantics import BROKER, Semantics
from aclkit.pipeline.explain.frames import ANY_HOST_NO, OPERATIONS
from aclkit.pipeline.explain.rank import OF_PATTERN
from aclkit.pipeline.explain.reach import Late, pattern_of, resource_of

DENY: Final = tuple(f"deny{n}" for n in range(OPERATIONS))
ALLOW: Final = tuple(f"allow{n}" for n in range(OPERATIONS))
BEST: Final = (*DENY, *ALLOW)

_BITS: Final = 28
_BITS_OF_OPERATION: Final = 6
"""The number of lowest bits of a precedence, which identify the ACL."""
MOST_ACLS: Final = (1 << _BITS) - 1
"""At most this many ACLs can be distinguished."""
_LATE: Final = 1 << 62
"""Added to the precedence of an ACL that the broker meets last; precedences stay below it."""


@dataclass(frozen=True, slots=True)
class Wildcards:
    """Ids of the patterns that a broker may meet last: LITERAL ``*``, and empty names in ALLOWs."""

    of_denies: tuple[int, ...] = ()
    of_allows: tuple[int, ...] = ()

    @classmethod
    def of(cls, patterns: Iterable[tuple[str, str, str]]) -> Wildcards:
        """Return those among patterns (resource type, pattern type, name); an id is a place."""
        found = [(n, p[1:] == ("LITERAL", "*"), not p[2]) for n, p in enumerate(patterns)]
        return cls(
            of_denies=tuple(n for n, is_literal, _ in found if is_literal),
            of_allows=tuple(n for n, is_literal, is_empty in found if is_literal or is_empty),
        )


def answering(ranked: DataFrame, covers: DataFrame) -> DataFrame:
    """Return the ACLs with ``answers``: how each operation is answered, null where it is not."""
    keys = ["resource_type", "operation", "is_allow"]
    return ranked.join(covers, on=keys, how="left")


def with_any_host(acls: DataFrame, hosts: DataFrame) -> DataFrame:
    """Return all ACLs; an ACL of named hosts alone answers nothing for any other host."""
    of_all = hosts.where(F.col("host_no") == ANY_HOST_NO)
    joined = acls.join(of_all, on="acl_host_no", how="left")
    return joined.withColumn("answers", F.when(F.col("host_no").isNotNull(), F.col("answers")))


def of_named_hosts(acls: DataFrame, hosts: DataFrame, semantics: Semantics) -> DataFrame:
    """Return each group's best for each host that its ACLs name; nothing of the ACLs moves."""
    named = hosts.where(F.col("host_no") != ANY_HOST_NO)
    return (
        acls.join(named, on="acl_host_no", how="inner")
        .groupBy(OF_PATTERN, "group_no", "host_no")
        .agg(*best_acls(semantics))
        .drop(OF_PATTERN)
    )


def best_acls(semantics: Semantics) -> list[Column]:
    """Return the aggregates of ACLs that are the best of them."""
    at = [_precedence(number) for number in range(OPERATIONS)]
    denies = [F.min(F.when(~F.col("is_allow"), at[n])).alias(name) for n, name in enumerate(DENY)]
    best_allow = _best_allow(semantics)
    allows = [
        best_allow(F.when(F.col("is_allow"), at[n])).alias(name) for n, name in enumerate(ALLOW)
    ]
    return [*denies, *allows]


def best_of_best(semantics: Semantics) -> list[Column]:
    """Return the aggregates of rows with the best of some ACLs that are the best of them all."""
    best_allow = _best_allow(semantics)
    return [
        *[F.min(name).alias(name) for name in DENY],
        *[best_allow(name).alias(name) for name in ALLOW],
    ]


def moved_back(wildcards: Wildcards, late: Late) -> list[Column]:
    """Return the best of a group at a ``pair``.

    The ACLs that the broker meets last there come after all others.
    """
    return [
        *_moved_back(DENY, wildcards.of_denies, late.deny_below),
        *_moved_back(ALLOW, wildcards.of_allows, late.all_below),
    ]


def better_deny(left: Column, right: Column) -> Column:
    """Return which of two DENYs decides; null is none."""
    return F.least(left, right)


def better_allow(left: Column, right: Column, semantics: Semantics) -> Column:
    """Return which of two ALLOWs decides: the broker names the last one, aclkit the first."""
    return F.greatest(left, right) if semantics.deciding_acl == BROKER else F.least(left, right)


def acl_no_of(precedence: Column) -> Column:
    """Return the number of the ACL that has a precedence."""
    return precedence.bitwiseAND((1 << _BITS) - 1)


def _precedence(number: int) -> Column:
    answer = F.get(F.col("answers"), F.lit(number)).cast("bigint")
    first = F.shiftleft(F.col("first_no").cast("bigint"), _BITS + _BITS_OF_OPERATION)
    return first + F.shiftleft(answer, _BITS) + F.col("acl_no")


def _moved_back(names: Sequence[str], patterns: Sequence[int], late_below: int) -> list[Column]:
    if not patterns or not late_below:
        return [F.col(name) for name in names]
    is_late = (resource_of(F.col("pair")) < late_below) & pattern_of(F.col("group_no")).isin(
        *patterns
    )
    return [(F.col(name) + F.when(is_late, _LATE).otherwise(0)).alias(name) for name in names]


def _best_allow(semantics: Semantics) -> Callable[[Column | str], Column]:
    return F.max if semantics.deciding_acl == BROKER else F.min
