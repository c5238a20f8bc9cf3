"""Brokers that refuse, do not know or do not answer a question: what is missing is named."""

from __future__ import annotations

import time

import pytest

from aclkit.errors import DataError, SurroundingsError
from aclkit.kafka.client.config import client_config
from aclkit.model.unread import (
    FAILED,
    GROUPS,
    NOT_OFFERED,
    RIGHT,
    SETTINGS,
    TOKENS,
    TOPICS,
    TRANSACTIONAL_IDS,
    USERS,
)
from aclkit.pipeline.sources.live import read_live
from tests.pipeline.sources import fake_broker as fake
from tests.pipeline.sources.fake_broker import fake_broker
from tests.pipeline.sources.test_live import READ, TOPIC_ID, named, parts

pytestmark = pytest.mark.timeout(60)

LISTED = ("ACCESS_CONTROL_ENTRY_RECORD", "TOPIC", "orders")
KEY_OF = {
    USERS: "USERS",
    TOKENS: "TOKENS",
    SETTINGS: "CONFIGS",
    GROUPS: "GROUPS",
    TRANSACTIONAL_IDS: "TRANSACTIONS",
    TOPICS: "LOG_DIRS",
}
REFUSED = {
    USERS: fake.scram_users,
    TOKENS: fake.tokens,
    SETTINGS: fake.configs,
    GROUPS: fake.groups,
    TRANSACTIONAL_IDS: fake.transactions,
    TOPICS: fake.log_dirs,
}


def read(bootstrap, timeout=10.0):
    return read_live(bootstrap, client_config({}), timeout)


def causes(listing):
    return {each.part: each.cause for each in listing.unread}


def note_on(listing, part):
    (note,) = (note for note in listing.notes if note.startswith(f"{part}: "))
    return note


@pytest.mark.parametrize("part", KEY_OF)
def test_a_right_that_is_missing_is_named_with_its_cost_and_the_rest_is_read(part):
    refused = {KEY_OF[part]: REFUSED[part](error=31)}
    with fake_broker([READ], parts=parts(**refused), topics=[("orders", TOPIC_ID)]) as broker:
        listing = read(broker.bootstrap)
    assert causes(listing) == {part: RIGHT}
    assert part not in listing.told
    assert LISTED in named(listing)
    note = note_on(listing, part)
    assert "error 31 CLUSTER_AUTHORIZATION_FAILED" in note
    assert " Missing right: DESCRIBE" in note
    assert "for User:NAME. " in note


@pytest.mark.parametrize(
    ("error", "cause"),
    [(29, RIGHT), (30, RIGHT), (53, RIGHT), (65, RIGHT), (35, NOT_OFFERED), (42, NOT_OFFERED),
     (54, FAILED), (-1, FAILED), (14, FAILED), (999, FAILED)],
)  # fmt: skip
def test_only_an_error_of_authorization_is_a_missing_right(error, cause):
    with fake_broker([READ], parts=parts(GROUPS=fake.groups(error=error))) as broker:
        listing = read(broker.bootstrap)
    assert causes(listing) == {GROUPS: cause}
    assert ("Missing right" in note_on(listing, GROUPS)) == (cause == RIGHT)


@pytest.mark.parametrize("part", KEY_OF)
def test_a_request_that_the_broker_does_not_offer_is_named(part):
    with fake_broker([READ], parts=parts(**{KEY_OF[part]: None})) as broker:
        listing = read(broker.bootstrap)
    assert causes(listing) == {part: NOT_OFFERED}
    assert "does not offer" in note_on(listing, part)
    assert "Missing right" not in note_on(listing, part)


@pytest.mark.parametrize("part", KEY_OF)
def test_a_broker_that_hangs_up_over_one_question_answers_the_others(part):
    key = getattr(fake, KEY_OF[part])
    with fake_broker(
        [READ], parts=parts(), topics=[("orders", TOPIC_ID)], hangs_up_on=[key]
    ) as broker:
        listing = read(broker.bootstrap)
    assert causes(listing) == {part: NOT_OFFERED}
    assert "the broker closed the connection" in note_on(listing, part)
    assert LISTED in named(listing)


def test_what_answers_after_the_broker_hung_up_must_be_of_the_same_cluster():
    ids = ["fake-cluster", "fake-cluster", "other"]
    with fake_broker([READ], parts=parts(), cluster_ids=ids, hangs_up_on=[fake.USERS]) as broker:
        listing = read(broker.bootstrap)
    assert ("LISTED_RESOURCE", "GROUP", "billing") not in named(listing)
    assert "another cluster answers" in note_on(listing, TOKENS)
    assert len(listing.unread) == len(KEY_OF)


def test_a_question_that_is_never_answered_leaves_time_for_the_others():
    started = time.monotonic()
    with fake_broker([READ], parts=parts(), silent_on=[fake.USERS]) as broker:
        listing = read(broker.bootstrap, timeout=4.0)
    assert time.monotonic() - started < 20
    assert causes(listing) == {USERS: FAILED}
    assert ("LISTED_RESOURCE", "GROUP", "billing") in named(listing)


def test_a_broker_that_offers_nothing_but_acls_has_them_read():
    with fake_broker([READ], supports=None) as broker:
        listing = read(broker.bootstrap)
    assert causes(listing) == dict.fromkeys(KEY_OF, NOT_OFFERED)
    assert LISTED in named(listing)
    assert not listing.told


def test_old_brokers_refuse_log_folders_by_an_empty_answer():
    empty = fake.log_dirs(error=31)
    empty.error_code = 0
    with fake_broker([READ], parts=parts(LOG_DIRS=empty)) as broker:
        listing = read(broker.bootstrap)
    assert causes(listing) == {TOPICS: RIGHT}


def test_an_empty_answer_about_the_configuration_is_none():
    empty = fake.configs()
    empty.results = []
    with fake_broker([READ], parts=parts(CONFIGS=empty)) as broker:
        listing = read(broker.bootstrap)
    assert causes(listing) == {SETTINGS: NOT_OFFERED}
    assert listing.brokers == ()


def test_where_one_broker_of_two_refuses_the_part_is_read_in_part():
    refusing = parts(CONFIGS=fake.configs(error=31), GROUPS=fake.groups("two"))
    with (
        fake_broker(parts=refusing, node_id=2) as second,
        fake_broker([READ], parts=parts(), others=[second]) as first,
    ):
        listing = read(first.bootstrap)
    (lack,) = listing.unread
    assert (lack.part, lack.cause, lack.has_some) == (SETTINGS, RIGHT, True)
    assert "read only in part (broker 2: error 31" in note_on(listing, SETTINGS)
    assert [broker.node_id for broker in listing.brokers] == [1]


def test_acls_that_are_refused_name_the_right_and_the_command_that_grants_it():
    with (
        fake_broker(error=(31, "no way")) as broker,
        pytest.raises(SurroundingsError) as raised,
    ):
        read(broker.bootstrap)
    assert str(raised.value).endswith(
        "(no way). Missing right: DESCRIBE on the cluster for User:NAME. Next: kafka-acls "
        "--bootstrap-server HOST:PORT --add --cluster --allow-principal User:NAME --operation "
        "Describe"
    )


@pytest.mark.parametrize("error", [35, 42])
def test_acls_that_the_broker_does_not_know_point_to_a_listing(error):
    with fake_broker(error=(error, None)) as broker, pytest.raises(SurroundingsError) as raised:
        read(broker.bootstrap)
    assert "refused to list its ACLs: error" in str(raised.value)
    assert "docs/managed-kafka.md" in str(raised.value)
    assert "acls-list:FILE" in str(raised.value)


def test_acls_that_are_not_offered_point_to_a_listing():
    with (
        fake_broker([READ], without=[fake.DESCRIBE_ACLS]) as broker,
        pytest.raises(SurroundingsError, match=r"does not offer DescribeAcls.*acls-list:FILE"),
    ):
        read(broker.bootstrap)


def test_a_broker_that_hangs_up_over_the_acls_is_asked_twice_and_named():
    with (
        fake_broker([READ], hangs_up_on=[fake.DESCRIBE_ACLS]) as broker,
        pytest.raises(SurroundingsError, match="closed the connection on DescribeAcls"),
    ):
        read(broker.bootstrap)


def test_a_cluster_that_tells_no_id_is_read_under_a_name_of_the_users_own():
    with fake_broker([READ], parts=parts(), cluster_ids=[None]) as broker:
        listing = read(broker.bootstrap)
    assert listing.cluster_id is None
    assert not listing.unread


def test_a_cluster_without_an_authorizer_is_unusable_data():
    with fake_broker(error=(54, None)) as broker, pytest.raises(DataError, match="no authorizer"):
        read(broker.bootstrap)


def test_the_user_of_scram_is_named_as_the_principal():
    login = "org.apache.kafka.common.security.scram.ScramLoginModule required "
    config = client_config(
        {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "SCRAM-SHA-256",
            "sasl.jaas.config": f'{login}username="a,b=c" password="hunter2";',
        }
    )
    assert config.principal == "User:a,b=c"
