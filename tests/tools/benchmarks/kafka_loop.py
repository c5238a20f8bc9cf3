"""ACLs and requests → decisions per second of Kafka's own ``authorize()``, on one thread."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from aclkit.errors import SurroundingsError, UsageError
from aclkit.kafka.verify.compare import Refusals
from aclkit.kafka.verify.jars import class_path
from aclkit.kafka.verify.kafka import Kafka, StalledError
from aclkit.kafka.verify.wire import TextNumbers, encode_requests
from aclkit.model.acl import Acl, Request
from aclkit.model.semantics import BrokerSettings

_MEASURED = struct.Struct(">qq")
"""Decisions and nanoseconds."""


def measure_loop(
    acls: Sequence[Acl], requests: Sequence[Request], settings: BrokerSettings, seconds: float
) -> float:
    """Return how many decisions Kafka makes per second; what it cannot be asked is left out.

    Nothing is logged meanwhile: that, too, would take Kafka time.

    Args:
        acls: all ACLs of the cluster.
        requests: asked one after the other, round and round.
        settings: the broker's.
        seconds: how long to measure, after half as long a time to warm up.
    """
    refusals = Refusals.of(acls, settings)
    asked = [request for request in requests if refusals.reason(request, None) is None]
    with Kafka(class_path()) as kafka:
        kafka.load(acls, settings)
        return measure(kafka, asked, seconds)


def measure(kafka: Kafka, requests: Sequence[Request], seconds: float) -> float:
    """Return how many decisions ``authorize()`` makes per second, on one thread.

    It is called with one request after the other, round and round: first half as long to warm up,
    then on the clock.

    Raises:
        UsageError: nothing to ask.
        SurroundingsError: Kafka hangs or throws on one of the requests.
    """
    if not requests:
        raise UsageError("expected at least one request to measure with")
    message = encode_measure(requests, seconds, kafka._texts)
    try:
        patience = 1.5 * seconds + kafka.patience
        reply = kafka._running().exchange(message, _MEASURED.size, patience)
    except StalledError:
        raise SurroundingsError("Kafka hangs on one of the requests to measure") from None
    decisions, nanos = _MEASURED.unpack(reply)
    return float(decisions * 1e9 / nanos)


def encode_measure(requests: Sequence[Request], seconds: float, texts: TextNumbers) -> bytes:
    """Return the message that asks how fast Kafka answers."""
    return b"M" + struct.pack(">i", round(seconds * 1000)) + encode_requests(requests, texts)
