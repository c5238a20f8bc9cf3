"""Nights of a live cluster: what it names comes and goes, and its brokers' settings hold."""

from __future__ import annotations

import uuid

import pytest

from tests.cli.running import REPLAYED, Warehouse
from tests.pipeline.sources import fake_broker as fake
from tests.pipeline.sources.fake_broker import fake_broker

pytestmark = [pytest.mark.usefixtures("spark"), pytest.mark.timeout(300)]

READ = (2, "orders", 3, "User:alice", "*", 3, 3)
STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
SETTINGS = {"super_users": "User:root", "authorizer_class_name": STANDARD}


def parts(**changes):
    told = {
        fake.USERS: fake.scram_users("alice"),
        fake.GROUPS: fake.groups("billing"),
        fake.TRANSACTIONS: fake.transactions("tx"),
        fake.TOKENS: fake.tokens("carol"),
        fake.LOG_DIRS: fake.log_dirs("orders"),
        fake.CONFIGS: fake.configs(**SETTINGS),
    }
    return told | {getattr(fake, name): answer for name, answer in changes.items()}


@pytest.fixture
def warehouse(tmp_path):
    return Warehouse(tmp_path / "warehouse")


def night(
    warehouse, command, *more, acls=(READ,), topics=("orders",), code=0, supports=(7, 25), **changes
):
    ids = [(name, uuid.uuid5(uuid.NAMESPACE_URL, name)) for name in topics]
    with fake_broker(acls, parts=parts(**changes), topics=ids, supports=supports) as broker:
        source = ("--source", f"live:{broker.bootstrap}")
        return warehouse.run(command, *source, *more, code=code)


def lives(warehouse):
    rows = warehouse.sql(
        "SELECT resource_type || ' ' || resource_name AS name, last_offset FROM resource_lifetime "
        "UNION ALL SELECT principal || ' ' || mechanism, last_offset FROM principal_lifetime"
    )
    return {row["name"]: row["last_offset"] for row in rows}


@pytest.mark.slow
def test_what_a_cluster_names_lives_until_a_listing_that_tells_it_whole_lacks_it(warehouse):
    night(warehouse, "replay", "--at", "2026-11-21T02:00:00.0007Z")
    assert lives(warehouse) == dict.fromkeys(
        [
            *("TOPIC orders", "GROUP billing", "TRANSACTIONAL_ID tx"),
            *("DELEGATION_TOKEN id-carol", "User:alice SCRAM-SHA-256"),
            "User:carol DELEGATION_TOKEN",
        ],
        "",
    )
    before = warehouse.tables()
    night(warehouse, "replay")
    assert warehouse.tables() == before
    gone = {"LOG_DIRS": fake.log_dirs("new"), "TOKENS": fake.tokens()}
    result = night(warehouse, "replay", topics=["new"], **gone, GROUPS=fake.groups(error=14))
    assert "note: groups: not read (broker 1: error 14" in result.output
    after = lives(warehouse)
    assert {name for name, end in after.items() if end} == {
        *("TOPIC orders", "DELEGATION_TOKEN id-carol", "User:carol DELEGATION_TOKEN"),
    }
    assert after["TOPIC new"] == after["GROUP billing"] == ""


@pytest.mark.slow
def test_a_live_cluster_without_acls_is_refused_where_some_were_known(warehouse):
    night(warehouse, "replay", acls=())
    night(warehouse, "replay")
    result = night(warehouse, "replay", acls=(), code=3)
    assert "--allow-empty" in result.output
    assert len(warehouse.acls()) == 1
    night(warehouse, "replay", "--allow-empty", acls=())
    assert not warehouse.acls()


@pytest.mark.slow
def test_brokers_settings_hold_what_is_given_wins_and_a_difference_is_a_finding(warehouse):
    result = night(warehouse, "run", "--fail-on", "never")
    (told,) = warehouse.sql("SELECT super_users, allow_everyone FROM setting")
    assert told == {"super_users": '["User:root"]', "allow_everyone": "false"}
    names = warehouse.sql("SELECT resource_type, resource_name FROM resource WHERE origin = 'log'")
    assert {row["resource_name"] for row in names} == {"orders", "billing", "tx", "id-carol"}
    result = night(warehouse, "run", "--fail-on", "never")
    assert "Nothing new since the previous run" in result.output
    result = night(warehouse, "run", "--super-users", "User:me", code=1)
    assert "broker-settings-differ" in result.output
    found = warehouse.sql(
        "SELECT subject FROM finding_current WHERE finding = 'broker-settings-differ'"
    )
    assert found == [{"subject": "super.users"}]
    result = night(
        warehouse, "run", "--super-users", "User:me", "--fail-on", "never",
        CONFIGS=fake.configs(super_users="User:me", authorizer_class_name=STANDARD),
    )  # fmt: skip
    query = "SELECT count(*) AS n FROM finding_current WHERE finding = 'broker-settings-differ'"
    assert warehouse.sql(query) == [{"n": "0"}]


RANGE = (2, "orders", 3, "User:alice", "10.0.0.0/8", 3, 2)
"""A DENY for the range."""


def by_host(warehouse):
    rows = warehouse.sql(
        "SELECT host, decision FROM explain WHERE principal = 'User:alice' AND operation = 'READ' "
        "AND resource_type = 'TOPIC' AND resource_name = 'orders'"
    )
    return {row["host"]: row["decision"] for row in rows}


def known_brokers(warehouse):
    rows = warehouse.sql("SELECT is_registered, max_level, finalized_level FROM broker")
    return [tuple(row.values()) for row in rows]


@pytest.mark.slow
def test_ranges_of_a_live_cluster_are_read_as_its_brokers_read_them(warehouse):
    asked = ("run", "--fail-on", "never")
    result = night(warehouse, *asked, acls=(READ, RANGE), supports=(7, 33))
    assert (
        "Brokers read hosts such as 10.0.0.0/8 as address ranges: broker 1 supports "
        "metadata.version up to 33 (4.4-IV2)."
    ) in result.output
    assert by_host(warehouse) == {
        "<any-other>": "ALLOWED", "<any-other in 10.0.0.0/8>": "DENIED",
    }  # fmt: skip
    assert known_brokers(warehouse) == [("true", "33", "25")]
    result = night(warehouse, *asked, acls=(READ, RANGE), supports=(7, 33))
    assert "Nothing new since the previous run" in result.output
    result = night(warehouse, *asked, acls=(READ, RANGE), supports=(7, 31))
    assert (
        "Brokers compare hosts such as 10.0.0.0/8 as text: broker 1 supports metadata.version up "
        "to 31 (4.4-IV0)."
    ) in result.output
    assert by_host(warehouse) == {"<any-other>": "ALLOWED"}
    before = by_host(warehouse), known_brokers(warehouse)
    result = night(warehouse, *asked, acls=(READ, RANGE), supports=None, code=3)
    assert "broker 1 does not report the metadata.version that it supports" in result.output
    assert "--cidr-hosts on for Kafka 4.4 and later" in result.output
    assert (by_host(warehouse), known_brokers(warehouse)) == before
    night(warehouse, *asked, "--cidr-hosts", "on", acls=(READ, RANGE), supports=None)
    assert by_host(warehouse)["<any-other in 10.0.0.0/8>"] == "DENIED"


@pytest.mark.slow
def test_a_text_after_a_live_listing_leaves_no_broker_known(warehouse, tmp_path):
    night(warehouse, "replay", supports=(7, 31))
    assert known_brokers(warehouse) == [("true", "31", "25")]
    (tmp_path / "acls.txt").write_text(
        "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=orders, "
        "patternType=LITERAL)`:\n\t(principal=User:alice, host=10.0.0.0/8, operation=READ, "
        "permissionType=DENY)\n"
    )
    warehouse.replay(f"acls-list:{tmp_path}/acls.txt", cluster="fake-cluster")
    assert known_brokers(warehouse) == [("false", "31", "25")]
    for word, code in (("auto", 3), ("off", 0)):
        result = warehouse.run("materialize", "--cidr-hosts", word, code=code)
        assert (
            "ACLs have an address range (CIDR) as their host: 10.0.0.0/8. " in result.output
        ) == (code == 3)


@pytest.mark.slow
def test_what_a_live_cluster_with_two_groups_told_is_taken_back(warehouse):
    night(warehouse, "replay", GROUPS=fake.groups("billing", "refunds"))
    before = {name: warehouse.table(name) for name in REPLAYED if name != "log_range"}
    later = (READ, (2, "orders", 3, "User:bob", "*", 3, 3))
    night(warehouse, "replay", acls=later, GROUPS=fake.groups("billing", "refunds", "tax"))
    warehouse.run("replay", "--forget", "1-")
    assert {name: warehouse.table(name) for name in before} == before


@pytest.mark.slow
def test_super_users_that_the_brokers_hide_are_a_finding_until_they_are_passed(warehouse):
    def hidden():  # an answer can be given once
        return fake.configs(super_users=None, authorizer_class_name=STANDARD)

    result = night(warehouse, "run", code=1, CONFIGS=hidden())
    assert "super.users is hidden by broker 1, so '' is assumed" in result.output
    query = "SELECT severity FROM finding_current WHERE finding = 'super-users-unknown'"
    assert warehouse.sql(query) == [{"severity": "high"}]
    denied = warehouse.run("why", "User:root", "READ", "topic:orders").stdout
    assert "Super users are unknown. If User:root is one, this is allowed." in denied
    night(warehouse, "run", "--super-users", "User:root", CONFIGS=hidden())
    assert warehouse.sql(query) == []
    allowed = warehouse.run("why", "User:root", "READ", "topic:orders").stdout
    assert "it is a super user, so no ACL is checked" in allowed


@pytest.mark.slow
def test_materialize_takes_the_settings_that_the_last_replay_was_told(warehouse):
    night(warehouse, "replay")
    warehouse.run("materialize")
    (told,) = warehouse.sql("SELECT super_users FROM setting")
    assert told == {"super_users": '["User:root"]'}
    result = warehouse.run("materialize", "--super-users", "")
    assert "finding (high) broker-settings-differ" in result.output


def test_misspelt_acls_of_a_listing_are_rejects_and_said(warehouse, tmp_path):
    entry = "\t(principal=User:{}, host=*, operation=READ, permissionType={})\n"
    (tmp_path / "acls.txt").write_text(
        "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=x, "
        "patternType=LITERAL)`:\n" + entry.format("a", "ALLOW") + entry.format("b", "ALLOV")
    )
    source, more = f"acls-list:{tmp_path}/acls.txt", ("--accept-holes",)
    assert "Correct the file, or pass --accept-holes" in warehouse.replay(source, code=3).output
    result = warehouse.replay(source, more=more)
    assert "1 line of the listing cannot be used" in result.output
    assert warehouse.published().run.status == "incomplete"
    assert [acl[3] for acl in warehouse.acls()] == ["User:a"]
    (reject,) = warehouse.sql("SELECT stage, position, reason FROM acl_reject")
    assert reject["reason"] == "unknown permission type 'ALLOV'"
    warehouse.replay(source, more=(*more, "--strict"), code=3)
    # The next listing is the whole state, whatever it is called.
    text = (tmp_path / "acls.txt").read_text(encoding="utf-8").replace("ALLOV", "ALLOW")
    (tmp_path / "next.txt").write_text(text, encoding="utf-8")
    warehouse.replay(f"acls-list:{tmp_path}/next.txt")
    assert warehouse.table("acl_reject") == []
