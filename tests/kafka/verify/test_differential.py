"""aclkit decides random worlds as Kafka does; ``benchmarks.differential`` does a million."""

from __future__ import annotations

import random
import re
from collections import Counter
from itertools import islice

import pytest

from aclkit.kafka.verify.compare import Refusals
from aclkit.model.acl import Request
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA
from aclkit.rules.decide.index import AclIndex
from tests.tools.benchmarks.differential import (
    HOSTS,
    OPERATIONS,
    World,
    make_world,
    random_worlds,
    run,
)

SEED = 20260


@pytest.mark.kafka
@pytest.mark.timeout(120)
def test_decisions_rules_and_deciding_acls_are_kafkas(kafka):
    result = run(kafka, random_worlds(SEED), 20_000)
    assert not result.mismatches, result.mismatches[0]
    assert {(decision, rule) for decision, rule in result.answers} == {
        ("ALLOWED", "MatchingAcl"), ("ALLOWED", "SuperUser"), ("ALLOWED", "DefaultAllow"),
        ("DENIED", "MatchingAcl"), ("DENIED", "DefaultDeny"),
    }  # fmt: skip
    assert {reason.split()[1] for reason in result.left_out} == {"hangs", "throws"}


def test_worlds_hold_all_that_there_is():
    worlds = list(islice(random_worlds(SEED), 20))
    acls = [acl for world in worlds for acl in world.acls]
    requests = [request for world in worlds for request in world.requests]
    assert {acl.resource_type for acl in acls} == set(OPERATIONS_OF_TYPE)
    assert {acl.operation for acl in acls} >= {*OPERATIONS, "ALL"}
    assert {acl.pattern_type for acl in acls} == {"LITERAL", "PREFIXED", "GLOB", "UNKNOWN(9)"}
    assert {request.operation for request in requests} == set(OPERATIONS)
    assert {request.host for request in requests} == set(HOSTS)
    assert Counter(acl.resource_name for acl in acls).most_common(1)[0][0] == "*"
    assert {world.settings.allow_everyone for world in worlds} == {True, False}


def test_the_same_seed_makes_the_same_world():
    assert make_world(random.Random(7)) == make_world(random.Random(7))


@pytest.mark.kafka
def test_what_is_left_out_because_kafka_throws_it_does_throw(kafka):
    thrown = Counter()
    for world in islice(random_worlds(SEED), 20):
        left_out = throwing(world)
        kafka.load(world.acls, world.settings)
        answers = kafka.ask([request for request, _ in left_out])
        for (_, wanted), answer in zip(left_out, answers, strict=True):
            assert answer.rule.startswith(f"throws java.lang.{wanted}")
            thrown[wanted] += 1
    assert set(thrown) == {
        "IllegalArgumentException", "IllegalStateException", "StringIndexOutOfBoundsException",
    }  # fmt: skip


def throwing(world: World) -> list[tuple[Request, str]]:
    """Return the requests that would make Kafka throw, and what."""
    refusals = Refusals.of(world.acls, world.settings)
    index = AclIndex.of(world.acls, KAFKA)
    found = []
    for request in world.requests:
        ruling = index.decide(request, world.settings)
        reason = refusals.reason(request, ruling.acl if ruling.decision == "DENIED" else None)
        if reason and (told := re.match(r"Kafka throws (\w+)", reason)):
            found.append((request, told[1]))
    return found
