"""Runs on a live cluster that keeps something back: the run is kept, and answers report it."""

from __future__ import annotations

import json
import uuid

import pytest

from aclkit.errors import SurroundingsError, UsageError
from tests.cli.running import Warehouse
from tests.pipeline.sources import fake_broker as fake
from tests.pipeline.sources.fake_broker import fake_broker
from tests.pipeline.sources.test_live import STANDARD

pytestmark = pytest.mark.timeout(120)

READ = (2, "orders", 3, "User:alice", "*", 3, 3)
GONE = (2, "gone", 3, "User:alice", "*", 3, 3)
PASSED = ("--super-users", "User:root", "--no-allow-everyone", "--fail-on", "never")


@pytest.fixture
def warehouse(tmp_path):
    return Warehouse(tmp_path / "w")


def night(warehouse, *more, acls=(READ,), topics=("orders",), code=0, without=(), **changes):
    told = {
        fake.USERS: fake.scram_users("alice", "bob"),
        fake.GROUPS: fake.groups("billing"),
        fake.TRANSACTIONS: fake.transactions("tx"),
        fake.TOKENS: fake.tokens(),
        fake.LOG_DIRS: fake.log_dirs(*topics),
        fake.CONFIGS: fake.configs(
            super_users="User:root",
            authorizer_class_name=STANDARD,
            **{"allow_everyone_if_no_acl_found": "false"},
        ),
    } | {getattr(fake, name): answer for name, answer in changes.items()}
    ids = [(name, uuid.uuid5(uuid.NAMESPACE_URL, name)) for name in topics]
    told = {key: answer for key, answer in told.items() if key not in without}
    with fake_broker(acls, parts=told, topics=ids, supports=(7, 25)) as broker:
        words = ("run", "--source", f"live:{broker.bootstrap}", *PASSED, *more)
        return warehouse.run(*words, code=code)


def findings(warehouse, kind):
    rows = warehouse.sql(
        f"SELECT severity, subject, message, fix FROM finding_current WHERE finding = '{kind}'"
    )
    return [tuple(row.values()) for row in rows]


def notes(warehouse, *words):
    return warehouse.run(*words).output


def test_a_missing_right_is_a_finding_with_the_command_until_it_is_granted(warehouse):
    night(warehouse, CONFIGS=fake.configs(error=31))
    ((severity, subject, message, fix),) = findings(warehouse, "missing-right")
    assert (severity, subject) == ("low", "DESCRIBE_CONFIGS on the cluster")
    assert "so broker settings were not all read. super.users and allow.everyone" in message
    assert (
        "--add --cluster --allow-principal User:NAME --operation DescribeConfigs with aclkit's "
        "user as User:NAME"
    ) in fix
    night(warehouse)
    assert findings(warehouse, "missing-right") == []
    night(warehouse, CONFIGS=fake.configs(error=31))
    assert len(findings(warehouse, "missing-right")) == 1


def test_a_request_that_is_not_offered_is_a_note_and_no_finding(warehouse):
    result = night(warehouse, without=[fake.GROUPS])
    assert findings(warehouse, "missing-right") == []
    assert "groups: not read (broker 1: the broker does not offer ListGroups" in result.output


def test_what_was_not_read_is_kept_with_the_run_and_told_by_lists(warehouse):
    night(warehouse, GROUPS=fake.groups(error=31), USERS=fake.scram_users(error=31))
    settings = json.loads(warehouse.published().run.settings_text)
    assert settings["unread"] == {"groups": "right", "SCRAM users": "right"}
    lacking = "Groups of this cluster were not all read"
    assert lacking in notes(warehouse, "what-can", "User:alice")
    assert lacking not in notes(warehouse, "what-can", "User:alice", "topic")
    assert "SCRAM users of this cluster were not all read" in notes(
        warehouse, "who-can", "READ", "topic:orders"
    )
    assert lacking in notes(warehouse, "show", "User:alice")
    night(warehouse)
    assert "were not all read" not in notes(warehouse, "what-can", "User:alice")


def test_a_materialize_after_a_replay_tells_what_the_replay_could_not_read(warehouse):
    night(warehouse, GROUPS=fake.groups(error=31))
    warehouse.run("materialize", "--no-super-users", "--no-allow-everyone")
    assert "Groups of this cluster were not all read" in notes(warehouse, "what-can", "User:alice")


def test_topics_that_the_user_cannot_see_are_no_orphans_and_those_of_acls_are_listed(warehouse):
    acls = (READ, GONE)
    night(warehouse, acls=acls)
    assert [row[1] for row in findings(warehouse, "orphan-resource")] != []
    night(warehouse, acls=acls, LOG_DIRS=fake.log_dirs(error=31))
    assert findings(warehouse, "orphan-resource") == []
    assert "topic:gone" in notes(warehouse, "what-can", "User:alice")
    night(warehouse, acls=acls)
    assert len(findings(warehouse, "orphan-resource")) == 1


def test_users_that_cannot_be_read_make_no_new_orphan_principal(warehouse):
    acls = (READ, (2, "orders", 3, "User:carol", "*", 3, 3))
    night(warehouse, acls=acls)
    assert [row[1] for row in findings(warehouse, "orphan-principal")] == ["User:carol"]
    night(warehouse, acls=acls, USERS=fake.scram_users(error=31))
    assert findings(warehouse, "orphan-principal") == []


def test_acls_that_are_refused_end_the_run_with_exit_code_4(warehouse):
    with fake_broker(error=(31, None)) as broker:
        words = ("run", "--source", f"live:{broker.bootstrap}", *PASSED)
        result = warehouse.run(*words, code=SurroundingsError.exit_code)
    assert "Missing right: DESCRIBE on the cluster for User:NAME" in result.output


def test_msk_iam_is_a_usage_error(warehouse, tmp_path):
    (tmp_path / "client.properties").write_text(
        "security.protocol=SASL_SSL\nsasl.mechanism=AWS_MSK_IAM\n"
    )
    config = ("--command-config", tmp_path / "client.properties")
    words = ("run", "--source", "live:b:9098", *config)
    result = warehouse.run(*words, code=UsageError.exit_code)
    assert "IAM policies, not ACLs, decide" in result.output


SA = (2, "orders", 3, "User:sa-l7v772", "*", 3, 3)
INTEGER = (2, "orders", 3, "User:1234567", "*", 3, 3)


def test_accounts_of_confluent_cloud_are_explained_where_they_appear_once(warehouse):
    result = night(warehouse, acls=(SA, INTEGER))
    assert result.output.count("RBAC role bindings are not ACLs") >= 1
    assert "ACLs name 1 integer id of Confluent Cloud: User:1234567." in result.output
    role = "RBAC role bindings are not ACLs, so a role can allow what no ACL allows."
    for words in (
        ("why", "User:sa-l7v772", "WRITE", "topic:orders"),
        ("who-can", "READ", "topic:orders"),
        ("what-can", "User:sa-l7v772"),
        ("history", "User:sa-l7v772", "WRITE", "topic:orders"),
    ):
        assert notes(warehouse, *words).count(role) == 1, words
    denied = warehouse.run("can", "User:sa-l7v772", "WRITE", "topic:orders", code=1)
    assert denied.output.count(role) == 1
    assert role not in notes(warehouse, "why", "User:sa-l7v772", "READ", "topic:orders")


def test_an_account_whose_acls_can_stand_under_an_integer_id_is_hinted_at(warehouse):
    night(warehouse, acls=(INTEGER,))
    told = notes(warehouse, "why", "User:sa-l7v772", "READ", "topic:orders")
    assert "ACLs here name User:1234567: such an integer id of Confluent Cloud can be this" in told


def test_a_deny_beats_roles_so_no_role_is_mentioned(warehouse):
    night(warehouse, acls=((2, "orders", 3, "User:sa-l7v772", "*", 3, 2),))
    told = notes(warehouse, "why", "User:sa-l7v772", "READ", "topic:orders")
    assert "RBAC" not in told


def test_an_unknown_topic_can_exist_where_topics_were_not_all_read(warehouse):
    hint = "It can exist, because topics were not all read."
    night(warehouse)
    assert hint not in notes(warehouse, "who-can", "READ", "topic:hidden")
    night(warehouse, LOG_DIRS=fake.log_dirs(error=31))
    for words in (
        ("who-can", "READ", "topic:hidden"),
        ("why", "User:alice", "READ", "topic:hidden"),
        ("history", "User:alice", "READ", "topic:hidden"),
    ):
        assert notes(warehouse, *words).count(hint) == 1, words
    assert hint not in notes(warehouse, "who-can", "READ", "group:hidden")


def test_programs_read_which_parts_were_not_read(warehouse):
    night(warehouse, GROUPS=fake.groups(error=31))
    rows = json.loads(warehouse.run("what-can", "User:alice", "--format", "json").stdout)
    assert {tuple(row["unread_parts"]) for row in rows} == {("groups",)}


def test_a_listing_after_a_live_run_has_nothing_unread(warehouse, tmp_path):
    night(warehouse, GROUPS=fake.groups(error=31))
    (tmp_path / "acls.txt").write_text(
        "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=orders, "
        "patternType=LITERAL)`:\n\t(principal=User:alice, host=*, operation=READ, "
        "permissionType=ALLOW)\n"
    )
    source = ("--source", f"acls-list:{tmp_path}/acls.txt")
    warehouse.run("run", *source, *PASSED, cluster="fake-cluster")
    assert findings(warehouse, "missing-right") == []
    assert "were not all read" not in notes(warehouse, "what-can", "User:alice")


def test_names_that_brokers_hide_from_a_known_user_are_a_missing_right(warehouse, monkeypatch):
    monkeypatch.setattr("aclkit.kafka.client.config.ANY_USER", "User:auditor")
    sees = [(kind, "*", 3, "User:auditor", "*", 8, 3) for kind in (5, 6)]
    night(warehouse, acls=(READ, *sees))
    assert findings(warehouse, "missing-right") == []
    night(warehouse, acls=(READ, sees[1]))
    ((_, subject, message, fix),) = findings(warehouse, "missing-right")
    assert subject == "DESCRIBE on all transactional ids"
    assert "transactional ids were not all read" in message
    assert "--transactional-id '*'" in fix
    told = notes(warehouse, "what-can", "User:alice")
    assert "Transactional ids of this cluster were not all read" in told
    night(warehouse, acls=(READ, *sees))
    assert findings(warehouse, "missing-right") == []
