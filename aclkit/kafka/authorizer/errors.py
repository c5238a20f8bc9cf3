"""Kafka's errors of an Authorizer, each a class of aclkit's with Kafka's own name for it."""

from __future__ import annotations

from typing import ClassVar

from aclkit.errors import SurroundingsError, UsageError


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
