"""Resources, their patterns and the groups of ACLs → which set of groups concerns whom.

A *group* is the ACLs with one pattern and one principal text. A *subject* is who a group is
about: a principal that its text names exactly (0 and up), or a principal class that its text
stands for (below 0). Of the set of groups that concern a (resource, subject) only a fingerprint
goes through the large join: the exclusive or of 128 bits per group. The bits come from a seed that
is drawn anew for every run, so that no one can write ACLs that give two sets of groups the same
fingerprint.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from aclkit.pipeline.explain.rank import OF_PATTERN
from aclkit.rules.decide.order import WildcardLast

_LOW: Final = 32
_PATTERN: Final = ("resource_type", "pattern_type", "resource_name")

NEVER: Final = WildcardLast()
AMONG_DENIES: Final = WildcardLast(denies=True)
AMONG_ALL: Final = WildcardLast(denies=True, allows=True)
"""Where a broker can meet LITERAL ``*`` last: for no name only among ALLOWs."""

PLACE: Final = ("part", "resource_no")
"""What a resource's rows are spread by: ``part`` stands for a range of ``resource_no``."""


@dataclass(frozen=True, slots=True)
class Late:
    """Resources, by number, for which the broker meets LITERAL ``*`` after all other ACLs.

    Attributes:
        all_below: below this number so it is for DENYs and ALLOWs.
        deny_below: below this number so it is for DENYs.
    """

    all_below: int = 0
    deny_below: int = 0


@dataclass(frozen=True, slots=True)
class Seed:
    """What the fingerprints of one run are made from.

    They travel in columns and not as constants, so that the code which Spark compiles for one
    run serves the next.
    """

    first: int = field(default_factory=lambda: secrets.randbits(63))
    second: int = field(default_factory=lambda: secrets.randbits(63))
    salt: int = field(default_factory=lambda: secrets.randbits(62))

    def salt_of(self, last: WildcardLast) -> int:
        """Return what tells rulesets apart by where a broker meets LITERAL ``*`` last, 0: nowhere.

        The same groups of ACLs name another deciding ACL there.
        """
        return {NEVER: 0, AMONG_DENIES: self.salt + 1, AMONG_ALL: self.salt + 2}[last]


def number_acls(
    acls: DataFrame, patterns: DataFrame, principals: DataFrame, hosts: DataFrame
) -> DataFrame:
    """Return the ACLs with numbers in the place of their texts, and with the ranks of these."""
    ranks = [
        name
        for numbered in (patterns, principals, hosts)
        for name in numbered.columns
        if name.endswith("_rank")
    ]
    group = F.shiftleft(F.col("pattern_id").cast("bigint"), _LOW) + F.col("text_no")
    return (
        acls.join(patterns, on=[*_PATTERN], how="inner")
        .join(principals, on="principal", how="inner")
        .join(hosts, on="host", how="inner")
        .select(
            "acl_id",
            group.alias("group_no"),
            "resource_type",
            "operation",
            "permission_type",
            "acl_host_no",
            "acls_before",
            *ranks,
        )
    )


def group_acls(ranked: DataFrame, best: Sequence[Column], names: Sequence[str]) -> DataFrame:
    """Return the groups: their numbers, ids, ACLs and what is best in them.

    They lie where the ACLs lie: those of a group have one rank of patterns.
    """
    # The number first: by it alone almost all rows are sorted.
    return (
        ranked.groupBy("group_no", OF_PATTERN, "resource_type")
        .agg(F.sort_array(F.collect_list("acl_id")).alias("acl_ids"), *best)
        .select(
            "group_no",
            "resource_type",
            pattern_of(F.col("group_no")).alias("pattern_id"),
            F.col("group_no").bitwiseAND((1 << _LOW) - 1).cast("int").alias("text_no"),
            "acl_ids",
            content_id(F.col("acl_ids")).alias("group_id"),
            *names,
        )
    )


def name_groups(groups: DataFrame, patterns: DataFrame, principals: DataFrame) -> DataFrame:
    """Return ``ruleset_group`` rows."""
    return (
        groups.select("group_id", "pattern_id", "text_no", "acl_ids")
        .join(patterns.select("pattern_id", *_PATTERN), on="pattern_id")
        .join(principals.select("text_no", "principal"), on="text_no")
    )


def grants(groups: DataFrame, subjects: DataFrame) -> DataFrame:
    """Return what each pattern grants or denies: a row per group and subject.

    ``subjects`` are (text_no, subject, seed1, seed2): whom a principal text of ACLs names or
    stands for. ``bits1`` and ``bits2`` are the group's share in a fingerprint.
    """
    return groups.join(subjects, on="text_no", how="inner").select(
        "pattern_id",
        "subject",
        "group_no",
        F.xxhash64("seed1", "group_no").alias("bits1"),
        F.xxhash64("seed2", "group_no").alias("bits2"),
    )


def reach(resources: DataFrame, granted: DataFrame) -> DataFrame:
    """Pair each resource with the grants whose pattern matches it.

    Resources never move. Grants are broadcast, or lie in parts as the resources do: see
    ``in_parts``.
    """
    on = known(granted, "part", "pattern_id")
    return resources.select(*PLACE, "salt", F.explode("pattern_ids").alias("pattern_id")).join(
        granted, on=on, how="inner"
    )


def patterns_in_parts(resources: DataFrame) -> DataFrame:
    """Return each pattern that matches a resource, with the parts of those that it matches."""
    matched = resources.select("part", F.explode("pattern_ids").alias("pattern_id"))
    return matched.groupBy("pattern_id").agg(F.collect_set("part").alias("parts"))


def in_parts(granted: DataFrame, patterns: DataFrame, parts: int) -> DataFrame:
    """Return the grants where the resources are that they reach, once in each such part.

    Args:
        granted: result of ``grants``.
        patterns: result of ``patterns_in_parts``.
        parts: how many parts there are.
    """
    return (
        granted.join(patterns, on="pattern_id", how="inner")
        .withColumn("part", F.explode("parts"))
        .drop("parts")
        .repartition(parts, "part")
    )


def sets_of_groups(reached: DataFrame) -> DataFrame:
    """Return each (resource, subject) that a group concerns, with the fingerprint of them all.

    ``only_group`` is the group where it is one alone, as it is for most pairs.
    """
    return reached.groupBy(*PLACE, "salt", "subject").agg(
        F.bit_xor("bits1").alias("set1"),
        F.bit_xor("bits2").alias("set2"),
        F.when(F.count("*") == 1, F.min("group_no")).alias("only_group"),
    )


def class_pairs(sets: DataFrame) -> DataFrame:
    """Return the (resource, class) pairs of ``sets_of_groups``; see ``own_pairs``."""
    return sets.where("subject < 0").select(
        *PLACE,
        "subject",
        F.col("set1").alias("bare1"),
        F.col("set1").bitwiseXOR(F.col("salt")).alias("set1"),
        "set2",
        "only_group",
        F.lit(None).cast("bigint").alias("class1"),
        F.lit(None).cast("bigint").alias("class2"),
    )


def own_pairs(sets: DataFrame, classes: DataFrame, of_classes: DataFrame) -> DataFrame:
    """Return the (resource, principal) pairs that an own ACL concerns.

    ``set1``, ``set2``: all groups that apply, the class's too; ``class1``, ``class2``: the
    class's alone, null where there are none. ``only_group`` is the principal's. ``salt`` is not 0
    for resources where the broker meets LITERAL ``*`` last (``Late``): the same groups are another
    ruleset there.

    Args:
        sets: result of ``sets_of_groups``.
        classes: (subject, class_no): the class of each principal.
        of_classes: result of ``class_pairs``, without ``part`` where it is broadcast.
    """
    place = known(of_classes, *PLACE)
    shared = of_classes.select(
        *place,
        F.col("subject").alias("class_no"),
        "bare1",
        F.col("set1").alias("class1"),
        F.col("set2").alias("class2"),
    )
    return (
        sets.where("subject >= 0")
        .join(classes, on="subject", how="inner")
        .join(shared, on=[*place, "class_no"], how="left")
        .select(
            *PLACE,
            "subject",
            F.col("set1")
            .bitwiseXOR(F.coalesce("bare1", F.lit(0)))
            .bitwiseXOR(F.col("salt"))
            .alias("set1"),
            F.col("set2").bitwiseXOR(F.coalesce("class2", F.lit(0))).alias("set2"),
            "only_group",
            "class1",
            "class2",
        )
    )


def known(rows: DataFrame, *keys: str) -> list[str]:
    """Return those of some keys that rows have: what is broadcast has no ``part``.

    Spark looks up two numbers as one, and three as a row.
    """
    return [key for key in keys if key in rows.columns]


def packed_pair() -> Column:
    """Return a (resource, subject) as one number, by which it is found again."""
    resource = F.shiftleft(F.col("resource_no").cast("bigint"), _LOW)
    return resource + (F.col("subject") + F.lit(1 << (_LOW - 1)))


def resource_of(pair: Column) -> Column:
    """Return the ``resource_no`` of a packed pair."""
    return F.shiftright(pair, _LOW).cast("int")


def pattern_of(group: Column) -> Column:
    """Return the ``pattern_id`` of a ``group_no``."""
    return F.shiftright(group, _LOW).cast("int")


def content_id(texts: Column) -> Column:
    """Hash a sorted array of ids: 32 hex digits of sha-256."""
    return F.substring(F.sha2(F.concat_ws(",", texts), 256), 1, 32)
