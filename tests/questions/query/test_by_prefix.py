"""Who can do it to all that begins so: as the rule says of each known name and of names to come."""

from __future__ import annotations

import pytest

from aclkit.errors import UsageError
from aclkit.model.acl import Request
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.questions.query.by_prefix import who_can_prefix
from aclkit.questions.query.decisions import Where
from aclkit.rules.decide.rules import decide
from aclkit.rules.names.question import Budget
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse
from tests.questions.query import small_warehouse as small
from tests.questions.query.small_warehouse import acl

ACLS = (
    acl(1, resource_name="pay", pattern_type="PREFIXED"),
    acl(2, resource_name="payments", principal="User:bob", operation="ALL"),
    acl(3, resource_name="pay-x", principal="User:*", permission_type="DENY", host="10.0.0.1"),
    acl(4, resource_name="p*s", pattern_type="GLOB", principal="User:c*", operation="WRITE"),
    acl(5, resource_name="*", principal="User:x'y", operation="DESCRIBE"),
    acl(6, resource_name="payments", pattern_type="PREFIXED", principal="User:alice",
        operation="ALL", permission_type="DENY", host="10.0.0.2"),
    acl(7, resource_name="other", pattern_type="PREFIXED"),
)  # fmt: skip
TO_COME = ("pay", "pay-z", "payments-1", "pays", "payments.s", "pay-xs", "pay.eu")


@pytest.fixture(params=[False, True], ids=["closed", "open"])
def settings(request):
    return BrokerSettings(
        super_users=frozenset({small.SUPER_USER}), allow_everyone=request.param
    )  # fmt: skip


@pytest.fixture
def ask(tmp_path, settings):
    small.build(tmp_path, ACLS, settings)

    def asking(operation, prefix, kind="TOPIC", **options):
        published = open_warehouse(str(tmp_path))
        with connect(published) as connection:
            where = Where(connection, published, small.CLUSTER)
            return who_can_prefix(where, operation, kind, prefix, **options)

    return asking


def test_every_principal_and_host_is_told_as_the_rule_says_of_each_name(ask, settings):
    answer = ask("ANY", "pay", decision=None)
    assert answer.known == ("pay-x", "payments")
    seen = set()
    for principal, reaches in answer.reaches.items():
        for reach in reaches:
            hosts = small.HOSTS if reach.hosts == "*" else reach.hosts.split(",")
            for host in hosts:
                seen.add((principal, reach.operation, host))
                fares = {
                    name: decide(
                        ACLS,
                        Request.of(principal, host, reach.operation, Resource("TOPIC", name)),
                        settings,
                        KIP_1042,
                    ).decision
                    == "ALLOWED"
                    for name in (*answer.known, *TO_COME)
                }
                assert reach.known_allowed == sum(fares[name] for name in answer.known)
                to_come = {fares[name] for name in TO_COME}
                words = {"all": {True}, "none": {False}, "some": {True, False}}
                assert words[reach.to_come.word] == to_come
                everything = set(fares.values())
                assert words[reach.extent(2)] == everything
    assert len(seen) == len(small.PRINCIPALS) * len(OPERATIONS_OF_TYPE["TOPIC"]) * len(small.HOSTS)


def test_who_can_do_it_to_no_name_is_left_out_and_with_denied_who_can_to_all(ask):
    def principals(**options):
        return set(ask("ALTER", "pay", **options).reaches)

    assert small.SUPER_USER in principals() - principals(decision="DENIED")
    assert "User:carol" in principals(decision="DENIED")


def test_from_one_host_that_host_is_told(ask):
    rows = ask("READ", "pay", host="10.0.0.2").rows
    assert {row[1] for row in rows} == {"10.0.0.2"}


def test_what_the_budget_does_not_tell_is_unknown(ask):
    rows = ask("WRITE", "pay", budget=Budget(per_question=1)).rows
    assert "unknown" in {row[3] for row in rows} | {row[6] for row in rows}


def test_a_beginning_that_no_name_has_is_refused(ask):
    with pytest.raises(UsageError, match="No topic can have a name that begins with 'a b'"):
        ask("READ", "a b")
