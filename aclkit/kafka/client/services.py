"""A client's configuration or address of a managed service → why aclkit cannot ask it. Pure.

Source: the public documentation of Amazon MSK (ports, IAM access control), Google Cloud Managed
Service for Apache Kafka, Azure Event Hubs and Strimzi's OAuth client. None of them was tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from aclkit.errors import UsageError

_IAM_PORTS: Final = ("9098", "9198", "20098")
_MSK_HOST: Final = re.compile(r"\.kafka(-[a-z]+)?\.[a-z0-9-]+\.amazonaws\.com(\.cn)?$")
_SERVERLESS: Final = ".kafka-serverless."
_EVENT_HUBS: Final = ".servicebus."

_MSK: Final = (
    "IAM policies, not ACLs, decide for clients that log in to Amazon MSK by IAM, and aclkit "
    "cannot log in that way. ACLs decide for clients of the SCRAM listener (port 9096, public "
    "9196) and the TLS listener (9094, public 9194): connect to one of these"
)
_NOTHING_THERE: Final = (
    "MSK Serverless has IAM logins only, so IAM policies decide there and no ACLs exist to read"
)
_NO_ACLS: Final = "Azure Event Hubs has no Kafka ACLs: Azure roles and access keys decide there"
_OF_CLASSES: Final[Mapping[str, str]] = {
    "software.amazon.msk.auth.iam.": _MSK,
    "com.google.cloud.hosted.kafka.auth.": (
        "aclkit cannot run Google's Java class. Use SASL/PLAIN as Google documents it: the service "
        "account's e-mail as username, its key in Base64 as password"
    ),
    "com.azure.": _NO_ACLS,
    "com.microsoft.azure.": _NO_ACLS,
    "io.strimzi.kafka.oauth.": (
        "aclkit cannot run Strimzi's Java class. For the client credentials grant use Kafka's own "
        "keys: sasl.oauthbearer.token.endpoint.url, and clientId and clientSecret in "
        "sasl.jaas.config"
    ),
}
"""How the name of a provider's Java class begins → what to know and what to use."""


def refuse_service_login(properties: Mapping[str, str]) -> None:
    """Refuse a login that needs a provider's Java class, and name another way.

    Raises:
        UsageError: it is one. The message has no value of the configuration.
    """
    if properties.get("sasl.mechanism", "").strip().upper() == "AWS_MSK_IAM":
        raise UsageError(f"sasl.mechanism=AWS_MSK_IAM: {_MSK}")
    for key in _CLASS_KEYS:
        name = properties.get(key, "").strip()
        for beginning, words in _OF_CLASSES.items():
            if name.startswith(beginning):
                raise UsageError(f"{key}: {words}")


_CLASS_KEYS: Final = (
    "sasl.login.callback.handler.class",
    "sasl.client.callback.handler.class",
    "sasl.login.class",
    # It begins with the class of the login module.
    "sasl.jaas.config",
)


def refuse_service_address(bootstrap: str) -> None:
    """Refuse an address at which no ACL decides.

    Args:
        bootstrap: ``host:port`` of one or more brokers, with commas.

    Raises:
        UsageError: it is one.
    """
    for host, port in _addresses(bootstrap):
        if _MSK_HOST.search(host) and _SERVERLESS in host:
            raise UsageError(f"{host}:{port}: {_NOTHING_THERE}.")
        if _MSK_HOST.search(host) and port in _IAM_PORTS:
            raise UsageError(f"{host}:{port} is the IAM listener. {_MSK}.")
        if _EVENT_HUBS in f"{host}." and re.search(r"\.(windows\.net|chinacloudapi\.cn)$", host):
            raise UsageError(f"{host}:{port}: {_NO_ACLS}.")


def port_hint(bootstrap: str) -> str:
    """Write what a port that failed probably is; empty for most.

    >>> port_hint("kafka.example.org:9092")
    ''
    """
    ports = {port for _, port in _addresses(bootstrap)}
    return f" On Amazon MSK this is the IAM port. {_MSK}." if ports.intersection(_IAM_PORTS) else ""


def _addresses(bootstrap: str) -> Iterator[tuple[str, str]]:
    for address in bootstrap.split(","):
        host, _, port = address.lower().rpartition(":")
        yield host.rstrip("."), port
