"""Rulings on frames of a few rows: which ACL of a group, a ruleset and a host decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.model.acl import ANY_OTHER
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import BROKER, KAFKA, KIP_1042
from aclkit.pipeline.explain import frames, rulings
from aclkit.pipeline.explain.frames import ANY_HOST_NO
from aclkit.pipeline.explain.pairing import number_acls
from aclkit.pipeline.explain.reach import Late
from aclkit.pipeline.explain.rulings import RULING, Wildcards
from aclkit.pipeline.inventory.identity import match_hosts
from tests.factories import acl
from tests.pipeline.explain.frames import acl_frame, must_hold, scope_of

READ, DESCRIBE = (OPERATIONS_OF_TYPE["TOPIC"].index(name) for name in ("READ", "DESCRIBE"))
NO_WILDCARDS = Wildcards((), ())
NOT_LATE = Late()


def precedence(spark, acls, semantics, hosts=("10.0.0.1",)):
    """The ACLs with their precedences, those of one group of patterns and principals together."""
    scope = scope_of(acls, hosts=hosts, semantics=semantics)
    numbers = {host: number for number, host in enumerate(hosts)}
    matches = match_hosts(scope.texts.hosts, hosts, semantics)
    named = frames.named_hosts(spark, scope.texts, matches, numbers)
    ranked = rulings.rank_acls(number_acls(scope, acl_frame(spark, acls)), semantics)
    return rulings.with_precedence(ranked, named, frames.covers(spark, semantics))


def order_of(ranked, operation, *, is_allow=True):
    """The ids of the ACLs that answer an operation, by their precedences."""
    rows = ranked.where(f"operation_no = {operation} AND is_allow = {is_allow}").orderBy(
        "precedence"
    )
    return [row["acl_id"] for row in rows.collect()]


def test_places_rank_by_pattern_then_principal_then_host_then_operation_then_id(spark):
    acls = [
        acl("*", acl_id="6"),
        acl("ord", pattern_type="PREFIXED", acl_id="5"),
        acl(principal="User:*", acl_id="4"),
        acl(operation="ALL", acl_id="3"),
        acl(operation="READ", acl_id="2"),
        acl(operation="READ", acl_id="1"),
        acl(host="10.0.0.1", acl_id="0"),
    ]
    ranked = precedence(spark, acls, KIP_1042)
    assert order_of(ranked, READ) == ["0", "1", "2", "3", "4", "5", "6"]
    numbers = {row["acl_id"]: row["acl_no"] for row in ranked.collect()}
    # How an operation is answered is no part of the number: "3" is for ALL, and by text the first.
    assert numbers == {"0": 1, "3": 2, "1": 3, "2": 4, "4": 5, "5": 6, "6": 7}


def test_places_of_a_broker_rank_as_standard_acls_compare(spark):
    acls = [
        acl("*", acl_id="6"),
        acl("ord", pattern_type="PREFIXED", acl_id="5"),
        acl(principal="User:b", operation="READ", acl_id="4"),
        acl(operation="READ", acl_id="2"),
        acl(operation="ALL", acl_id="1"),
    ]
    ranked = precedence(spark, acls, KAFKA)
    assert order_of(ranked, READ) == ["1", "2", "4", "5", "6"]


def test_a_broker_ranks_an_unknown_permission_before_a_deny(spark):
    acls = [acl(permission_type=what, acl_id=what) for what in ("DENY", "UNKNOWN(7)")]
    assert order_of(precedence(spark, acls, KAFKA), READ, is_allow=False) == ["UNKNOWN(7)", "DENY"]


def test_an_acl_has_a_place_for_each_operation_that_it_answers_and_each_host_that_it_names(spark):
    acls = [acl(host="10.*", operation="READ", acl_id="a"), acl(operation="WRITE", acl_id="b",
            permission_type="DENY")]  # fmt: skip
    ranked = precedence(spark, acls, KIP_1042, hosts=("10.0.0.1", "10.0.0.2", "9.9.9.9"))
    write = OPERATIONS_OF_TYPE["TOPIC"].index("WRITE")
    must_hold(
        ranked.select("acl_id", "operation_no", "host_no", "is_allow"),
        [
            *(("a", operation, host, True) for operation in (READ, DESCRIBE) for host in (0, 1)),
            ("b", write, ANY_HOST_NO, False),
        ],
        "acl_id STRING, operation_no INT, host_no INT, is_allow BOOLEAN",
    )


PRECEDING = (
    "pattern_rank INT, group_no BIGINT, host_no INT, operation_no INT, is_allow BOOLEAN, "
    "precedence BIGINT"
)


@pytest.mark.parametrize(("semantics", "best"), [(KIP_1042, 4), (KAFKA, 9)])
def test_the_best_allow_of_a_group_is_the_first_place_and_to_a_broker_the_last(
    spark, semantics, best
):
    rows = [
        (0, 1, -1, READ, is_allow, precedence)
        for is_allow, precedence in ((True, 4), (True, 9), (False, 6), (False, 5))
    ]
    found = rulings.best_of_groups(spark.createDataFrame(rows, PRECEDING), semantics)
    must_hold(
        found.select("group_no", "host_no", f"deny{READ}", f"allow{READ}", f"allow{DESCRIBE}"),
        [(1, -1, 5, best, None)],
        f"group_no BIGINT, host_no INT, deny{READ} BIGINT, allow{READ} BIGINT, "
        f"allow{DESCRIBE} BIGINT",
    )


PARTS = "set1 BIGINT, set2 BIGINT, class1 BIGINT, class2 BIGINT, pair BIGINT, group_no BIGINT"


def best_frame(spark, *rows):
    """(group or set columns, host_no, deny of READ, allow of READ), all other operations null."""
    ddl = "group_no BIGINT, host_no INT, deny BIGINT, allow BIGINT"
    frame = spark.createDataFrame(list(rows), ddl)
    denies = [f"CAST({'deny' if n == READ else 'NULL'} AS BIGINT) AS deny{n}" for n in range(8)]
    allows = [f"CAST({'allow' if n == READ else 'NULL'} AS BIGINT) AS allow{n}" for n in range(8)]
    return frame.selectExpr("group_no", "host_no", *denies, *allows)


def ruled(spark, best, semantics, *, of_classes=None, wildcards=NO_WILDCARDS, late=NOT_LATE):
    parts = spark.createDataFrame([(1, 1, 7, 7, 0, 10), (1, 1, 7, 7, 0, 20)], PARTS)
    return rulings.best_of_rulesets(
        parts, best, of_classes, wildcards, late=late, semantics=semantics, partitions=1
    ).select("set1", "set2", "host_no", f"deny{READ}", f"allow{READ}")


OF_SET = f"set1 BIGINT, set2 BIGINT, host_no INT, deny{READ} BIGINT, allow{READ} BIGINT"


@pytest.mark.parametrize(("semantics", "allow"), [(KIP_1042, 3), (KAFKA, 8)])
def test_a_ruleset_has_the_best_of_its_groups_for_each_host(spark, semantics, allow):
    best = best_frame(spark, (10, -1, None, 3), (20, -1, 6, 8), (20, 0, 5, None))
    must_hold(ruled(spark, best, semantics), [(1, 1, -1, 6, allow), (1, 1, 0, 5, None)], OF_SET)


def test_a_ruleset_inherits_the_best_of_its_class(spark):
    best = best_frame(spark, (10, -1, None, 5))
    of_class = best_frame(spark, (0, -1, 2, 4), (0, 3, 1, None)).selectExpr(
        "CAST(7 AS BIGINT) AS set1", "CAST(7 AS BIGINT) AS set2", "host_no",
        *[f"{side}{n}" for side in ("deny", "allow") for n in range(8)],
    )  # fmt: skip
    found = ruled(spark, best, KIP_1042, of_classes=of_class)
    must_hold(found, [(1, 1, -1, 2, 4), (1, 1, 3, 1, None)], OF_SET)


def test_a_wildcard_that_the_broker_meets_last_stands_behind_every_other_acl(spark):
    best = best_frame(spark, (10, -1, 3, 3), (20, -1, 6, 6))
    late = Late(all_below=1, deny_below=1)
    found = ruled(spark, best, KAFKA, wildcards=Wildcards((0,), (0,)), late=late)
    # Group 10 is of pattern 0 like group 20, so both are moved back.
    moved = 1 << 62
    must_hold(found, [(1, 1, -1, 3 + moved, 6 + moved)], OF_SET)


def test_only_places_of_the_wildcards_are_moved_back(spark):
    other = 20 | 5 << 32  # of pattern 5
    parts = spark.createDataFrame([(1, 1, 7, 7, 0, 10), (1, 1, 7, 7, 0, other)], PARTS)
    best = best_frame(spark, (10, -1, 3, None), (other, -1, 6, None))
    found = rulings.best_of_rulesets(
        parts, best, None, Wildcards((0,), (0,)),
        late=Late(all_below=1, deny_below=1), semantics=KAFKA, partitions=1,
    )  # fmt: skip
    must_hold(found.select(f"deny{READ}"), [(6,)], f"deny{READ} BIGINT")


RULESETS = "set1 BIGINT, set2 BIGINT, ruleset_id STRING, resource_type STRING"


def decided(spark, rows, semantics=KIP_1042):
    """Decide a ruleset of topics, whose best are (host_no, deny of READ, allow of READ)."""
    best = best_frame(spark, *((0, *row) for row in rows)).selectExpr(
        "CAST(1 AS BIGINT) AS set1", "CAST(1 AS BIGINT) AS set2", "host_no",
        *[f"{side}{n}" for side in ("deny", "allow") for n in range(8)],
    )  # fmt: skip
    held = spark.createDataFrame([(1, 1, "r", "TOPIC")], RULESETS)
    found = rulings.decide_rulesets(held, best, frames.operations(spark), semantics)
    return found.where("operation = 'READ'")


DECIDED = "ruleset_id STRING, host_no INT, operation STRING, deny BIGINT, allow BIGINT"


def test_a_host_that_is_named_has_the_best_of_its_own_and_of_any_other(spark):
    found = decided(spark, [(-1, 6, 4), (0, 5, 9), (1, None, 3)])
    must_hold(
        found,
        [("r", -1, "READ", 6, 4), ("r", 0, "READ", 5, 4), ("r", 1, "READ", 6, 3)],
        DECIDED,
    )


def test_to_a_broker_the_last_allow_of_both_decides(spark):
    found = decided(spark, [(-1, None, 4), (0, None, 9)], KAFKA)
    must_hold(found, [("r", -1, "READ", None, 4), ("r", 0, "READ", None, 9)], DECIDED)


def test_every_operation_of_the_type_has_a_ruling_for_any_other_host(spark):
    held = spark.createDataFrame([(1, 1, "r", "GROUP")], RULESETS)
    best = best_frame(spark).selectExpr(
        "group_no AS set1", "group_no AS set2", "host_no",
        *[f"{side}{n}" for side in ("deny", "allow") for n in range(8)],
    )  # fmt: skip
    found = rulings.decide_rulesets(held, best, frames.operations(spark), KIP_1042)
    rows = [("r", -1, operation, None, None) for operation in OPERATIONS_OF_TYPE["GROUP"]]
    must_hold(found, rows, DECIDED)


def test_a_ruling_names_decision_rule_and_the_acl_of_its_place(spark):
    late, before = 1 << 62, 3 << 28
    rows = [
        ("r", -1, "READ", None, 4 + before),
        ("r", 0, "READ", 5 + late + before, 4),
        ("r", -1, "WRITE", None, None),
    ]
    ranked = spark.createDataFrame([(4, "allows"), (5, "denies")], "acl_no INT, acl_id STRING")
    hosts = spark.createDataFrame([(0, "10.0.0.1")], "host_no INT, host STRING")
    found = rulings.name_rulings(spark.createDataFrame(rows, DECIDED), ranked, hosts)
    must_hold(
        found,
        [
            ("r", ANY_OTHER, "READ", "ALLOWED", "MatchingAcl", "allows"),
            ("r", "10.0.0.1", "READ", "DENIED", "MatchingAcl", "denies"),
            ("r", ANY_OTHER, "WRITE", "DENIED", "DefaultDeny", None),
        ],
        ", ".join(f"{name} STRING" for name in RULING),
    )


def test_globs_in_the_order_of_a_broker_are_placed_by_name(spark):
    acls = [acl("o*", pattern_type="GLOB", acl_id="glob"), acl(acl_id="literal")]
    semantics = replace(KIP_1042, deciding_acl=BROKER)
    assert order_of(precedence(spark, acls, semantics), READ) == ["literal", "glob"]
