"""The command can: yes, no or not known, in words and as the exit code."""

from __future__ import annotations

import json

import pytest

from aclkit.model.broker_settings import SUPER_USERS
from aclkit.model.semantics import BrokerSettings
from tests.cli.running import run
from tests.questions.query import small_warehouse as small


@pytest.fixture
def can(root):
    """Ask the small warehouse."""
    return lambda *words, code=0: run("--warehouse", root, "can", *words, code=code)


BOB_ELSEWHERE = ("User:bob", "READ", "topic:payments", "--host", "10.0.0.2")
BOB = ("User:bob", "READ", "topic:payments", "--host", "10.0.0.1")


def test_yes_comes_with_the_acl_and_exit_code_0(can):
    assert can(*BOB_ELSEWHERE).stdout == (
        "Yes: User:bob can READ topic:payments from 10.0.0.2. "
        "ALLOW ALL on pay* (prefix) from any host.\n"
    )


def test_no_comes_with_the_deny_and_exit_code_1(can):
    assert can(*BOB, code=1).stdout.splitlines() == [
        "No: User:bob cannot READ topic:payments from 10.0.0.1. "
        "DENY READ on payments from 10.0.0.1.",
        "To allow it, first remove the DENY.",
    ]


def test_no_without_any_acl_comes_with_the_one_that_would_allow_it(can):
    assert can("User:new", "READ", "topic:payments", code=1).stdout.splitlines() == [
        "No: User:new cannot READ topic:payments from any host. No ACL allows it.",
        "To allow it:",
        "  kafka-acls --bootstrap-server HOST:PORT --add --topic payments "
        "--allow-principal User:new --operation Read",
    ]


def test_hosts_that_are_decided_otherwise_are_named(can):
    first, second = can("User:bob", "READ", "topic:payments").stdout.splitlines()
    assert first.startswith("Yes: User:bob can READ topic:payments from a host that no ACL names.")
    assert second == (
        "From 10.0.0.1 it is denied: DENY READ on topic payments for User:bob from 10.0.0.1."
    )


def test_an_access_of_several_that_is_decided_otherwise_elsewhere_is_named(can):
    told = can("User:bob", "consume", "topic:payments").stdout
    assert "From 10.0.0.1 READ on topic:payments is denied: DENY READ" in told


def test_accesses_of_several_that_are_decided_otherwise_elsewhere_are_in_one_sentence(can):
    told = can("User:alice", "WRITE,DESCRIBE,ALTER", "topic:orders", code=1).stdout
    both = "WRITE on topic:orders and DESCRIBE on topic:orders are allowed: ALLOW WRITE"
    assert f"From 10.0.1.1 {both}" in told


@pytest.mark.parametrize(("operations", "code"), [("READ,DESCRIBE", 0), ("READ,ALTER", 1)])
def test_of_several_operations_all_must_be_allowed(can, operations, code):
    lines = can("User:alice", operations, "topic:payments", code=code).stdout.splitlines()
    assert [line.split()[3] for line in lines[:2]] == operations.split(",")


def test_any_is_each_operation_of_the_type(can):
    found = json.loads(can("User:bob", "ANY", "group:g1", "-o", "json", code=1).stdout)
    assert [each["operation"] for each in found["accesses"]] == [
        "READ", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS",
    ]  # fmt: skip


@pytest.mark.parametrize("words", [BOB, BOB_ELSEWHERE])
def test_quiet_prints_nothing(can, words):
    result = can(*words, "-q", code=1 if words == BOB else 0)
    assert (result.stdout, result.stderr) == ("", "")


def test_a_request_is_allowed_if_what_it_needs_is(can):
    allowed = can("User:carol", "joingroup", "group:g1").stdout
    assert allowed.startswith("Yes: User:carol can send JoinGroup for group:g1 from any host.")
    denied = can("User:carol", "Fetch", "topic:orders", code=1).stdout
    assert "It needs READ on the topic, or CLUSTER_ACTION" in denied.replace("\n", " ")


def test_a_request_says_what_it_needs_on_resources_that_were_not_named(can):
    told = can("User:carol", "OffsetCommit", "group:g1").stdout
    assert "OffsetCommit also needs READ on the topic." in told


def test_a_request_passes_by_another_access_too(can):
    told = can("User:alice", "CreateTopics", "topic:new").stdout
    assert told.startswith("Yes: User:alice can send CreateTopics for topic:new")
    assert "CREATE on cluster is allowed by ALLOW CREATE on the cluster" in told


def test_a_task_has_a_line_for_each_access_and_the_missing_acls(can):
    lines = can("User:alice", "produce", "topic:payments", code=1).stdout.splitlines()
    assert lines[0].startswith("No: User:alice cannot produce to topic:payments")
    assert lines[0].endswith("1 of 2 accesses is denied.")
    assert lines[1] == "To allow it:"
    assert lines[2].endswith("--topic payments --allow-principal User:alice --operation Write")
    assert [line.split("  ")[0] for line in lines[3:7]] == [
        "", "access", "DESCRIBE on topic:payments", "WRITE on topic:payments",
    ]  # fmt: skip


def test_a_consumer_without_a_group_is_told_of_it(can):
    told = can("User:alice", "consume", "topic:payments").stdout
    assert "also needs READ on that group" in told
    assert (
        "also needs READ on that group"
        not in can("User:alice", "consume", "topic:payments", "--group", "g1").stdout
    )


@pytest.fixture
def of_unknown(tmp_path):
    """Ask a warehouse whose super users nobody knew."""
    settings = BrokerSettings(unknown=frozenset({SUPER_USERS}))
    small.build(tmp_path / "w", settings=settings)
    return lambda *words, code: run("--warehouse", tmp_path / "w", "can", *words, code=code)


def test_a_denial_is_not_known_where_super_users_are_not(of_unknown):
    told = of_unknown("User:new", "READ", "topic:payments", code=3).stdout
    assert told.startswith("Not known: whether User:new can READ topic:payments")
    assert "Super users are unknown." in told
    of_unknown("User:alice", "READ", "topic:payments", code=0)


def test_known_only_refuses_a_name_that_does_not_exist(can):
    assert can("User:new", "READ", "topic:payments", "--known-only", "-q", code=2).stdout == ""


def accesses(result):
    return {
        f"{each['operation']} {each['pattern_type']} {each['resource_name']}": each["decision"]
        for each in json.loads(result.stdout)["accesses"]
    }


def test_an_application_of_streams_is_allowed_every_name_that_starts_with_its_id(can):
    found = accesses(can("User:bob", "streams", "group:pay", "-o", "json"))
    assert found["WRITE PREFIXED pay-"] == "ALLOWED"
    assert set(found.values()) == {"ALLOWED"}


def test_create_on_the_cluster_stands_in_for_create_on_internal_topics_and_for_nothing_else(can):
    found = accesses(can("User:alice", "streams", "group:x", "-o", "json", code=1))
    assert found["CREATE PREFIXED x-"] == "ALLOWED"
    assert found["DELETE PREFIXED x-"] == "DENIED"


def test_missing_accesses_on_names_that_start_alike_are_one_command(can):
    lines = can("User:alice", "streams", "group:x", code=1).stdout.splitlines()
    assert lines[1:4] == [
        "To allow it:",
        "  kafka-acls --bootstrap-server HOST:PORT --add --topic x- "
        "--resource-pattern-type prefixed --allow-principal User:alice --operation Delete "
        "--operation Read --operation Write",
        "",
    ]
    assert "The answer depends on the client's address. Pass --host to check one." in lines


def test_some_of_the_names_are_not_all_of_them(tmp_path):
    part = small.acl(60, resource_name="app-1", pattern_type="PREFIXED", operation="ALL")
    small.build(tmp_path / "w", [*small.ACLS, part])
    words = ("can", "User:alice", "streams", "group:app")
    told = run("--warehouse", tmp_path / "w", *words, code=1).stdout
    assert "not every topic that starts with app- is allowed" in told


def test_the_answer_of_an_incomplete_run_is_not_known(tmp_path):
    versions = small.build(tmp_path / "w")
    small.publish(tmp_path / "w", versions, run_number=2, status="incomplete")
    words = ("can", "User:alice", "READ", "topic:payments")
    told = run("--warehouse", tmp_path / "w", *words, code=3).stdout
    assert told.endswith("Run 2 is incomplete.\n")


@pytest.fixture
def can_of(tmp_path):
    """Ask a warehouse of some ACLs; returns yes or no, and the commands."""

    def asking(acls, *words):
        root = tmp_path / "of-acls"
        small.build(root, acls, BrokerSettings())
        told = run("--warehouse", root, "can", *words, "--format", "json", code=1)
        answer = json.loads(told.stdout)
        missing = [(one["operation"], one["resource_name"]) for one in answer["missing_acls"]]
        return answer["decision"], missing

    return asking


IDEMPOTENT = ("produce", "topic:orders", "--idempotent")


@pytest.mark.parametrize(
    ("acls", "missing"),
    [
        ((), [("WRITE", "orders")]),
        ((small.acl(1, resource_name="orders"),), [("WRITE", "orders")]),
        (
            (
                small.acl(1, resource_name="orders", operation="WRITE"),
                small.acl(
                    2, resource_name="*", operation="WRITE", permission_type="DENY",
                    principal="User:*",
                ),
            ),
            [],
        ),
        (
            (
                small.acl(
                    1, resource_name="orders", operation="WRITE", permission_type="DENY",
                    principal="User:*",
                ),
            ),
            [("WRITE", "orders")],
        ),
    ],
    ids=["nothing", "reads", "denied-but-granted", "denied-and-not-granted"],
)  # fmt: skip
def test_write_on_a_topic_covers_the_request_of_an_idempotent_producer(can_of, acls, missing):
    assert can_of(acls, "User:alice", *IDEMPOTENT) == ("DENIED", missing)


def test_a_right_on_the_cluster_is_proposed_last_and_with_a_warning(can):
    lines = can("User:new", "CreateAcls", "cluster", code=1).stdout.splitlines()
    assert lines[1].startswith("ALTER on the cluster makes User:new an administrator")
    assert lines[2].endswith("--operation Alter")


def test_who_looks_up_a_topic_chooses_what_to_do_with_it(can):
    lines = can("User:new", "Metadata", "topic:orders", code=1).stdout.splitlines()
    assert [line.rpartition(" ")[2] for line in lines[1:]] == ["topic:", "Read", "topic:", "Write"]


def test_a_producer_that_looks_for_its_transactional_id_is_given_write(can_of):
    found = can_of((), "User:new", "FindCoordinator", "transactional-id:t")
    assert found == ("DENIED", [("WRITE", "t")])


def test_a_deny_of_what_a_client_needs_next_is_told_and_no_useless_acl_is_proposed(tmp_path):
    deny = small.acl(
        1, resource_name="g", resource_type="GROUP", permission_type="DENY", principal="User:*"
    )
    small.build(tmp_path, (deny,), BrokerSettings())
    asked = ("User:new", "FindCoordinator", "group:g")
    for command, code in (("can", 1), ("why", 0)):
        told = run("--warehouse", tmp_path, command, *asked, code=code).stdout
        assert "DENY READ on group g for User:* from any host stops what the client needs" in told
        assert "--add" not in told
        as_json = run("--warehouse", tmp_path, command, *asked, "--format", "json", code=code)
        assert "stops what the client needs next" in as_json.stdout
