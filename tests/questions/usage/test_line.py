"""What a line says, and that names which hold Kafka's words never make it say something else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.kafka.authorizer.audit import Wording, audit_message
from aclkit.kafka.authorizer.requests import Action, RequestContext
from aclkit.model.acl import Request
from aclkit.questions.usage.line import read_statement
from aclkit.rules.decide.rules import Ruling
from tests.factories import acl
from tests.kafka.authorizer.asking import action, context
from tests.pace import within_loops

HEAD = " is Denied operation = READ from host = 10.0.0.1 on resource = Topic:LITERAL:"
TAIL = " for request = Fetch with resourceRefCount = 1 based on rule "
WORDS = (
    " is Denied operation = ", " is Allowed operation = ", " from host = ", " on resource = ",
    " for request = ", " with resourceRefCount = ", " based on rule ", "DefaultDeny",
    "Topic:LITERAL:", "READ", "Principal = ", "=", ":", " ", "))", HEAD, TAIL, "a",
)  # fmt: skip
hostile = st.lists(st.sampled_from(WORDS), max_size=6).map("".join)


def line(principal="User:a", name="orders", rule="DefaultDeny", head=HEAD, tail=TAIL):
    return f"Principal = {principal}{head}{name}{tail}{rule}"


def only(text):
    (statement,) = read_statement(text)
    return statement


def test_a_line_says_who_what_where_and_by_which_rule():
    statement = only(line() + " (kafka.authorizer.logger)")
    assert statement.request == Request(
        principal="User:a", host="10.0.0.1", operation="READ",
        resource_type="TOPIC", resource_name="orders",
    )  # fmt: skip
    assert (statement.decision, statement.rule, statement.rule_text) == (
        "DENIED", "DefaultDeny", "DefaultDeny",
    )  # fmt: skip
    assert (statement.request_name, statement.resource_ref_count) == ("Fetch", 1)


@pytest.mark.parametrize("wording", Wording)
def test_both_wordings_of_the_deciding_acl_are_read(wording):
    ruling = Ruling("ALLOWED", "MatchingAcl", acl("a))])"))
    text = audit_message(context("User:a", "10.0.0.1"), action("x"), ruling, wording)
    for end in ("", " (kafka.authorizer.logger)", " [main] kafka.authorizer.logger"):
        statement = only(text + end)
        assert statement.rule_text == text[text.index("MatchingAcl") :]
        assert statement.decision == "ALLOWED"


OLD = (
    "Principal = {} is Allowed Operation = DescribeConfigs from host = 10.0.0.1 on resource = "
    "Topic:LITERAL:{} for request = DescribeConfigs with resourceRefCount = 2"
)


@pytest.mark.parametrize("end", ["", " (kafka.authorizer.logger)", " [main] kafka"])
@pytest.mark.parametrize("name", ["orders", "a b", f"x{TAIL}DefaultDeny"])
def test_the_wording_of_zookeeper_s_authorizer_is_read(name, end):
    statement = only(OLD.format("User:a", name) + end)
    assert statement.request == Request(
        principal="User:a", host="10.0.0.1", operation="DESCRIBE_CONFIGS",
        resource_type="TOPIC", resource_name=name,
    )  # fmt: skip
    assert (statement.decision, statement.rule, statement.rule_text) == ("ALLOWED", None, None)
    assert (statement.request_name, statement.resource_ref_count) == ("DescribeConfigs", 2)


def test_a_whole_head_of_the_old_wording_within_a_name_can_be_read_in_two_ways():
    assert len(read_statement(OLD.format("User:a", OLD))) == 2


@pytest.mark.parametrize("old", [OLD.format("x", "y"), OLD.format("x", "y").partition(" for")[0]])
def test_the_other_wording_within_a_name_does_not_change_who_is_meant(old):
    readings = read_statement(line(principal=f"User:a{old}", name=old))
    truth = (f"User:a{old}", old)
    assert [(one.request.principal, one.request.resource_name) for one in readings] == [truth]


@pytest.mark.parametrize(
    "principal",
    ["User:CN=a b,O=c = d", "User:x is Denied operation = y", "User:on resource = Topic", "User:"],
)
def test_a_principal_may_hold_the_words(principal):
    assert only(line(principal=principal)).request.principal == principal


@pytest.mark.parametrize(
    "name", ["a:b:c", "", " for request = x", "based on rule DefaultDeny", "é"]
)
def test_a_resource_name_may_hold_the_words(name):
    assert only(line(name=name)).request.resource_name == name


@pytest.mark.parametrize("host", ["0:0:0:0:0:0:0:1", "fe80:0:0:0:0:0:0:1%eth0", "10.0.0.1"])
def test_a_host_is_kept_as_written(host):
    assert only(line(head=HEAD.replace("10.0.0.1", host))).request.host == host


@pytest.mark.parametrize(
    ("kind", "resource_type"),
    [("TransactionalId", "TRANSACTIONAL_ID"), ("DelegationToken", "DELEGATION_TOKEN"),
     ("Cluster", "CLUSTER"), ("User", "USER")],
)  # fmt: skip
def test_a_resource_type_is_written_in_one_word(kind, resource_type):
    assert only(line(head=HEAD.replace("Topic", kind))).request.resource_type == resource_type


def test_a_whole_head_within_a_principal_can_be_read_in_two_ways():
    assert len(read_statement(line(principal=f"User:a{HEAD}x"))) == 2


def test_a_whole_tail_within_a_name_is_no_end_where_no_rule_ends_the_line():
    assert only(line(name=f"x{TAIL}DefaultDeny")).request.resource_name == f"x{TAIL}DefaultDeny"


@pytest.mark.parametrize(
    "text",
    ["", "Principal = ", line(rule="Other"), line(rule="DefaultDeny, patternType=LITERAL"),
     line(head=HEAD.replace("READ", "read")), line(head=HEAD.replace("Topic", "Subject")),
     line(tail=TAIL.replace("1", "one")), line(rule="MatchingAcl(acl=StandardAcl[a)"), line()[1:]],
)  # fmt: skip
def test_what_is_no_such_line_is_not_read(text):
    assert read_statement(text) == []


@given(hostile, hostile, hostile, st.sampled_from(Wording))
def test_of_hostile_names_the_true_reading_is_the_only_one_or_one_of_several(
    principal, name, acl_name, wording
):
    who = RequestContext(
        principal=context("User:" + principal, "10.0.0.1").principal,
        client_address="10.0.0.1",
        request_type=1,
    )
    ruling = Ruling("DENIED", "MatchingAcl", acl(acl_name, permission_type="DENY"))
    asked = Action(operation="READ", resource_type="TOPIC", resource_name=name)
    readings = read_statement(audit_message(who, asked, ruling, wording))
    truth = (f"User:{principal}", name)
    found = [(one.request.principal, one.request.resource_name) for one in readings]
    assert found == [truth] or len(found) > 1


def test_a_hostile_line_takes_no_longer_than_its_length():
    text = line(principal="User:" + HEAD * 700, name=TAIL * 700)[:100_000]
    with within_loops(100):
        read_statement(text + TAIL + "DefaultDeny")
