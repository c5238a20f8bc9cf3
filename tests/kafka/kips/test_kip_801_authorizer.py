"""KIP-801, the authorizer whose ACLs are in the metadata log: order, loading, bootstrapping."""

from __future__ import annotations

from itertools import permutations

import pytest

from aclkit.kafka.authorizer.authorizer import Authorizer
from aclkit.kafka.authorizer.requests import AuthorizerNotReadyError, Endpoint, ServerInfo
from aclkit.model.filter import AclBindingFilter
from tests.factories import acl
from tests.kafka.authorizer.asking import answer, context

FOO = acl("foo", principal="User:bob", permission_type="DENY")
EVERYTHING = acl("*", principal="User:bob")


def test_records_take_effect_in_the_order_of_the_log():
    """DENY on foo, then ALLOW on all: at no moment has bob access to foo."""
    authorizer = Authorizer.over_acls()
    seen = []
    for record in (FOO, EVERYTHING):
        authorizer.add_acl(record)
        seen.append([answer(authorizer, "User:bob", name) for name in ("foo", "bar")])
    assert seen == [["DENIED", "DENIED"], ["DENIED", "ALLOWED"]]


def test_nobody_gets_in_before_the_log_is_replayed_to_the_high_watermark():
    """Not even where everyone is allowed as long as there is no ACL."""
    authorizer = Authorizer()
    authorizer.configure({"allow.everyone.if.no.acl.found": "true"})
    listener = Endpoint("CLIENTS")
    started = authorizer.start(ServerInfo(endpoints=[listener]))
    with pytest.raises(AuthorizerNotReadyError):
        answer(authorizer, "User:bob", "foo")
    authorizer.add_acl(FOO)
    with pytest.raises(AuthorizerNotReadyError):
        answer(authorizer, "User:bob", "other")
    assert not started[listener].done()
    authorizer.complete_initial_load()
    assert [answer(authorizer, "User:bob", n) for n in ("foo", "other")] == ["DENIED", "ALLOWED"]


def test_a_snapshot_is_applied_as_a_whole():
    authorizer = Authorizer.over_acls([acl("old", principal="User:bob")])
    authorizer.load_snapshot([FOO, EVERYTHING])
    assert authorizer.acl_count() == 2
    assert [answer(authorizer, "User:bob", n) for n in ("foo", "old")] == ["DENIED", "ALLOWED"]


def test_the_order_of_acls_in_a_snapshot_does_not_matter():
    stored = [FOO, EVERYTHING, acl("f", pattern_type="PREFIXED", principal="User:*")]
    seen = set()
    for order in permutations(stored):
        authorizer = Authorizer.over_acls(order)
        seen.add(tuple(answer(authorizer, who, "foo") for who in ("User:bob", "User:eve")))
    assert seen == {("DENIED", "ALLOWED")}


def test_a_new_cluster_is_bootstrapped_by_super_users_or_by_allowing_everyone():
    cluster = {"operation": "CLUSTER_ACTION", "resource_type": "CLUSTER"}
    found = []
    for told in (
        {},
        {"super.users": "User:broker;User:controller"},
        {"allow.everyone.if.no.acl.found": "true"},
    ):
        authorizer = Authorizer.over_acls()
        authorizer.configure(told)
        found.append(answer(authorizer, "User:broker", "kafka-cluster", **cluster))
    assert found == ["DENIED", "ALLOWED", "ALLOWED"]


def test_on_early_start_listeners_only_super_users_get_an_answer_before_loading_is_complete():
    controller, clients = Endpoint("CONTROLLER"), Endpoint("CLIENTS")
    authorizer = Authorizer()
    authorizer.configure({"super.users": "User:broker", "early.start.listeners": "CONTROLLER"})
    started = authorizer.start(ServerInfo(endpoints=[controller, clients]))
    assert [started[each].done() for each in (controller, clients)] == [True, False]
    assert answer(authorizer, "User:broker", "foo") == "ALLOWED"
    with pytest.raises(AuthorizerNotReadyError) as told:
        answer(authorizer, "User:bob", "foo")
    assert told.value.kafka_error == "AUTHORIZER_NOT_READY"


def test_the_number_of_acls_is_a_metric():
    with Authorizer.over_acls([FOO]) as authorizer:
        counts = [authorizer.acl_count()]
        authorizer.create_acls(context(), [EVERYTHING])[0].result(timeout=10)
        counts.append(authorizer.acl_count())
        authorizer.delete_acls(context(), [AclBindingFilter()])[0].result(timeout=10)
        counts.append(authorizer.acl_count())
    assert counts == [1, 2, 0]
