"""Deciding by the few ACLs that the index finds is deciding by all of them."""

from __future__ import annotations

import random

import pytest

from aclkit.decide.rules import decide
from aclkit.model.semantics import KAFKA
from aclkit.verify import again
from aclkit.verify.again import Decider
from tests.benchmarks.differential import make_world


@pytest.mark.parametrize("remembered", [200_000, 3])
def test_it_is_the_pure_rule(remembered, monkeypatch):
    monkeypatch.setattr(again, "_MOST", remembered)
    rng = random.Random(4)
    for _ in range(15):
        world = make_world(rng, requests=200)
        decider = Decider.of(world.acls, world.settings)
        for request in world.requests:
            is_last = decider.search.wildcard_is_last(request.resource_type, request.resource_name)
            assert decider.decide(request) == decide(
                world.acls, request, world.settings, KAFKA, wildcard_is_last=is_last
            )
