"""A run's questions that Spark answers: the same SQL, the same rows as DuckDB's."""

from __future__ import annotations

import pyarrow as pa
import pytest

from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.explain.differing import (
    DECIDED_TABLES,
    DIFFERING,
    INVENTORY_TABLES,
    differing_steps,
)
from aclkit.runtime.arrow import rows_of
from aclkit.runtime.frame import Steps
from aclkit.runtime.spark import session_beside
from aclkit.warehouse.frames import SparkReader
from tests.factories import acl
from tests.pipeline.explain.decided import decided
from tests.pipeline.explain.frames import scope_of
from tests.pipeline.explain.memory import Memory


@pytest.fixture
def reader(spark):
    with Steps() as kept:
        yield SparkReader(session_beside(spark), kept)


@pytest.mark.parametrize("name", ["'; DROP TABLE t --", "?", "a\\b", "${x}", ":n", "é\U0001f512"])
def test_values_are_bound_and_never_a_part_of_the_statement(reader, name):
    reader.give("t", pa.table({"name": [name, "other"]}))
    assert reader.rows("SELECT name FROM t WHERE name IS NOT DISTINCT FROM ?", name) == [(name,)]


def test_a_large_result_comes_in_batches_in_its_order(reader):
    numbers = list(range(60_000, 0, -1))
    reader.give("t", pa.table({"n": numbers}))
    reader.keep("kept", "SELECT n + 1 AS n FROM t")
    reader.see("seen", "SELECT n - 1 AS n FROM kept")
    batches = list(reader.stream("FROM seen ORDER BY n"))
    assert len(batches) == 2
    assert [row[0] for batch in batches for row in rows_of(batch.columns)] == numbers[::-1]


def two_readings():
    """The tables of a cluster whose ACLs kip-1042 and kafka read differently."""
    acls = [
        acl("p?y", pattern_type="GLOB", acl_id="glob"),
        acl("pay", principal="User:?", permission_type="DENY", acl_id="who"),
        acl("pay", principal="User:b", host="10.*", acl_id="where"),
        acl("x", pattern_type="PREFIXED", principal="User:*", acl_id="plain"),
    ]
    found = {"suspect": pa.table({"acl_id": ["glob", "who", "where"]})}
    for side, semantics in (("ours", KIP_1042), ("theirs", KAFKA)):
        scope = scope_of(
            acls, principals=("User:a", "User:b", "User:c", "User:root"), semantics=semantics,
            hosts=("10.0.0.1", "9.9.9.9"), super_users=frozenset({"User:root"}),
            resources=[("TOPIC", name) for name in ("pay", "p?y", "x", "y")],
        )  # fmt: skip
        tables = decided(scope, acls)
        for name in (*INVENTORY_TABLES, *DECIDED_TABLES):
            found[f"{side}_{name}"] = tables.arrow(f"FROM {name}")
    return found


def test_two_readings_differ_in_the_same_decisions_by_spark(reader):
    answers = []
    for asked in (Memory(), reader):
        for name, table in two_readings().items():
            asked.give(name, table)
        for name, sql in differing_steps().items():
            asked.keep(name, sql)
        stream = asked.stream(f"FROM {DIFFERING} ORDER BY resource_type, resource_name, example")
        answers.append([row for batch in stream for row in rows_of(batch.columns)])
    assert answers[0] == answers[1]
    assert answers[0]
