"""Hosts of ACLs that are ranges, or nearly, and addresses: in or not, as Kafka's own class says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from aclkit.model.cidr import parse_range
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.rules.decide.rules import ALLOWED, DENIED
from aclkit.rules.patterns.match import host_matches
from tests.factories import acl, request
from tests.kafka.verify.pairs import random_pairs

SEED = 20261122
COUNT = 100_000
KAFKA_4_4 = replace(KAFKA, cidr_hosts=True)


@pytest.fixture(scope="module")
def ours():
    """Each pair once, and what aclkit decides."""
    pairs: dict[tuple[str, str], str] = {}
    drawn = random_pairs(SEED)
    while len(pairs) < COUNT:
        pair = next(drawn)
        if pair not in pairs:
            pairs[pair] = ALLOWED if host_matches(*pair, KAFKA_4_4) else DENIED
    return pairs


@pytest.mark.kafka
@pytest.mark.timeout(240)
def test_100_000_pairs_are_answered_as_kafka_does(kafka, ours):
    """An ACL for each host, on a topic of its own, and a request for each address."""
    topics = {host: f"t{number}" for number, (host, _) in enumerate(ours)}
    kafka.load([acl(topic, host=host) for host, topic in topics.items()], BrokerSettings())
    answers = kafka.ask([request(topics[host], host=address) for host, address in ours])
    asked = list(zip(ours.items(), answers, strict=True))
    wrong = [(pair, answer) for (pair, our), answer in asked if answer.decision != our]
    assert len(asked) == COUNT
    assert wrong == []


def test_pairs_are_in_and_out_of_ranges_of_both_families_and_of_texts_that_are_none(ours):
    seen = Counter(
        (":" in host, parse_range(host) is not None, our) for (host, _), our in ours.items()
    )
    for is_ipv6 in (False, True):
        for kind in ((True, ALLOWED), (True, DENIED), (False, DENIED)):
            assert seen[is_ipv6, *kind] > COUNT // 20, (is_ipv6, kind)
