"""ACLs as numbers: the order in which they decide, and which operations each answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aclkit.errors import DataError
from aclkit.model.operation import BY_ALL, EQUAL, IMPLIED, OPERATIONS_OF_TYPE
from aclkit.model.semantics import BROKER, KAFKA, KIP_1042
from aclkit.pipeline.explain import ranked_acls
from aclkit.pipeline.explain.ranked_acls import (
    BITS_OF_ACL,
    MOST_ACLS,
    OPERATIONS,
    dense_rank,
    rank_acls,
)
from aclkit.rules.decide.order import Order
from tests.factories import acl
from tests.pipeline.explain.decided import acl_table
from tests.pipeline.explain.frames import scope_of
from tests.pipeline.explain.test_against_rules import random_acls

READ, WRITE, DESCRIBE = (
    OPERATIONS_OF_TYPE["TOPIC"].index(n) for n in ("READ", "WRITE", "DESCRIBE")
)
BOTH = pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])


def ranked(acls, semantics=KIP_1042):
    return rank_acls(acl_table(acls), scope_of(acls).texts, semantics)


def by_precedence(acls, semantics, operation=READ):
    """The ids of the ACLs that answer an operation, the one that decides first first."""
    found = ranked(acls, semantics)
    answers, precedences = found.precedences(np.arange(len(acls)), operation)
    ids = [one.acl_id for one, is_one in zip(acls, answers, strict=True) if is_one]
    return [acl_id for _, acl_id in sorted(zip(precedences.tolist(), ids, strict=True))]


ONE_OF_EACH = [
    acl("*", acl_id="6"),
    acl("ord", pattern_type="PREFIXED", acl_id="5"),
    acl(principal="User:*", acl_id="4"),
    acl(operation="ALL", acl_id="3"),
    acl(operation="READ", acl_id="2"),
    acl(operation="READ", acl_id="1"),
    acl(host="10.0.0.1", acl_id="0"),
]


def test_acls_rank_by_pattern_then_principal_then_host_then_operation_then_id():
    assert by_precedence(ONE_OF_EACH, KIP_1042) == ["0", "1", "2", "3", "4", "5", "6"]


def test_the_number_of_an_acl_is_its_place_where_no_operation_is_asked_for():
    # "3" is for ALL, whose text is before READ.
    assert ranked(ONE_OF_EACH).ids_by_number.to_pylist() == ["0", "3", "1", "2", "4", "5", "6"]


def test_an_acl_that_implies_an_operation_ranks_between_equal_and_all():
    acls = [acl(operation=name, acl_id=name) for name in ("ALL", "READ", "DESCRIBE")]
    assert by_precedence(acls, KIP_1042, DESCRIBE) == ["DESCRIBE", "READ", "ALL"]


def test_texts_rank_equal_acls_in_code_point_order():
    acls = [
        acl("x?b", pattern_type="GLOB", acl_id="4"),
        acl("x?a", pattern_type="GLOB", principal="User:b", acl_id="3"),
        acl("x?a", pattern_type="GLOB", host="10.0.0.9", acl_id="1"),
        acl("x?a", pattern_type="GLOB", host="10.0.0.10", acl_id="0"),
        acl("x?a", pattern_type="GLOB", acl_id="2"),
    ]
    # A host that is exact comes before any host, whichever the names of patterns and principals.
    assert by_precedence(acls, KIP_1042) == ["0", "1", "2", "3", "4"]


def test_a_broker_ranks_by_descending_name_then_pattern_type_operation_principal_and_host():
    acls = [
        acl("*", acl_id="7"),
        acl("ord", pattern_type="PREFIXED", acl_id="6"),
        acl(pattern_type="PREFIXED", acl_id="5"),
        acl(principal="User:b", operation="READ", acl_id="4"),
        acl(operation="READ", host="10.0.0.1", acl_id="3"),
        acl(operation="READ", acl_id="2"),
        acl(operation="ALL", principal="User:z", acl_id="1"),
    ]
    assert by_precedence(acls, KAFKA) == ["1", "2", "3", "4", "5", "6", "7"]


def test_a_broker_ranks_texts_by_utf_16_code_unit():
    acls = [acl(principal=f"User:{who}", acl_id=who) for who in ("\uffff", "\U00010000")]
    assert by_precedence(acls, KAFKA) == ["\U00010000", "\uffff"]
    assert by_precedence(acls, KIP_1042) == ["\uffff", "\U00010000"]


def test_a_broker_ranks_an_unknown_permission_before_a_deny():
    acls = [acl(permission_type=what, acl_id=what) for what in ("DENY", "UNKNOWN(7)")]
    assert by_precedence(acls, KAFKA) == ["UNKNOWN(7)", "DENY"]
    assert ranked(acls, KAFKA).is_allow.tolist() == [False, False]


def test_globs_in_the_order_of_a_broker_rank_by_name():
    acls = [acl("o*", pattern_type="GLOB", acl_id="glob"), acl(acl_id="literal")]
    assert by_precedence(acls, replace(KIP_1042, deciding_acl=BROKER)) == ["literal", "glob"]


@BOTH
def test_acls_that_differ_in_their_id_alone_rank_by_it_wherever_they_stand(semantics):
    acls = [acl(acl_id=acl_id) for acl_id in ("b", "c", "a")]
    assert by_precedence(acls, semantics) == ["a", "b", "c"]
    found = ranked(acls, semantics)
    assert found.id_rank.tolist() == [1, 2, 0]
    assert found.ids_by_rank.to_pylist() == ["a", "b", "c"]


@BOTH
@pytest.mark.parametrize("seed", range(3))
def test_any_two_random_acls_rank_as_the_pure_order_ranks_them(semantics, seed):
    acls = random_acls(f"ranked {seed}")
    for operation, name in enumerate(OPERATIONS_OF_TYPE["TOPIC"]):
        topics = [one for one in acls if one.resource_type == "TOPIC"]
        found = ranked(topics, semantics)
        answers, precedences = found.precedences(np.arange(len(topics)), operation)
        mine = [one for one, is_one in zip(topics, answers, strict=True) if is_one]
        order = Order(name, semantics)
        in_order = [one for _, one in sorted(zip(precedences.tolist(), mine, strict=True))]
        assert in_order == sorted(mine, key=order._key)


def test_an_acl_answers_its_operation_what_it_implies_and_all():
    acls = [
        acl(operation="READ"),
        acl(operation="READ", permission_type="DENY"),
        acl(operation="ALL", permission_type="DENY"),
        acl(operation="READ", permission_type="UNKNOWN(7)"),
    ]
    found = ranked(acls)
    none = [-1] * OPERATIONS
    only_read = [EQUAL, *none[1:]]
    with_describe = [IMPLIED if n == DESCRIBE else at for n, at in enumerate(only_read)]
    assert found.answers[found.cover].tolist() == [
        with_describe,
        only_read,
        [BY_ALL] * OPERATIONS,
        only_read,
    ]


@pytest.mark.parametrize(
    "of_nothing",
    [
        {"operation": "UNKNOWN(77)"},
        {"resource_type": "UNKNOWN(9)"},
        {"resource_type": "GROUP", "operation": "CREATE"},
    ],
    ids=["operation", "resource-type", "of-another-type"],
)
def test_an_acl_whose_operation_or_type_is_unknown_answers_nothing(of_nothing):
    acls = [acl(**of_nothing), acl(operation="ALL")]
    found = ranked(acls)
    assert found.answers[found.cover[0]].tolist() == [-1] * OPERATIONS
    answers, precedences = found.precedences(np.array([0]), WRITE)
    assert (answers.tolist(), precedences.tolist()) == ([False], [])


def test_a_type_with_few_operations_answers_no_more_of_them():
    found = ranked([acl(resource_type="USER", operation="ALL")])
    (answered,) = (found.answers[found.cover] >= 0).tolist()
    assert answered == [True, True, *[False] * (OPERATIONS - 2)]


def test_the_lowest_bits_of_a_precedence_are_the_number_of_its_acl():
    found = ranked(ONE_OF_EACH)
    _, precedences = found.precedences(np.arange(len(ONE_OF_EACH)), READ)
    numbers = precedences & ((1 << BITS_OF_ACL) - 1)
    ids = [found.ids_by_number[n].as_py() for n in numbers.tolist()]
    assert ids == [one.acl_id for one in ONE_OF_EACH]


def test_the_greatest_precedence_stays_below_what_a_broker_meets_last():
    most = MOST_ACLS - 1
    found = replace(ranked([acl(operation="ALL")]), first=np.array([most]), number=np.array([most]))
    assert int(found.precedences(np.array([0]), READ)[1][0]) < 1 << 62


def test_the_pattern_principal_and_host_of_an_acl_are_their_places_among_the_texts():
    acls = [
        acl("b", principal="User:x"),
        acl("a", host="10.0.0.1"),
        acl("a", pattern_type="PREFIXED", principal="User:x"),
        acl("b", resource_type="GROUP"),
        acl("b", host="10.0.0.1"),
    ]
    found = ranked(acls)
    assert found.pattern.tolist() == [0, 1, 2, 3, 0]
    assert found.principal.tolist() == [0, 1, 0, 1, 1]
    assert found.host.tolist() == [0, 1, 0, 0, 1]


def test_no_acls_have_no_numbers():
    found = ranked([])
    assert (found.number.tolist(), found.ids_by_number.to_pylist()) == ([], [])


def test_equal_keys_have_one_number_and_numbers_have_no_gaps():
    assert dense_rank(["ccc", "a", "bb", "d"], len) == {"a": 0, "d": 0, "bb": 1, "ccc": 2}


def test_more_acls_than_can_be_distinguished_are_refused(monkeypatch):
    monkeypatch.setattr(ranked_acls, "MOST_ACLS", 1)
    with pytest.raises(DataError, match="Expected at most 1 ACLs in force, found 2"):
        ranked([acl(), acl()])
