"""KafkaUsers of Strimzi: the ACLs that their operator keeps, whose they are, and each refusal."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.kafka.acls.exports import is_common, render_kafka_users
from aclkit.kafka.desired.kafka_user import FORMATS, read
from aclkit.kafka.desired.model import Document
from aclkit.kafka.desired.yaml_fields import holds_resources as holds
from tests.factories import acl
from tests.kafka.desired.yaml_files import bindings_of, document_of, problems_of, rows_of
from tests.names import NASTY

HEAD = "apiVersion: kafka.strimzi.io/v1\nkind: KafkaUser\n"
PAUSE = "strimzi.io/pause-reconciliation"
LABELS = "labels: {strimzi.io/cluster: village}"
RULE = "{resource: {type: topic, name: grain}, operations: [Read]}"


def read_text(text):
    return read(Document("users.yaml", text))


def user(spec="{}", *, metadata=f"name: mill, {LABELS}", head=HEAD):
    return f"{head}metadata: {{{metadata}}}\nspec: {spec}\n"


def with_rule(rule, head=HEAD):
    return user(f"{{authorization: {{type: simple, acls: [{rule}]}}}}", head=head)


def refusal(text):
    (only,) = problems_of(read_text(text))
    return only


def owners_of(part):
    return [(owner.principals, owner.cluster) for owner in part.owners]


def test_the_acls_of_users_are_those_that_strimzis_own_classes_read():
    part = read(document_of("strimzi/users.yaml"))
    assert bindings_of(part) == rows_of("strimzi/users.tsv")
    assert (part.reach, part.form, part.problems) == ("owners", "strimzi", [])
    assert {each.cluster for each in part.acls} == {"village"}
    assert part.unread == {"ConfigMap": 1}


def test_lines_may_end_as_on_windows():
    text = document_of("strimzi/users.yaml").text.replace("\n", "\r\n")
    assert holds(Document("f", text))
    part = read_text(text)
    assert bindings_of(part) == rows_of("strimzi/users.tsv")
    assert part.acls[0].place.line == 9


def test_each_acl_has_the_line_of_its_operation():
    part = read(document_of("field-18/kafkauser.yaml"))
    assert [(each.place.line, each.acl.operation) for each in part.acls] == [
        (12, "READ"),
        (12, "DESCRIBE"),
    ]
    part = read_text(with_rule("\n  {operations: [Read,\n  Write],\n resource: {type: cluster}}"))
    assert [each.place.line for each in part.acls] == [5, 6]


def test_a_user_owns_the_acls_of_both_its_principals():
    part = read(document_of("strimzi/users.yaml"))
    assert owners_of(part) == [
        ((f"User:{name}", f"User:CN={name}"), "village") for name in ("mill", "baker", "miller")
    ]


@pytest.mark.parametrize(
    ("authentication", "principal"),
    [
        ("", "User:mill"),
        ("authentication: {type: scram-sha-512, password: {valueFrom: {}}}, ", "User:mill"),
        ("authentication: {type: tls}, ", "User:CN=mill"),
        ("authentication: {type: tls-external}, ", "User:CN=mill"),
    ],
)
def test_authentication_decides_which_principal_has_the_acls(authentication, principal):
    spec = f"{{{authentication}authorization: {{type: simple, acls: [{RULE}]}}}}"
    part = read_text(user(spec))
    assert [each.acl.principal for each in part.acls] == [principal]
    assert owners_of(part) == [(("User:mill", "User:CN=mill"), "village")]


def test_without_authorization_both_principals_are_emptied():
    part = read_text(user("{authentication: {type: tls}}"))
    assert (part.acls, owners_of(part)) == ([], [(("User:mill", "User:CN=mill"), "village")])


def test_an_empty_list_of_rules_empties_both_principals():
    part = read_text(user("{authorization: {type: simple, acls: []}}"))
    assert (part.acls, len(part.owners), part.problems) == ([], 1, [])


@pytest.mark.parametrize("word", ["true", "True"])
def test_a_paused_user_is_left_as_it_is_and_named(word):
    annotation = f'annotations: {{strimzi.io/pause-reconciliation: "{word}"}}'
    spec = f"{{authorization: {{type: simple, acls: [{RULE}]}}}}"
    part = read_text(user(spec, metadata=f"name: mill, {LABELS}, {annotation}"))
    assert (part.acls, part.owners, part.problems) == ([], [], [])
    assert [owner.principals for owner in part.untouched] == [("User:mill", "User:CN=mill")]
    assert part.notes == [
        "1 KafkaUser is paused, so the operator leaves their ACLs unchanged: users.yaml:1."
    ]


def test_a_user_that_is_not_paused_is_owned():
    annotation = 'annotations: {strimzi.io/pause-reconciliation: "false"}'
    part = read_text(user(metadata=f"name: mill, {LABELS}, {annotation}"))
    assert (len(part.owners), part.untouched) == (1, [])


def test_a_user_without_label_is_of_no_cluster_and_named():
    part = read_text(user(metadata="name: mill"))
    assert owners_of(part) == [(("User:mill", "User:CN=mill"), None)]
    assert "no label strimzi.io/cluster" in part.notes[0]


def test_defaults_of_a_rule_are_those_of_strimzi():
    part = read_text(with_rule("{resource: {type: group, name: g}, operations: [All]}"))
    assert bindings_of(part) == [("GROUP", "g", "LITERAL", "User:mill", "*", "ALL", "ALLOW")]


def test_a_rule_says_type_host_and_pattern():
    part = read_text(
        with_rule(
            "{type: deny, host: 10.0.0.1, operations: [DescribeConfigs], "
            "resource: {type: topic, name: g, patternType: prefix}}"
        )
    )
    assert bindings_of(part) == [
        ("TOPIC", "g", "PREFIXED", "User:mill", "10.0.0.1", "DESCRIBE_CONFIGS", "DENY")
    ]


def test_a_list_holds_users_and_the_json_of_kubectl_is_read():
    item = {
        "apiVersion": "kafka.strimzi.io/v1",
        "kind": "KafkaUser",
        "metadata": {"name": "mill", "labels": {"strimzi.io/cluster": "village"}},
        "spec": {
            "authorization": {
                "type": "simple",
                "acls": [{"resource": {"type": "cluster"}, "operations": ["Create"]}],
            }
        },
        "status": {"anything": [1, None]},
    }
    for text in (
        json.dumps({"apiVersion": "v1", "kind": "List", "items": [item]}),
        json.dumps({"apiVersion": "kafka.strimzi.io/v1", "kind": "KafkaUserList", "items": [item]}),
        json.dumps(item, indent=2),
    ):
        assert holds(Document("f", text))
        part = read_text(text)
        assert bindings_of(part) == [
            ("CLUSTER", "kafka-cluster", "LITERAL", "User:mill", "*", "CREATE", "ALLOW")
        ]


def test_other_kinds_are_passed_over_and_those_that_stand_for_acls_are_counted():
    others = [
        ("v1", "Service", "{}"),
        ("kafka.strimzi.io/v1", "KafkaTopic", "{}"),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "{names: {kind: KafkaUser}}"),
        ("v1", "Secret", "{}"),
        ("v1", "ConfigMap", '{a: "apiVersion: kafka.strimzi.io/v1\\nkind: KafkaUser"}'),
        ("kubernetes.crossplane.io/v1", "Object", "{m: {apiVersion: a/v1, kind: KafkaUser}}"),
        ("access.strimzi.io/v1", "KafkaAccess", "{user: {kind: KafkaUser, name: a}}"),
        ("kustomize.config.k8s.io/v1beta1", "Kustomization", "{target: {kind: KafkaUser}}"),
        ("kafka.banzaicloud.io/v1", "KafkaUser", "{}"),
        ("cluster.redpanda.com/v1alpha2", "User", "{}"),
        ("aiven.io/v1alpha1", "KafkaNativeACL", "{}"),
        ("acl.kafka.crossplane.io/v1alpha1", "AccessControlList", "{}"),
        ("kafka.jikkou.io/v1", "KafkaPrincipalAuthorization", "{}"),
    ]
    metadata = "{ownerReferences: [{kind: KafkaUser}]}"
    text = user() + "".join(
        f"---\napiVersion: {version}\nkind: {kind}\nmetadata: {metadata}\nspec: {spec}\n"
        for version, kind, spec in others
    )
    part = read_text(text)
    assert not part.problems
    assert part.unread == {
        "ConfigMap": 1,
        "Object": 1,
        "Kustomization": 1,
        "KafkaUser of kafka.banzaicloud.io": 1,
        "User of cluster.redpanda.com": 1,
        "KafkaNativeACL of aiven.io": 1,
        "AccessControlList of acl.kafka.crossplane.io": 1,
        "KafkaPrincipalAuthorization of kafka.jikkou.io": 1,
    }


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        (user(head=HEAD.replace("/v1", "/v1beta1")), 1, "apiVersion 'kafka.strimzi.io/v1beta1'"),
        (user(head="kind: KafkaUser\n"), 1, "apiVersion is missing"),
        (user(head=HEAD.replace("User", "Users")), 2, "Did you mean KafkaUser?"),
        (user(metadata=f"nmae: mill, {LABELS}"), 3, "Did you mean name?"),
        (user(metadata=f"name: 007, {LABELS}"), 3, 'Quote it: "007"'),
        (user(metadata=f"name: no, {LABELS}"), 3, 'Quote it: "no"'),
        (user(metadata=f"name: Mill, {LABELS}"), 3, "is no name for Kubernetes"),
        (user(metadata=f"name: '{'a' * 254}', {LABELS}"), 3, "at most 253"),
        (user(metadata=f"name: ~, {LABELS}"), 3, "metadata.name has no value"),
        (user(metadata=f"name: [a], {LABELS}"), 3, "metadata.name is a list"),
        (user(metadata=f"name: '{{{{ .x }}}}', {LABELS}"), 3, "is not rendered"),
        (user(metadata="name: mill, labels: {strimzi.io/cluster: 1}"), 3, 'Quote it: "1"'),
        (user(metadata="name: mill, labels: [a]"), 3, "metadata.labels is a list"),
        (
            user(metadata=f"name: m, {LABELS}, annotations: {{{PAUSE}: true}}"),
            3,
            'Quote it: "true"',
        ),
        (user("~"), 4, "spec has no value"),
        (HEAD + f"metadata: {{name: mill, {LABELS}}}\n", 1, "spec is missing"),
        (user() + "stauts: {}\n", 5, "Did you mean status?"),
        (user("{authenticaton: {type: tls}}"), 4, "Did you mean authentication?"),
        (user("{username: x}"), 4, "the key 'username' is unknown"),
        (user("{authentication: {}}"), 4, "authentication.type is missing"),
        (user("{authentication: {type: TLS}}"), 4, "Write one of: tls, tls-external, scr"),
        (user("{authorization: ~}"), 4, "spec.authorization has no value"),
        (user("{authorization: {type: opa}}"), 4, "a KafkaUser has simple only"),
        (user("{authorization: {acls: []}}"), 4, "authorization.type is missing"),
        (user("{authorization: {type: simple}}"), 4, "authorization.acls is missing"),
        (user("{authorization: {type: simple, acls: {}}}"), 4, "authorization.acls is a mapping"),
        (user("{authorization: {type: simple, acl: [], acls: []}}"), 4, "Did you mean acls?"),
        (with_rule("a"), 4, "A rule of acls is the text 'a'. Write a mapping"),
        (with_rule(RULE.replace("{res", "{tpye: deny, res")), 4, "Did you mean type?"),
        (with_rule(RULE.replace("{res", "{type: Deny, res")), 4, "Did you mean deny?"),
        (with_rule(RULE.replace("{res", "{host: 1.2, res")), 4, 'Quote it: "1.2"'),
        (with_rule(RULE.replace("{res", "{host: ~, res")), 4, "host has no value"),
        (with_rule(RULE.replace("{res", "{host: '', res")), 4, "host is empty"),
        (with_rule(RULE.replace("Read", "read")), 4, "Did you mean Read?"),
        (with_rule(RULE.replace("Read", "READ")), 4, "Did you mean Read?"),
        (with_rule(RULE.replace("Read", "Any")), 4, "exists in filters only"),
        (with_rule(RULE.replace("Read", "UNKNOWN")), 4, "exists in filters only"),
        (with_rule(RULE.replace("Read", "CreateTokens")), 4, "is unknown"),
        (with_rule(RULE.replace("[Read]", "[]")), 4, "operations is empty"),
        (with_rule(RULE.replace("[Read]", "Read")), 4, "operations is the text 'Read'"),
        (with_rule(RULE.replace("[Read]", "[~]")), 4, "operations has no value"),
        (with_rule(RULE.replace("operations", "operation")), 4, "operation is not read in"),
        (with_rule("{operations: [Read]}"), 4, "resource is missing"),
        (with_rule(RULE.replace("topic", "Topic")), 4, "Did you mean topic?"),
        (with_rule(RULE.replace("topic", "delegationToken")), 4, "resource.type 'delegationToken'"),
        (with_rule(RULE.replace("topic", "user")), 4, "resource.type 'user' is unknown"),
        (with_rule(RULE.replace("name: grain", "name: 007")), 4, 'Quote it: "007"'),
        (with_rule(RULE.replace(", name: grain", "")), 4, "resource.name is missing"),
        (with_rule(RULE.replace("grain", "a, pattern: prefix")), 4, "Did you mean patternType?"),
        (with_rule(RULE.replace("grain", "a, patternType: prefixed")), 4, "Did you mean prefix?"),
        (with_rule(RULE.replace("grain", "a, patternType: any")), 4, "exists in filters only"),
        (with_rule(RULE.replace("topic", "cluster")), 4, "Write kafka-cluster"),
        (
            with_rule("{operations: [All], resource: {type: cluster, patternType: prefix}}"),
            4,
            "has no effect on the cluster",
        ),
        (f"{user()}---\n{user()}", 6, "on lines 1 and 6"),
        (f"{user()}---\n- a\n", 6, "A document is a list"),
    ],
)  # fmt: skip
def test_it_is_refused_with_line_and_way_out(text, line, why):
    found = problems_of(read_text(text))
    assert found
    assert line == found[0][0]
    assert any(why in reason for _, reason in found), found
    assert all(at >= 1 for at, _ in found)


def test_everything_wrong_is_told_at_once():
    rule = "{tpye: deny, host: 1, operations: [read, Any], resource: {type: Topic, name: no}}"
    reasons = [reason for _, reason in problems_of(read_text(with_rule(rule)))]
    assert len(reasons) == len(set(reasons)) == 6


def test_a_name_with_certificate_has_at_most_64_letters():
    metadata = f"name: {'a' * 65}, {LABELS}"
    assert "at most 64" in refusal(user("{authentication: {type: tls}}", metadata=metadata))[1]
    assert not read_text(user("{authentication: {type: tls-external}}", metadata=metadata)).problems


def test_the_same_name_of_another_namespace_or_cluster_is_another_user():
    other = user(metadata=f"name: mill, namespace: b, {LABELS}")
    third = user(metadata="name: mill, labels: {strimzi.io/cluster: town}")
    assert not read_text(f"{user()}---\n{other}---\n{third}").problems


def test_the_same_user_twice_on_one_line_is_refused():
    one = {"apiVersion": "kafka.strimzi.io/v1", "kind": "KafkaUser", "metadata": {"name": "a"}}
    items = json.dumps({"apiVersion": "v1", "kind": "List", "items": [one | {"spec": {}}] * 2})
    assert "occurs twice" in refusal(items)[1]


def test_operation_of_v1beta2_is_read_and_named():
    text = with_rule(
        RULE.replace("operations: [Read]", "operation: Read"), HEAD.replace("/v1", "/v1beta2")
    )
    part = read_text(text)
    assert [each.acl.operation for each in part.acls] == ["READ"]
    assert part.notes == [
        "1 rule with operation give no ACL from Strimzi 1.0 on: users.yaml:4. "
        "Write operations: [Read]."
    ]


def test_operation_and_operations_exclude_each_other():
    rule = RULE.replace("operations", "operation: Read, operations")
    assert "exclude each other" in refusal(with_rule(rule, HEAD.replace("/v1", "/v1beta2")))[1]


def test_messages_hold_no_long_texts_of_the_file():
    found = read_text(user(metadata=f"name: {'A' * 500}, {LABELS}")).problems
    assert all(len(problem.text) < 250 for problem in found)


@pytest.mark.parametrize(
    "text",
    [
        "kind: Service\n",
        "#!/bin/sh\nkubectl apply -f - <<EOF\nkind: KafkaUser\nEOF\n",
        'resource "kubectl_manifest" "a" {\n  yaml_body = <<EOF\nkind: KafkaUser\nEOF\n}\n',
        "data: {a: b}\n",
        '{"resource_changes": [{"apiVersion": "kafka.strimzi.io/v1", "kind": "KafkaUser"}]}',
        "User:a,Topic,LITERAL\n",
        "",
    ],
)
def test_other_files_are_not_held(text):
    assert not holds(Document("f", text))


@pytest.mark.parametrize(
    "text",
    [
        user(),
        "apiVersion: kafka.strimzi.io/v1\nknid: KafkaUser\n",
        "kind: kafkauser\n",
        "kind: KafkaUser\n\tbroken",
        "items:\n- kind: KafkaUser\n  apiVersion: kafka.strimzi.io/v1\n",
        "{apiVersion: kafka.strimzi.io/v1, kind: KafkaUser}",
        "apiVersion: cluster.redpanda.com/v1alpha2\nkind: User\n",
    ],
)
def test_a_file_is_held_by_its_content_a_broken_one_too(text):
    assert holds(Document("f", text))
    assert FORMATS[0].holds(Document("f", text))


def test_a_misspelt_kind_of_strimzis_is_refused():
    assert problems_of(read_text("apiVersion: kafka.strimzi.io/v1\nknid: KafkaUser\n"))


def hostile():
    return st.sampled_from([*NASTY, "007", "no", "~", "1.2", "2026-01-01", "*", "a: b", "&a", "\t"])


common = st.builds(
    acl,
    hostile() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
    resource_type=st.sampled_from(["TOPIC", "GROUP", "TRANSACTIONAL_ID"]),
    pattern_type=st.sampled_from(["LITERAL", "PREFIXED"]),
    principal=st.sampled_from(["User:a", "User:CN=a", "User:007", "User:no", "User:CN=x.y-z"]),
    host=st.sampled_from(["*", "10.0.0.1", "0:0:0:0:0:0:0:1", "10.*"]),
    operation=st.sampled_from(["READ", "DESCRIBE_CONFIGS", "ALL", "IDEMPOTENT_WRITE"]),
    permission_type=st.sampled_from(["ALLOW", "DENY"]),
    acl_id=st.just(""),
)


@given(st.lists(common, max_size=8))
def test_what_export_writes_is_read_back(acls):
    acls = [each for each in acls if is_common(each) and "{{" not in each.resource_name]
    lines, unsaid = render_kafka_users(acls)
    part = read_text("\n".join(lines))
    assert not part.problems
    expected = {each.binding for each in acls} - {each.binding for each in unsaid}
    assert {each.binding for each in part.acls} == expected


def test_a_cluster_acl_that_export_writes_is_read_back():
    one = acl("kafka-cluster", resource_type="CLUSTER", operation="ALTER", acl_id="")
    part = read_text("\n".join(render_kafka_users([one])[0]))
    assert [each.acl for each in part.acls] == [one]


def test_a_name_with_braces_is_refused_until_it_is_an_escape():
    text = with_rule('{operations: [Read], resource: {type: group, name: "{{x}}"}}')
    assert 'write "\\u007b{"' in refusal(text)[1]
    part = read_text(text.replace('"{{', '"\\u007b{'))
    assert [each.acl.resource_name for each in part.acls] == ["{{x}}"]


def test_ten_thousand_users_take_seconds():
    spec = f"{{authorization: {{type: simple, acls: [{RULE}]}}}}"
    text = "---\n".join(user(spec, metadata=f"name: a{number}") for number in range(10_000))
    before = time.process_time()
    part = read_text(text)
    assert (len(part.acls), len(part.owners), part.problems) == (10_000, 10_000, [])
    assert time.process_time() - before < 20


UNTIL = f"name: mill, {LABELS}, annotations: {{aclkit.io/until: TIME}}"


@pytest.mark.parametrize("until", ["2026-12-31", "'2026-12-31'", '"2026-12-31T23:00:00-01:00"'])
def test_an_annotation_is_the_end_of_all_acls_of_a_user(until):
    spec = f"{{authorization: {{type: simple, acls: [{RULE}, {RULE}]}}}}"
    part = read_text(user(spec, metadata=UNTIL.replace("TIME", until)))
    assert not part.problems
    assert {each.until for each in part.acls} == {datetime(2027, 1, 1, tzinfo=UTC)}


def test_a_user_without_the_annotation_has_no_end():
    assert {each.until for each in read_text(with_rule(RULE)).acls} == {None}


def test_an_annotation_that_is_no_end_is_refused_on_its_line():
    text = user(metadata=UNTIL.replace("TIME", "next year"))
    assert refusal(text) == (
        3,
        "aclkit.io/until: expected a day such as 2026-12-31, or a time with a zone such as "
        "2026-12-31T18:00:00Z, found 'next year'",
    )
