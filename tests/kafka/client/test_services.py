"""Logins and addresses of managed services at which aclkit cannot read ACLs: refused in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.errors import UsageError
from aclkit.kafka.client.config import client_config
from aclkit.kafka.client.connection import require_addresses
from aclkit.kafka.client.services import port_hint

SECRET = "hunter2-very-secret"
IAM = "software.amazon.msk.auth.iam."
MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
BEARER = f'{MODULE} required x="{SECRET}";'


@pytest.mark.parametrize(
    "properties",
    [
        {
            "sasl.mechanism": "AWS_MSK_IAM",
            "sasl.jaas.config": f"{IAM}IAMLoginModule required;",
            "sasl.client.callback.handler.class": f"{IAM}IAMClientCallbackHandler",
        },
        {
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.jaas.config": BEARER,
            "sasl.login.callback.handler.class": f"{IAM}IAMOAuthBearerLoginCallbackHandler",
        },
        {"sasl.mechanism": "aws_msk_iam"},
        {"sasl.jaas.config": f"{IAM}IAMLoginModule required;"},
    ],
)
def test_a_login_by_iam_is_refused_because_acls_do_not_decide_there(properties):
    with pytest.raises(UsageError) as raised:
        client_config({"security.protocol": "SASL_SSL"} | properties)
    said = str(raised.value)
    assert "IAM policies, not ACLs, decide" in said
    assert "SCRAM listener (port 9096, public 9196)" in said
    assert "TLS listener (9094, public 9194)" in said
    assert SECRET not in said


@pytest.mark.parametrize(
    ("handler", "words"),
    [
        ("com.google.cloud.hosted.kafka.auth.GcpLoginCallbackHandler", "Use SASL/PLAIN"),
        ("com.azure.identity.KafkaHandler", "Event Hubs has no Kafka ACLs"),
        ("com.microsoft.azure.eventhubs.Handler", "Event Hubs has no Kafka ACLs"),
        (
            "io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler",
            "sasl.oauthbearer.token.endpoint.url",
        ),
        ("com.example.Handler", "except Kafka's own"),
    ],
)
def test_a_java_class_that_aclkit_cannot_run_names_what_to_use_instead(handler, words):
    with pytest.raises(UsageError) as raised:
        client_config(
            {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.jaas.config": BEARER,
                "sasl.login.callback.handler.class": handler,
            }
        )
    assert words in str(raised.value)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("b-1.x.123z8u.c2.kafka.us-west-1.amazonaws.com:9098", "is the IAM listener"),
        ("B-1.x.c2.KAFKA.us-west-1.amazonaws.com:9098", "is the IAM listener"),
        ("b-2-public.x.c2.kafka-beta.us-east-1.amazonaws.com:9198", "is the IAM listener"),
        ("b-1.x.c2.kafka.cn-north-1.amazonaws.com.cn:20098", "is the IAM listener"),
        ("boot-x.c1.kafka-serverless.eu-west-1.amazonaws.com:9098", "MSK Serverless has IAM"),
        ("a:9092,b-1.x.c2.kafka.us-west-1.amazonaws.com:9098", "is the IAM listener"),
        ("mine.servicebus.windows.net:9093", "Event Hubs has no Kafka ACLs"),
    ],
)
def test_an_address_at_which_no_acl_decides_is_refused(address, words):
    with pytest.raises(UsageError, match=words):
        require_addresses(address)


@pytest.mark.parametrize(
    "address",
    [
        "b-1.x.c2.kafka.us-west-1.amazonaws.com:9096",
        "b-1.x.c2.kafka.us-west-1.amazonaws.com:9094",
        "broker.example.org:9098",
        "kafka.us-west-1.amazonaws.com.example.org:9098",
        "servicebus.example.org:9093",
    ],
)
def test_other_addresses_are_asked(address):
    require_addresses(address)


@given(st.from_regex(r"[a-z0-9.-]{1,40}", fullmatch=True), st.integers(1, 65_535))
def test_no_address_outside_of_these_services_is_refused(host, port):
    require_addresses(f"{host}.example.org:{port}")


def test_the_iam_port_behind_another_name_is_a_hint_where_the_connection_fails():
    assert "On Amazon MSK this is the IAM port" in port_hint("broker.example.org:9098")
    assert port_hint("broker.example.org:9096") == ""


@pytest.mark.parametrize(
    "address", ["u:hunter2@h:9", "SASL_SSL://u:hunter2@h:9", "h:9,hunter2@h:9"]
)
def test_a_password_before_an_address_is_refused_and_not_shown(address):
    with pytest.raises(UsageError, match="--command-config") as refused:
        require_addresses(address)
    assert "hunter2" not in str(refused.value)
