"""ACLs and requests → decisions per second of Kafka's own ``authorize()``, on one thread."""

from __future__ import annotations

from collections.abc import Sequence

from aclkit.kafka.verify.jars import class_path
from aclkit.kafka.verify.kafka import Kafka
from aclkit.kafka.verify.refusals import Refusals
from aclkit.model.acl import Acl, Request
from aclkit.model.semantics import BrokerSettings


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
        return kafka.measure(asked, seconds)
