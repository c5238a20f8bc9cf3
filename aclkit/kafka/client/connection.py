"""Bootstrap address and configuration → one connection to a broker, and the answers that it gives.

Everything that is asked of one broker goes through one connection, so that its answers are of one
cluster, whatever a name resolves to and whichever broker takes over an address.
"""

from __future__ import annotations

import logging
import re
import struct
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import inf
from typing import Any, Final, TypeVar

from kafka import errors as kafka_errors
from kafka.net import KafkaConnectionManager, NetworkSelector

from aclkit.errors import SurroundingsError, UsageError
from aclkit.kafka.client.config import ClientConfig
from aclkit.kafka.client.services import port_hint, refuse_service_address
from aclkit.runtime.deadline import Deadline

T = TypeVar("T")
Untyped = Any
"""What is kafka-python's, which has no types: a message, a connection."""

_GRACE_MS: Final = 2000
MAX_ANSWER: Final = 256 * 1024 * 1024
PROBLEMS: Final = (
    *(kafka_errors.KafkaError, OSError, ValueError, RuntimeError, LookupError, TypeError),
    *(AttributeError, struct.error),
)
"""What kafka-python raises where a broker refuses, is not there, or sends what is no answer."""

_DENIED: Final = (
    kafka_errors.SaslAuthenticationFailedError,
    kafka_errors.UnsupportedSaslMechanismError,
    kafka_errors.IllegalSaslStateError,
)


@dataclass(slots=True)
class Brokers:
    """Connections to a cluster's brokers; ``first`` is the one that the bootstrap address gave."""

    net: Any
    manager: Any
    first: Any
    deadline: Deadline

    async def ask(
        self, request: Untyped, connection: Untyped = None, seconds: float = inf
    ) -> Untyped:
        """Send a request over one connection and await its answer, so long at most."""
        asked = connection or self.first
        # A broker that throttles this client answers later; kafka-python would refuse to ask.
        while asked.paused and not asked.closed and not self.deadline.is_over:
            await self.net.sleep(min(0.05, self.deadline.left))
        limit = min(seconds, self.deadline.left)
        if limit <= 0:
            raise kafka_errors.KafkaTimeoutError("the time limit is reached")
        return await asked.send_request(request, request_timeout_ms=limit * 1000)

    async def connect(self, metadata: Untyped, node_id: int, seconds: float) -> Untyped:
        """Connect to one more broker of the cluster, which metadata have named."""
        self.manager.cluster.update_metadata(metadata)
        return await _connect(self.manager, node_id, min(seconds, self.deadline.left))

    async def reconnect(self, node_id: Untyped) -> Untyped:
        """Connect once more to a broker that hung up."""
        return await _connect(self.manager, node_id, self.deadline.left)


def ask_cluster(
    bootstrap: str,
    config: ClientConfig,
    timeout_seconds: float,
    ask: Callable[[Brokers], Awaitable[T]],
) -> T:
    """Connect, ask, disconnect, within the time given.

    Args:
        bootstrap: ``host:port`` of one or more brokers, with commas; the first that answers is
            asked.
        config: as of ``client_config``.
        timeout_seconds: how long all of it may take.
        ask: what is to be asked.

    Raises:
        UsageError: the bootstrap address is none.
        SurroundingsError: the cluster cannot be reached, or refuses.
    """
    with KeptConnection() as connection:
        return connection.ask(bootstrap, config, timeout_seconds, ask)


class KeptConnection:
    """Connections to one cluster that stay open between questions.

    A broker closes those that are idle for ten minutes, and all when it ends: then the next
    question connects anew. A token may have run out, so with OAuth each question does.
    """

    def __init__(self) -> None:
        """Connect with the first question."""
        self._open = ExitStack()
        self._kept: tuple[Any, Any] | None = None

    def __enter__(self) -> KeptConnection:
        """Let the connections be closed at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close them."""
        self.close()

    def close(self) -> None:
        """Close the connections; the next question opens others."""
        self._kept = None
        self._open.close()

    def ask(
        self,
        bootstrap: str,
        config: ClientConfig,
        timeout_seconds: float,
        ask: Callable[[Brokers], Awaitable[T]],
    ) -> T:
        """Ask as ``ask_cluster`` does, over a connection that is open if there is one."""
        require_addresses(bootstrap)
        deadline = Deadline(timeout_seconds)
        if config.tokens is not None:
            self.close()
            config.tokens.fetch(timeout_seconds)
        if self._kept is not None:
            try:
                return self._ask(self._kept, ask, deadline)
            except PROBLEMS:
                self.close()
        try:
            timeout_ms = max(1, round(deadline.left * 1000))
            self._kept = self._open.enter_context(_manager(bootstrap, config, timeout_ms))
            return self._ask(self._kept, ask, deadline)
        except PROBLEMS as error:
            self.close()
            said = config.masked(describe_problem(error))
        # Outside of the handler: what kafka-python raised may hold passwords in its frames.
        raise SurroundingsError(
            f"Cannot connect to the cluster at {bootstrap}: {said}{port_hint(bootstrap)}"
        )

    @staticmethod
    def _ask(
        kept: tuple[Any, Any], ask: Callable[[Brokers], Awaitable[T]], deadline: Deadline
    ) -> T:
        net, manager = kept
        pending = manager.call_soon(_ask_first, net, manager, ask, deadline)
        # A little longer: what has been answered by the deadline is not thrown away for the
        # sake of what has not.
        answer: T = manager.run(manager.wait_for, pending, deadline.left * 1000 + _GRACE_MS)
        return answer


def require_addresses(bootstrap: str) -> None:
    """Insist on ``host:port``, one or more with commas, at which ACLs decide.

    Raises:
        UsageError: it is something else, or holds a user, whose password is not shown.
    """
    if "@" in bootstrap:
        raise UsageError(
            "bootstrap: expected host:port, found a user or a password before it. "
            "Put them into sasl.jaas.config of --command-config."
        )
    for address in bootstrap.split(","):
        found = re.fullmatch(r"[^\s/,]+:([0-9]{1,5})", address)
        if not found or not 0 < int(found[1]) < 1 << 16:
            raise UsageError(f"bootstrap: expected host:port, found {address!r}")
    refuse_service_address(bootstrap)


def describe_problem(error: Exception) -> str:
    """Write what went wrong, and where it is known, what it mostly comes from."""
    text = str(error) or type(error).__name__
    if isinstance(error, _DENIED):
        return f"authentication failed: {text}"
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return f"{text}. Check that ssl.truststore is the right one for this cluster."
    if any(mark in text for mark in _NO_TLS):
        return f"{text}. Check that this port uses TLS."
    if isinstance(error, kafka_errors.KafkaProtocolError):
        return f"{text}: this is not Kafka's protocol. Check that security.protocol fits this port."
    if "alert" in text.lower() and ("certificate" in text.lower() or "CERTIFICATE" in text):
        return f"authentication failed: {text}"
    if "socket disconnected" in text:
        return (
            f"{text}: the broker closed the connection. Check that security.protocol fits this "
            "port, and that the broker knows the client's certificate."
        )
    return text


_NO_TLS: Final = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNEXPECTED_EOF")


async def _ask_first(
    net: Untyped, manager: Untyped, ask: Callable[[Brokers], Awaitable[T]], deadline: Deadline
) -> T:
    """Ask the brokers named, one after the other, until one answers: any can.

    kafka-python's own bootstrap would try again until time is up, and not report what failed. What
    refuses this user refuses it everywhere, and may lock it out: it is asked once.
    """
    problem: Exception = kafka_errors.KafkaError("no broker was given")
    named = manager.cluster.bootstrap_brokers()
    for number, broker in enumerate(named):
        share = deadline.left / (len(named) - number)
        try:
            connection = await _connect(manager, broker.node_id, share)
            return await ask(Brokers(net, manager, connection, deadline))
        except _DENIED:
            raise
        except kafka_errors.KafkaError as error:
            problem = error
    raise problem


async def _connect(manager: Untyped, node_id: Untyped, seconds: float) -> Untyped:
    connection = manager.get_connection(
        node_id, timeout_ms=max(1.0, seconds * 1000), refresh_metadata_on_err=False
    )
    # A broker that accepts the connection and sends nothing is left alone as well.
    await manager.wait_for(connection.init_future, max(1.0, seconds * 1000))
    return connection


class _Manager(KafkaConnectionManager):  # type: ignore[misc]  # kafka-python has no types
    """kafka-python's connections, with the last words of a broker that hangs up."""

    async def _build_transport(self, *args: Untyped, **named: Untyped) -> Untyped:
        """Hand out what was received before the end of a connection is.

        A broker answers wrong credentials with the reason and hangs up at once; kafka-python
        throws away what it reads together with the end.
        """
        transport = await super()._build_transport(*args, **named)
        receive = transport._sock_recv

        def receive_first() -> tuple[bytes, Exception | None]:
            data, error = receive()
            return (data, None) if data else (data, error)

        transport._sock_recv = receive_first
        return transport


@contextmanager
def _manager(bootstrap: str, config: ClientConfig, timeout_ms: int) -> Iterator[tuple[Any, Any]]:
    """Open kafka-python's connections, without its log, which shows passwords at DEBUG."""
    logger = logging.getLogger("kafka")
    level = logger.level
    logger.setLevel(max(logger.getEffectiveLevel(), logging.CRITICAL))
    net = NetworkSelector()
    manager = None
    try:
        manager = _Manager(
            net,
            bootstrap_servers=bootstrap,
            request_timeout_ms=timeout_ms,
            socket_connection_setup_timeout_ms=timeout_ms,
            receive_message_max_bytes=MAX_ANSWER,
            **config.settings,
        )
        yield net, manager
    finally:
        if manager is not None:
            manager.close()
        net.close()
        logger.setLevel(level)
