"""Named cases of Kafka's own tests, with the answers of Kafka 4.3.1, under ``kafka``.

The file holds the cases S, A, I and B; D and K, whose points the guide states, are written here.
"""

from __future__ import annotations

import pytest

from aclkit.errors import UsageError
from aclkit.model.acl import TypeRequest
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.rules.decide.any_of_type import BadAclPrincipalError, authorize_by_resource_type
from aclkit.rules.decide.rules import Ruling, decide
from tests.factories import acl, request
from tests.kafka_answers import read_cases, render

OFF = BrokerSettings()
EVERYONE = BrokerSettings(allow_everyone=True)


def answer(acls, query, settings):
    principal, host, operation, resource_type, name = query.split("|")
    by_type = operation.removeprefix("BYTYPE:")
    if by_type != operation:
        asked = TypeRequest(principal, host, by_type, resource_type)
        return authorize_by_resource_type(acls, asked, settings)
    asked = request(
        name, resource_type=resource_type, principal=principal, host=host, operation=operation
    )
    return render(decide(acls, asked, settings, KAFKA))


@pytest.mark.parametrize(
    ("acls", "settings", "said"), [pytest.param(*row[1:], id=row[0]) for row in read_cases()]
)
def test_kafka_and_aclkit_answer_alike(acls, settings, said):
    assert {query: answer(acls, query, settings) for query in said} == said


def decider(acls, permission_type="ALLOW", asked=None):
    rows = [acl(**{"permission_type": permission_type} | fields) for fields in acls]
    ruling = decide(rows, asked or request("foo"), OFF, KAFKA)
    return rows.index(ruling.acl)


def test_case_d1_the_wildcard_is_named_for_an_allow():
    names = [("foo", "LITERAL"), ("fo", "PREFIXED"), ("*", "LITERAL")]
    assert decider([{"resource_name": n, "pattern_type": p} for n, p in names]) == 2


def test_case_d2_the_literal_is_named_for_a_deny():
    names = [("foo", "LITERAL"), ("f", "PREFIXED"), ("*", "LITERAL")]
    assert decider([{"resource_name": n, "pattern_type": p} for n, p in names], "DENY") == 0


def test_case_d3_the_last_allow_in_order_of_operation_principal_and_host_is_named():
    entries = [
        {"operation": "ALL"},
        {"principal": "User:*"},
        {"host": "*"},
        {"host": "10.1.1.1"},
    ]
    rows = [{"resource_name": "foo", "principal": "User:bob"} | entry for entry in entries]
    asked = request("foo", principal="User:bob", host="10.1.1.1")
    assert decider(rows, asked=asked) == 3


def test_case_d4_the_first_deny_in_order_is_named():
    rows = [
        {"resource_name": "foo", "operation": "ALL"},
        {"resource_name": "foo", "operation": "READ"},
        {"resource_name": "foo", "operation": "ALL", "pattern_type": "PREFIXED"},
    ]
    assert decider(rows, "DENY") == 0


@pytest.mark.parametrize(("stored", "asked"), [("#y", "#x"), ("#abc", "#abd"), ("$Default", "$D")])
def test_cases_k1_and_k2_have_an_answer_where_kafka_hangs_or_throws(stored, asked):
    """Kafka never returns on the first and throws on the others; this is the rule's answer."""
    stored_acl = acl(stored, resource_type="GROUP")
    asked = request(asked, resource_type="GROUP")
    assert decide([stored_acl], asked, OFF, KAFKA) == Ruling("DENIED", "DefaultDeny")
    assert decide([stored_acl], asked, EVERYONE, KAFKA) == Ruling("ALLOWED", "DefaultAllow")


def test_case_k3_a_name_that_begins_with_a_star_escapes_the_wildcard():
    rows = [
        acl("*", resource_type="GROUP", principal="User:bob"),
        acl(
            "*",
            resource_type="GROUP",
            principal="User:eve",
            operation="ALL",
            permission_type="DENY",
        ),
    ]
    rules = {
        (principal, name): render(
            decide(rows, request(name, resource_type="GROUP", principal=principal), OFF, KAFKA)
        )
        for principal in ("User:bob", "User:eve")
        for name in ("*g", "*", "+g")
    }
    assert rules == {
        ("User:bob", "*g"): "DENIED/DefaultDeny",
        ("User:eve", "*g"): "DENIED/DefaultDeny",
        ("User:bob", "*"): "ALLOWED/L:* User:bob@* READ A",
        ("User:eve", "*"): "DENIED/L:* User:eve@* ALL D",
        ("User:bob", "+g"): "ALLOWED/L:* User:bob@* READ A",
        ("User:eve", "+g"): "DENIED/L:* User:eve@* ALL D",
    }


def test_case_k4_so_a_deny_on_everything_lets_a_star_name_through():
    denying = acl("*", resource_type="GROUP", operation="ALL", permission_type="DENY")
    rules = [
        decide([denying], request(name, resource_type="GROUP"), EVERYONE, KAFKA)
        for name in ("*g", "g")
    ]
    assert rules == [Ruling("ALLOWED", "DefaultAllow"), Ruling("DENIED", "MatchingAcl", denying)]


def test_case_k5_a_session_called_user_star_has_an_answer_where_kafka_throws():
    """Kafka 4.x throws on every request of such a session; this is the rule's answer."""
    asked = request(principal="User:*")
    assert decide([acl(principal="User:a")], asked, OFF, KAFKA).decision == "DENIED"
    assert decide([acl(principal="User:*")], asked, OFF, KAFKA).decision == "ALLOWED"


def test_case_k6_a_prefixed_star_is_no_wildcard():
    rows = [acl("none"), acl("*", pattern_type="PREFIXED")]
    rules = [decide(rows, request(name), OFF, KAFKA).decision for name in ("x", "*x")]
    assert rules == ["DENIED", "ALLOWED"]


def by_type(acls, operation="READ", resource_type="TOPIC", settings=OFF):
    asked = TypeRequest("User:a", "10.0.0.1", operation, resource_type)
    return authorize_by_resource_type(acls, asked, settings)


@pytest.mark.parametrize(
    ("operation", "resource_type", "message"),
    [
        ("READ", "ANY", "Must specify a non-filter resource type for authorizeByResourceType"),
        ("READ", "UNKNOWN", "Unknown resource type"),
        ("ANY", "TOPIC", "Must specify a non-filter operation type for authorizeByResourceType"),
        ("UNKNOWN(99)", "TOPIC", "Unknown operation type"),
        ("ANY", "ANY", "Must specify a non-filter resource type for authorizeByResourceType"),
    ],
)
def test_by_type_refuses_what_is_no_concrete_question(operation, resource_type, message):
    with pytest.raises(UsageError) as raised:
        by_type([], operation, resource_type)
    assert str(raised.value) == message


def test_by_type_an_acl_without_colon_breaks_the_answer_for_everyone_of_its_host():
    with pytest.raises(BadAclPrincipalError, match="principalType:principalName but got bob"):
        by_type([acl(), acl("z", principal="bob")])


@pytest.mark.parametrize("change", [{"host": "10.0.0.2"}, {"resource_type": "GROUP"}])
def test_by_type_an_acl_without_colon_on_another_host_or_type_is_inert(change):
    assert by_type([acl(), acl(**{"principal": "bob"} | change)]) == "ALLOWED"


def test_by_type_what_the_name_hardcode_is_allowed_is_answered_before_any_bad_acl():
    assert by_type([acl("*"), acl("z", principal="bob")]) == "ALLOWED"
    assert by_type([acl(principal="bob")], settings=EVERYONE) == "ALLOWED"


def test_by_type_a_wildcard_deny_answers_before_a_bad_acl_that_sorts_behind_it():
    wildcard = acl("*", permission_type="DENY")
    assert by_type([wildcard, acl("!", principal="bob")]) == "DENIED"
    with pytest.raises(BadAclPrincipalError):
        by_type([wildcard, acl("z", principal="bob")])


def test_by_type_knows_no_globs_and_no_implied_operations():
    assert by_type([acl("or*", pattern_type="GLOB")]) == "DENIED"
    assert by_type([acl("orders")], "DESCRIBE") == "DENIED"
    assert by_type([acl("h", pattern_type="PREFIXED")], "DESCRIBE") == "ALLOWED"


def test_by_type_the_empty_denied_prefix_is_never_tried():
    """Kafka's loop starts at the first character, so a log's empty PREFIXED name stops nothing."""
    denying = acl("", pattern_type="PREFIXED", permission_type="DENY")
    assert by_type([acl("orders"), denying]) == "ALLOWED"
