"""``live`` against a real broker: every listener, every form of a client's configuration."""

from __future__ import annotations

import gc
import warnings
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    load_pem_private_key,
    pkcs12,
)

from aclkit.errors import DataError, SurroundingsError
from aclkit.kafka.client.config import client_config
from aclkit.kafka.client.properties import read_properties
from aclkit.model.broker_settings import SUPER_USERS, GivenSettings, resolve
from aclkit.pipeline.sources.acls_list import read_acls_list
from aclkit.pipeline.sources.live import read_live
from tests.tools.broker.server import LISTENERS, acls, run_tool, start_broker

pytestmark = [pytest.mark.slow, pytest.mark.kafka, pytest.mark.timeout(300)]

STRANGE, STRANGE_SECRET = "ad=m,in", "sec=ret-1"
FIELDS = (
    *("resource_type", "resource_name", "pattern_type", "principal", "host", "operation"),
    "permission_type",
)
SINGLE = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
}


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    """A broker with a few of everything that ``live`` brings along."""
    with start_broker(tmp_path_factory.mktemp("live") / "b", SINGLE, LISTENERS) as running:
        at = ("--bootstrap-server", running.address())
        run_tool(
            *("kafka.admin.ConfigCommand", *at, "--alter", "--entity-type", "users"),
            *("--add-config", f"SCRAM-SHA-256=[password={STRANGE_SECRET}]"),
            *("--entity-name", STRANGE),
        )
        run_tool("org.apache.kafka.tools.TopicCommand", *at, "--create", "--topic", "orders")
        run_tool(
            *("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", *at, "--execute"),
            *("--reset-offsets", "--to-earliest", "--topic", "orders", "--group", "billing"),
        )
        run_tool(
            *("org.apache.kafka.tools.ProducerPerformance", *at, "--topic", "orders"),
            *("--num-records", "1", "--record-size", "10", "--throughput", "-1"),
            *("--transactional-id", "tx-1", "--transaction-duration-ms", "1"),
        )
        run_tool(
            *("org.apache.kafka.tools.DelegationTokenCommand", "--create"),
            *("--bootstrap-server", running.address("SASL_SSL"), "--max-life-time-period", "-1"),
            *("--command-config", str(running.client("SASL_SSL", "alice"))),
        )
        for user in (STRANGE, "CN=client"):
            granted = ("--allow-principal", f"User:{user}", "--operation", "DESCRIBE")
            acls(running, "--add", "--cluster", *granted)
        allowed = ("--allow-principal", "User:alice", "--operation", "READ")
        acls(running, "--add", "--topic", "orders", *allowed)
        yield running


@pytest.fixture(autouse=True)
def collect_sockets():
    """kafka-python leaves sockets of failed handshakes to the garbage collector."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


def ask(broker, listener, properties, seconds=30):
    return read_live(broker.address(listener), client_config(properties), seconds)


def properties_of(broker, listener, user="admin", **changes):
    given = read_properties(broker.client(listener, user))
    return given | {key.replace("_", "."): value for key, value in changes.items()}


def bindings(rows):
    added = (row for row in rows if row.record_type == "ACCESS_CONTROL_ENTRY_RECORD")
    return {tuple(getattr(row, name) for name in FIELDS) for row in added}


@pytest.mark.parametrize("listener", LISTENERS)
def test_live_lists_what_kafka_acls_lists_over_every_listener(broker, listener):
    listing = ask(broker, listener, properties_of(broker, listener))
    text = acls(broker, "--list").splitlines(keepends=True)
    assert bindings(listing.rows) == bindings(read_acls_list(text, "s"))
    assert len(bindings(listing.rows)) == 3


def test_what_questions_need_is_brought_along_without_secrets(broker):
    listing = ask(broker, "SASL_SSL", properties_of(broker, "SASL_SSL"))
    names = {(row.resource_type or row.mechanism, row.resource_name or row.principal)
             for row in listing.rows}  # fmt: skip
    assert {
        *((None, "orders"), ("GROUP", "billing"), ("TRANSACTIONAL_ID", "tx-1")),
        *(("SCRAM-SHA-256", f"User:{STRANGE}"), ("DELEGATION_TOKEN", "User:alice")),
    } <= names
    assert len(listing.told) == 5
    (config,) = listing.brokers
    assert config.values["super.users"] is None  # set, and kept back
    assert "allow.everyone.if.no.acl.found" not in config.values
    assert config.values["authorizer.class.name"].endswith(".StandardAuthorizer")
    assert listing.metadata_version > 20
    (token,) = (row for row in listing.rows if row.resource_type == "DELEGATION_TOKEN")
    assert [getattr(token, name) for name in ("raw", "digest", "topic_id", "acl_id")] == [None] * 4


def test_a_broker_without_an_authorizer_is_refused(tmp_path):
    with (
        start_broker(tmp_path / "open", {**SINGLE, "authorizer.class.name": ""}) as running,
        pytest.raises(DataError, match=r"no authorizer .* allows everything"),
    ):
        read_live(running.address(), client_config({}), 30.0)


def test_what_brokers_hide_is_unknown_until_it_is_passed(broker):
    told = ask(broker, "SASL_SSL", properties_of(broker, "SASL_SSL")).brokers
    assert resolve(GivenSettings(), told).settings.unknown == {SUPER_USERS}
    assert not resolve(GivenSettings(super_users=frozenset()), told).settings.unknown


def test_a_user_who_may_only_describe_the_cluster_knows_topics_by_their_names(broker):
    properties = properties_of(broker, "SSL")
    listing = ask(broker, "SSL", properties)
    topics = {r.resource_name: r.topic_id for r in listing.rows if r.record_type == "TOPIC_RECORD"}
    assert topics["orders"] is None
    assert any("that the user is not allowed to DESCRIBE" in note for note in listing.notes)
    assert any("DESCRIBE_CONFIGS on the cluster" in note for note in listing.notes)


def test_a_user_without_the_right_to_the_cluster_is_told_which(broker):
    with pytest.raises(SurroundingsError, match="Missing right: DESCRIBE on the cluster"):
        ask(broker, "SASL_SSL", properties_of(broker, "SASL_SSL", "bob"))


def scram(user, secret):
    return (
        "org.apache.kafka.common.security.scram.ScramLoginModule required "
        f"username='{user}' password={secret};"
    )


def test_a_scram_name_with_separators_logs_in_by_unquoted_jaas(broker):
    jaas = f"username='{STRANGE}' password='{STRANGE_SECRET}';"
    properties = properties_of(
        broker, "SASL_PLAINTEXT", security_protocol="sasl_plaintext",
        sasl_jaas_config=scram("x", "y").partition("username")[0] + jaas,
    )  # fmt: skip
    assert bindings(ask(broker, "SASL_PLAINTEXT", properties).rows)


def test_a_password_by_a_config_provider(broker, tmp_path):
    (tmp_path / "secret").write_text(broker.users["admin"], encoding="utf-8")
    properties = properties_of(
        broker, "SASL_SSL", sasl_jaas_config=scram("admin", f"'${{d:{tmp_path}:secret}}'")
    ) | {
        "config.providers": "d",
        "config.providers.d.class": (
            "org.apache.kafka.common.config.provider.DirectoryConfigProvider"
        ),
    }
    assert bindings(ask(broker, "SASL_SSL", properties).rows)


@pytest.mark.parametrize("listener", ["SASL_PLAINTEXT", "SASL_SSL"])
def test_a_wrong_password_is_named_as_such(broker, listener):
    properties = properties_of(broker, listener, sasl_jaas_config=scram("admin", "wrong"))
    with pytest.raises(SurroundingsError, match=r"authentication failed: .*invalid credentials"):
        ask(broker, listener, properties)


@pytest.mark.parametrize(
    ("listener", "protocol", "message"),
    [
        ("SSL", "PLAINTEXT", "Check that security.protocol fits this port"),
        ("SASL_SSL", "SASL_PLAINTEXT", "Check that security.protocol fits this port"),
        ("PLAINTEXT", "SSL", "Check that this port uses TLS"),
    ],
)
def test_another_protocol_than_the_ports_is_a_guess_in_the_message(
    broker, listener, protocol, message
):
    properties = properties_of(broker, "SASL_SSL", security_protocol=protocol)
    with pytest.raises(SurroundingsError, match=message):
        ask(broker, listener, properties, 10)


def test_an_authority_that_is_not_trusted_is_said(broker):
    properties = {"security.protocol": "SSL"}
    with pytest.raises(SurroundingsError, match=r"Check that ssl\.truststore is the right one"):
        ask(broker, "SSL", properties, 10)


def test_pkcs12_stores_and_pem_in_one_line(broker, tmp_path):
    files = {name: Path(broker.folder, f"{name}.pem").read_bytes() for name in ("ca", "client")}
    authority = x509.load_pem_x509_certificate(files["ca"])
    (certificate, *_) = x509.load_pem_x509_certificates(files["client"])
    key = load_pem_private_key(files["client"], None)
    how = BestAvailableEncryption(b"store")
    (tmp_path / "t.p12").write_bytes(
        pkcs12.serialize_java_truststore([pkcs12.PKCS12Certificate(authority, b"ca")], how)
    )
    (tmp_path / "k.p12").write_bytes(
        pkcs12.serialize_key_and_certificates(b"client", key, certificate, None, how)
    )
    stores = {
        "security.protocol": "SSL",
        **{"ssl.truststore.location": f"{tmp_path}/t.p12", "ssl.truststore.password": "store"},
        **{"ssl.keystore.location": f"{tmp_path}/k.p12", "ssl.keystore.password": "store"},
    }
    expected = bindings(ask(broker, "SSL", stores).rows)
    text = files["client"].decode()
    begin = text.index("-----BEGIN CERTIFICATE")
    pair = (text[:begin], text[begin:]) if "PRIVATE KEY" in text[:begin] else None
    if pair is None:
        end = text.index("-----BEGIN", begin + 10)
        pair = (text[end:], text[begin:end])
    inline = {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": files["ca"].decode().replace("\n", " "),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.key": pair[0].replace("\n", " "),
        "ssl.keystore.certificate.chain": pair[1].replace("\n", " "),
    }
    assert bindings(ask(broker, "SSL", inline).rows) == expected
    assert len(expected) == 3
