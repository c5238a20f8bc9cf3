"""A Kafka client's configuration, translated or refused."""

from __future__ import annotations

import pytest

from aclkit.errors import UsageError
from aclkit.kafka.client.config import client_config

PASSWORD = "hunter2-very-secret"


def plain(**changes):
    given = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'username="alice" password="{PASSWORD}";',
    }
    return given | {key.replace("_", "."): value for key, value in changes.items()}


def scram(username, mechanism="SCRAM-SHA-512"):
    return plain(
        sasl_mechanism=mechanism,
        sasl_jaas_config="org.apache.kafka.common.security.scram.ScramLoginModule required "
        f"username='{username}' password={PASSWORD};",
    )


@pytest.mark.parametrize("protocol", ["sasl_plaintext", "Sasl_Plaintext", "SASL_PLAINTEXT"])
def test_the_protocol_is_read_in_any_case(protocol):
    settings = client_config(plain(security_protocol=protocol)).settings
    assert settings["security_protocol"] == "SASL_PLAINTEXT"


def test_an_empty_configuration_is_plaintext():
    settings = client_config({}).settings
    assert settings == {"security_protocol": "PLAINTEXT", "client_id": "aclkit"}


def test_the_client_id_is_honoured():
    assert client_config({"client.id": "audit"}).settings["client_id"] == "audit"


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_scram_names_are_escaped_as_rfc_5802_wants(mechanism):
    settings = client_config(scram("a=b,c", mechanism)).settings
    assert settings["sasl_plain_username"] == "a=3Db=2Cc"
    assert settings["sasl_plain_password"] == PASSWORD


def test_names_of_plain_stay_as_they_are():
    text = plain()["sasl.jaas.config"].replace("alice", "a=b,c")
    assert client_config(plain(sasl_jaas_config=text)).settings["sasl_plain_username"] == "a=b,c"


def test_a_password_of_a_config_provider_is_resolved(tmp_path):
    (tmp_path / "s.properties").write_text(f"pw={PASSWORD}\n", encoding="utf-8")
    text = plain()["sasl.jaas.config"].replace(PASSWORD, f"${{file:{tmp_path}/s.properties:pw}}")
    given = plain(sasl_jaas_config=text) | {
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
    }
    config = client_config(given)
    assert config.settings["sasl_plain_password"] == PASSWORD
    assert config.masked(f"x {PASSWORD} y") == "x *** y"
    assert config.not_honoured == ()


def test_a_variable_that_nothing_resolves_is_never_a_password():
    text = plain()["sasl.jaas.config"].replace(PASSWORD, "${file:/x:pw}")
    with pytest.raises(UsageError, match=r"not in config.providers"):
        client_config(plain(sasl_jaas_config=text))


def test_harmless_keys_pass_and_others_are_said():
    harmless = {
        **{"request.timeout.ms": "1", "sasl.login.refresh.window.factor": "0.8", "retries": "3"},
        **{"sasl.kerberos.service.name": "kafka", "metric.reporters": "x"},
    }
    odd = {"client.dns.lookup": "use_all_dns_ips", "ssl.trustmanager.algorithm": "PKIX", "a": "b"}
    config = client_config(plain() | harmless | odd)
    assert config.not_honoured == ("a", "client.dns.lookup", "ssl.trustmanager.algorithm")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"security.protocol": "TLS"}, "security.protocol"),
        ({"sasl.mechanism": "GSSAPI"}, "sasl.mechanism"),
        ({"sasl.mechanism": "scram-sha-256"}, "sasl.mechanism"),
        ({"sasl.jaas.config": PASSWORD}, "sasl.jaas.config"),
        ({"sasl.jaas.config": ""}, "expected one login module"),
        ({"sasl.jaas.config": f"a.Other required username=a password={PASSWORD};"}, "login module"),
        ({"sasl.jaas.config": "a.PlainLoginModule required username=a;"}, "password"),
        ({"sasl.jaas.config": "a.PlainLoginModule required username=1a;"}, "quotes"),
        ({"sasl.login.class": "x"}, "sasl.login.class"),
        ({"sasl.client.callback.handler.class": "x"}, "sasl.client.callback.handler.class"),
        ({"sasl.login.callback.handler.class": "x"}, "sasl.login.callback.handler.class"),
        ({"ssl.engine.factory.class": "x"}, "ssl.engine.factory.class"),
        ({"ssl.cipher.suites": "x"}, "ssl.cipher.suites"),
        ({"bootstrap.controllers": "x:1"}, "bootstrap.controllers"),
    ],
)
def test_what_is_not_supported_names_the_way_out_and_no_secret(changes, message):
    with pytest.raises(UsageError, match=message) as raised:
        client_config(plain() | changes)
    assert PASSWORD not in str(raised.value)
    assert "kafka-acls --bootstrap-server HOST:PORT --command-config FILE --list" in str(
        raised.value
    )
    assert ".." not in str(raised.value)
    assert raised.value.__context__ is None


def test_a_login_by_a_delegation_token_is_refused():
    given = scram("x")
    given["sasl.jaas.config"] = given["sasl.jaas.config"].replace(";", ' tokenauth="true";')
    with pytest.raises(UsageError, match="tokenauth"):
        client_config(given)


def test_no_secret_is_shown_by_the_object_itself():
    assert PASSWORD not in repr(client_config(plain()))
