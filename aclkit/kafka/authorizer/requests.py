"""What goes into an Authorizer and what comes out of it: the types of KIP-504."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from aclkit.errors import SurroundingsError, UsageError
from aclkit.kafka.principals.principal import KafkaPrincipal
from aclkit.model.acl import ANY_OTHER, Acl
from aclkit.model.host import parse_host


class AuthorizerNotReadyError(SurroundingsError):
    """The ACLs are not yet replayed to the high watermark; only super users are answered."""

    kafka_error: ClassVar[str] = "AUTHORIZER_NOT_READY"


class AuthorizerClosedError(SurroundingsError):
    """The authorizer was closed before what was asked for could happen."""

    kafka_error: ClassVar[str] = "REQUEST_TIMED_OUT"


class InvalidRequestError(UsageError):
    """An ACL or a filter that no controller takes; the message is Kafka's."""

    kafka_error: ClassVar[str] = "INVALID_REQUEST"


class UnsupportedVersionError(UsageError):
    """An ACL that only a newer metadata.version takes; the message is Kafka's."""

    kafka_error: ClassVar[str] = "UNSUPPORTED_VERSION"


class PolicyViolationError(UsageError):
    """One request with more than 10,000 records; the message is Kafka's."""

    kafka_error: ClassVar[str] = "POLICY_VIOLATION"


class ReadOnlyError(UsageError):
    """The ACLs are those of a cluster, which aclkit never writes to."""

    kafka_error: ClassVar[str] = "NOT_CONTROLLER"


class AuthorizationResult(StrEnum):
    """The answer to one action; equal to the text of the same name."""

    ALLOWED = "ALLOWED"
    DENIED = "DENIED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What is to be done to which resource (Action).

    Attributes:
        operation: Kafka's AclOperation.
        resource_type: Kafka's ResourceType.
        resource_name: the resource's name.
        pattern_type: a request is about a LITERAL resource; anything else is refused.
        resource_reference_count: how often the request refers to the resource; for the audit log.
        log_if_allowed: an ALLOWED answer grants access, and the audit log should record it.
        log_if_denied: access was asked for explicitly, and a DENIED answer refuses it.
    """

    operation: str
    resource_type: str
    resource_name: str
    pattern_type: str = "LITERAL"
    resource_reference_count: int = 1
    log_if_allowed: bool = True
    log_if_denied: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """Who asks, from where, and with which request (AuthorizableRequestContext).

    ``principal.channel_principal`` has what a principal builder knew (KIP-111).

    Attributes:
        principal: the authenticated principal of the connection.
        client_address: an IP address; it is put into Java's form.
        listener_name: on which listener the request arrived.
        security_protocol: the listener's protocol.
        request_type: the API key of the request.
        request_version: its version.
        client_id: the client's own name.
        correlation_id: the request's number.

    Raises:
        UsageError: the address is none.
    """

    principal: KafkaPrincipal
    client_address: str
    listener_name: str = ""
    security_protocol: str = "PLAINTEXT"
    request_type: int = 0
    request_version: int = 0
    client_id: str = ""
    correlation_id: int = 0

    def __post_init__(self) -> None:
        """Write the address as a broker compares it."""
        if self.client_address != ANY_OTHER:
            object.__setattr__(self, "client_address", parse_host(self.client_address))


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A listener of a broker and where it is bound."""

    listener_name: str
    security_protocol: str = "PLAINTEXT"
    host: str = ""
    port: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """What a broker tells an authorizer that it starts (AuthorizerServerInfo).

    Attributes:
        cluster_id: the cluster.
        broker_id: the node.
        endpoints: the listeners.
        inter_broker_endpoint: the one of them that brokers use.
        early_start_listeners: names of listeners that open before the ACLs are loaded (KIP-801).
    """

    cluster_id: str = ""
    broker_id: int = -1
    endpoints: Sequence[Endpoint] = ()
    inter_broker_endpoint: Endpoint | None = None
    early_start_listeners: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class AclCreateResult:
    """What became of one ACL of a request; without exception it is there."""

    exception: Exception | None = None


@dataclass(frozen=True, slots=True)
class AclBindingDeleteResult:
    """An ACL that a filter selected; without exception it is gone."""

    acl: Acl
    exception: Exception | None = None


@dataclass(frozen=True, slots=True)
class AclDeleteResult:
    """What became of one filter of a request: the ACLs it selected, or why it could not select."""

    deleted: tuple[AclBindingDeleteResult, ...] = ()
    exception: Exception | None = None
