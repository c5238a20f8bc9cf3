"""Pairs and rulesets on frames of a few rows: which groups of ACLs concern whom."""

from __future__ import annotations

import hashlib

from pyspark.sql import functions as F

from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.explain import frames, pairing, reach, rulesets, tables
from aclkit.pipeline.explain.best import ALLOW, BEST, DENY, Wildcards
from aclkit.pipeline.explain.on_driver import content_id
from aclkit.pipeline.explain.reach import Late
from aclkit.pipeline.explain.rulings import rank_acls
from aclkit.runtime.frame import Steps, local_frame
from tests.factories import acl
from tests.pipeline.explain.frames import in_parts, must_hold, numbered_acls, scope_of


def ranked(spark, scope, acls):
    return rank_acls(numbered_acls(spark, scope, acls), scope.semantics)


def pair(spark, scope, acls):
    """The pairing of a scope, with the ACLs of each ruleset by its id."""
    steps = Steps()
    matching = pairing.match_resources(spark, scope, steps)
    numbered = pairing.acls_of(scope, steps.checkpoint(ranked(spark, scope, acls)))
    groups = steps.checkpoint(pairing.group_up(scope, numbered))
    found = pairing.pair_up(scope, groups, matching, steps)
    acls_of = {row["group_id"]: row["acl_ids"] for row in groups.collect()}
    held = {
        row["ruleset_id"]: (
            tuple(sorted(acl_id for group in row["group_ids"] for acl_id in acls_of[group])),
            row["wildcard_last"],
        )
        for contents in (found.contents, found.class_contents)
        for row in contents.collect()
    }
    return found, held


def rulesets_of(rows, held):
    """(who, resource) → the ACLs of its ruleset, or the fixed ruleset's name."""
    return {
        (row[0], row["resource_name"]): held.get(row["ruleset_id"], row["ruleset_id"])
        for row in rows.collect()
    }


ACLS = [
    acl("pay", pattern_type="PREFIXED", principal="User:a", acl_id="prefix-a"),
    acl("pay-in", principal="User:a", acl_id="literal-a"),
    acl("pay-in", principal="User:*", acl_id="literal-all"),
    acl("*", principal="User:b", acl_id="all-b"),
    acl("pay-in", resource_type="GROUP", principal="User:a", acl_id="group-a"),
]
SCOPE = scope_of(
    ACLS,
    principals=("User:a", "User:b", "User:c", "User:root"),
    resources=(("TOPIC", "pay-in"), ("TOPIC", "pay-out"), ("TOPIC", "x"), ("GROUP", "y")),
    super_users=frozenset({"User:root"}),
)


def test_a_pair_has_the_acls_that_reach_the_resource_for_the_principal_and_its_class(spark):
    found, held = pair(spark, SCOPE, ACLS)
    principals = found.pairs.select("principal", "resource_name", "ruleset_id")
    assert rulesets_of(principals, held) == {
        ("User:a", "pay-in"): (("literal-a", "literal-all", "prefix-a"), None),
        ("User:a", "pay-out"): (("prefix-a",), None),
        ("User:b", "pay-in"): (("all-b", "literal-all"), None),
        ("User:b", "pay-out"): (("all-b",), None),
        ("User:b", "x"): (("all-b",), None),
    }


def test_every_class_and_resource_has_a_ruleset_found_or_fixed(spark):
    found, held = pair(spark, SCOPE, ACLS)
    (class_id,) = set(SCOPE.classes.class_of.values())
    shared = found.class_pairs.select("principal_class", "resource_name", "ruleset_id")
    assert rulesets_of(shared, held) == {
        (class_id, "pay-in"): (("literal-all",), None),
        (class_id, "pay-out"): "other:TOPIC",
        (class_id, "x"): "other:TOPIC",
        (class_id, "y"): "none:GROUP",
    }


def test_below_the_wildcard_rulesets_of_a_broker_say_where_it_comes_last(spark):
    acls = [acl("*", principal="User:a", acl_id="all"), acl("#", principal="User:a", acl_id="own")]
    scope = scope_of(
        acls,
        principals=("User:a",),
        resources=(("TOPIC", "!"), ("TOPIC", "#"), ("TOPIC", "a")),
        semantics=KAFKA,
    )
    found, held = pair(spark, scope, acls)
    principals = found.pairs.select("principal", "resource_name", "ruleset_id")
    assert rulesets_of(principals, held) == {
        ("User:a", "!"): (("all",), "all"),
        ("User:a", "#"): (("all", "own"), "deny"),
        ("User:a", "a"): (("all",), None),
    }


def test_resources_are_numbered_in_the_order_of_type_and_name_with_all_their_patterns(spark):
    found = pairing.match_resources(spark, SCOPE, Steps())
    must_hold(
        found.resources.select(
            "resource_no", "salt", "resource_type", "resource_name", "pattern_ids"
        ),
        [
            (0, 0, "GROUP", "y", []),
            (1, 0, "TOPIC", "pay-in", [0, 1, 2]),
            (2, 0, "TOPIC", "pay-out", [0, 2]),
            (3, 0, "TOPIC", "x", [2]),
        ],
        "resource_no INT, salt BIGINT, resource_type STRING, resource_name STRING, "
        "pattern_ids ARRAY<INT>",
    )
    assert found.late == Late(0, 0)


def test_a_group_is_the_acls_of_one_pattern_and_one_principal(spark):
    twins = [acl(acl_id="2"), acl(acl_id="1", host="10.0.0.1"), acl(principal="User:b", acl_id="3")]
    scope = scope_of(twins)
    groups = reach.group_acls(ranked(spark, scope, twins), [], [])
    must_hold(
        groups.select("group_no", "pattern_id", "text_no", "acl_ids", "group_id"),
        [(0, 0, 0, ["1", "2"], content_id("12")), (1, 0, 1, ["3"], content_id("3"))],
        "group_no BIGINT, pattern_id INT, text_no INT, acl_ids ARRAY<STRING>, group_id STRING",
    )
    patterns, principals, _ = frames.texts_of_acls(spark, scope.texts, scope.semantics)
    where = ("resource_type", "pattern_type", "resource_name", "principal")
    must_hold(
        reach.name_groups(groups, patterns, principals).select("acl_ids", *where),
        [(ids, "TOPIC", "LITERAL", twins[0].resource_name, who)
         for ids, who in ((["1", "2"], "User:a"), (["3"], "User:b"))],
        f"acl_ids ARRAY<STRING>, {', '.join(f'{name} STRING' for name in where)}",
    )  # fmt: skip


def test_the_content_of_a_ruleset_is_looked_up_at_its_first_pair(spark):
    ddl = "resource_no INT, subject INT, set1 BIGINT, set2 BIGINT, class1 BIGINT, class2 BIGINT, only_group BIGINT"  # noqa: E501 -- one column after another
    rows = [(9, 1, 5, 5, None, None, 7), (2, 1, 5, 5, None, None, 7), (3, 1, 6, 6, 8, 8, None)]
    firsts = rulesets.first_pairs(local_frame(spark, rows, ddl))
    resource_no = reach.resource_of(F.col("pair")).alias("no")
    must_hold(
        firsts.select(*rulesets.SET, resource_no, "class1", "only_group"),
        [(5, 5, 2, None, 7), (6, 6, 3, 8, None)],
        "set1 BIGINT, set2 BIGINT, no INT, class1 BIGINT, only_group BIGINT",
    )


def test_the_id_of_a_ruleset_is_a_hash_of_its_groups_and_of_where_the_wildcard_is_last(spark):
    frame = local_frame(
        spark, [(["a", "b"], None), (["a", "b"], "all")], "ids ARRAY<STRING>, last STRING"
    )
    found = frame.select(rulesets.ruleset_id(F.col("ids"), F.col("last"))).collect()
    wanted = [hashlib.sha256(text).hexdigest()[:32] for text in (b"a,b", b"a,b,* all")]
    assert [row[0] for row in found] == wanted


def test_the_tables_of_pairs_have_the_fixed_rulesets_too(spark):
    found, _ = pair(spark, SCOPE, ACLS)
    rows = tables.of_pairing(spark, found)
    fixed = {r["ruleset_id"] for r in rows["ruleset"].where("size(group_ids) = 0").collect()}
    assert fixed == {
        "super",
        *(f"{kind}:{of}" for kind in ("none", "other") for of in OPERATIONS_OF_TYPE),
    }


def test_the_rows_of_an_inventory_say_class_and_super_user_and_which_hosts_are_named(spark):
    acls = [acl(host="10.0.0.1"), acl()]
    scope = scope_of(
        acls,
        principals=("User:a", "User:root"),
        hosts=("10.0.0.1", "10.0.0.2"),
        resources=(("TOPIC", "x"),),
        super_users=frozenset({"User:root"}),
        semantics=KIP_1042,
    )
    rows = tables.of_inventory(scope)
    class_of = scope.classes.class_of
    assert [row[1:6] for row in rows["principal"]] == [
        ("User:a", "User", "a", class_of["User:a"], False),
        ("User:root", "User", "root", class_of["User:root"], True),
    ]
    assert [row[1:3] for row in rows["host"]] == [
        ("10.0.0.1", True), ("10.0.0.2", False), ("<any-other>", False),
    ]  # fmt: skip
    assert ("c", "10.0.0.1", "10.0.0.1") in rows["host_match"]
    assert tables.digest_of(rows) == tables.digest_of(tables.of_inventory(scope))


def test_a_group_gives_its_pattern_back(spark):
    frame = local_frame(spark, [(7, 7 << 32 | 5), (0, 9)], "pattern_id INT, group_no BIGINT")
    found = frame.select("pattern_id", reach.pattern_of(F.col("group_no")).alias("again"))
    must_hold(found, [(7, 7), (0, 0)], "pattern_id INT, again INT")


def test_the_parts_of_a_ruleset_are_the_groups_that_concern_its_first_pair(spark):
    reached = local_frame(
        spark,
        [(1, 5, 10), (1, 5, 11), (2, 5, 12), (1, 6, 13)],
        "resource_no INT, subject INT, group_no BIGINT",
    )
    first = reached.where("group_no = 10").select(
        F.lit(3).cast("bigint").alias("set1"),
        F.lit(4).cast("bigint").alias("set2"),
        reach.packed_pair().alias("pair"),
        F.lit(7).cast("bigint").alias("class1"),
        F.lit(8).cast("bigint").alias("class2"),
        F.lit(None).cast("bigint").alias("only_group"),
    )
    parts = rulesets.parts_of(reached, first)
    must_hold(
        parts.drop("pair"),
        [(3, 4, 7, 8, 10, False), (3, 4, 7, 8, 11, False)],
        f"{SET_AND_CLASS}, group_no BIGINT, is_only BOOLEAN",
    )
    of_one = rulesets.parts_of(
        reached.limit(0), first.withColumn("only_group", F.lit(12).cast("bigint"))
    )
    must_hold(
        of_one.drop("pair"),
        [(3, 4, 7, 8, 12, True)],
        f"{SET_AND_CLASS}, group_no BIGINT, is_only BOOLEAN",
    )
    groups = local_frame(
        spark,
        [(n, f"g{n}", "TOPIC", *range(n, n + len(BEST))) for n in (10, 11, 12)],
        f"group_no BIGINT, group_id STRING, resource_type STRING, {BEST_DDL}",
    )
    must_hold(
        rulesets.with_groups(parts, groups, 9, Wildcards(), Late()).drop("pair"),
        [(3, 4, 7, 8, False, f"g{n}", "TOPIC", *range(n, n + len(BEST))) for n in (10, 11)],
        f"{SET_AND_CLASS}, is_only BOOLEAN, group_id STRING, resource_type STRING, {BEST_DDL}",
    )


SET_AND_CLASS = "set1 BIGINT, set2 BIGINT, class1 BIGINT, class2 BIGINT"
BEST_DDL = ", ".join(f"{name} BIGINT" for name in BEST)
PARTS = (
    f"{SET_AND_CLASS}, pair BIGINT, is_only BOOLEAN, group_id STRING, resource_type STRING, "
    f"{BEST_DDL}"
)
CONTENTS = (
    f"{SET_AND_CLASS}, resource_type STRING, "
    f"group_ids ARRAY<STRING>, wildcard_last STRING, {BEST_DDL}, ruleset_id STRING"
)


def best_of(deny=None, allow=None):
    """A row's best: of the first operation alone, if of any."""
    found = dict.fromkeys(BEST) | {DENY[0]: deny, ALLOW[0]: allow}
    return tuple(found.values())


def test_the_content_of_a_ruleset_is_its_own_groups_and_those_of_its_class_sorted(spark):
    parts = local_frame(
        spark,
        [(1, 1, 7, 7, 0, False, "z", "TOPIC", *best_of(deny=5)),
         (1, 1, 7, 7, 0, False, "a", "TOPIC", *best_of(deny=4, allow=9)),
         (2, 2, None, None, 0, True, "x", "GROUP", *best_of(allow=3)),
         (3, 3, 7, 7, 0, True, "z", "TOPIC", *best_of(deny=7))],
        PARTS,
    )  # fmt: skip
    of_class = local_frame(
        spark, [(7, 7, None, None, "TOPIC", ["m"], None, *best_of(deny=6, allow=8), "k")], CONTENTS
    )
    for semantics, allow in ((KIP_1042, 8), (KAFKA, 9)):
        must_hold(
            rulesets.contents(parts, of_class, Late(), semantics, 2),
            [
                (1, 1, 7, 7, "TOPIC", ["a", "m", "z"], None, *best_of(4, allow),
                 content_id("amz")),
                (2, 2, None, None, "GROUP", ["x"], None, *best_of(allow=3), content_id("x")),
                (3, 3, 7, 7, "TOPIC", ["m", "z"], None, *best_of(6, 8), content_id("mz")),
            ],
            CONTENTS,
        )  # fmt: skip


def test_the_content_of_a_ruleset_says_where_its_first_resource_has_the_wildcard_last(spark):
    parts = local_frame(
        spark,
        [(n, n, None, None, n << 32, bool(n % 2), "g", "TOPIC", *best_of()) for n in range(5)],
        PARTS,
    )
    found = rulesets.contents(parts, None, Late(all_below=2, deny_below=4), KAFKA, 1)
    must_hold(
        found.select("set1", "wildcard_last"),
        [(0, "all"), (1, "all"), (2, "deny"), (3, "deny"), (4, None)],
        "set1 BIGINT, wildcard_last STRING",
    )


def test_each_part_has_a_place_of_its_own_and_the_sum_of_its_groups_moves_nothing(spark):
    few = scope_of(ACLS, resources=[("TOPIC", f"t{n}") for n in range(60)])
    scope = in_parts(few, 6)
    found = pairing.match_resources(spark, scope, Steps()).resources
    places = found.select("part", F.spark_partition_id().alias("place"), "resource_no")
    numbers = {}
    for part, place, number in places.collect():
        numbers.setdefault((part, place), []).append(number)
    assert sorted(map(sorted, numbers.values())) == [
        list(range(first, first + 10)) for first in range(0, 60, 10)
    ]
    assert len({place for _, place in numbers}) == 6
    granted = local_frame(
        spark,
        [(0, 0, 75, 1, 2)],
        "pattern_id INT, subject INT, group_no BIGINT, bits1 BIGINT, bits2 BIGINT",
    )
    sets = reach.sets_of_groups(reach.reach(found, F.broadcast(granted)))
    assert "Exchange hashpartitioning" not in sets._jdf.queryExecution().executedPlan().toString()


def test_a_class_without_acls_has_the_fixed_ruleset_of_the_type(spark):
    frame = local_frame(
        spark, [("TOPIC", True), ("GROUP", False)], "resource_type STRING, has_acl BOOLEAN"
    )
    found = {row[0] for row in frame.select(rulesets.fixed_id(F.col("has_acl"))).collect()}
    assert found == {"other:TOPIC", "none:GROUP"}
