"""Rulings on frames of a few rows: which ACL of a group, a ruleset and a host decides."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from pyspark.sql import functions as F

from aclkit.model.acl import ANY_OTHER
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import BROKER, KAFKA, KIP_1042
from aclkit.pipeline.explain import best, frames, rulings
from aclkit.pipeline.explain.best import BEST, Wildcards
from aclkit.pipeline.explain.frames import ANY_HOST_NO
from aclkit.pipeline.explain.pairing import acls_of
from aclkit.pipeline.explain.reach import Late, group_acls
from aclkit.pipeline.explain.rulesets import SET
from aclkit.pipeline.explain.rulings import RULING
from aclkit.runtime.frame import local_frame
from tests.factories import acl
from tests.pipeline.explain.frames import must_hold, numbered_acls, scope_of

READ, DESCRIBE = (OPERATIONS_OF_TYPE["TOPIC"].index(name) for name in ("READ", "DESCRIBE"))
NOT_LATE, NONE_LAST = Late(), Wildcards()


def answering(spark, acls, semantics, hosts=("10.0.0.1",)):
    """The ACLs with how they answer, and the hosts that they name."""
    scope = scope_of(acls, hosts=hosts, semantics=semantics)
    ranked = rulings.rank_acls(numbered_acls(spark, scope, acls), semantics)
    return acls_of(scope, ranked)


def order_of(spark, acls, semantics, operation, *, is_allow=True):
    """The ids of the ACLs that answer an operation, by their precedences."""
    rows = answering(spark, acls, semantics).answering.where(f"is_allow = {is_allow}").collect()
    places = [(row["first_no"], row["answers"][operation], row["acl_no"], row["acl_id"])
              for row in rows if row["answers"][operation] is not None]  # fmt: skip
    return [acl_id for *_, acl_id in sorted(places)]


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
    assert order_of(spark, acls, KIP_1042, READ) == ["0", "1", "2", "3", "4", "5", "6"]
    ranked = answering(spark, acls, KIP_1042).answering
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
    assert order_of(spark, acls, KAFKA, READ) == ["1", "2", "4", "5", "6"]


def test_a_broker_ranks_an_unknown_permission_before_a_deny(spark):
    acls = [acl(permission_type=what, acl_id=what) for what in ("DENY", "UNKNOWN(7)")]
    assert order_of(spark, acls, KAFKA, READ, is_allow=False) == ["UNKNOWN(7)", "DENY"]


def test_a_group_has_its_best_for_any_other_host_and_for_each_host_that_an_acl_names(spark):
    acls = [
        acl(host="10.*", operation="READ", acl_id="a"),
        acl(operation="WRITE", acl_id="b", permission_type="DENY"),
        acl(host="8.8.8.8", operation="ALL", acl_id="c"),
    ]
    found = answering(spark, acls, KIP_1042, hosts=("10.0.0.1", "10.0.0.2", "9.9.9.9"))
    write = OPERATIONS_OF_TYPE["TOPIC"].index("WRITE")

    def which(frame, *keys):
        held = frame.select(*keys, *[best.acl_no_of(F.col(name)).alias(name) for name in BEST])
        return {
            tuple(row[key] for key in keys): {name for name in BEST if row[name] is not None}
            for row in held.collect()
        }

    of_any = best.with_any_host(found.answering, found.hosts)
    groups = group_acls(of_any, best.best_acls(KIP_1042), BEST)
    assert which(groups, "group_no") == {(0,): {f"deny{write}"}}
    of_hosts = best.of_named_hosts(found.answering, found.hosts, KIP_1042)
    named = {f"allow{READ}", f"allow{DESCRIBE}"}
    assert which(of_hosts, "group_no", "host_no") == {(0, 0): named, (0, 1): named}


def test_an_acl_that_answers_nothing_is_in_its_group(spark):
    acls = [acl(operation="UNKNOWN(77)", acl_id="a")]
    found = answering(spark, acls, KIP_1042)
    of_any = best.with_any_host(found.answering, found.hosts)
    groups = group_acls(of_any, best.best_acls(KIP_1042), BEST)
    nothing = [None] * len(BEST)
    columns = ", ".join(f"{name} BIGINT" for name in BEST)
    must_hold(groups.select("acl_ids", *BEST), [(["a"], *nothing)],
              f"acl_ids ARRAY<STRING>, {columns}")  # fmt: skip


@pytest.mark.parametrize(("semantics", "number"), [(KIP_1042, 4), (KAFKA, 9)])
def test_the_best_allow_is_the_first_place_and_to_a_broker_the_last(spark, semantics, number):
    rows = [
        (is_allow, 1, acl_no, [0 if n == READ else None for n in range(8)])
        for is_allow, acl_no in ((True, 4), (True, 9), (False, 6), (False, 5))
    ]
    acls = local_frame(
        spark, rows, "is_allow BOOLEAN, first_no INT, acl_no INT, answers ARRAY<INT>"
    )
    found = acls.agg(*best.best_acls(semantics)).select(
        best.acl_no_of(F.col(f"deny{READ}")).alias("deny"),
        best.acl_no_of(F.col(f"allow{READ}")).alias("allow"),
        f"allow{DESCRIBE}",
    )
    must_hold(found, [(5, number, None)], f"deny BIGINT, allow BIGINT, allow{DESCRIBE} BIGINT")


PARTS = "set1 BIGINT, set2 BIGINT, class1 BIGINT, class2 BIGINT, pair BIGINT, group_no BIGINT"


def best_frame(spark, *rows):
    """(group or set columns, host_no, deny of READ, allow of READ), all other operations null."""
    ddl = "group_no BIGINT, host_no INT, deny BIGINT, allow BIGINT"
    frame = local_frame(spark, list(rows), ddl)
    denies = [f"CAST({'deny' if n == READ else 'NULL'} AS BIGINT) AS deny{n}" for n in range(8)]
    allows = [f"CAST({'allow' if n == READ else 'NULL'} AS BIGINT) AS allow{n}" for n in range(8)]
    return frame.selectExpr("group_no", "host_no", *denies, *allows)


def test_the_wildcards_are_literal_stars_and_among_allows_empty_names_too():
    patterns = [("TOPIC", "LITERAL", "*"), ("TOPIC", "PREFIXED", ""), ("TOPIC", "PREFIXED", "*"),
                ("GROUP", "LITERAL", "*")]  # fmt: skip
    assert Wildcards.of(patterns) == Wildcards(of_denies=(0, 3), of_allows=(0, 1, 3))


def ruled(spark, of_groups, semantics, *, heirs=None, wildcards=NONE_LAST, late=NOT_LATE):
    parts = local_frame(spark, [(1, 1, 7, 7, 0, 10), (1, 1, 7, 7, 0, 20)], PARTS)
    return rulings.best_of_hosts(
        parts,
        of_groups,
        9,
        wildcards,
        heirs=heirs,
        late=late,
        semantics=semantics,
        partitions=2,
    ).select("set1", "set2", "host_no", f"deny{READ}", f"allow{READ}")


OF_SET = f"set1 BIGINT, set2 BIGINT, host_no INT, deny{READ} BIGINT, allow{READ} BIGINT"


@pytest.mark.parametrize(("semantics", "allow"), [(KIP_1042, 3), (KAFKA, 8)])
def test_a_ruleset_has_the_best_of_its_groups_for_each_host(spark, semantics, allow):
    of_groups = best_frame(spark, (10, 1, None, 3), (20, 1, 6, 8), (20, 0, 5, None))
    found = ruled(spark, of_groups, semantics)
    must_hold(found, [(1, 1, 1, 6, allow), (1, 1, 0, 5, None)], OF_SET)


def test_a_ruleset_inherits_the_best_of_its_class(spark):
    of_groups = best_frame(spark, (10, 1, None, 5))
    of_class = best_frame(spark, (0, 1, 2, 4), (0, 3, 1, None)).selectExpr(
        "CAST(7 AS BIGINT) AS set1", "CAST(7 AS BIGINT) AS set2", "host_no", *BEST
    )
    held = local_frame(
        spark,
        [(1, 1, 7, 7), (2, 2, None, None)],
        "set1 BIGINT, set2 BIGINT, class1 BIGINT, class2 BIGINT",
    )
    heirs = rulings.inherited(held, of_class)
    found = ruled(spark, of_groups, KIP_1042, heirs=heirs)
    must_hold(found, [(1, 1, 1, 2, 4), (1, 1, 3, 1, None)], OF_SET)


def test_what_rulesets_inherit_stays_where_their_contents_are(spark):
    held = local_frame(
        spark, [(1, 1, 7, 7)], "set1 BIGINT, set2 BIGINT, class1 BIGINT, class2 BIGINT"
    )
    of_class = best_frame(spark, (0, 1, 2, 4)).selectExpr(
        "CAST(7 AS BIGINT) AS set1", "CAST(7 AS BIGINT) AS set2", "host_no", *BEST
    )
    heirs = rulings.inherited(held.repartition(2, *SET), F.broadcast(of_class))
    found = ruled(spark, best_frame(spark, (10, 1, None, 5)), KIP_1042, heirs=heirs)
    plan = found._jdf.queryExecution().executedPlan().toString()
    assert (
        re.findall("Exchange hashpartitioning.*, ([A-Z_]+), ", plan) == ["REPARTITION_BY_NUM"] * 2
    )


def test_a_wildcard_that_the_broker_meets_last_stands_behind_every_other_acl(spark):
    of_groups = best_frame(spark, (10, 0, 3, 3), (20, 0, 6, 6))
    late = Late(all_below=1, deny_below=1)
    found = ruled(spark, of_groups, KAFKA, wildcards=Wildcards((0,), (0,)), late=late)
    # Group 10 is of pattern 0 like group 20, so both are moved back.
    moved = 1 << 62
    must_hold(found, [(1, 1, 0, 3 + moved, 6 + moved)], OF_SET)


def test_only_places_of_the_wildcards_are_moved_back(spark):
    other = 20 | 5 << 32  # of pattern 5
    parts = local_frame(spark, [(1, 1, 7, 7, 0, 10), (1, 1, 7, 7, 0, other)], PARTS)
    of_groups = best_frame(spark, (10, 0, 3, None), (other, 0, 6, None))
    found = rulings.best_of_hosts(
        parts, of_groups, 9, Wildcards((0,), (0,)),
        late=Late(all_below=1, deny_below=1), semantics=KAFKA, partitions=1,
    )  # fmt: skip
    must_hold(found.select(f"deny{READ}"), [(6,)], f"deny{READ} BIGINT")


def decided(spark, rows, semantics=KIP_1042, resource_type="TOPIC", asked="READ"):
    """Decide a ruleset, whose best are (host_no, deny of READ, allow of READ)."""
    keys = ("CAST(1 AS BIGINT) AS set1", "CAST(1 AS BIGINT) AS set2")
    of_any = best_frame(spark, *((0, *row) for row in rows if row[0] == ANY_HOST_NO))
    contents = of_any.selectExpr(
        *keys, "'r' AS ruleset_id", f"'{resource_type}' AS resource_type", *BEST
    )
    named = best_frame(spark, *((0, *row) for row in rows if row[0] != ANY_HOST_NO))
    found = rulings.decide_rulesets(
        contents, named.selectExpr(*keys, "host_no", *BEST), frames.operations(spark), semantics
    )
    return found.where(f"operation LIKE '{asked}'")


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
    found = decided(spark, [(-1, None, None)], resource_type="GROUP", asked="%")
    rows = [("r", -1, operation, None, None) for operation in OPERATIONS_OF_TYPE["GROUP"]]
    must_hold(found, rows, DECIDED)


def test_a_ruling_names_decision_rule_and_the_acl_of_its_place(spark):
    late, before = 1 << 62, 3 << 28
    rows = [
        ("r", -1, "READ", None, 4 + before),
        ("r", 0, "READ", 5 + late + before, 4),
        ("r", -1, "WRITE", None, None),
    ]
    ranked = local_frame(spark, [(4, "allows"), (5, "denies")], "acl_no INT, acl_id STRING")
    hosts = local_frame(spark, [(0, "10.0.0.1")], "host_no INT, host STRING")
    found = rulings.name_rulings(local_frame(spark, rows, DECIDED), ranked, 2, hosts)
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
    assert order_of(spark, acls, semantics, READ) == ["literal", "glob"]
