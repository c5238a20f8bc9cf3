"""Forms of other tools: what they say leads back to the ACLs, and no name can break out."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.kafka.acls.creation import random_acl_id
from aclkit.kafka.acls.exports import render_kafka_users, render_records, render_terraform
from aclkit.kafka.acls.quoting import quote, quote_hcl
from aclkit.model.acl import Acl
from aclkit.model.facts import ADD_ACL
from aclkit.pipeline.sources.records import read_records
from tests import strategies
from tests.factories import acl
from tests.names import NASTY


def with_uuids(acls):
    return [
        Acl(acl_id=random_acl_id(), **{n: getattr(a, n) for n in Acl.__slots__[1:]}) for a in acls
    ]


@given(strategies.acl_sets())
def test_records_lead_back_to_the_same_acls(acls):
    acls = with_uuids(acls)
    at = datetime(2026, 11, 21, 12, 0, 0, 345_000, tzinfo=UTC)
    times = {a.acl_id: at + timedelta(seconds=n) for n, a in enumerate(acls) if n % 2}
    lines = list(render_records(acls, times))
    if not lines:
        return
    facts = [row for row in read_records(lines, "x") if row.kind == "fact"]
    found = [Acl(**{name: getattr(row, name) for name in Acl.__slots__}) for row in facts]
    assert sorted(found, key=lambda a: a.acl_id) == sorted(acls, key=lambda a: a.acl_id)
    assert [row.log_offset for row in facts] == list(range(len(acls)))
    assert {row.acl_id: row.log_time for row in facts if row.log_time} == times


def test_a_record_is_what_kafka_dump_log_prints_with_offset_and_time():
    one = acl("foo", principal="User:bob", acl_id="Tm1nLPTKSaCPIAJlEST_Kw")
    at = datetime(2026, 11, 21, 9, 17, 56, 851_000, tzinfo=UTC)
    (line,) = render_records([one], {one.acl_id: at})
    assert line == (
        f'{{"offset":0,"timestamp":{int(at.timestamp() * 1000)},"type":"{ADD_ACL}","version":0,'
        '"data":{"id":"Tm1nLPTKSaCPIAJlEST_Kw","resourceType":2,"resourceName":"foo",'
        '"patternType":3,"principal":"User:bob","host":"*","operation":3,"permissionType":3}}'
    )


def test_a_kafka_user_says_the_acls_of_one_principal():
    acls = [
        acl("t", principal="User:etl", operation="READ"),
        acl("t", principal="User:etl", operation="DESCRIBE_CONFIGS"),
        acl("p-", principal="User:etl", pattern_type="PREFIXED", permission_type="DENY"),
        acl(
            "kafka-cluster",
            resource_type="CLUSTER",
            principal="User:CN=app.x",
            operation="CREATE",
            host="10.0.0.1",
        ),
    ]
    lines, unsaid = render_kafka_users(acls)
    assert not unsaid
    assert lines[3:] == [
        "---",
        "apiVersion: kafka.strimzi.io/v1",
        "kind: KafkaUser",
        "metadata:",
        '  name: "app.x"',
        "  labels:",
        "    strimzi.io/cluster: my-cluster",
        "spec:",
        "  authentication:",
        "    type: tls-external",
        "  authorization:",
        "    type: simple",
        "    acls:",
        "      - type: allow",
        '        host: "10.0.0.1"',
        "        operations: [Create]",
        "        resource:",
        "          type: cluster",
        "---",
        "apiVersion: kafka.strimzi.io/v1",
        "kind: KafkaUser",
        "metadata:",
        '  name: "etl"',
        "  labels:",
        "    strimzi.io/cluster: my-cluster",
        "spec:",
        "  authorization:",
        "    type: simple",
        "    acls:",
        "      - type: deny",
        '        host: "*"',
        "        operations: [Read]",
        "        resource:",
        "          type: topic",
        '          name: "p-"',
        "          patternType: prefix",
        "      - type: allow",
        '        host: "*"',
        "        operations: [DescribeConfigs, Read]",
        "        resource:",
        "          type: topic",
        '          name: "t"',
        "          patternType: literal",
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"pattern_type": "GLOB"},
        {"principal": "User:*"},
        {"principal": "Group:a"},
        {"principal": "User:UPPER"},
        {"principal": "User:CN=a,OU=b"},
        {"principal": f"User:{'a' * 254}"},
        {"principal": "User:a..b"},
        {"principal": "User:-a"},
        {"resource_type": "USER", "operation": "CREATE_TOKENS"},
        {"operation": "TWO_PHASE_COMMIT", "resource_type": "TRANSACTIONAL_ID"},
    ],
)
def test_what_strimzi_cannot_say_is_a_comment(fields):
    one = acl("x\n- y", **fields)
    lines, unsaid = render_kafka_users([one])
    assert unsaid == [one]
    assert lines[-1].startswith("# Strimzi cannot write")
    assert "\n" not in lines[-1]


def test_a_user_and_its_certificate_are_not_both_one_kafka_user():
    acls = [acl(principal="User:a"), acl(principal="User:CN=a")]
    for order in (acls, acls[::-1]):
        lines, unsaid = render_kafka_users(order)
        assert lines.count("kind: KafkaUser") == len(unsaid) == 1


def test_terraform_says_one_resource_for_each_acl():
    one = acl("${a}", pattern_type="PREFIXED", operation="ALTER_CONFIGS", acl_id="-1_x")
    lines, unsaid = render_terraform([one, acl("g", pattern_type="GLOB")])
    assert [a.pattern_type for a in unsaid] == ["GLOB"]
    assert lines[5:-1] == [
        "",
        'resource "kafka_acl" "acl_-1_x" {',
        '  resource_name                = "$${a}"',
        '  resource_type                = "Topic"',
        '  resource_pattern_type_filter = "Prefixed"',
        '  acl_principal                = "User:a"',
        '  acl_host                     = "*"',
        '  acl_operation                = "AlterConfigs"',
        '  acl_permission_type          = "Allow"',
        "}",
    ]
    assert lines[-1].startswith("# the provider cannot write")


def test_terraform_leaves_out_a_name_that_its_language_would_change():
    lines, unsaid = render_terraform([one := acl("e\u0301"), acl("\u00e9", principal="User:b")])
    assert unsaid == [one]
    assert sum(line.startswith("resource ") for line in lines) == 1


def test_an_acl_that_is_there_twice_is_one_resource_of_terraform():
    lines, _ = render_terraform([acl(acl_id="1"), acl(acl_id="2")])
    assert sum("resource " in line for line in lines) == 1


def read_hcl(text: str) -> str:
    """Read a quoted string of HCL by the rules of its scanner; a template in it is an error."""
    assert text[0] == text[-1] == '"'
    body, out, at = text[1:-1], "", 0
    while at < len(body):
        two, three = body[at : at + 2], body[at : at + 3]
        if three in ("$${", "%%{"):
            out, at = out + three[1:], at + 3
        elif two[0] == "\\":
            width = {"u": 6, "U": 10}.get(two[1], 2)
            escape = body[at : at + width]
            simple = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
            out += chr(int(escape[2:], 16)) if width > 2 else simple[two[1]]
            at += width
        else:
            assert two not in ("${", "%{")
            assert two[0] not in '"\n\r'
            out, at = out + two[0], at + 1
    return out


@given(st.text(st.sampled_from('$%{}"\\a\n\x00\u2028\U0001f511\U000e0001')))
def test_a_string_of_hcl_is_the_text_and_never_a_template(text):
    assert read_hcl(quote_hcl(text)) == text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_quoted_text_is_printable_and_one_line(text):
    assert quote(text).isprintable()


@pytest.mark.parametrize("name", NASTY)
def test_a_quoted_name_of_the_bmp_is_json_too(name):
    assert json.loads(quote(name)) == name
