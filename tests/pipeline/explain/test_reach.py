"""Which set of groups concerns whom, on frames of a few rows."""

from __future__ import annotations

import re

from aclkit.pipeline.explain import reach
from aclkit.pipeline.explain.reach import Seed
from aclkit.runtime.frame import local_frame
from tests.factories import acl
from tests.pipeline.explain.frames import acl_frame, must_hold

SETS = (
    "part INT, resource_no INT, salt BIGINT, subject INT, set1 BIGINT, set2 BIGINT, "
    "only_group BIGINT"
)


def test_the_set_of_a_pair_is_the_exclusive_or_of_the_bits_of_its_groups_or_names_the_one(spark):
    ddl = "part INT, resource_no INT, salt BIGINT, subject INT, group_no BIGINT, bits1 BIGINT, bits2 BIGINT"  # noqa: E501 -- one column after another
    rows = [(0, 1, 0, 5, 1, 0b110, 1), (0, 1, 0, 5, 2, 0b011, 1), (0, 1, 0, -1, 3, 0b1000, 7)]
    found = reach.sets_of_groups(local_frame(spark, rows, ddl))
    must_hold(
        found.select("resource_no", "subject", "set1", "set2", "only_group"),
        [(1, 5, 0b101, 0, None), (1, -1, 0b1000, 7, 3)],
        "resource_no INT, subject INT, set1 BIGINT, set2 BIGINT, only_group BIGINT",
    )


def test_an_own_pair_adds_the_set_of_its_class_and_the_salt(spark):
    sets = local_frame(
        spark,
        [(0, 1, 16, 5, 1, 1, 9), (0, 1, 16, -1, 2, 2, 8), (0, 2, 0, 5, 4, 4, None)],
        SETS,
    )
    classes = local_frame(spark, [(5, -1)], "subject INT, class_no INT")
    of_classes = reach.class_pairs(sets)
    found = reach.own_pairs(sets, classes, of_classes)
    must_hold(
        found.drop("part"),
        [(1, 5, 1 ^ 2 ^ 16, 1 ^ 2, 9, 2 ^ 16, 2), (2, 5, 4, 4, None, None, None)],
        "resource_no INT, subject INT, set1 BIGINT, set2 BIGINT, only_group BIGINT, "
        "class1 BIGINT, class2 BIGINT",
    )


def test_a_packed_pair_gives_its_resource_back(spark):
    numbers = [(number, subject) for number in (0, 7, 2**31 - 1) for subject in (-(2**31), -1, 3)]
    frame = local_frame(spark, numbers, "resource_no INT, subject INT")
    packed = frame.select("resource_no", reach.resource_of(reach.packed_pair()).alias("again"))
    assert packed.where("resource_no <> again").count() == 0
    assert frame.select(reach.packed_pair()).distinct().count() == len(numbers)


def test_acls_get_the_numbers_and_ranks_of_their_pattern_principal_and_host(spark):
    acls = acl_frame(spark, [acl("b", principal="User:x", acl_id="1"), acl("a", acl_id="2")])
    where = "resource_type STRING, pattern_type STRING, resource_name STRING, "
    patterns = local_frame(
        spark,
        [(7, "TOPIC", "LITERAL", "b", 3, 0), (8, "TOPIC", "LITERAL", "a", 4, 1)],
        f"pattern_id INT, {where}pattern_rank INT, acls_before INT",
    )
    hosts = local_frame(spark, [(9, "*", 5)], "acl_host_no INT, host STRING, host_rank INT")
    principals = local_frame(
        spark,
        [(5, "User:x", 1), (6, "User:a", 2)],
        "text_no INT, principal STRING, principal_rank INT",
    )
    must_hold(
        reach.number_acls(acls, patterns, principals, hosts).select(
            "acl_id", "group_no", "acls_before", "pattern_rank", "principal_rank", "host_rank"
        ),
        [("1", 7 << 32 | 5, 0, 3, 1, 5), ("2", 8 << 32 | 6, 1, 4, 2, 5)],
        "acl_id STRING, group_no BIGINT, acls_before INT, pattern_rank INT, principal_rank INT, "
        "host_rank INT",
    )


def test_a_pattern_grants_to_each_subject_of_its_principal_text_with_bits_of_its_own(spark):
    groups = local_frame(
        spark,
        [(7, 5, 75), (8, 5, 85), (7, 6, 76)],
        "pattern_id INT, text_no INT, group_no BIGINT",
    )
    subjects = local_frame(
        spark,
        [(5, 0, 1, 2), (5, 3, 1, 2), (9, 4, 1, 2)],
        "text_no INT, subject INT, seed1 BIGINT, seed2 BIGINT",
    )
    found = reach.grants(groups, subjects)
    must_hold(
        found.select("pattern_id", "subject", "group_no"),
        [(7, 0, 75), (7, 3, 75), (8, 0, 85), (8, 3, 85)],
        "pattern_id INT, subject INT, group_no BIGINT",
    )
    assert found.select("group_no", "bits1").distinct().count() == 2
    assert found.select("bits1").union(found.select("bits2")).distinct().count() == 4


def test_a_resource_is_reached_by_the_grants_of_all_its_patterns(spark):
    resources = local_frame(
        spark,
        [(0, 1, 16, [7, 8]), (0, 2, 0, [8]), (1, 3, 0, []), (1, 4, 0, [9])],
        "part INT, resource_no INT, salt BIGINT, pattern_ids ARRAY<INT>",
    )
    granted = local_frame(
        spark, [(7, 0, 75), (8, 0, 80), (8, 1, 81)], "pattern_id INT, subject INT, group_no BIGINT"
    )
    must_hold(
        reach.reach(resources, granted).select(
            "part", "resource_no", "salt", "pattern_id", "subject", "group_no"
        ),
        [(0, 1, 16, 7, 0, 75), (0, 1, 16, 8, 0, 80), (0, 1, 16, 8, 1, 81), (0, 2, 0, 8, 0, 80),
         (0, 2, 0, 8, 1, 81)],
        "part INT, resource_no INT, salt BIGINT, pattern_id INT, subject INT, group_no BIGINT",
    )  # fmt: skip


def test_too_many_grants_go_where_the_resources_are_that_they_reach(spark):
    resources = local_frame(
        spark,
        [(0, 1, 16, [7, 8]), (0, 2, 0, [8]), (1, 3, 0, []), (1, 4, 0, [7])],
        "part INT, resource_no INT, salt BIGINT, pattern_ids ARRAY<INT>",
    ).repartition(2, "part")
    granted = local_frame(
        spark, [(7, 0, 75), (8, 1, 81), (9, 2, 92)], "pattern_id INT, subject INT, group_no BIGINT"
    )
    there = reach.in_parts(granted, reach.patterns_in_parts(resources), 2)
    must_hold(
        there.select("part", "pattern_id", "subject"),
        [(0, 7, 0), (1, 7, 0), (0, 8, 1)],
        "part INT, pattern_id INT, subject INT",
    )
    must_hold(
        reach.reach(resources, there).select("part", "resource_no", "pattern_id", "subject"),
        [(0, 1, 7, 0), (0, 1, 8, 1), (0, 2, 8, 1), (1, 4, 7, 0)],
        "part INT, resource_no INT, pattern_id INT, subject INT",
    )
    plan = reach.reach(resources, there.hint("merge"))._jdf.queryExecution().executedPlan()
    spread_by = re.findall(r"hashpartitioning\(([a-z_]+)#\d+(, [a-z_]+#)?", plan.toString())
    assert ("part", "") in spread_by
    assert {more for _, more in spread_by} == {""}, "they were to be spread by part alone"


def test_a_class_pair_is_the_set_of_its_class_alone_with_the_salt_in_it(spark):
    sets = local_frame(
        spark,
        [(0, 1, 16, -1, 2, 3, 9), (0, 1, 16, 5, 1, 1, None)],
        SETS,
    )
    must_hold(
        reach.class_pairs(sets),
        [(0, 1, -1, 2, 18, 3, 9, None, None)],
        "part INT, resource_no INT, subject INT, bare1 BIGINT, set1 BIGINT, set2 BIGINT, "
        "only_group BIGINT, class1 BIGINT, class2 BIGINT",
    )


def test_the_salt_differs_wherever_the_wildcard_comes_last_otherwise():
    seed = Seed()
    salts = [seed.salt_of(last) for last in (reach.NEVER, reach.AMONG_DENIES, reach.AMONG_ALL)]
    assert salts[0] == 0
    assert len({*salts}) == 3
    assert Seed() != seed
