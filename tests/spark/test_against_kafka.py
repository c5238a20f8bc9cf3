"""Requests in a DataFrame: each gets the decision, rule and ACL of Kafka's own authorizer."""

from __future__ import annotations

from itertools import islice

import pytest

from aclkit.kafka.verify.compare import Cell, compare
from aclkit.kafka.verify.jars import class_path
from aclkit.kafka.verify.kafka import Kafka
from aclkit.model.acl import Request
from aclkit.rules.decide.many import ASKED
from aclkit.spark import decide
from aclkit.warehouse.codecs import ACL_COLUMNS
from tests.fuzz.mutants import rounds
from tests.tools.benchmarks.differential import random_worlds

WORLDS = rounds(5)
"""Of a thousand requests each; ``ACLKIT_FUZZ=20`` for a hundred thousand."""


def texts(names):
    return ", ".join(f"{name} STRING" for name in names)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.timeout(0)
def test_each_ruling_is_that_of_kafkas_authorizer(spark):
    asked = 0
    with Kafka(class_path(say=print)) as kafka:
        for world in islice(random_worlds(seed=55), WORLDS):
            acls = [tuple(getattr(acl, name) for name in ACL_COLUMNS) for acl in world.acls]
            wanted = [tuple(getattr(each, name) for name in ASKED) for each in world.requests]
            ruled = decide(
                spark.createDataFrame(wanted, texts(ASKED)),
                acls=spark.createDataFrame(acls, texts(ACL_COLUMNS)),
                super_users=world.settings.super_users,
                allow_everyone=world.settings.allow_everyone,
                semantics="kafka",
            )
            requests = [
                (Request(**dict(zip(ASKED, row[:5], strict=True))), row) for row in ruled.collect()
            ]
            cells = [Cell(request, request, *row[5:]) for request, row in requests]
            kafka.load(world.acls, world.settings)
            by_id = {acl.acl_id: acl for acl in world.acls}
            found = compare([cells], by_id, world.settings, kafka, again=None)
            assert not found.mismatches
            assert len(cells) == len(world.requests)
            asked += found.asked
    assert asked > 900 * WORLDS  # Kafka throws or hangs at the others
