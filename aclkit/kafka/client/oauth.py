"""A configuration for OAUTHBEARER → an access token, by OAuth's client credentials grant.

Source: RFC 6749 section 4.4; KIP-768 (clientId, clientSecret and scope in the JAAS options) and
KIP-1139 (sasl.oauthbearer.client.credentials.* of Kafka 4.1), which wins where both are there.
"""

from __future__ import annotations

import base64
import http.client
import json
import logging
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from kafka.net.sasl.oauth import AbstractTokenProvider

from aclkit.errors import SurroundingsError, UsageError
from aclkit.kafka.client.tls import tls_context
from aclkit.runtime.http_post import Answer, PostError, post

_LOGGER: Final = logging.getLogger(__name__)
_ENDPOINT: Final = "sasl.oauthbearer.token.endpoint.url"
_MOST: Final = 1 << 20
_NEW: Final = "sasl.oauthbearer.client.credentials."
_RETRIEVERS: Final = ("", "DefaultJwtRetriever", "ClientCredentialsJwtRetriever")
_PACKAGE: Final = "org.apache.kafka.common.security.oauthbearer."


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCredentials:
    """Where to ask for a token, and as whom."""

    url: str
    client_id: str
    secret: str = field(repr=False)
    scope: str | None = None
    is_encoded: bool = False
    tls: Mapping[str, str] = field(default_factory=dict, repr=False)
    extensions: Mapping[str, str] = field(default_factory=dict)


class Tokens:
    """What kafka-python asks for a token; it is fetched once, before anything is connected."""

    def __init__(self, grant: ClientCredentials) -> None:
        """Take the grant; ``fetch`` makes a token of it."""
        self.grant = grant
        self._token = ""

    def fetch(self, timeout_seconds: float) -> None:
        """Ask for the token.

        Raises:
            SurroundingsError: the endpoint cannot be asked, or refuses.
        """
        self._token = fetch_token(self.grant, timeout_seconds)

    def token(self) -> str:
        """Return the token."""
        return self._token

    def extensions(self) -> dict[str, str]:
        """Return the SASL extensions of the JAAS options ``extension_…`` (KIP-342)."""
        return dict(self.grant.extensions)


# kafka-python asks for its own class; it has no types, so that none can be made of it here.
AbstractTokenProvider.register(Tokens)


def grant_of(properties: Mapping[str, str], options: Mapping[str, str]) -> ClientCredentials:
    """Read a grant from a client's configuration and its JAAS options.

    Raises:
        UsageError: no endpoint, client or secret, or another way to come by a token.
    """
    retriever = properties.get("sasl.oauthbearer.jwt.retriever.class", "").removeprefix(_PACKAGE)
    if retriever not in _RETRIEVERS:
        raise UsageError(
            "sasl.oauthbearer.jwt.retriever.class: expected the client credentials grant, "
            f"found {retriever!r}"
        )
    url = _endpoint(properties.get(_ENDPOINT, ""))
    client_id = properties.get(f"{_NEW}client.id") or options.get("clientId")
    secret = properties.get(f"{_NEW}client.secret") or options.get("clientSecret")
    if not client_id or not secret:
        raise UsageError(
            f"OAUTHBEARER: expected {_NEW}client.id and {_NEW}client.secret, or clientId and "
            "clientSecret in sasl.jaas.config"
        )
    encoded = properties.get("sasl.oauthbearer.header.urlencode", "false")
    return ClientCredentials(
        url=url,
        client_id=client_id,
        secret=secret,
        scope=properties.get("sasl.oauthbearer.scope") or options.get("scope"),
        is_encoded=encoded.strip().lower() == "true",
        tls={key: value for key, value in options.items() if key.startswith("ssl.")},
        extensions={
            key.removeprefix("extension_"): value
            for key, value in options.items()
            if key.startswith("extension_")
        },
    )


def _endpoint(url: str) -> str:
    """Return the address of the endpoint; it is shown in messages, so it holds no secret.

    Raises:
        UsageError: it is no such address, or it holds a user or a password.
    """
    try:
        parts = urllib.parse.urlsplit(url)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_url = False
    if not is_url:
        raise UsageError(f"{_ENDPOINT}: expected an http or https URL")
    if "@" in parts.netloc:
        raise UsageError(
            f"{_ENDPOINT}: the address holds a user or a password; pass clientId and clientSecret "
            "in sasl.jaas.config"
        )
    if parts.scheme == "http":
        _LOGGER.warning(
            "warning: %s is http, so the client's secret and its token can be read on their way. "
            "Use https.",
            _ENDPOINT,
        )
    return url


def fetch_token(grant: ClientCredentials, timeout_seconds: float) -> str:
    """Ask a token endpoint for an access token.

    Raises:
        SurroundingsError: the endpoint cannot be asked, refuses, or answers something else. The
            message holds neither secret nor token.
    """
    place = urllib.parse.urlsplit(grant.url)._replace(query="", fragment="").geturl()
    try:
        answer = _ask(grant, timeout_seconds)
    except TimeoutError:
        raise SurroundingsError(f"The token endpoint {place} did not answer in time") from None
    except PostError as error:
        is_plain = isinstance(error.cause, OSError | http.client.HTTPException)
        reason = error.cause if is_plain else error
        raise SurroundingsError(f"cannot connect to the token endpoint {place}: {reason}") from None
    if not 200 <= answer.status < 300:
        kind = "authentication failed: " if answer.status in (400, 401, 403) else ""
        raise SurroundingsError(
            f"{kind}the token endpoint {place} rejects the client {grant.client_id!r}: "
            f"{answer.status}{_refusal(answer.body)}"
        )
    try:
        told = json.loads(answer.body)
    except (ValueError, RecursionError):
        told = None
    token = told.get("access_token") or told.get("id_token") if isinstance(told, dict) else None
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise SurroundingsError(f"the answer of the token endpoint {place} has no access_token")
    return token


def _ask(grant: ClientCredentials, timeout_seconds: float) -> Answer:
    form = {"grant_type": "client_credentials", **({"scope": grant.scope} if grant.scope else {})}
    pair = [grant.client_id, grant.secret]
    if grant.is_encoded:
        pair = [urllib.parse.quote_plus(text) for text in pair]
    basic = base64.b64encode(":".join(pair).encode()).decode()
    return post(
        grant.url,
        urllib.parse.urlencode(form).encode(),
        {
            "Authorization": f"Basic {basic}",
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
        },
        timeout_seconds,
        tls=tls_context(grant.tls),
        proxied=("http", "https"),
        most=_MOST,
    )


def _refusal(body: bytes) -> str:
    """Return OAuth's own error code of a refusal, which is a word (RFC 6749 section 5.2)."""
    try:
        code = json.loads(body)["error"]
    except (ValueError, LookupError, TypeError):
        return ""
    is_word = isinstance(code, str) and code.replace("_", "").isalnum() and len(code) <= 60
    return f" {code}" if is_word else ""
