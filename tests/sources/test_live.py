"""A running cluster's ACLs, asked of a broker that speaks the protocol's bytes."""

from __future__ import annotations

import gc
import logging
import time
import warnings

import pytest

from aclkit.errors import SurroundingsError, UsageError
from aclkit.sources.live import (
    parse_properties,
    read_client_properties,
    read_live,
    read_live_cluster_id,
)
from tests.sources.fake_broker import fake_broker

pytestmark = pytest.mark.timeout(60)

READ = (2, "orders", 3, "User:alice", "*", 3, 3)
PASSWORD = "hunter2-very-secret"
SASL = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
    f'username="alice" password="{PASSWORD}";',
}


def listed(broker, properties=(), timeout=10.0):
    return list(read_live(broker.bootstrap, dict(properties), timeout))


def fields(row):
    names = ("resource_type", "resource_name", "pattern_type", "principal", "host")
    return (*(getattr(row, n) for n in names), row.operation, row.permission_type)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_all_acls_are_read_in_every_version_of_the_protocol(version):
    with fake_broker([READ], max_version=version) as broker:
        (row,) = listed(broker)
    expected = ("TOPIC", "orders", "LITERAL", "User:alice", "*", "READ", "ALLOW")
    assert fields(row) == expected
    assert (row.kind, row.fact, row.acl_id, row.log_offset) == ("fact", "listing", None, None)
    assert row.record_type == "ACCESS_CONTROL_ENTRY_RECORD"


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


def test_the_cluster_id_is_read():
    with fake_broker() as broker:
        assert read_live_cluster_id(broker.bootstrap, {}, 10.0) == "fake-cluster"


@pytest.mark.parametrize(
    ("code", "name"), [(31, "CLUSTER_AUTHORIZATION_FAILED"), (54, "SECURITY_DISABLED")]
)
def test_a_refusal_names_the_brokers_error(code, name):
    with (
        fake_broker(error=(code, "no way")) as broker,
        pytest.raises(SurroundingsError, match=rf"{name} \(no way\); "),
    ):
        listed(broker)


@pytest.fixture
def collect_sockets():
    """kafka-python leaves refused sockets to the garbage collector."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


@pytest.mark.usefixtures("collect_sockets")
def test_an_unreachable_cluster_ends_within_the_time_given():
    started = time.monotonic()
    with pytest.raises(SurroundingsError, match=r"cannot be asked: .*ECONNREFUSED"):
        list(read_live("127.0.0.1:1", {}, 1.0))
    assert time.monotonic() - started < 5


@pytest.mark.usefixtures("collect_sockets")
def test_the_next_broker_is_asked_when_one_cannot_be_reached():
    with fake_broker([READ]) as broker:
        assert len(list(read_live(f"127.0.0.1:1,{broker.bootstrap}", {}, 10.0))) == 1


def test_a_mute_broker_ends_within_the_time_given():
    started = time.monotonic()
    with fake_broker(is_mute=True) as broker, pytest.raises(SurroundingsError, match=r"[Tt]im"):
        listed(broker, timeout=1.0)
    assert time.monotonic() - started < 8


def test_a_broker_without_pattern_types_is_refused():
    with fake_broker(max_version=0) as broker, pytest.raises(SurroundingsError, match="version"):
        listed(broker, timeout=2.0)


def test_a_failed_login_shows_no_password_in_message_or_log(caplog):
    caplog.set_level(logging.DEBUG)
    with fake_broker() as broker, pytest.raises(SurroundingsError) as raised:
        listed(broker, SASL, timeout=3.0)
    assert "Authentication failed" in str(raised.value)
    assert PASSWORD not in str(raised.value) + caplog.text
    assert raised.value.__context__ is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"security.protocol": "TLS"}, "security.protocol"),
        ({"sasl.mechanism": "GSSAPI"}, "sasl.mechanism"),
        ({"sasl.jaas.config": PASSWORD}, "sasl.jaas.config"),
        ({"sasl.login.class": "x"}, "sasl.login.class"),
        ({"security.protocol": "SSL", "ssl.truststore.location": "a.jks"}, "only PEM"),
        (
            {
                "security.protocol": "SSL",
                "ssl.truststore.type": "PEM",
                "ssl.truststore.location": "nowhere.pem",
            },
            "cannot be used",
        ),
    ],
)
def test_what_is_not_supported_is_a_usage_error_without_secrets(changes, message):
    with pytest.raises(UsageError, match=message) as raised:
        list(read_live("127.0.0.1:1", SASL | changes, 1.0))
    assert PASSWORD not in str(raised.value)


@pytest.mark.parametrize(
    "bootstrap", ["", "host", "host:port", "http://a:1", "a:1,,b:2", "a:99999", "a:0", "a:\u0661"]
)
def test_bootstrap_needs_host_and_port(bootstrap):
    with pytest.raises(UsageError, match="host:port"):
        list(read_live(bootstrap, {}, 1.0))


def test_properties_are_read_as_java_reads_them(tmp_path):
    path = tmp_path / "client.properties"
    text = (
        "# comment\\\n! too\n  a=1\nb : 2\nc 3\nd\\=e=f=g\nh=one \\\n   two\n"
        "i=\\u00e9\\t\\q\\\\\nj=caf\xe9\nk=\\uD83D\\uDE00\n"
    )
    path.write_bytes(text.encode("latin-1"))
    assert read_client_properties(path) == {
        **{"a": "1", "b": "2", "c": "3", "d=e": "f=g", "h": "one two"},
        **{"i": "é\tq\\", "j": "café", "k": "😀"},
    }
    assert parse_properties("") == {}


def test_a_missing_properties_file_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match=r"no such file; expected a \.properties file"):
        read_client_properties(tmp_path / "none")
