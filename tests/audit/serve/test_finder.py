"""The search box: one name leads to its page, a part of names to all that contain it."""

from __future__ import annotations

import pytest

from aclkit.audit.serve.finder import Names, find
from aclkit.model.groups import grouped
from aclkit.model.resource import Resource

TOPICS = ("eu.payments", "orders", "payments", "payments.eu", "payments.us", "prepayments")
PEOPLE = ("User:alice", "User:payments-api", "User:svc-payments")


def names():
    resources = tuple(Resource("TOPIC", name) for name in TOPICS)
    every = [*((name, name) for name in PEOPLE), *((str(each), each) for each in resources)]
    return Names(
        principals=PEOPLE,
        resources=resources,
        hosts=(),
        low_principals=tuple(map(str.lower, PEOPLE)),
        low_resources=tuple(str(each).lower() for each in resources),
        whole=grouped((text.lower(), each) for text, each in every),
        bare=grouped((text.partition(":")[2].lower(), each) for text, each in every),
    )


def test_names_that_begin_so_come_first_then_those_that_contain_it():
    found = find("Payments", names())
    assert not found.is_one
    assert [each.resource_name for each in found.resources] == [
        "payments", "payments.eu", "payments.us", "eu.payments", "prepayments",
    ]  # fmt: skip
    assert found.principals == ("User:payments-api", "User:svc-payments")


@pytest.mark.parametrize("asked", ["topic:payments", "orders", "who can access orders", "ORDERS"])
def test_a_name_with_its_type_and_one_that_no_other_contains_lead_to_their_page(asked):
    found = find(asked, names())
    assert found.is_one
    assert str(found.resources[0]) == f"topic:{asked.split()[-1].lower().removeprefix('topic:')}"
