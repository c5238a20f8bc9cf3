"""A broker's settings are read from the files that people have, and from no other."""

from __future__ import annotations

import pytest

from aclkit.errors import DataError, UsageError
from aclkit.kafka.client.broker_file import read_broker_file
from aclkit.model.broker_settings import ALLOW_EVERYONE, AUTHORIZERS, SUPER_USERS
from tests.cli.running import DATA

STANDARD = AUTHORIZERS[0]
FIELD = DATA / "field"
NAMED = f"authorizer.class.name={STANDARD}\n"


@pytest.fixture
def read(tmp_path):
    def call(text, **how):
        file = tmp_path / "broker"
        file.write_text(text, encoding="utf-8")
        return read_broker_file(str(file), **how)

    return call


COMPOSE = f"""\
x-kafka: &kafka
  KAFKA_PROCESS_ROLES: broker,controller
  KAFKA_AUTHORIZER_CLASS_NAME: {STANDARD}
  KAFKA_SUPER_USERS: User:admin;User:ops
  KAFKA_ALLOW_EVERYONE_IF_NO_ACL_FOUND: yes
services:
  ui: {{environment: {{KAFKA_CLUSTERS_0_NAME: local}}}}
  controller: {{environment: {{KAFKA_PROCESS_ROLES: controller}}}}
  kafka-1:
    environment: {{<<: *kafka, KAFKA_ALLOW_EVERYONE_IF_NO_ACL_FOUND: "true"}}
  kafka-2:
    environment:
      - KAFKA_CFG_NODE_ID=2
      - KAFKA_CFG_AUTHORIZER_CLASS_NAME={STANDARD}
      - KAFKA_CFG_SUPER_USERS=User:admin;User:ops
      - "KAFKA_CFG_ALLOW_EVERYONE_IF_NO_ACL_FOUND=true"
"""
ENVIRONMENT = f"""\
# of the image
export KAFKA_AUTHORIZER_CLASS_NAME={STANDARD}
KAFKA_SUPER_USERS="User:admin;User:ops"
KAFKA_CFG_ALLOW_EVERYONE_IF_NO_ACL_FOUND=true
"""
KUBERNETES = f"""\
apiVersion: v1
kind: List
items:
  - kind: StatefulSet
    spec:
      template:
        spec:
          containers:
            - name: kafka
              env:
                - {{name: KAFKA_NODE_ID, valueFrom: {{fieldRef: {{fieldPath: x}}}}}}
                - {{name: KAFKA_AUTHORIZER_CLASS_NAME, value: {STANDARD}}}
                - {{name: KAFKA_SUPER_USERS, value: "User:admin;User:ops"}}
                - {{name: KAFKA_ALLOW_EVERYONE_IF_NO_ACL_FOUND, value: "true"}}
"""
PROPERTIES = f"""\
{NAMED}super.users : User:admin;\\
  User:ops
allow.everyone.if.no.acl.found=TRUE
"""
CONFIG_MAP = f"""\
apiVersion: v1
kind: ConfigMap
data:
  log4j.properties: "x=y"
  server.properties: |
    {NAMED}    super.users=User:admin;User:ops
    allow.everyone.if.no.acl.found=true
"""
PART = f"""\
      KAFKA_AUTHORIZER_CLASS_NAME: {STANDARD}
      KAFKA_SUPER_USERS: User:admin;User:ops
      KAFKA_ALLOW_EVERYONE_IF_NO_ACL_FOUND: "true"
"""
LIST = f"""\
    - KAFKA_AUTHORIZER_CLASS_NAME={STANDARD}
    - KAFKA_SUPER_USERS=User:admin;User:ops
    - KAFKA_ALLOW_EVERYONE_IF_NO_ACL_FOUND=true
"""
FORMS = {
    "properties": PROPERTIES, "compose": COMPOSE, "environment": ENVIRONMENT,
    "kubernetes": KUBERNETES, "part of compose": PART, "list of compose": LIST,
    "config map": CONFIG_MAP,
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_says_the_same(read, form):
    found = read(FORMS[form])
    assert found.super_users == {"User:admin", "User:ops"}
    assert found.allow_everyone is True
    assert (found.unresolved, found.notes) == (frozenset(), ())


def strimzi(authorization="{type: simple, superUsers: [CN=ops, ANONYMOUS]}", config="{}"):
    return f"""\
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaNodePool
metadata: {{name: pool}}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {{name: prod}}
spec:
  kafka:
    authorization: {authorization}
    config: {config}
"""


def test_strimzis_resource_names_super_users_and_the_operator_adds_its_own(read):
    found = read(strimzi(config="{allow.everyone.if.no.acl.found: true}"))
    assert found.allow_everyone is True
    assert found.super_users == {
        "User:CN=ops", "User:ANONYMOUS",
        *(f"User:CN=prod-{name},O=io.strimzi" for name in (
            "kafka", "entity-topic-operator", "entity-user-operator", "kafka-exporter",
            "cruise-control",
        )),
        "User:CN=cluster-operator,O=io.strimzi",
    }  # fmt: skip


def test_what_strimzis_operator_drops_from_config_says_nothing(read):
    found = read(strimzi("{type: simple}", "{super.users: User:x, authorizer.class.name: y}"))
    assert "User:x" not in found.super_users


@pytest.mark.parametrize("kind", ["opa", "keycloak", "custom, authorizerClass: org.example.X"])
def test_strimzis_other_authorizations_are_refused(read, kind):
    with pytest.raises(DataError, match="whose rules aclkit does not know"):
        read(strimzi(f"{{type: {kind}}}"))


def test_strimzis_resource_without_authorization_allows_everything(read):
    with pytest.raises(DataError, match="allows everything"):
        read(strimzi("null"))


@pytest.mark.parametrize(
    "text",
    [
        "super.users=User:admin\n",
        "authorizer.class.name=\nsuper.users=User:admin\n",
        "KAFKA_SUPER_USERS=User:admin\n",
        "services: {k: {environment: {KAFKA_SUPER_USERS: User:admin}}}",
        "KAFKA_SUPER_USERS: User:admin\n",
        "node.id=1\n",
    ],
)
def test_a_broker_without_an_authorizer_is_refused_with_the_way_out(read, text):
    with pytest.raises(DataError, match="allows everything") as refused:
        read(text)
    assert "--super-users" in str(refused.value)
    assert "--allow-everyone" in str(refused.value)


def test_a_misspelt_key_is_said():
    with pytest.raises(DataError, match=r"'authorizer\.class', which Kafka ignores") as refused:
        read_broker_file(str(FIELD / "08-no-authorizer" / "server.properties"))
    assert "The right key is authorizer.class.name" in str(refused.value)


def test_a_misspelt_key_beside_an_authorizer_is_a_note(read):
    found = read(f"{NAMED}super.user=User:admin\n")
    assert found.super_users == frozenset()
    (note,) = found.notes
    assert "'super.user', which Kafka ignores. The right key is super.users" in note


def test_another_authorizer_is_refused_although_the_options_say_all():
    file = str(FIELD / "08-no-authorizer" / "opa.properties")
    for is_part in (False, True):
        with pytest.raises(DataError, match=r"uses the authorizer 'com\.example\..*OpaAuthorizer'"):
            read_broker_file(file, is_part=is_part)


def test_an_authorizer_of_zookeepers_time_is_a_note(read):
    found = read(f"authorizer.class.name={AUTHORIZERS[1]}\n")
    assert f"The brokers use {AUTHORIZERS[1]}" in found.notes[0]


def test_a_part_of_a_file_is_enough_where_the_options_say_the_rest(read):
    assert read("ssl.principal.mapping.rules=DEFAULT\n", is_part=True).mapping_rules == "DEFAULT"


RULE = r"RULE:.*CN[\s]?=[\s]?(.*)?/$1/"
AS_JAVA = "RULE:.*CN[s]?=[s]?(.*)?/$1/"


@pytest.mark.parametrize(
    "text",
    [
        f"{NAMED}ssl.principal.mapping.rules={RULE}\n",
        f"KAFKA_AUTHORIZER_CLASS_NAME={STANDARD}\nKAFKA_SSL_PRINCIPAL_MAPPING_RULES={RULE}\n",
        f"KAFKA_AUTHORIZER_CLASS_NAME: {STANDARD}\n"
        f"KAFKA_SSL_PRINCIPAL_MAPPING_RULES: '{RULE.replace('$', '$$')}'\n",
    ],
)
def test_mapping_rules_have_javas_escapes_wherever_they_end_in_a_properties_file(read, text):
    assert read(text).mapping_rules == AS_JAVA


@pytest.mark.parametrize(
    ("text", "unresolved"),
    [
        ("super.users=User:a;${ADMIN}", {SUPER_USERS}),
        ("super.users=User:a;User:${ADMIN}", {SUPER_USERS}),
        ("super.users=User:a;${file:/x:y}", {SUPER_USERS}),
        ("super.users=User:a\nallow.everyone.if.no.acl.found=${ALL}", {ALLOW_EVERYONE}),
    ],
)
def test_a_placeholder_makes_its_key_unknown_and_is_a_note(read, text, unresolved):
    found = read(f"{NAMED}{text}\n")
    assert (found.super_users, found.unresolved) == ({"User:a"}, unresolved)
    assert found.notes


def test_a_variable_that_the_shell_gives_is_a_placeholder(read):
    found = read(f"{LIST}    - KAFKA_EARLY_START_LISTENERS\n".replace("=User:admin;User:ops", ""))
    assert found.unresolved == {SUPER_USERS}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (COMPOSE.replace("SUPER_USERS=User:admin;", "SUPER_USERS="), "kafka-1 and kafka-2 differ"),
        ("services: {web: {image: nginx}}", "contains no variables of a broker"),
        ("services: {a: 1, a: 2}", "The key 'a' occurs twice"),
        (strimzi() + strimzi(), "expected one Kafka resource, found 2"),
        ("apiVersion: kafka.strimzi.io/v1\nkind: Kafka\n", "expected spec.kafka"),
        (strimzi("{type: simple, superUsers: CN=a}"), "expected a list of names"),
        ("KAFKA_SUPER_USERS=User:a\nKAFKA_CFG_SUPER_USERS=User:b\n", "to different values"),
        (r"KAFKA_SUPER_USERS=User:\u12", "four hexadecimal digits"),
    ],
)  # fmt: skip
def test_what_says_no_single_thing_is_refused(read, text, why):
    with pytest.raises(UsageError, match=why):
        read(text)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
@pytest.mark.parametrize("form", FORMS)
def test_a_byte_order_mark_says_how_the_text_is_written(tmp_path, form, encoding):
    file = tmp_path / "broker"
    file.write_text(FORMS[form], encoding=encoding)
    found = read_broker_file(str(file))
    assert (found.super_users, found.allow_everyone) == ({"User:admin", "User:ops"}, True)


def test_a_mark_that_kafka_takes_for_a_part_of_a_key_is_a_note(tmp_path):
    file = tmp_path / "broker"
    file.write_text(f"super.users=User:a\n{NAMED}", encoding="utf-8-sig")
    (note,) = read_broker_file(str(file)).notes
    assert "Kafka reads the mark as a part of the key super.users" in note


SCRIPT = f"""\
#!/bin/sh
docker run -d \\
  -e KAFKA_AUTHORIZER_CLASS_NAME={STANDARD} \\
  -e KAFKA_SUPER_USERS=User:admin apache/kafka
"""
README = "# Kafka\n\nOur brokers have super users.\n"
HELM = "superUsers: User:admin\nauthorizerClassName: x\nlisteners:\n  client: {protocol: SSL}\n"


@pytest.mark.parametrize(
    "text", [SCRIPT, README, HELM, "", "KAFKA_HEAP_OPTS=-Xmx1g\n", "services: {k: {image: x}}\n"]
)
@pytest.mark.parametrize("is_part", [False, True])
def test_a_text_without_a_key_of_a_broker_is_of_no_known_form(read, text, is_part):
    with pytest.raises(
        UsageError, match=r"broker: expected a broker's \.properties file"
    ) as refused:
        read(text, is_part=is_part)
    for named in ("KAFKA_SUPER_USERS=", "compose", "Strimzi", "--super-users", "--allow-everyone"):
        assert named in str(refused.value)


HELPERS = {
    "setup": "{KAFKA_BROKER_ID: ignored, KAFKA_ZOOKEEPER_CONNECT: ignored}",
    "setup of KRaft": "{KAFKA_NODE_ID: ignored, KAFKA_PROCESS_ROLES: broker}",
    "ignored": "{KAFKA_ZOOKEEPER_CONNECT: ignored}",
    "schema-registry": "{SCHEMA_REGISTRY_LISTENERS: 'http://x', KAFKA_OPTS: -Dx=y}",
    "rest": "{KAFKA_REST_LISTENERS: 'http://x', KAFKA_REST_ZOOKEEPER_CONNECT: 'z:2181'}",
    "ui": "{KAFKA_CLUSTERS_0_NAME: local, KAFKA_BROKERS: 'kafka:9092'}",
}


@pytest.mark.parametrize("helper", HELPERS)
def test_a_helper_of_a_compose_file_is_no_broker(read, helper):
    found = read(f"{COMPOSE}  helper: {{environment: {HELPERS[helper]}}}\n")
    assert found.super_users == {"User:admin", "User:ops"}


@pytest.mark.parametrize("number", ["3", "${ID}", "$ID", "$(ID)"])
def test_a_broker_whose_number_may_be_one_still_counts(read, number):
    with pytest.raises(UsageError, match=r"kafka-1 and other differ in super\.users"):
        read(f"{COMPOSE}  other: {{environment: {{KAFKA_BROKER_ID: '{number}'}}}}\n")


VALUES = [
    "${SUPER}", "$SUPER", "${SUPER:-User:admin}", "${SUPER-User:admin;User:ops}", "$(SUPER)",
    "${SUPER:-${OTHER:-User:admin}}", "${SUPER:?is not set}", "${SUPER:-User:admin;User:ops",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    "line", ["    KAFKA_SUPER_USERS: '{}'", "    - KAFKA_SUPER_USERS={}", "KAFKA_SUPER_USERS='{}'"]
)
def test_a_variable_with_a_default_is_unknown_for_the_environment_may_say_otherwise(
    read, value, line
):
    own = line.format(f"User:a;{value}")
    authorizer = line.replace("SUPER_USERS", "AUTHORIZER_CLASS_NAME").format(STANDARD)
    found = read(f"{own}\n{authorizer}\n")
    assert (found.super_users, found.unresolved) == ({"User:a"}, {SUPER_USERS})
    (note,) = found.notes
    assert "config provider" not in note
    assert "'User:a;${SUPER}'. Pass --super-users" in note


def test_two_dollar_signs_of_compose_begin_no_variable_of_it(read):
    found = read(PART.replace("User:ops", "$${file:/x:y};User:$$a"))
    assert found.super_users == {"User:admin", "User:$a"}
    assert "config provider 'file'" in found.notes[0]


@pytest.mark.parametrize("is_part", [False, True])
def test_a_variable_for_the_authorizer_is_unknown_and_no_other_authorizer(read, is_part):
    text = f"KAFKA_AUTHORIZER_CLASS_NAME: ${{AUTHORIZER:-{STANDARD}}}\n"
    if is_part:
        assert read(text, is_part=True).mapping_rules is None
    else:
        with pytest.raises(
            DataError, match=r"the placeholder in authorizer\.class\.name cannot be resolved"
        ) as refused:
            read(text)
        assert "--super-users" in str(refused.value)


@pytest.mark.parametrize("files", ["kafka.env", "[kafka.env]", "[{path: kafka.env}]"])
def test_a_compose_file_without_variables_names_the_file_that_has_them(read, files):
    with pytest.raises(UsageError, match=r"--server-properties 'kafka\.env'"):
        read(f"services: {{k: {{image: x, env_file: {files}}}}}\n")


def test_what_a_broker_may_have_from_another_file_is_unknown(read):
    service = "{env_file: kafka.env, environment: {KAFKA_NODE_ID: 1%s}}"
    with pytest.raises(
        DataError, match=r"placeholder in authorizer.class.name cannot be resolved: '\${env_file}'"
    ):
        read(f"services: {{k: {service % ''}}}\n")
    found = read(f"services: {{k: {service % f', KAFKA_AUTHORIZER_CLASS_NAME: {STANDARD}'}}}\n")
    assert found.unresolved == {SUPER_USERS, ALLOW_EVERYONE}


@pytest.mark.parametrize("text", [f"{NAMED}super.users=admin\n", PART.replace("User:ops", "admin")])
def test_a_bad_super_user_is_said_with_the_file_and_the_key(read, text):
    with pytest.raises(UsageError, match=r"/broker: super\.users: 'admin' has no principal type"):
        read(text)


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(UsageError, match="/nowhere: the file does not exist"):
        read_broker_file("/nowhere")
