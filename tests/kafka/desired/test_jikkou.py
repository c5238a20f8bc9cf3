"""Jikkou: the ACLs of principals and of their roles, and each refusal."""

from __future__ import annotations

import pytest

from aclkit.kafka.desired import jikkou
from aclkit.kafka.desired.jikkou import holds, read
from aclkit.kafka.desired.model import Document
from tests.kafka.desired.yaml_files import bindings_of, document_of, problems_of, rows_of

HEAD = "apiVersion: kafka.jikkou.io/v1\n"
RULE = (
    "{resource: {type: topic, pattern: grain, patternType: LITERAL}, type: ALLOW, "
    "operations: [READ]}"
)


def read_text(text):
    return read(Document("acls.yaml", text))


def authorization(spec, metadata='name: "User:mill"', head=HEAD):
    return f"{head}kind: KafkaPrincipalAuthorization\nmetadata: {{{metadata}}}\nspec: {spec}\n"


def with_rule(rule):
    return authorization(f"{{acls: [{rule}]}}")


def role(name, *rules):
    return (
        f"---\n{HEAD}kind: KafkaPrincipalRole\nmetadata: {{name: {name}}}\n"
        f"spec: {{acls: [{', '.join(rules)}]}}\n"
    )


def test_the_acls_of_principals_are_read():
    part = read(document_of("by-hand/jikkou.yaml"))
    assert bindings_of(part) == rows_of("by-hand/acls.tsv")
    assert (part.reach, part.form, part.problems) == ("asked", "jikkou", [])
    assert part.acls[0].place.line == 13


def test_a_role_gives_its_acls_to_each_principal_that_has_it():
    other = RULE.replace("grain", "flour")
    text = authorization(f"{{acls: [{RULE}], roles: [baker, baker]}}") + role("baker", other)
    text += "---\n" + authorization("{roles: [baker]}", 'name: "User:b"')
    part = read_text(text)
    assert [(acl.acl.principal, acl.acl.resource_name) for acl in part.acls] == [
        ("User:mill", "grain"),
        ("User:mill", "flour"),
        ("User:b", "flour"),
    ]


def test_a_list_holds_authorizations():
    item = authorization("{acls: []}").replace("\n", "\n  ")
    text = f"{HEAD}kind: KafkaPrincipalAuthorizationList\nitems:\n- {item}\n"
    assert not read_text(text).problems
    assert len(read_text(text.replace("[]", f"[{RULE}]")).acls) == 1


def test_a_rule_is_for_any_host_without_host():
    assert [acl.acl.host for acl in read_text(with_rule(RULE)).acls] == ["*"]


def test_words_of_kafka_are_read_in_any_case():
    rule = RULE.replace("LITERAL", "literal").replace("ALLOW", "Deny").replace("READ", "Read")
    assert [acl.acl.permission_type for acl in read_text(with_rule(rule)).acls] == ["DENY"]


def test_the_provider_is_the_cluster():
    metadata = 'name: "User:mill", annotations: {jikkou.io/provider: village}'
    part = read_text(authorization(f"{{acls: [{RULE}]}}", metadata))
    assert [acl.cluster for acl in part.acls] == ["village"]


def test_an_ignored_authorization_is_left_out_and_counted():
    metadata = 'name: "User:mill", annotations: {jikkou.io/ignore: true}'
    part = read_text(authorization(f"{{acls: [{RULE}]}}", metadata))
    assert part.acls == []
    assert "1 KafkaPrincipalAuthorization with jikkou.io/ignore" in part.notes[0]


def test_other_kinds_of_jikkou_hold_no_acls_and_those_of_others_are_counted():
    text = authorization("{acls: []}") + "".join(
        f"---\napiVersion: {version}\nkind: {kind}\nspec: {{}}\n"
        for version, kind in [
            ("kafka.jikkou.io/v1", "KafkaTopic"),
            ("kafka.jikkou.io/v1", "KafkaUser"),
            ("kafka.jikkou.io/v1", "KafkaClientQuota"),
            ("core.jikkou.io/v1", "ConfigMap"),
            ("kafka.aiven.jikkou.io/v1", "KafkaTopicAclEntry"),
            ("kafka.strimzi.io/v1", "KafkaUser"),
        ]
    )
    part = read_text(text)
    assert not part.problems
    assert part.unread == {
        "KafkaTopicAclEntry of kafka.aiven.jikkou.io": 1,
        "KafkaUser of kafka.strimzi.io": 1,
    }


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        (with_rule(RULE.replace("LITERAL", "MATCH")), 4, "is a regular expression over the topics"),
        (with_rule(RULE.replace("LITERAL", "ANY")), 4, "exists in filters only"),
        (with_rule(RULE.replace("LITERAL", "PREFIX")), 4, "Did you mean PREFIXED?"),
        (with_rule(RULE.replace("LITERAL", "GLOB")), 4, "resource.patternType 'GLOB' is unknown"),
        (with_rule(RULE.replace("READ", "ANY")), 4, "exists in filters only"),
        (with_rule(RULE.replace("[READ]", "[]")), 4, "operations is empty"),
        (with_rule(RULE.replace("ALLOW", "UNKNOWN")), 4, "exists in filters only"),
        (with_rule(RULE.replace("type: ALLOW", "tpye: ALLOW")), 4, "Did you mean type?"),
        (with_rule(RULE.replace("type: ALLOW", "tpye: ALLOW")), 4, "type is missing"),
        (with_rule(RULE.replace("pattern: grain, ", "")), 4, "resource.pattern is missing"),
        (with_rule(RULE.replace("grain", "007")), 4, 'Quote it: "007"'),
        (with_rule(RULE.replace("{res", "{host: 1.2, res")), 4, 'Quote it: "1.2"'),
        (with_rule("{type: ALLOW, operations: [READ]}"), 4, "resource is missing"),
        (authorization("{acls: []}", "name: mill").replace("[]", f"[{RULE}]"), 3, "User:mill"),
        (authorization("{acls: []}", "nmae: a"), 3, "metadata.name is missing"),
        (authorization("{}"), 4, "spec.acls is missing"),
        (authorization("{acl: []}"), 4, "Did you mean acls?"),
        (authorization("{roles: [baker]}"), 4, "Put the role into the same file"),
        (
            authorization("{acls: []}", 'name: "User:a", annotations: {jikkou.io/delete: true}'),
            1,
            "Jikkou removes these ACLs",
        ),
        (authorization("{acls: []}", head="apiVersion: jikkou.io/v1\n"), 1, "Write kafka.jik"),
        (HEAD + "kind: KafkaPrincipalAuthorisation\n", 2, "Did you mean KafkaPrincipalAuth"),
        (authorization("{acls: []}") + role("a") + role("a"), 10, "on lines 6 and 11"),
        (authorization("{acls: []}", "name: '{{ x }}'"), 3, "is not rendered"),
    ],
)  # fmt: skip
def test_it_is_refused_with_line_and_way_out(text, line, why):
    found = problems_of(read_text(text))
    assert any(why in reason for _, reason in found), found
    assert any(at == line for at, reason in found) or "on lines" in why


def test_a_role_cannot_make_a_small_file_large(monkeypatch):
    monkeypatch.setattr(jikkou, "MOST_ACLS", 10)
    text = authorization("{roles: [a]}") + role("a", *[RULE] * 11)
    assert problems_of(read_text(text)) == [(1, "Roles give more than 10 ACLs. Split the file")]


@pytest.mark.parametrize(
    "text", [HEAD, "kind: KafkaPrincipalRole\n\tx", '{"apiVersion": "kafka.jikkou.io/v1"}']
)
def test_a_file_is_held_by_its_content(text):
    assert holds(Document("f", text))


@pytest.mark.parametrize(
    "text", ["apiVersion: v1\nkind: ConfigMap", '{"a": "kafka.jikkou.io/v1"}', ""]
)
def test_other_files_are_not_held(text):
    assert not holds(Document("f", text))
