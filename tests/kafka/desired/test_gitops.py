"""kafka-gitops: what its plans change, and which ACLs its state files give."""

from __future__ import annotations

import json
import time

import pytest

from aclkit.kafka.desired.gitops import holds_plan, holds_state, read_plan, read_state
from aclkit.kafka.desired.model import Document
from tests.kafka.desired.yaml_files import (
    bindings_of,
    document_of,
    problems_of,
    rows_of,
    text_of,
)

DETAILS = {
    "name": "grain",
    "type": "TOPIC",
    "pattern": "LITERAL",
    "principal": "User:mill",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
}
CUSTOM = "{name: grain, type: TOPIC, pattern: LITERAL, operation: READ}"


def state(text):
    return read_state(Document("state.yaml", text))


def short(part):
    return [
        (acl.acl.resource_type, acl.acl.pattern_type[0], acl.acl.resource_name, acl.acl.operation)
        for acl in part.acls
    ]


def plan(*entries):
    return read_plan(Document("plan.json", json.dumps({"topicPlans": [], "aclPlans": entries})))


def entry(action="ADD", name="mill-0", **details):
    return {"name": name, "aclDetails": DETAILS | details, "action": action}


def test_the_acls_after_a_plan_are_those_that_it_adds_and_keeps():
    part = read_plan(document_of("by-hand/kafka-gitops-plan.json"))
    assert bindings_of(part) == rows_of("by-hand/acls.tsv")
    assert (part.reach, part.problems) == ("change", [])
    (removed,) = [change.deletes for change in part.changes if change.deletes]
    assert removed.acl.principal == "User:neighbour"
    assert [change.actions for change in part.changes].count(("NO_CHANGE",)) == 4


def test_names_of_a_plan_are_made_unique():
    part = plan(
        entry("REMOVE", "Unnamed ACL"),
        entry("ADD", "Unnamed ACL (2)"),
        entry("REMOVE", "Unnamed ACL", operation="WRITE"),
        entry("REMOVE", "Unnamed ACL", operation="ALL"),
    )
    addresses = [change.place.address for change in part.changes]
    assert len(set(addresses)) == 4
    assert addresses[0] == "Unnamed ACL"
    assert str(part.changes[0].place) == "plan.json: Unnamed ACL"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"action": "UPDATE"}, "action 'UPDATE' is unknown. Known: ADD, REMOVE, NO_CHANGE"),
        ({"action": None}, "action no text is unknown"),
        ({"aclDetails": []}, "aclDetails is no object"),
        ({"aclDetails": DETAILS | {"host": None}}, "host is no text"),
        ({"aclDetails": DETAILS | {"host": 7}}, "host is no text"),
        ({"aclDetails": DETAILS | {"operation": "read"}}, "Did you mean READ?"),
        ({"aclDetails": DETAILS | {"operation": "ANY"}}, "exists in filters only"),
        ({"aclDetails": DETAILS | {"pattern": "MATCH"}}, "exists in filters only"),
        ({"aclDetails": DETAILS | {"pattern": "GLOB"}}, "pattern 'GLOB' is unknown"),
        ({"aclDetails": DETAILS | {"principal": "mill"}}, "Write User:mill"),
        ({"aclDetails": DETAILS | {"name": ""}}, "name is empty"),
    ],
)
def test_an_entry_of_a_plan_is_refused_with_its_name(change, why):
    (problem,) = plan(entry() | change).problems
    assert problem.place.address == "mill-0"
    assert why in problem.text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"aclPlans": [', "Not valid JSON"),
        ('{"aclPlans": {}}', "aclPlans is no list"),
        ('{"aclPlans": [1]}', "An entry of aclPlans is no object"),
        ('{"aclPlans": [], "aclPlans": []}', "The key 'aclPlans' occurs twice"),
        ("[" * 100_000, "Not valid JSON"),
    ],
)
def test_a_broken_plan_is_refused(text, why):
    assert any(why in problem.text for problem in read_plan(Document("f", text)).problems)


def test_a_state_file_gives_the_acls_of_its_users_and_a_note_on_its_star():
    part = read_state(document_of("by-hand/kafka-gitops-state.yaml"))
    assert bindings_of(part) == rows_of("by-hand/acls.tsv")
    assert (part.reach, part.problems) == ("asked", [])
    assert len(part.notes) == 1
    assert "lines 8, 36" in part.notes[0]


def test_lines_may_end_as_on_windows():
    text = text_of("by-hand/kafka-gitops-state.yaml").replace("\n", "\r\n")
    part = state(text)
    assert bindings_of(part) == rows_of("by-hand/acls.tsv")
    assert "lines 8, 36" in part.notes[0]


def test_a_quoted_star_gives_the_same_without_note():
    text = text_of("by-hand/kafka-gitops-state.yaml").replace("\n  *:", '\n  "*":')
    part = state(text)
    assert bindings_of(part) == rows_of("by-hand/acls.tsv")
    assert part.notes == []


def test_an_acl_of_a_state_file_has_the_line_of_its_name_or_origin():
    part = state(
        "users:\n  mill:\n    principal: User:mill\n    roles:\n      - writer\n"
        f"customUserAcls:\n  mill:\n    own:\n      {CUSTOM}\n"
    )
    assert [acl.place.line for acl in part.acls] == [5, 8]


@pytest.mark.parametrize(
    ("role", "acls"),
    [
        ("reader", [("TOPIC", "L", "*", "READ"), ("GROUP", "L", "*", "READ")]),
        ("Writer", [("TOPIC", "L", "*", "WRITE")]),
        (
            "operator",
            [
                ("CLUSTER", "L", "kafka-cluster", "DESCRIBE"),
                ("TOPIC", "L", "*", "DESCRIBE"),
                ("TOPIC", "L", "*", "DESCRIBE_CONFIGS"),
                ("GROUP", "L", "*", "READ"),
                ("GROUP", "L", "*", "DESCRIBE"),
            ],
        ),
    ],
)
def test_a_role_gives_its_acls(role, acls):
    part = state(f"users: {{mill: {{principal: 'User:mill', roles: [{role}]}}}}")
    assert short(part) == acls
    assert {acl.acl.principal for acl in part.acls} == {"User:mill"}


def service(text, settings=""):
    return state(f"{settings}services:\n  mill: {{principal: 'User:m', {text}}}\n")


def test_an_application_writes_and_reads_its_topics_and_reads_its_group():
    part = service("type: application, produces: [a], consumes: [b, c]")
    assert short(part) == [
        ("TOPIC", "L", "a", "WRITE"),
        ("TOPIC", "L", "b", "READ"),
        ("TOPIC", "L", "c", "READ"),
        ("GROUP", "L", "mill", "READ"),
    ]


def test_an_application_that_consumes_nothing_has_no_group():
    assert short(service("type: application, produces: [a]")) == [("TOPIC", "L", "a", "WRITE")]


def test_a_group_has_the_name_that_is_given():
    part = service("type: application, group-id: g, consumes: [b]")
    assert short(part)[-1] == ("GROUP", "L", "g", "READ")


def test_services_may_describe_their_topics_by_a_setting():
    setting = "settings: {services: {acls: {describeTopicEnabled: true}}}\n"
    part = service("type: application, produces: [a, b], consumes: [b]", setting)
    described = [acl for acl in short(part) if acl[3] == "DESCRIBE"]
    assert sorted(described) == [("TOPIC", "L", "a", "DESCRIBE"), ("TOPIC", "L", "b", "DESCRIBE")]


def test_a_connect_cluster_keeps_its_topics_and_its_connectors():
    part = service(
        "type: kafka-connect, storage-topics: {config: own}, "
        "connectors: {sink: {consumes: [b]}, source: {produces: [c]}}"
    )
    assert short(part) == [
        *(
            ("TOPIC", "L", name, operation)
            for operation in ("READ", "WRITE")
            for name in ("own", "connect-offsets-mill", "connect-status-mill")
        ),
        ("GROUP", "L", "mill", "READ"),
        ("TOPIC", "L", "b", "READ"),
        ("GROUP", "L", "connect-sink", "READ"),
        ("TOPIC", "L", "c", "WRITE"),
    ]


def test_a_streams_application_has_its_internal_topics():
    part = service("type: kafka-streams, application-id: s, produces: [a], consumes: [b]")
    assert len(part.acls) == 14
    assert ("TOPIC", "P", "s", "ALTER_CONFIGS") in short(part)
    assert ("GROUP", "L", "s", "DELETE") in short(part)
    assert short(part)[-1] == ("CLUSTER", "L", "kafka-cluster", "DESCRIBE_CONFIGS")


def test_acls_of_a_service_need_a_principal_of_their_own():
    text = "services: {mill: {type: application, principal: 'User:m', produces: [a]}}\n"
    custom = f"customServiceAcls: {{mill: {{own: {CUSTOM}}}}}\n"
    (problem,) = state(text + custom).problems
    assert problem.text == "principal is missing. Write a text"
    part = state(text + custom.replace("{name", "{principal: 'User:other', name"))
    assert [acl.acl.principal for acl in part.acls] == ["User:m", "User:other"]


USER = "users:\n  mill: {principal: 'User:mill'}\n"


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("customUserAcl: {}\n", 1, "Did you mean customUserAcls?"),
        ("settings: {ccloud: {enabled: true}}\n", 1, "ids are not in the file"),
        ("settings: {confluent: {enabled: yes}}\n", 1, "kafka-gitops plan -o FILE"),
        ("settings:\n  files:\n    users: a.yaml\n", 3, "settings.files.users names another file"),
        ("users: []\n", 1, "users is a list"),
        ("users:\n  mill: ~\n", 2, "users: 'mill' has no value"),
        ("users:\n  mill: {}\n", 2, "principal is missing"),
        ("users:\n  mill: {principal: 7}\n", 2, 'Quote it: "7"'),
        ("users:\n  mill: {principal: mill, roles: [reader]}\n", 2, "Write User:mill"),
        ("users:\n  mill: {principal: 'User:mill', role: [reader]}\n", 2, "Did you mean roles?"),
        ("users:\n  mill: {principal: 'User:m', roles: [admin]}\n", 2, "reader, writer, operator"),
        (f"{USER}customUserAcls:\n  other: {{a: {CUSTOM}}}\n", 4, "is not in users"),
        (f"{USER}customUserAcls:\n  mill: {{a: {{}}}}\n", 4, "name is missing"),
        (
            f"{USER}customUserAcls:\n  mill: {{a: {CUSTOM.replace('READ', 'read')}}}\n",
            4,
            "Did you mean READ?",
        ),
        (
            f"{USER}customUserAcls:\n  mill:\n    a:\n      pattern: MATCH\n      name: a\n"
            "      type: TOPIC\n      operation: ALL\n",
            6,
            "exists in filters only",
        ),
        (
            f"{USER}customUserAcls:\n  mill: {{a: {CUSTOM.replace('name', 'nmae')}}}\n",
            4,
            "Did you mean name?",
        ),
        ("services:\n  a: {principal: 'User:a'}\n", 2, "type is missing"),
        ("services:\n  a: {type: app, principal: 'User:a'}\n", 2, "type 'app' is unknown"),
        ("services:\n  a: {type: application, produces: [a]}\n", 2, "principal is missing"),
        (
            "services:\n  a: {type: application, principal: 'User:a', produces: a}\n",
            2,
            "produces is the text 'a'",
        ),
        (
            "services:\n  a: {type: application, principal: 'User:a', connectors: {}}\n",
            2,
            "the key 'connectors' is unknown",
        ),
        (
            f"services:\n  mill: {{type: application, principal: 'User:m'}}\n{USER}",
            4,
            "is a service and a user, on lines 2 and 4",
        ),
        (f"{USER}---\nusers: {{}}\n", 4, "reads the first document of a file only"),
        ("users:\n  '{{ x }}': {principal: 'User:a'}\n", 2, "is not rendered"),
    ],
)
def test_a_state_file_is_refused_with_line_and_way_out(text, line, why):
    found = problems_of(state(text))
    assert any(at == line and why in reason for at, reason in found), found


def test_settings_that_stay_in_the_file_are_read():
    part = state(f"settings: {{files: {{}}, ccloud: {{enabled: false}}}}\n{USER}")
    assert part.problems == []


@pytest.mark.parametrize(
    "text",
    [
        "customUserAcls: {}\n",
        "users:\n  a:\n    principal: User:a\n",
        "users:\n  a:\n    roles:\n      - reader\n",
        "users:\n  a:\n    roles: [reader]\n",
        '{\n  "customUserAcls": {}\n}',
        "services:\n  a:\n    type: kafka-streams\n",
        "settings:\n  topics: {}\n  files:\n    users: a.yaml\n",
        "customServiceAcls:\n\tbroken",
    ],
)
def test_a_state_file_is_held(text):
    assert holds_state(Document("f", text))
    assert holds_state(Document("f", text.replace("\n", "\r\n")))


@pytest.mark.parametrize(
    "text",
    [
        "services:\n  web:\n    image: nginx\n",
        "apiVersion: v1\nkind: User\nusers:\n- name: a\n  principal: User:a\n",
        "topics:\n  a: {}\n",
        "kind: ConfigMap\ndata:\n  state.yaml: |\n    customUserAcls:\n      a: {}\n",
        "",
    ],
)
def test_another_yaml_is_no_state_file(text):
    assert not holds_state(Document("f", text))


def test_plans_are_held_by_content():
    assert holds_plan(Document("f", '{"aclPlans": []}'))
    assert holds_plan(Document("f", '{"topicPlans": [], "aclPlans": [ broken'))
    assert not holds_plan(Document("f", '{"resource_changes": [{"aclPlans": []}]}'))
    assert not holds_plan(Document("f", "aclPlans: []"))


def test_a_file_cannot_make_the_recognition_slow():
    before = time.process_time()
    assert not holds_state(Document("f", "settings:\n" + "      a\n" * 50_000))
    assert not holds_state(Document("f", "users:\n" + " " * 200_000))
    assert time.process_time() - before < 5
