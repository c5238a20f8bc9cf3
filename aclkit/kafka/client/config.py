"""A Kafka client's configuration → kafka-python's settings, and what must never be shown.

Source: org.apache.kafka.clients.CommonClientConfigs, common.config.SaslConfigs and the login
modules of common.security; KIP-768 and KIP-1139 for OAUTHBEARER.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from aclkit.errors import UsageError
from aclkit.kafka.client.jaas import JaasEntry, parse_jaas
from aclkit.kafka.client.keys import not_honoured
from aclkit.kafka.client.oauth import Tokens, grant_of
from aclkit.kafka.client.providers import resolve_variables
from aclkit.kafka.client.tls import tls_context

_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_LOGIN_MODULES: Final = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "OAUTHBEARER": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule",
}
_WAY_OUT: Final = (
    ". Or list them with Kafka's own tool: kafka-acls --bootstrap-server HOST:PORT "
    "--command-config FILE --list > acls.txt, and pass --source acls-list:acls.txt"
)
_SECRET_KEYS: Final = (
    *("sasl.jaas.config", "ssl.key.password", "ssl.keystore.password", "ssl.truststore.password"),
    *("ssl.keystore.key", "sasl.oauthbearer.client.credentials.client.secret"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfig:
    """A configuration that has been looked at.

    Attributes:
        settings: keyword arguments of kafka-python's connections.
        secrets: texts that no message may hold.
        not_honoured: keys that were passed over.
        tokens: what fetches the token of OAUTHBEARER.
    """

    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    not_honoured: tuple[str, ...] = ()
    tokens: Tokens | None = None

    def masked(self, text: str) -> str:
        """Take the secrets out of a message, should one have come into it."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text


def client_config(properties: Mapping[str, str]) -> ClientConfig:
    """Translate a Kafka client's configuration; its files are read, no broker is asked.

    Raises:
        UsageError: the configuration has something that is not supported here; the message names
            another way to list the ACLs, and contains no secret.
    """
    secrets: list[str] = []
    try:
        resolved = resolve_variables(properties)
        secrets += [resolved.get(key, "") for key in _SECRET_KEYS]
        odd = not_honoured(resolved)
        protocol = resolved.get("security.protocol", "PLAINTEXT").strip().upper()
        if protocol not in _PROTOCOLS:
            raise UsageError(f"security.protocol: expected one of {', '.join(_PROTOCOLS)}")
        settings: dict[str, Any] = {"security_protocol": protocol}
        settings["client_id"] = resolved.get("client.id") or "aclkit"
        if protocol.startswith("SASL"):
            entry = parse_jaas(resolved.get("sasl.jaas.config", ""))
            secrets += [entry.options.get(key, "") for key in ("password", "clientSecret")]
            settings |= _sasl_settings(resolved, entry)
        if protocol.endswith("SSL"):
            settings["ssl_context"] = tls_context(resolved)
    except UsageError as error:
        told = str(error)
    else:
        return ClientConfig(
            settings=settings,
            secrets=_longest_first(secrets),
            not_honoured=odd,
            tokens=settings.get("sasl_oauth_token_provider"),
        )
    # Outside of the handler: what was raised may hold passwords in its frames.
    told = ClientConfig(secrets=_longest_first(secrets)).masked(told)
    raise UsageError(told + _WAY_OUT)


def _longest_first(secrets: list[str]) -> tuple[str, ...]:
    """Sort secrets so that none is cut by a shorter one; one of a letter or two masks nothing."""
    return tuple(sorted({text for text in secrets if len(text) > 2}, key=len, reverse=True))


def _sasl_settings(properties: Mapping[str, str], entry: JaasEntry) -> dict[str, Any]:
    mechanism = properties.get("sasl.mechanism", "GSSAPI").strip()
    module = _LOGIN_MODULES.get(mechanism)
    if module is None:
        supported = ", ".join(_LOGIN_MODULES)
        raise UsageError(f"sasl.mechanism: expected one of {supported}, found {mechanism!r}")
    if entry.module.rpartition(".")[2] != module.rpartition(".")[2]:
        raise UsageError(f"sasl.jaas.config: expected the login module {module} for {mechanism}")
    if mechanism == "OAUTHBEARER":
        tokens = Tokens(grant_of(properties, entry.options))
        return {"sasl_mechanism": mechanism, "sasl_oauth_token_provider": tokens}
    if not {"username", "password"} <= entry.options.keys():
        raise UsageError('sasl.jaas.config: expected username="…" and password="…"')
    if entry.options.get("tokenauth", "").lower() == "true":
        raise UsageError("sasl.jaas.config: tokenauth is not supported here")
    username = entry.options["username"]
    if mechanism.startswith("SCRAM"):
        # kafka-python writes the name as it is; in SCRAM's messages two signs are separators
        # (RFC 5802 section 5.1, ScramFormatter.saslName).
        username = username.replace("=", "=3D").replace(",", "=2C")
    return {
        "sasl_mechanism": mechanism,
        "sasl_plain_username": username,
        "sasl_plain_password": entry.options["password"],
    }
