"""Served pages say where KIP-1042 and Kafka's own reading of the ACLs come to other decisions."""

from __future__ import annotations

import pytest

from aclkit.model.semantics import KAFKA, BrokerSettings
from tests.audit.serve.running import serving
from tests.questions.query import small_warehouse as small
from tests.questions.query.small_warehouse import acl

SERVICES = acl(1, resource_name="orders", principal="User:c*")
PLAIN = acl(2, resource_name="payments", principal="User:bob")
WOULD = (
    "Under KIP-1042 (no Kafka release yet) User:carol would be allowed "
    "(ALLOW READ on topic orders for User:c*"
)
KIP = "Under KIP-1042"


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    place = tmp_path_factory.mktemp("other") / "w"
    small.build(place, [SERVICES, PLAIN], BrokerSettings(), KAFKA)
    with serving(place) as stranger:
        yield stranger.enter().ask


def test_who_can_names_those_that_the_other_reading_decides_otherwise_for(ask):
    assert WOULD in ask("/who-can", resource="topic:orders").text
    assert WOULD in ask("/who-can", resource="topic:orders", operation="read").text
    assert KIP not in ask("/who-can", resource="topic:orders", operation="WRITE").text
    assert KIP not in ask("/who-can", resource="topic:payments").text


def test_all_operations_of_one_say_so_of_this_one_only(ask):
    assert WOULD in ask("/why", principal="User:carol", resource="topic:orders").text
    assert (
        WOULD.replace("carol", "cleo")
        in ask("/why", principal="User:cleo", resource="topic:orders").text
    )
    assert KIP not in ask("/why", principal="User:bob", resource="topic:orders").text
    assert KIP not in ask("/why", principal="User:carol", resource="topic:payments").text
