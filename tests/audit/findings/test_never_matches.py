"""ACLs that nothing can meet are found, with every reason, and no others."""

from __future__ import annotations

import pytest
from hypothesis import given

from aclkit.audit.findings.never_matches import find_never_matches
from aclkit.model.acl import acl_words
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.rules.decide.rules import answers
from aclkit.rules.patterns.match import reaches
from tests.factories import acl, request
from tests.strategies import acls, semantics


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"resource_name": "a*"}, "contain '*', which is not a wildcard in a LITERAL pattern"),
        ({"resource_name": "a?"}, "contain '?'"),
        (
            {"resource_name": "*", "pattern_type": "PREFIXED"},
            "not a wildcard in a PREFIXED pattern",
        ),
        ({"resource_name": "a/b"}, "contain '/'"),
        ({"resource_name": "é*", "pattern_type": "GLOB"}, "contain 'é'"),
        ({"resource_name": "a" * 250}, "at most 249 characters"),
        ({"resource_name": "a" * 250, "pattern_type": "PREFIXED"}, "at most 249 characters"),
        ({"resource_name": "*".join("a?" * 125), "pattern_type": "GLOB"}, "at most 249 characters"),
        ({"resource_name": "."}, "have the name '.'"),
        ({"resource_name": ".."}, "have the name '..'"),
        ({"resource_name": ".", "pattern_type": "GLOB"}, "have the name '.'"),
        ({"resource_name": ""}, "have the name ''"),
        ({"resource_type": "CLUSTER", "resource_name": "c", "operation": "ALTER"}, "kafka-cluster"),
        ({"host": "localhost"}, "not an IP address"),
        ({"host": "::1"}, "'0:0:0:0:0:0:0:1'"),
        ({"operation": "CREATE_TOKENS"}, "has operation CREATE_TOKENS"),
        ({"operation": "UNKNOWN(99)"}, "has operation UNKNOWN(99)"),
        ({"resource_type": "UNKNOWN(9)"}, "type UNKNOWN(9)"),
        ({"principal": "alice"}, "has no colon between type and name"),
    ],
)
def test_each_reason_is_found_and_weighs_more_in_a_deny(fields, reason):
    allow, deny = acl(**fields), acl(permission_type="DENY", **fields)
    first, second = find_never_matches([acl(), allow, deny], KIP_1042)
    assert (first.finding, first.severity, first.acl_ids) == (
        "never-matches",
        "low",
        (allow.acl_id,),
    )
    assert (second.severity, second.subject) == ("medium", str(deny))
    assert reason in first.message
    assert first.message.startswith(f"{acl_words(allow)} grants nothing: ")
    assert second.message.startswith(f"{acl_words(deny)} protects nothing: ")


@pytest.mark.parametrize(
    "fields",
    [
        {"resource_name": "*"},
        {"resource_name": "a.b_c-D9"},
        {"resource_name": "a" * 249},
        {"resource_name": ".", "pattern_type": "PREFIXED"},
        {"resource_name": "..", "pattern_type": "PREFIXED"},
        {"resource_name": "", "pattern_type": "PREFIXED"},
        {"resource_name": "", "pattern_type": "GLOB"},
        {"resource_name": ".?", "pattern_type": "GLOB"},
        {"resource_name": "a*" * 249, "pattern_type": "GLOB"},
        {"resource_name": "a b*", "resource_type": "GROUP"},
        {"resource_name": "*", "resource_type": "CLUSTER", "operation": "ALTER"},
        {"resource_name": "kafka", "resource_type": "CLUSTER", "pattern_type": "PREFIXED"}
        | {"operation": "ALL"},
        {"resource_type": "GROUP", "operation": "WRITE"},
        {"host": "10.0.0.1"},
        {"host": "10.*"},
        {"principal": ":"},
    ],
)
def test_an_acl_that_something_can_meet_is_silent(fields):
    assert not list(find_never_matches([acl(**fields)], KIP_1042))


def test_a_deny_does_not_imply_describe_so_it_may_never_match_where_an_allow_does():
    rows = [
        acl(resource_type="GROUP", operation="WRITE", permission_type=permission)
        for permission in ("ALLOW", "DENY")
    ]
    assert [found.acl_ids for found in find_never_matches(rows, KIP_1042)] == [(rows[1].acl_id,)]


def test_todays_brokers_read_globs_as_text():
    rows = [acl("a*", pattern_type="GLOB"), acl(host="10.*"), acl(principal="User:a*")]
    found = [finding.acl_ids for finding in find_never_matches(rows, KAFKA)]
    assert found == [(rows[0].acl_id,), (rows[1].acl_id,)]


def test_one_finding_holds_all_reasons():
    (found,) = find_never_matches([acl("a b", principal="x", host="h")], KAFKA)
    assert found.message.count("; ") == 2


@given(acls(), semantics)
def test_what_is_found_answers_no_request_on_a_name_that_can_exist(row, read):
    if not list(find_never_matches([row], read)):
        return
    names = ("a", "b", "ab", "aab", "bba") + ("", "*", "**", "*a", "?", "a?") * (
        row.resource_type == "GROUP"
    )
    for name in names:
        for operation in OPERATIONS_OF_TYPE[row.resource_type]:
            for host in ("10.0.0.1", "10.0.0.2", "0:0:0:0:0:0:0:1"):
                asked = request(
                    name, resource_type=row.resource_type, operation=operation, host=host
                )
                assert not (
                    reaches(row, row.resource_type, name, read) and answers(row, asked, read)
                )
