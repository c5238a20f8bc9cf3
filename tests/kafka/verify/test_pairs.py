"""Hosts of ACLs that are ranges, or nearly, and addresses: in or not, as Kafka's own class says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice

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


def distinct_pairs():
    return list(islice(dict.fromkeys(islice(random_pairs(SEED), 2 * COUNT)), COUNT))


def ours(host, address):
    return ALLOWED if host_matches(host, address, KAFKA_4_4) else DENIED


@pytest.mark.kafka
@pytest.mark.timeout(240)
def test_100_000_pairs_are_answered_as_kafka_does(kafka):
    """An ACL for each host, on a topic of its own, and a request for each address."""
    pairs = distinct_pairs()
    topics = {host: f"t{number}" for number, (host, _) in enumerate(pairs)}
    kafka.load([acl(topic, host=host) for host, topic in topics.items()], BrokerSettings())
    answers = kafka.ask([request(topics[host], host=address) for host, address in pairs])
    asked = list(zip(pairs, answers, strict=True))
    wrong = [(pair, answer) for pair, answer in asked if answer.decision != ours(*pair)]
    assert len(asked) == COUNT
    assert wrong == []


def test_pairs_are_in_and_out_of_ranges_of_both_families_and_of_texts_that_are_none():
    seen = Counter(
        (":" in host, parse_range(host) is not None, ours(host, address))
        for host, address in distinct_pairs()
    )
    for is_ipv6 in (False, True):
        for kind in ((True, ALLOWED), (True, DENIED), (False, DENIED)):
            assert seen[is_ipv6, *kind] > COUNT // 20, (is_ipv6, kind)
