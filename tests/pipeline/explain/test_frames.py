"""What the driver gives to the transforms: numbers and ranks of texts, as whole tables."""

from __future__ import annotations

from aclkit.model.acl import ANY_OTHER
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.explain import frames
from aclkit.pipeline.explain.frames import ANY_HOST_NO
from aclkit.pipeline.explain.rank import (
    dense_rank,
    other_criteria,
    pattern_criteria,
    rank_columns,
    rank_patterns,
)
from tests.factories import acl
from tests.pipeline.explain.frames import must_hold, scope_of

TEXTS = scope_of(
    [
        acl("b"),
        acl("b", operation="WRITE"),
        acl("a"),
        acl("a", pattern_type="PREFIXED", principal="User:*", host="10.0.0.1"),
    ]
).texts


def test_patterns_have_the_rank_of_the_pattern_and_of_its_name_and_what_stands_before(spark):
    must_hold(
        frames.patterns(spark, TEXTS, KIP_1042),
        [(0, "TOPIC", "LITERAL", "b", 0, 1, 0), (1, "TOPIC", "LITERAL", "a", 0, 0, 0),
         (2, "TOPIC", "PREFIXED", "a", 1, 0, 3)],
        "pattern_id INT, resource_type STRING, pattern_type STRING, resource_name STRING, "
        "pattern_rank INT, name_text_rank INT, acls_before INT",
    )  # fmt: skip


def test_a_broker_ranks_patterns_by_descending_name_and_then_by_type(spark):
    must_hold(
        frames.patterns(spark, TEXTS, KAFKA),
        [(0, "TOPIC", "LITERAL", "b", 0, 0), (1, "TOPIC", "LITERAL", "a", 1, 2),
         (2, "TOPIC", "PREFIXED", "a", 2, 3)],
        "pattern_id INT, resource_type STRING, pattern_type STRING, resource_name STRING, "
        "pattern_rank INT, acls_before INT",
    )  # fmt: skip


def test_principals_have_the_rank_of_their_kind_and_of_their_text(spark):
    must_hold(
        frames.identities(spark, TEXTS.principals, "text_no", "principal", KIP_1042),
        [(0, "User:a", 0, 1), (1, "User:*", 1, 0)],
        "text_no INT, principal STRING, principal_rank INT, principal_text_rank INT",
    )


def test_hosts_of_acls_have_the_rank_of_their_kind_and_of_their_text(spark):
    must_hold(
        frames.identities(spark, TEXTS.hosts, "acl_host_no", "host", KIP_1042),
        [(0, "*", 1, 0), (1, "10.0.0.1", 0, 1)],
        "acl_host_no INT, host STRING, host_rank INT, host_text_rank INT",
    )


def test_a_host_text_has_a_row_for_each_host_it_names_and_one_for_any_other_where_it_is_every_host(
    spark,
):
    matches = [("*", "10.0.0.1"), ("*", ANY_OTHER), ("10.0.0.1", "10.0.0.1")]
    must_hold(
        frames.named_hosts(spark, TEXTS, matches, {"10.0.0.1": 4}),
        [(0, ANY_HOST_NO), (1, 4)],
        "acl_host_no INT, host_no INT",
    )


def test_covers_say_what_an_operation_answers_first_itself_then_implied_then_by_all(spark):
    found = frames.covers(spark, KIP_1042).where("resource_type = 'GROUP'")
    known = OPERATIONS_OF_TYPE["GROUP"]

    def answers(**ranks):
        return [ranks.get(name) for name in known] + [None] * (frames.OPERATIONS - len(known))

    must_hold(
        found.where("operation IN ('READ', 'ALL')").drop("resource_type"),
        [
            ("READ", True, answers(READ=0, DESCRIBE=1)),
            ("READ", False, answers(READ=0)),
            *(("ALL", side, answers(**dict.fromkeys(known, 2))) for side in (True, False)),
        ],
        "operation STRING, is_allow BOOLEAN, answers ARRAY<INT>",
    )


def test_operations_and_texts_have_their_number_in_the_sequence(spark):
    must_hold(
        frames.operations(spark).where("resource_type = 'GROUP'"),
        [("GROUP", n, name) for n, name in enumerate(OPERATIONS_OF_TYPE["GROUP"])],
        "resource_type STRING, operation_no INT, operation STRING",
    )
    must_hold(
        frames.numbered(spark, ["b", "a"], "host_no", "host"),
        [(0, "b"), (1, "a")],
        "host_no INT, host STRING",
    )


def test_equal_keys_have_one_number_and_numbers_have_no_gaps():
    assert dense_rank(["ccc", "a", "bb", "d"], len) == {"a": 0, "d": 0, "bb": 1, "ccc": 2}


def test_the_criteria_of_patterns_come_first_and_the_others_follow():
    for semantics in (KIP_1042, KAFKA):
        first, rest = pattern_criteria(semantics), other_criteria(semantics)
        assert all({*one.fields} <= {"pattern_type", "resource_name"} for one in first)
        assert not {*rest[0].fields} <= {"pattern_type", "resource_name"}
        assert rest[-1].fields == ("acl_id",)


def test_a_column_ranks_by_one_criterion_that_looks_at_these_fields_alone():
    texts = ("User:*", "User:b", "User:a")
    ranks = rank_columns(texts, ("principal",), lambda text: (text,), KIP_1042)
    assert ranks == {
        "principal_rank": {"User:*": 1, "User:b": 0, "User:a": 0},
        "principal_text_rank": {"User:*": 0, "User:b": 2, "User:a": 1},
    }


def test_patterns_are_numbered_from_the_most_specific_one():
    patterns = [("TOPIC", "LITERAL", "*"), ("TOPIC", "PREFIXED", "pay"),
                ("TOPIC", "LITERAL", "pay"), ("GROUP", "LITERAL", "pay"),
                ("TOPIC", "GLOB", "pay*n"), ("TOPIC", "GLOB", "p*")]  # fmt: skip
    ranks = rank_patterns(patterns, KIP_1042)
    assert [ranks[pattern] for pattern in patterns] == [4, 2, 1, 1, 0, 3]
