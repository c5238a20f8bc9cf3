"""A running cluster's answer to DescribeAcls → the ACLs of a listing.

kafka-python's own ``describe_acls`` fails on the first code that it does not know, so the request
is sent at protocol level and codes stay numbers (KIP-140, KIP-290; DescribeAclsRequest.json).
"""

from __future__ import annotations

import logging
import re
import ssl
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from kafka import errors as kafka_errors
from kafka.net import KafkaConnectionManager, NetworkSelector
from kafka.protocol.admin import DescribeAclsRequest, DescribeAclsResponse

from aclkit.errors import SurroundingsError, UsageError
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from aclkit.sources.rows import ADD_ACL, FACT, LISTING, SourceRow
from aclkit.user_file import LARGEST_TEXT, read_file

T = TypeVar("T")

_ANY: Final = 1
_MAX_ANSWER: Final = 256 * 1024 * 1024
_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_LOGIN_MODULES: Final = {
    "PLAIN": "PlainLoginModule",
    "SCRAM-SHA-256": "ScramLoginModule",
    "SCRAM-SHA-512": "ScramLoginModule",
}
_JAAS_OPTION: Final = re.compile(r'(\w{1,60})\s{0,8}=\s{0,8}"((?:[^"\\]|\\.)*)"', re.DOTALL)
_USED: Final = {
    *("security.protocol", "sasl.mechanism", "sasl.jaas.config", "ssl.key.password"),
    *("ssl.truststore.type", "ssl.truststore.location", "ssl.truststore.certificates"),
    *("ssl.keystore.type", "ssl.keystore.location", "ssl.endpoint.identification.algorithm"),
}
_HINTS: Final = {
    "CLUSTER_AUTHORIZATION_FAILED": "; the user needs DESCRIBE on the cluster",
    "SECURITY_DISABLED": "; the cluster has no authorizer",
}
_PROBLEMS: Final = (kafka_errors.KafkaError, OSError, ValueError, RuntimeError)


def read_live(
    bootstrap: str, properties: Mapping[str, str], timeout_seconds: float
) -> Iterator[SourceRow]:
    """Ask a running cluster for all its ACLs.

    Args:
        bootstrap: ``host:port`` of one or more brokers, with commas.
        properties: a Kafka client's configuration, as of ``read_client_properties``.
        timeout_seconds: how long all of it may take.

    Raises:
        UsageError: the configuration has something that is not supported here.
        SurroundingsError: the cluster cannot be reached, or refuses.
    """

    async def ask(manager: KafkaConnectionManager, node_id: str) -> DescribeAclsResponse:
        return await manager.send(_everything(), node_id)

    answer = _ask(bootstrap, properties, timeout_seconds, ask)
    if answer.error_code:
        name = getattr(kafka_errors.for_code(answer.error_code), "message", "UNKNOWN")
        said = f" ({answer.error_message})" if answer.error_message else ""
        said = _without_secrets(said, properties)
        raise SurroundingsError(
            f"the cluster at {bootstrap} does not list its ACLs: error {answer.error_code} "
            f"{name}{said}{_HINTS.get(name, '')}"
        )
    yield from dict.fromkeys(_facts(answer, f"live:{bootstrap}"))


def read_live_cluster_id(
    bootstrap: str, properties: Mapping[str, str], timeout_seconds: float
) -> str | None:
    """Ask a running cluster for its id; the errors are those of ``read_live``."""

    async def ask(manager: KafkaConnectionManager, node_id: str) -> str | None:
        await manager.cluster.refresh_metadata(node_id)
        return str(manager.cluster.cluster_id or "") or None

    return _ask(bootstrap, properties, timeout_seconds, ask)


def read_client_properties(path: str | Path) -> dict[str, str]:
    """Read a Kafka client's .properties file, in Latin-1 as ``java.util.Properties`` does.

    Raises:
        UsageError: there is no such file, or as in ``user_file.read_file``.
        SurroundingsError: it cannot be read.
    """
    try:
        return parse_properties(read_file(str(path), LARGEST_TEXT).decode("latin-1"))
    except UsageError as error:
        raise UsageError(f"{error}; expected a .properties file") from None


def parse_properties(text: str) -> dict[str, str]:
    r"""Read the text of a .properties file (java.util.Properties.load).

    >>> parse_properties("# comment\nacks = all\na\\ b: c\\\n   d\nempty")
    {'acks': 'all', 'a b': 'cd', 'empty': ''}
    """
    return dict(_split_property(line) for line in _logical_lines(text))


def _logical_lines(text: str) -> Iterator[str]:
    """Join lines that end in an odd number of backslashes; leave out comments and blanks."""
    pending = ""
    for natural in re.split(r"\r\n|\n|\r", text):
        line = natural.lstrip(" \t\f")
        if not pending and line[:1] in ("", "#", "!"):
            continue
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            pending += line[:-1]
            continue
        yield pending + line
        pending = ""
    if pending:
        yield pending


def _split_property(line: str) -> tuple[str, str]:
    """Split at the first ``=``, ``:`` or space that no backslash precedes."""
    end = 0
    while end < len(line) and line[end] not in "=: \t\f":
        end += 2 if line[end] == "\\" else 1
    rest = line[end:].lstrip(" \t\f")
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(" \t\f")
    return _unescape(line[:end]), _unescape(rest)


def _unescape(text: str) -> str:
    controls = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}

    def replaced(match: re.Match[str]) -> str:
        if match[1] is not None:
            return chr(int(match[1], 16))
        return controls.get(match[2], match[2])

    joined = re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.?))", replaced, text, flags=re.DOTALL)
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _everything() -> DescribeAclsRequest:
    """Make the request for all ACLs; version 0 does not know pattern types."""
    return DescribeAclsRequest(
        min_version=1,
        resource_type_filter=_ANY,
        resource_name_filter=None,
        pattern_type_filter=_ANY,
        principal_filter=None,
        host_filter=None,
        operation=_ANY,
        permission_type=_ANY,
    )


def _facts(answer: DescribeAclsResponse, source: str) -> Iterator[SourceRow]:
    for resource in answer.resources:
        for acl in resource.acls:
            yield SourceRow(
                kind=FACT,
                source=source,
                fact=LISTING,
                record_type=ADD_ACL,
                resource_type=ResourceType.name_of(resource.resource_type),
                resource_name=resource.resource_name,
                pattern_type=PatternType.name_of(resource.pattern_type),
                principal=acl.principal,
                host=acl.host,
                operation=AclOperation.name_of(acl.operation),
                permission_type=AclPermissionType.name_of(acl.permission_type),
            )


def _ask(
    bootstrap: str,
    properties: Mapping[str, str],
    timeout_seconds: float,
    ask: Callable[[KafkaConnectionManager, str], Awaitable[T]],
) -> T:
    """Connect, ask one question, disconnect, within the time given."""
    for address in bootstrap.split(","):
        found = re.fullmatch(r"[^\s/,]+:([0-9]{1,5})", address)
        if not found or not 0 < int(found[1]) < 1 << 16:
            raise UsageError(f"bootstrap: expected host:port, found {address!r}")
    settings = _client_settings(properties)
    timeout_ms = max(1, round(timeout_seconds * 1000))
    try:
        with _connection(bootstrap, settings, timeout_ms) as manager:
            pending = manager.call_soon(_ask_brokers, manager, ask, timeout_ms)
            answer: T = manager.run(manager.wait_for, pending, timeout_ms)
            return answer
    except _PROBLEMS as error:
        reason = _without_secrets(str(error) or type(error).__name__, properties)
    # Outside of the handler: what kafka-python raised may hold passwords in its frames.
    raise SurroundingsError(f"the cluster at {bootstrap} cannot be asked: {reason}")


async def _ask_brokers(
    manager: KafkaConnectionManager,
    ask: Callable[[KafkaConnectionManager, str], Awaitable[T]],
    timeout_ms: int,
) -> T:
    """Ask the brokers named, one after the other, until one answers: any can.

    kafka-python's own bootstrap would try again until time is up, and not say what failed.
    """
    problem: Exception = kafka_errors.KafkaError("no broker was named")
    brokers = manager.cluster.bootstrap_brokers()
    for broker in brokers:
        try:
            await manager.get_connection(
                broker.node_id,
                timeout_ms=timeout_ms / len(brokers),
                refresh_metadata_on_err=False,
            )
            return await ask(manager, broker.node_id)
        except kafka_errors.KafkaError as error:
            problem = error
    raise problem


@contextmanager
def _connection(bootstrap: str, settings: dict[str, Any], timeout_ms: int) -> Iterator[Any]:
    """Open kafka-python's connections, without its log, which shows passwords at DEBUG."""
    logger = logging.getLogger("kafka")
    level = logger.level
    logger.setLevel(max(logger.getEffectiveLevel(), logging.CRITICAL))
    net = NetworkSelector()
    manager = None
    try:
        manager = KafkaConnectionManager(
            net,
            bootstrap_servers=bootstrap,
            client_id="aclkit",
            request_timeout_ms=timeout_ms,
            socket_connection_setup_timeout_ms=timeout_ms,
            receive_message_max_bytes=_MAX_ANSWER,
            **settings,
        )
        yield manager
    finally:
        if manager is not None:
            manager.close()
        net.close()
        logger.setLevel(level)


def _client_settings(properties: Mapping[str, str]) -> dict[str, Any]:
    """Translate a Kafka client's configuration; what only tunes a client is of no account."""
    for name in properties:
        if name.startswith(("security.", "sasl.", "ssl.")) and name not in _USED:
            raise UsageError(f"{name}: not supported here; supported are {sorted(_USED)}")
    protocol = properties.get("security.protocol", "PLAINTEXT")
    if protocol not in _PROTOCOLS:
        raise UsageError(f"security.protocol: expected one of {_PROTOCOLS}, found {protocol!r}")
    settings: dict[str, Any] = {"security_protocol": protocol}
    if protocol.startswith("SASL"):
        settings |= _sasl_settings(properties)
    if protocol.endswith("SSL"):
        settings["ssl_context"] = _ssl_context(properties)
    return settings


def _sasl_settings(properties: Mapping[str, str]) -> dict[str, Any]:
    mechanism = properties.get("sasl.mechanism", "GSSAPI")
    module = _LOGIN_MODULES.get(mechanism)
    if module is None:
        supported = ", ".join(_LOGIN_MODULES)
        raise UsageError(f"sasl.mechanism: supported are {supported}; found {mechanism!r}")
    jaas = properties.get("sasl.jaas.config", "")
    options = _jaas_options(jaas)
    if f".{module}" not in jaas or not {"username", "password"} <= options.keys():
        raise UsageError(
            f'sasl.jaas.config: expected ….{module} required username="…" password="…";'
        )
    if options.get("tokenauth", "").lower() == "true":
        raise UsageError("sasl.jaas.config: tokenauth is not supported here")
    return {
        "sasl_mechanism": mechanism,
        "sasl_plain_username": options["username"],
        "sasl_plain_password": options["password"],
    }


def _jaas_options(jaas: str) -> dict[str, str]:
    return {
        name: re.sub(r"\\(.)", r"\1", value, flags=re.DOTALL)
        for name, value in _JAAS_OPTION.findall(jaas)
    }


def _ssl_context(properties: Mapping[str, str]) -> ssl.SSLContext:
    """Load trust and key from PEM files; without a truststore the system's is used."""
    for store in ("truststore", "keystore"):
        has_store = f"ssl.{store}.location" in properties
        if has_store and properties.get(f"ssl.{store}.type", "JKS").upper() != "PEM":
            raise UsageError(f"ssl.{store}.type: only PEM is supported here")
    try:
        context = ssl.create_default_context(
            cafile=properties.get("ssl.truststore.location"),
            cadata=properties.get("ssl.truststore.certificates"),
        )
        if keystore := properties.get("ssl.keystore.location"):
            password = properties.get("ssl.key.password", "")
            context.load_cert_chain(keystore, password=password)
    except (OSError, ValueError) as error:
        reason = _without_secrets(str(error), properties)
        raise UsageError(f"ssl: truststore or keystore cannot be used: {reason}") from None
    algorithm = properties.get("ssl.endpoint.identification.algorithm", "https")
    if algorithm.lower() not in ("https", ""):
        raise UsageError("ssl.endpoint.identification.algorithm: expected https or nothing")
    context.check_hostname = algorithm != ""
    return context


def _without_secrets(text: str, properties: Mapping[str, str]) -> str:
    """Take passwords out of a message, should one have come into it."""
    jaas = properties.get("sasl.jaas.config", "")
    options = _jaas_options(jaas)
    for secret in (jaas, options.get("password"), properties.get("ssl.key.password")):
        text = text.replace(secret, "***") if secret else text
    return text
