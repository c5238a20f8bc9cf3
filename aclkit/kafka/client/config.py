"""A Kafka client's configuration → kafka-python's settings, and what must never be shown.

Source: AdminClientConfig, SslConfigs, SaslConfigs and CommonClientConfigs of Kafka 4.1, and the
login modules of common.security; KIP-768 and KIP-1139 for OAUTHBEARER. A key is refused where going
on without it would ask another cluster, as another user, or less safely than configured.

``sasl.jaas.config`` is read as org.apache.kafka.common.security.JaasConfig does, which cuts the
text with a java.io.StreamTokenizer: words of letters, digits, ``.-_$`` and all above U+009F;
numbers; text in single or double quotes with C's escapes; comments from ``//`` or ``/`` to the end
of the line and from ``/*`` to ``*/``. A value that begins like a number is none: it needs quotes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from aclkit.errors import UsageError
from aclkit.kafka.client.oauth import Tokens, grant_of
from aclkit.kafka.client.properties import resolve_variables
from aclkit.kafka.client.services import refuse_service_login
from aclkit.kafka.client.tls import tls_context
from aclkit.model.unread import ANY_USER

HONOURED: Final = {
    *("security.protocol", "client.id", "sasl.mechanism", "sasl.jaas.config"),
    *("ssl.truststore.type", "ssl.truststore.location", "ssl.truststore.password"),
    *("ssl.truststore.certificates", "ssl.keystore.type", "ssl.keystore.location"),
    *("ssl.keystore.password", "ssl.keystore.key", "ssl.keystore.certificate.chain"),
    *("ssl.key.password", "ssl.endpoint.identification.algorithm"),
    *("ssl.protocol", "ssl.enabled.protocols"),
    *("sasl.oauthbearer.token.endpoint.url", "sasl.oauthbearer.scope"),
    *("sasl.oauthbearer.jwt.retriever.class", "sasl.oauthbearer.header.urlencode"),
    "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.credentials.client.secret",
    "sasl.login.callback.handler.class",
}

_HARMLESS: Final = {
    # Time limits, retries, buffers and metrics of a client that lives long: --timeout is the limit.
    *("request.timeout.ms", "default.api.timeout.ms", "retries", "retry.backoff.ms"),
    *("retry.backoff.max.ms", "reconnect.backoff.ms", "reconnect.backoff.max.ms"),
    *("connections.max.idle.ms", "send.buffer.bytes", "receive.buffer.bytes"),
    *("socket.connection.setup.timeout.ms", "socket.connection.setup.timeout.max.ms"),
    *("metadata.max.age.ms", "metadata.recovery.strategy"),
    *("metadata.recovery.rebootstrap.trigger.ms", "enable.metrics.push"),
    *("auto.include.jmx.reporter", "metric.reporters", "metrics.num.samples"),
    *("metrics.recording.level", "metrics.sample.window.ms"),
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
    refuse_service_login(properties)
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


@dataclass(frozen=True, slots=True)
class JaasEntry:
    """The one entry of ``sasl.jaas.config``: the login module's class and its options."""

    module: str
    options: Mapping[str, str]


def parse_jaas(text: str) -> JaasEntry:
    r"""Read ``sasl.jaas.config``.

    Raises:
        UsageError: as Kafka would refuse it. The message names keys only, and quotes no value.

    >>> parse_jaas("a.PlainLoginModule required username=bob password='p\"w';").options
    {'username': 'bob', 'password': 'p"w'}
    """
    tokens = _tokens(text)
    entries = []
    for kind, module in tokens:
        flag = next(tokens, None)
        if flag is None:
            raise UsageError("sasl.jaas.config: expected a control flag after the login module")
        if (flag[1] or "").upper() not in _FLAGS:
            raise UsageError(
                f"sasl.jaas.config: expected one of {', '.join(_FLAGS).lower()} after the "
                "login module"
            )
        if kind not in (_WORD, *_QUOTES):
            raise UsageError("sasl.jaas.config: expected the class of a login module first")
        entries.append(JaasEntry(module or "", _options(tokens)))
    if len(entries) != 1:
        raise UsageError(f"sasl.jaas.config: expected one login module, found {len(entries)}")
    return entries[0]


_Token = tuple[str, str | None]


def _options(tokens: Iterator[_Token]) -> dict[str, str]:
    """Read ``key=value`` up to the semicolon."""
    options: dict[str, str] = {}
    for kind, key in tokens:
        if kind == ";":
            return options
        equals, value = next(tokens, None), None
        if equals is not None and equals[0] == "=":
            value = next(tokens, (_END, None))[1]
        if value is None:
            shown = f"the key {key!r}" if key and equals and equals[0] == "=" else "an option"
            raise UsageError(
                f"sasl.jaas.config: {shown} has no value that Kafka can read. Expected "
                'key="value"; a value that begins with a digit, a dot or a minus needs '
                "quotes."
            )
        if key is not None:
            options[key] = value
    raise UsageError("sasl.jaas.config: expected a semicolon at the end")


_FLAGS: Final = ("REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL")
_END, _WORD, _NUMBER = "end", "word", "number"
_QUOTES: Final = ('"', "'")
_ESCAPES: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _tokens(text: str) -> Iterator[_Token]:
    """Cut a text into words, numbers (without a value), quoted texts and single letters."""
    at = 0
    while at < len(text):
        letter = text[at]
        if letter <= " ":
            at += 1
        elif letter in "0123456789.-":
            end = _end_of_number(text, at)
            yield (_NUMBER, None) if end > at else ("-", None)
            at = max(end, at + 1)
        elif _is_alpha(letter):
            end = at
            while end < len(text) and (_is_alpha(text[end]) or text[end] in "0123456789."):
                end += 1
            yield _WORD, text[at:end]
            at = end
        elif letter in _QUOTES:
            value, at = _quoted(text, at)
            yield letter, value
        elif letter == "/":
            at = _end_of_comment(text, at)
        else:
            yield letter, None
            at += 1


def _is_alpha(letter: str) -> bool:
    return ("a" <= letter <= "z") or ("A" <= letter <= "Z") or letter in "-_$" or letter >= "\xa0"


def _end_of_number(text: str, start: int) -> int:
    """Return where a number ends; ``start`` itself for a minus without one."""
    at = start + (text[start] == "-")
    if at > start and (at >= len(text) or text[at] not in "0123456789."):
        return start
    has_dot = False
    while at < len(text) and (text[at] in "0123456789" or (text[at] == "." and not has_dot)):
        has_dot = has_dot or text[at] == "."
        at += 1
    return at


def _end_of_comment(text: str, start: int) -> int:
    if text.startswith("/*", start):
        end = text.find("*/", start + 2)
        return len(text) if end < 0 else end + 2
    # From the second letter on: a line that ends at once takes the next one with it.
    ends = [end for mark in "\r\n" if (end := text.find(mark, start + 2)) >= 0]
    return min(ends, default=len(text))


def _quoted(text: str, start: int) -> tuple[str, int]:
    """Read a quoted text: its value, and where the next token begins. A line's end ends it."""
    quote, at, value = text[start], start + 1, []
    while at < len(text) and text[at] not in (quote, "\r", "\n"):
        if text[at] != "\\":
            value.append(text[at])
            at += 1
        elif at + 1 >= len(text):
            # Java takes the end of the text for a letter here; no value ends so.
            raise UsageError("sasl.jaas.config: a backslash at the end escapes nothing")
        elif text[at + 1] in "01234567":
            most = 3 if text[at + 1] <= "3" else 2
            end = at + 2
            while end < at + 1 + most and end < len(text) and text[end] in "01234567":
                end += 1
            value.append(chr(int(text[at + 1 : end], 8)))
            at = end
        else:
            value.append(_ESCAPES.get(text[at + 1], text[at + 1]))
            at += 2
    is_closed = at < len(text) and text[at] == quote
    return "".join(value), at + is_closed


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
        principal: who logs in, unless the brokers map names: of SCRAM the user, else a placeholder.
    """

    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    not_honoured: tuple[str, ...] = ()
    tokens: Tokens | None = None
    principal: str = ANY_USER

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
    principal = ANY_USER
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
            # The user name of PLAIN is often that of an API key.
            if str(settings["sasl_mechanism"]).startswith("SCRAM"):
                principal = f"User:{entry.options['username']}"
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
            principal=principal,
        )
    # Outside of the handler: what was raised may hold passwords in its frames.
    told = ClientConfig(secrets=_longest_first(secrets)).masked(told)
    raise UsageError(told.removesuffix(".") + _WAY_OUT)


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
