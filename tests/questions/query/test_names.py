"""Names that no inventory knows: they are found, and the known ones most like them."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER
from aclkit.model.resource import Resource
from aclkit.questions.query.names import (
    MOST_NEAR,
    Unknown,
    near_object,
    near_principals,
    near_resources,
    unknown_names,
    unknown_note,
)
from tests.questions.query import small_warehouse as small

KNOWN = ["User:alice", "User:bob", "User:svc-payments-etl", "Group:ops", f"User:{ANY_OTHER}"]


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("User:alcie", ("User:alice",)),
        ("user:Alice", ("User:alice",)),
        ("User:svc-payment-etl", ("User:svc-payments-etl",)),
        ("User:svc", ("User:svc-payments-etl",)),
        ("User:zzz", ()),
        ("User:", ()),
        ("User:<any-othr>", ()),
    ],
)
def test_near_principals_are_like_the_name_behind_the_colon(asked, near):
    assert near_principals(asked, KNOWN) == near


def test_a_name_of_another_type_is_near_and_a_like_one_of_another_type_is_not():
    known = [Resource("TOPIC", "payments"), Resource("GROUP", "orders"), Resource("TOPIC", "order")]
    assert near_resources(Resource("GROUP", "payments"), known) == ("topic:payments",)
    assert near_resources(Resource("TOPIC", "orders"), known) == ("group:orders", "topic:order")


@given(st.text(max_size=40), st.lists(st.text(max_size=40), max_size=8))
def test_suggestions_are_known_names_and_few(asked, known):
    near = near_principals(f"User:{asked}", [f"User:{name}" for name in known])
    assert set(near) <= {f"User:{name}" for name in known}
    assert len(near) <= MOST_NEAR


def test_names_that_no_letter_tells_apart_take_no_longer_than_their_number():
    letters = "".join(map(chr, range(0x4E00, 0x4F00)))
    pick = random.Random(1)
    names = ["User:" + "".join(pick.sample(letters, 256)) for _ in range(200)] * 100
    before = time.process_time()
    near_principals(f"User:{letters}", names)
    near_principals("User:" + "ab" * 20_000, ["User:" + "ba" * 1_000] * 20_000)
    assert time.process_time() - before < 4  # a third of a second, usually


def test_what_is_known_is_not_named(connection):
    assert unknown_names(connection, small.CLUSTER, principal="User:alice", host=ANY_OTHER) == ()
    found = unknown_names(
        connection, small.CLUSTER, principal="User:alise", host="10.0.0.9",
        resource=Resource("TOPIC", "paymets"),
    )  # fmt: skip
    assert found == (
        Unknown("User:alise", ("User:alice",)),
        Unknown("10.0.0.9"),
        Unknown("topic:paymets", ("topic:payments",)),
    )
    assert unknown_note(found) == (
        "User:alise is not known. Did you mean User:alice? 10.0.0.9 is not known. topic:paymets is "
        "not known. Did you mean topic:payments? This is what the ACLs decide for these names."
    )
    assert near_object(found) == {
        "not_in_inventory": ["User:alise", "10.0.0.9", "topic:paymets"],
        "did_you_mean": {
            "User:alise": ["User:alice"], "10.0.0.9": [], "topic:paymets": ["topic:payments"],
        },
    }  # fmt: skip
