"""How fast Kafka's own authorizer is."""

from __future__ import annotations

import pytest

from aclkit.model.semantics import BrokerSettings
from tests.factories import acl, request
from tests.tools.benchmarks.kafka_loop import measure_loop


@pytest.mark.kafka
def test_decisions_per_second_are_measured_without_what_kafka_hangs_on():
    acls = [acl(), acl("#y", resource_type="GROUP")]
    requests = [request(), request("#x", resource_type="GROUP"), request(principal="User:*")]
    assert measure_loop(acls, requests, BrokerSettings(), seconds=0.3) > 1_000
