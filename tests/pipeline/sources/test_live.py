"""A running cluster's answers, asked of brokers that speak the protocol's bytes."""

from __future__ import annotations

import gc
import logging
import time
import uuid
import warnings

import pytest

from aclkit.errors import DataError, SurroundingsError, UsageError
from aclkit.kafka.client.config import client_config
from aclkit.model.brokers import NOT_TOLD
from aclkit.model.facts import BROKER_RECORDS, REGISTER_BROKER
from aclkit.pipeline.sources.live import read_live
from tests.pipeline.sources import fake_broker as fake
from tests.pipeline.sources.fake_broker import fake_broker

pytestmark = pytest.mark.timeout(60)

READ = (2, "orders", 3, "User:alice", "*", 3, 3)
PASSWORD = "hunter2-very-secret"
PATIENCE = 20
"""Seconds that a busy machine may take; the client's own limits begin at 30."""
SASL = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
    f'username="alice" password="{PASSWORD}";',
}
STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
FETCH = 1
TOPIC_ID = uuid.UUID(int=42)


def read(bootstrap, properties=(), timeout=10.0):
    return read_live(bootstrap, client_config(dict(properties)), timeout)


def listed(broker, properties=(), timeout=10.0):
    rows = read(broker.bootstrap, properties, timeout).rows
    return [row for row in rows if row.record_type == "ACCESS_CONTROL_ENTRY_RECORD"]


def fields(row):
    names = ("resource_type", "resource_name", "pattern_type", "principal", "host")
    return (*(getattr(row, n) for n in names), row.operation, row.permission_type)


def parts(**changes):
    told = {
        fake.USERS: fake.scram_users("alice"),
        fake.GROUPS: fake.groups("billing"),
        fake.TRANSACTIONS: fake.transactions("tx"),
        fake.TOKENS: fake.tokens("carol", hmac=PASSWORD.encode()),
        fake.LOG_DIRS: fake.log_dirs("orders"),
        fake.CONFIGS: fake.configs(authorizer_class_name=STANDARD),
    }
    named = {getattr(fake, name): answer for name, answer in changes.items()}
    return {key: answer for key, answer in (told | named).items() if answer is not None}


def named(listing):
    return {
        (row.record_type, row.resource_type or row.mechanism, row.resource_name or row.principal)
        for row in listing.rows
        if row.record_type not in BROKER_RECORDS
    }


def levels(listing):
    return {
        row.broker_id: (row.min_level, row.max_level)
        for row in listing.rows
        if row.record_type == REGISTER_BROKER
    }


@pytest.mark.parametrize("version", [1, 2, 3])
def test_all_acls_are_read_in_every_version_of_the_protocol(version):
    with fake_broker([READ], max_version=version) as broker:
        (row,) = listed(broker)
    expected = ("TOPIC", "orders", "LITERAL", "User:alice", "*", "READ", "ALLOW")
    assert fields(row) == expected
    assert (row.kind, row.fact, row.acl_id, row.log_offset) == ("fact", "listing", None, None)


def test_codes_that_the_client_library_does_not_know_do_not_lose_the_answer():
    acls = [READ, (9, "x", 5, "User:b", "*", 15, 3), (2, "y", 77, "User:b", "*", -3, 9)]
    with fake_broker(acls) as broker:
        rows = listed(broker)
    assert fields(rows[1]) == (
        *("UNKNOWN(9)", "x", "GLOB", "User:b", "*"),
        *("TWO_PHASE_COMMIT", "ALLOW"),
    )
    assert fields(rows[2])[2] == "UNKNOWN(77)"
    assert fields(rows[2])[-2:] == ("UNKNOWN(-3)", "UNKNOWN(9)")


def test_everything_is_asked_for():
    with fake_broker() as broker:
        assert listed(broker) == []
        (request,) = broker.asked
    assert (request.resource_type_filter, request.pattern_type_filter) == (1, 1)
    assert (request.resource_name_filter, request.principal_filter) == (None, None)
    assert (request.host_filter, request.operation, request.permission_type) == (None, 1, 1)


def test_the_same_acl_is_listed_once():
    with fake_broker([READ, READ]) as broker:
        assert len(listed(broker)) == 1


def test_what_questions_need_is_brought_along():
    with fake_broker([READ], parts=parts(), topics=[("orders", TOPIC_ID)]) as broker:
        listing = read(broker.bootstrap)
    assert named(listing) - {("ACCESS_CONTROL_ENTRY_RECORD", "TOPIC", "orders")} == {
        ("TOPIC_RECORD", None, "orders"),
        ("USER_SCRAM_CREDENTIAL_RECORD", "SCRAM-SHA-256", "User:alice"),
        ("LISTED_RESOURCE", "GROUP", "billing"),
        ("LISTED_RESOURCE", "TRANSACTIONAL_ID", "tx"),
        ("LISTED_RESOURCE", "DELEGATION_TOKEN", "id-carol"),
        ("DELEGATION_TOKEN_RECORD", "DELEGATION_TOKEN", "User:carol"),
    }
    assert [row.topic_id for row in listing.rows if row.topic_id] == ["AAAAAAAAAAAAAAAAAAAAKg"]
    assert len(listing.told) == 5
    assert (listing.cluster_id, listing.metadata_version) == ("fake-cluster", 25)
    assert [dict(broker.values) for broker in listing.brokers] == [
        {"authorizer.class.name": STANDARD}
    ]
    assert PASSWORD not in repr(listing)


@pytest.mark.parametrize(
    ("change", "part", "why"),
    [
        ({"USERS": fake.scram_users(error=31)}, "SCRAM users", "CLUSTER_AUTHORIZATION_FAILED"),
        ({"GROUPS": fake.groups(error=14)}, "groups", "14"),
        ({"TRANSACTIONS": None}, "transactional ids", "ListTransactions"),
        ({"TOKENS": fake.tokens(error=64)}, "delegation tokens", "logged in"),
        ({"LOG_DIRS": None}, "topics", "LogDirs"),
    ],
)
def test_a_part_that_is_not_told_is_a_note_and_the_others_stay(change, part, why):
    with fake_broker([READ], parts=parts(**change), topics=[("orders", TOPIC_ID)]) as broker:
        listing = read(broker.bootstrap)
    assert part not in listing.told
    assert len(listing.told) == 4
    (note,) = (note for note in listing.notes if note.startswith(f"{part}: "))
    assert "read" in note
    assert why in note


def test_where_tokens_are_switched_off_there_are_none():
    with fake_broker([READ], parts=parts(TOKENS=fake.tokens(error=61))) as broker:
        assert "delegation tokens" in read(broker.bootstrap).told


def test_a_topic_that_the_metadata_hide_is_found_on_the_disks_and_said():
    with fake_broker([READ], parts=parts(LOG_DIRS=fake.log_dirs("orders", "secret"))) as broker:
        listing = read(broker.bootstrap)
    topics = {
        (r.resource_name, r.topic_id) for r in listing.rows if r.record_type == "TOPIC_RECORD"
    }
    assert topics == {("orders", None), ("secret", None)}
    assert any("Topics: 2 were found on the brokers' disks" in note for note in listing.notes)


def test_the_configuration_that_the_user_may_not_read_is_a_note():
    with fake_broker([READ], parts=parts(CONFIGS=fake.configs(error=31))) as broker:
        listing = read(broker.bootstrap)
    assert listing.brokers == ()
    assert any("DESCRIBE_CONFIGS on the cluster" in note for note in listing.notes)


def test_every_broker_is_asked_for_what_it_alone_knows():
    with fake_broker(parts=parts(GROUPS=fake.groups("two")), node_id=2) as second:
        told = parts(CONFIGS=fake.configs(**{"super_users": None}))
        with fake_broker([READ], parts=told, others=[second]) as first:
            listing = read(first.bootstrap)
    assert {("LISTED_RESOURCE", "GROUP", name) for name in ("billing", "two")} <= named(listing)
    assert [(b.node_id, dict(b.values)) for b in listing.brokers] == [
        (1, {"super.users": None}),
        (2, {"authorizer.class.name": STANDARD}),
    ]


def test_every_broker_tells_which_metadata_versions_its_binary_supports():
    with (
        fake_broker(node_id=2, supports=(7, 31)) as second,
        fake_broker([READ], others=[second], supports=(7, 33), in_force=31) as first,
    ):
        listing = read(first.bootstrap)
    assert levels(listing) == {1: (7, 33), 2: (7, 31)}
    assert listing.metadata_version == 31


@pytest.mark.parametrize(
    ("oldest_fetch", "told"), [(0, None), (3, None), (4, NOT_TOLD), (None, NOT_TOLD)]
)
def test_a_broker_without_metadata_version_is_old_where_it_answers_what_4_0_removed(
    oldest_fetch, told
):
    fetch = {} if oldest_fetch is None else {FETCH: (oldest_fetch, 12)}
    with fake_broker([READ], supports=None, more_keys=fetch) as broker:
        assert levels(read(broker.bootstrap)) == {1: (told, told)}


@pytest.fixture
def collect_sockets():
    """kafka-python leaves refused sockets to the garbage collector."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


class Gone:
    """A broker whose address nobody answers at."""

    node_id, port = 7, 1


@pytest.mark.usefixtures("collect_sockets")
def test_a_broker_that_cannot_be_reached_leaves_its_share_out():
    with fake_broker([READ], parts=parts(), others=[Gone]) as broker:
        listing = read(broker.bootstrap)
    assert listing.told == {"SCRAM users", "delegation tokens"}
    assert ("LISTED_RESOURCE", "GROUP", "billing") in named(listing)
    assert levels(listing) == {1: (1, 25), 7: (NOT_TOLD, NOT_TOLD)}
    assert any("groups: read only in part (broker 7" in note for note in listing.notes)
    assert any("broker settings: read only in part (broker 7" in note for note in listing.notes)


def test_a_broker_that_says_nothing_leaves_time_for_the_others_and_the_acls():
    with fake_broker(is_mute=True, node_id=2) as mute:
        third = fake.FakeBroker(parts=parts(GROUPS=fake.groups("three")), node_id=3)
        with fake_broker([READ], parts=parts(), others=[mute, third]) as broker:
            listing = read(broker.bootstrap, timeout=3.0)
        third.close()
    assert ("LISTED_RESOURCE", "GROUP", "three") in named(listing)
    assert ("ACCESS_CONTROL_ENTRY_RECORD", "TOPIC", "orders") in named(listing)
    assert any("groups: read only in part (broker 2" in note for note in listing.notes)


def test_a_listing_and_its_cluster_id_are_of_one_cluster():
    with (
        fake_broker([READ], cluster_ids=["one", "two"]) as broker,
        pytest.raises(DataError, match=r"answered for cluster 'one', but .* for 'two'"),
    ):
        read(broker.bootstrap)


def test_a_broker_of_another_cluster_is_refused():
    with (
        fake_broker(parts=parts(), node_id=2, cluster_ids=["other"]) as second,
        fake_broker([READ], parts=parts(), others=[second]) as first,
        pytest.raises(DataError, match="for 'other'"),
    ):
        read(first.bootstrap)


def test_a_refusal_names_the_brokers_error():
    with (
        fake_broker(error=(31, "no way")) as broker,
        pytest.raises(SurroundingsError, match=r"CLUSTER_AUTHORIZATION_FAILED \(no way\)\. "),
    ):
        listed(broker)


def test_a_cluster_without_an_authorizer_is_refused_for_it_allows_everything():
    with (
        fake_broker(error=(54, "no way")) as broker,
        pytest.raises(DataError, match=r"no authorizer .* allows everything"),
    ):
        listed(broker)


@pytest.mark.usefixtures("collect_sockets")
def test_an_unreachable_cluster_ends_within_the_time_given():
    started = time.monotonic()
    with pytest.raises(SurroundingsError, match=r"Cannot connect to .*ECONNREFUSED"):
        read("127.0.0.1:1", timeout=1.0)
    assert time.monotonic() - started < PATIENCE


@pytest.mark.usefixtures("collect_sockets")
def test_the_next_broker_is_asked_when_one_cannot_be_reached():
    with fake_broker([READ]) as broker:
        assert named(read(f"127.0.0.1:1,{broker.bootstrap}")) == {
            ("ACCESS_CONTROL_ENTRY_RECORD", "TOPIC", "orders")
        }


def test_a_mute_broker_ends_within_the_time_given():
    started = time.monotonic()
    with fake_broker(is_mute=True) as broker, pytest.raises(SurroundingsError, match=r"[Tt]im"):
        listed(broker, timeout=1.0)
    assert time.monotonic() - started < PATIENCE


def test_a_broker_without_pattern_types_is_refused():
    with fake_broker(max_version=0) as broker, pytest.raises(SurroundingsError, match="version"):
        listed(broker, timeout=2.0)


def test_wrong_credentials_are_named_as_such_though_the_broker_hangs_up(caplog):
    caplog.set_level(logging.DEBUG)
    with fake_broker() as broker, pytest.raises(SurroundingsError) as raised:
        listed(broker, SASL, timeout=30.0)
    assert "authentication failed: " in str(raised.value)
    assert PASSWORD not in str(raised.value) + caplog.text
    assert raised.value.__context__ is None


def test_wrong_credentials_are_sent_once_whatever_brokers_are_named():
    with fake_broker() as broker, pytest.raises(SurroundingsError, match="authentication failed"):
        read(",".join([broker.bootstrap] * 3), SASL)
    assert len(broker.logins) == 1


def test_a_login_carries_the_credentials_of_the_configuration():
    with fake_broker([READ], users=[f"alice\0alice\0{PASSWORD}".encode()]) as broker:
        assert len(listed(broker, SASL)) == 1


@pytest.mark.parametrize(
    "bootstrap", ["", "host", "host:port", "http://a:1", "a:1,,b:2", "a:99999", "a:0", "a:\u0661"]
)
def test_bootstrap_needs_host_and_port(bootstrap):
    with pytest.raises(UsageError, match="host:port"):
        read(bootstrap, timeout=1.0)
