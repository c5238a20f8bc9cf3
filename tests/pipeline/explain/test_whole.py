"""When the driver decides all of a cluster, and when Spark does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.model.semantics import KAFKA
from aclkit.pipeline.explain import incremental, whole
from aclkit.pipeline.explain.whole import AMENDED, decide_whole
from tests.factories import acl
from tests.pipeline.explain.decided import give_acls
from tests.pipeline.explain.frames import scope_of
from tests.pipeline.explain.memory import Memory

ACLS = [acl("pay"), acl("*", principal="User:*", permission_type="DENY", operation="WRITE")]


def decide(scope, acls=ACLS):
    memory = Memory()
    give_acls(memory, acls)
    for table in AMENDED:
        memory.contract(table)
    return decide_whole(scope, memory, allow_everyone=False)


def scope(*topics, **settings):
    resources = tuple(("TOPIC", name) for name in topics)
    return scope_of(ACLS, principals=("User:a",), hosts=(), resources=resources, **settings)


def test_a_small_cluster_is_decided_on_the_driver():
    found = decide(scope("pay", "other"))
    assert {*found} == {*AMENDED}
    (pair,) = found["explain_pair"].to_pylist()
    assert [*pair.values()][1:4] == ["User:a", "TOPIC", "pay"]


@pytest.mark.parametrize(
    ("module", "limit", "most"),
    [
        (whole, "MOST_PAIRS", 1),
        (whole, "MOST_ACLS", 1),
        (incremental, "MOST_STEPS", 10),
        (incremental, "MOST_REACHED", 3),
    ],
)
def test_above_any_limit_it_is_sparks_work(monkeypatch, module, limit, most):
    monkeypatch.setattr(module, limit, most)
    assert decide(scope("pay", "other")) is None


def test_a_name_below_the_wildcard_is_sparks_work_where_the_order_is_a_brokers():
    below = scope("!", "pay")
    assert decide(replace(below, semantics=KAFKA)) is None
    assert decide(below) is not None
