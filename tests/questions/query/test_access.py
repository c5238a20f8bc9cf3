"""who-can and what-can agree with the pure rule, for what is in the inventory and what is not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from aclkit.errors import DataError, UsageError
from aclkit.model.acl import ANY_OTHER, Request
from aclkit.model.operation import OPERATIONS_OF_TYPE, parse_operation
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.questions.query.access import who_can
from aclkit.questions.query.what_can import what_can
from aclkit.rules.decide.rules import decide
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse
from tests.questions.query import small_warehouse as small
from tests.questions.query.small_warehouse import acl

SETTINGS = BrokerSettings(super_users=frozenset({small.SUPER_USER}), allow_everyone=True)
RANGES = replace(KAFKA, cidr_hosts=True)
PAYMENTS = Resource("TOPIC", "payments")


@pytest.fixture
def who(connection, published):
    def ask(operation, resource, **options):
        return who_can(connection, published, small.CLUSTER, operation, resource, **options)

    return ask


@pytest.fixture
def what(connection, published):
    def ask(principal, **options):
        return what_can(connection, published, small.CLUSTER, principal, **options)

    return ask


def cells(lines, hosts=small.HOSTS):
    """Unfold lines to (who or what, host, operation) → (decision, rule, ACL id)."""
    unfolded = {}
    for first, texts, operation, decision, rule, text, acl_id in lines:
        assert (text is None) == (acl_id is None)
        for host in hosts if texts == "*" else texts.split(","):
            assert (first, host, operation) not in unfolded
            unfolded[first, host, operation] = decision, rule, acl_id
    return unfolded


def expected(principals, resources, hosts=small.HOSTS, by=None, semantics=KIP_1042):
    by = by or (lambda principal, resource: principal)
    decided = {}
    for principal in principals:
        for resource in resources:
            for operation in OPERATIONS_OF_TYPE[resource.resource_type]:
                for host in hosts:
                    request = Request.of(principal, host, operation, resource)
                    ruling = decide(small.ACLS, request, SETTINGS, semantics)
                    decided[by(principal, resource), host, operation] = (
                        ruling.decision, ruling.rule, ruling.acl.acl_id if ruling.acl else None,
                    )  # fmt: skip
    return decided


def by_resource(principal, resource):
    return str(resource)


@pytest.mark.parametrize("resource", [Resource(*r) for r in small.RESOURCES], ids=str)
def test_who_can_is_the_pure_rule(who, resource):
    answer = who("any", resource, decision=None)
    assert answer.is_in_inventory
    assert cells(answer.rows) == expected(small.PRINCIPALS, [resource])


@pytest.mark.parametrize("name", ["pay-new", "elsewhere", "", "!late", "*", "orders'"])
def test_who_can_of_an_unknown_resource_is_the_pure_rule(who, name):
    resource = Resource("TOPIC", name)
    answer = who("ANY", resource, decision=None)
    assert not answer.is_in_inventory
    assert cells(answer.rows) == expected(small.PRINCIPALS, [resource])


@pytest.mark.parametrize("host", ["10.0.0.1", "10.0.0.77", "::1"])
def test_who_can_from_one_host_is_the_pure_rule(who, host):
    answer = who("ANY", PAYMENTS, host=host, decision=None)
    asked = "0:0:0:0:0:0:0:1" if host == "::1" else host
    assert answer.is_in_inventory == (host in small.HOSTS)
    assert cells(answer.rows, [asked]) == expected(small.PRINCIPALS, [PAYMENTS], [asked])
    assert {row[1] for row in answer.rows} == {asked}


@pytest.mark.parametrize("principal", small.PRINCIPALS)
def test_what_can_is_the_pure_rule(what, principal):
    answer = what(principal, decision=None)
    assert answer.is_in_inventory
    resources = [Resource(*r) for r in small.RESOURCES]
    assert cells(answer.rows) == expected([principal], resources, by=by_resource)


@pytest.mark.parametrize("principal", ["User:new", "User:carl", "Group:alice", "User:", "User:'"])
def test_what_can_of_an_unknown_principal_is_the_pure_rule(what, principal):
    answer = what(principal, decision=None)
    assert not answer.is_in_inventory
    resources = [Resource(*r) for r in small.RESOURCES]
    assert cells(answer.rows) == expected([principal], resources, by=by_resource)


@pytest.mark.parametrize("principal", ["User:alice", "User:new", small.SUPER_USER])
@pytest.mark.parametrize("kind", ["TOPIC", "TRANSACTIONAL_ID"])
def test_what_can_on_an_unknown_resource_is_the_pure_rule(what, principal, kind):
    answer = what(principal, resource_type=kind, resource_name="pay-new", decision=None)
    assert not answer.is_in_inventory
    resources = [Resource(kind, "pay-new")]
    assert cells(answer.rows) == expected([principal], resources, by=by_resource)


def test_what_can_of_one_type_leaves_out_the_others(what):
    assert {row[0] for row in what("User:alice", resource_type="GROUP", decision=None).rows} == {
        "group:g1",
        f"group:{ANY_OTHER}",
    }
    rows = what("User:alice", resource_type="TOPIC", resource_name="payments").rows
    assert {row[0] for row in rows} == {"topic:payments"}


@pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
def test_unknown_names_are_read_under_the_semantics_of_the_run(root, semantics):
    small.build(root, semantics=semantics, settings=SETTINGS)
    published = open_warehouse(str(root))
    with connect(published) as connection:
        answer = what_can(connection, published, small.CLUSTER, "User:cleo", decision=None)
    resources = [Resource(*r) for r in small.RESOURCES]
    wanted = expected(["User:cleo"], resources, by=by_resource, semantics=semantics)
    assert cells(answer.rows) == wanted


def test_hosts_with_the_same_answer_share_a_line(who):
    rows = who("READ", PAYMENTS, decision=None).rows
    bob = [row[1:4] + row[6:] for row in rows if row[0] == "User:bob"]
    assert bob == [
        ("10.0.0.1", "READ", "DENIED", "acl-04"),
        (f"10.0.0.2,10.0.1.1,{ANY_OTHER}", "READ", "ALLOWED", "acl-02"),
    ]
    assert [row[1] for row in rows if row[0] == "User:alice"] == ["*"]


def test_deciding_acl_is_printed_as_kafka_does(who):
    (row,) = [row for row in who("READ", PAYMENTS).rows if row[0] == "User:alice"]
    assert row[5] == str(acl(1))
    assert list(row[5:]) == [
        "(pattern=ResourcePattern(resourceType=TOPIC, name=payments, patternType=LITERAL), "
        "entry=(principal=User:alice, host=*, operation=READ, permissionType=ALLOW))",
        "acl-01",
    ]


def test_allowed_is_the_default_and_rows_are_sorted(who):
    rows = who("ANY", PAYMENTS).rows
    assert {row[3] for row in rows} == {"ALLOWED"}
    assert {row[3] for row in who("ANY", PAYMENTS, decision="DENIED").rows} == {"DENIED"}
    assert list(rows) == sorted(rows, key=lambda row: (row[0], row[2], row[1]))


def test_unknown_operation_names_the_valid_ones(who):
    meant = r"Unknown operation 'PUBLISH'\. Did you mean WRITE\? Topics have: READ, WRITE, "
    with pytest.raises(UsageError, match=meant):
        who("PUBLISH", PAYMENTS)
    with pytest.raises(UsageError, match="Groups have: READ, DELETE"):
        parse_operation("WRITE", "GROUP")


def test_bad_names_are_the_askers_fault(who, what):
    with pytest.raises(UsageError, match="Invalid host"):
        who("READ", PAYMENTS, host="localhost")
    with pytest.raises(UsageError, match="has no principal type"):
        what("alice")


def test_before_any_materialize_the_next_step_is_named(root):
    small.publish(root, {}, job="replay")
    published = open_warehouse(str(root))
    with (
        connect(published) as connection,
        pytest.raises(UsageError, match=r"Next: aclkit --warehouse .* materialize$"),
    ):
        who_can(connection, published, small.CLUSTER, "READ", PAYMENTS)


def test_answer_is_about_the_state_that_was_decided(root):
    versions = small.build(root)
    alive = small.tables(small.ACLS, SETTINGS, KIP_1042)["acl_history"]
    gone = [{**row, "removed_offset": row.get("removed_offset") or 150} for row in alive]
    newer = small.write_table(root, "acl_history", gone)
    small.publish(
        root, versions | {"acl_history": newer}, run_number=2, job="replay", head_offset=200,
        settings=json.dumps({}),
    )  # fmt: skip
    published = open_warehouse(str(root))
    with connect(published) as connection:
        known = who_can(connection, published, small.CLUSTER, "ANY", PAYMENTS, decision=None)
        resource = Resource("TOPIC", "pay-new")
        unknown = who_can(connection, published, small.CLUSTER, "ANY", resource, decision=None)
    assert cells(known.rows) == expected(small.PRINCIPALS, [PAYMENTS])
    assert cells(unknown.rows) == expected(small.PRINCIPALS, [resource])
    assert known.decided_by.head_offset == 100


@pytest.mark.parametrize("resource", [PAYMENTS, Resource("TOPIC", "pay-new")], ids=str)
def test_inventory_without_any_host_has_no_answer(root, resource):
    versions = small.build(root)
    small.publish(root, versions | {"host": small.write_table(root, "host", [])}, run_number=2)
    published = open_warehouse(str(root))
    with connect(published) as connection:
        answer = who_can(connection, published, small.CLUSTER, "READ", resource, decision=None)
    assert answer.rows == ()


def test_missing_ruling_is_damaged_data(root):
    versions = small.build(root)
    empty = small.write_table(root, "explain_ruling", [])
    small.publish(root, versions | {"explain_ruling": empty}, run_number=2)
    published = open_warehouse(str(root))
    with connect(published) as connection, pytest.raises(DataError, match="explain_ruling"):
        who_can(connection, published, small.CLUSTER, "READ", PAYMENTS)


@pytest.mark.parametrize(
    ("semantics", "decided"),
    [(RANGES, ["acl-01", "acl-02", None]), (KAFKA, [None, None, None])],
    ids=["ranges", "texts"],
)
def test_an_address_that_no_inventory_holds_is_decided_by_its_ranges(root, semantics, decided):
    acls = (
        acl(1, host="10.0.0.0/8"),
        acl(2, host="10.1.0.0/16", permission_type="DENY"),
        acl(3, host="10.0.0.0/33"),
    )
    small.build(root, acls=acls, semantics=semantics, settings=SETTINGS)
    published = open_warehouse(str(root))
    with connect(published) as connection:
        for host, acl_id in zip(("10.200.0.1", "10.1.9.9", "9.9.9.9"), decided, strict=True):
            answer = who_can(
                connection, published, small.CLUSTER, "READ", PAYMENTS, host=host, decision=None
            )
            rows = {row[0]: row for row in answer.rows}
            assert rows["User:alice"][6] == acl_id, host
            assert not answer.is_in_inventory
