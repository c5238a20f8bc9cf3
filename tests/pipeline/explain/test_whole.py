"""When the driver decides all of a cluster, and when Spark does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.model.operation import OPERATIONS_OF_TYPE
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


def test_hosts_that_a_range_names_count_as_if_each_had_an_acl(monkeypatch):
    acls = [acl("pay", host="10.0.0.0/8")]
    hosts = tuple(f"10.0.0.{number}" for number in range(100))
    asked = scope_of(
        acls,
        principals=("User:a",),
        hosts=hosts,
        resources=(("TOPIC", "pay"),),
        semantics=replace(KAFKA, cidr_hosts=True),
    )
    operations = len(OPERATIONS_OF_TYPE["TOPIC"])
    monkeypatch.setattr(incremental, "MOST_STEPS", operations * len(hosts))
    assert decide(asked, acls) is not None
    monkeypatch.setattr(incremental, "MOST_STEPS", operations * len(hosts) - 1)
    assert decide(asked, acls) is None


def test_a_name_below_the_wildcard_is_sparks_work_where_the_order_is_a_brokers():
    below = scope("!", "pay")
    assert decide(replace(below, semantics=KAFKA)) is None
    assert decide(below) is not None
