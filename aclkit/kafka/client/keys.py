"""The keys of a Kafka client's configuration → honoured, irrelevant here, or refused.

Source: AdminClientConfig, SslConfigs, SaslConfigs and CommonClientConfigs of Kafka 4.1. A key is
refused where going on without it would ask another cluster, as another user, or less safely than
configured.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aclkit.errors import UsageError

HONOURED: Final = {
    *("security.protocol", "client.id", "sasl.mechanism", "sasl.jaas.config"),
    *("ssl.truststore.type", "ssl.truststore.location", "ssl.truststore.password"),
    *("ssl.truststore.certificates", "ssl.keystore.type", "ssl.keystore.location"),
    *("ssl.keystore.password", "ssl.keystore.key", "ssl.keystore.certificate.chain"),
    *("ssl.key.password", "ssl.endpoint.identification.algorithm"),
    *("ssl.protocol", "ssl.enabled.protocols"),
    *("sasl.oauthbearer.token.endpoint.url", "sasl.oauthbearer.scope"),
    "sasl.oauthbearer.jwt.retriever.class",
    "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.credentials.client.secret",
    "sasl.oauthbearer.header.urlencode",
    "sasl.login.callback.handler.class",
}

_HARMLESS: Final = {
    # Time limits, retries, buffers and metrics of a client that lives long: --timeout is the limit.
    *("request.timeout.ms", "default.api.timeout.ms", "retries", "retry.backoff.ms"),
    *("retry.backoff.max.ms", "reconnect.backoff.ms", "reconnect.backoff.max.ms"),
    *("connections.max.idle.ms", "send.buffer.bytes", "receive.buffer.bytes"),
    *("socket.connection.setup.timeout.ms", "socket.connection.setup.timeout.max.ms"),
    *("metadata.max.age.ms", "metadata.recovery.strategy"),
    *(
        "metadata.recovery.rebootstrap.trigger.ms",
        "enable.metrics.push",
        "auto.include.jmx.reporter",
    ),
    *("metric.reporters", "metrics.num.samples", "metrics.recording.level"),
    "metrics.sample.window.ms",
    # When a login or a token is renewed: this client asks once and goes.
    *("sasl.login.connect.timeout.ms", "sasl.login.read.timeout.ms"),
    *("sasl.login.retry.backoff.ms", "sasl.login.retry.backoff.max.ms"),
    *("sasl.login.refresh.window.factor", "sasl.login.refresh.window.jitter"),
    *("sasl.login.refresh.min.period.seconds", "sasl.login.refresh.buffer.seconds"),
    # How Kerberos renews tickets, and how a broker or a client checks a token that it was given.
    *("sasl.kerberos.kinit.cmd", "sasl.kerberos.min.time.before.relogin"),
    *("sasl.kerberos.service.name", "sasl.kerberos.ticket.renew.jitter"),
    "sasl.kerberos.ticket.renew.window.factor",
    *("sasl.oauthbearer.scope.claim.name", "sasl.oauthbearer.sub.claim.name"),
    "sasl.oauthbearer.clock.skew.seconds",
}
"""Keys without which the answer is the same."""

_REFUSED: Final = {
    "sasl.client.callback.handler.class": "a Java class",
    "sasl.login.class": "a Java class",
    "ssl.engine.factory.class": "a Java class",
    "security.providers": "Java classes",
    "bootstrap.controllers": "controllers; pass brokers",
    "ssl.cipher.suites": "a choice of ciphers, which aclkit cannot make",
}
"""Keys that change who is asked, as whom or how safely; and what they ask for."""

_LOGIN_HANDLERS: Final = (
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler",
    "org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler",
)


def not_honoured(properties: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys that are passed over though they might mean something, sorted.

    Raises:
        UsageError: a key that must not be passed over.
    """
    for key, what in _REFUSED.items():
        if properties.get(key, "").strip():
            raise UsageError(f"{key} is not supported: it asks for {what}")
    handler = properties.get("sasl.login.callback.handler.class", "").strip()
    if handler and handler not in _LOGIN_HANDLERS:
        raise UsageError(
            "sasl.login.callback.handler.class is not supported, except Kafka's own "
            f"{_LOGIN_HANDLERS[0]}"
        )
    return tuple(sorted(key for key in properties if key not in HONOURED and key not in _HARMLESS))
