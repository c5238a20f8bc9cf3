"""Both engines fold random logs as the specification does: DuckDB each, Spark many at once."""

from __future__ import annotations

import random
from dataclasses import fields

from pyspark.sql import SparkSession

from aclkit.model.facts import ABORT_TXN, ADD_ACL, BEGIN_TXN, END_TXN, REMOVE_ACL
from aclkit.pipeline.replay.history_plan import HistoryPlan, plan_history
from aclkit.pipeline.replay.on_duckdb.engine import OnDuckdb
from aclkit.pipeline.replay.on_spark import fold
from aclkit.pipeline.replay.ranges import Range
from aclkit.pipeline.replay.transactions import Marker
from aclkit.runtime.frame import local_frame
from aclkit.warehouse.schemas import TABLES
from tests.pipeline.replay.specification import AclFact, History, Lifetime, write_history

LOGS = 300


def random_log(rng: random.Random) -> tuple[list[AclFact], dict[int, list[str]], list[Range]]:
    """Make a log with transactions, double adds and removals, holes and snapshots."""
    length = rng.randint(2, 30)
    kinds = [ADD_ACL] * 5 + [REMOVE_ACL] * 4 + [BEGIN_TXN, END_TXN, ABORT_TXN]
    ids = [f"acl{number}" for number in range(rng.randint(1, 5))]
    facts = []
    for offset in range(length):
        kind = rng.choice(kinds)
        acl_id = rng.choice(ids) if kind in (ADD_ACL, REMOVE_ACL) else ""
        if rng.random() < 0.8:
            facts.append(AclFact(offset, kind, acl_id))
    cut = sorted(rng.sample(range(length + 1), k=min(rng.choice([0, 2]), length)))
    spans = [(0, length)] if not cut else [(0, cut[0]), (cut[1], length)]
    ranges = [Range(a, b, 1, "record") for a, b in spans if a < b]
    snapshots = {
        end: rng.sample(ids, rng.randint(0, len(ids)))
        for end in rng.sample(range(1, length + 3), k=min(rng.randint(0, 2), length))
    }
    ranges += [Range(0, end, 1, "snapshot") for end in snapshots]
    known = [f for f in facts if any(a <= f.log_offset < b for a, b in spans)]
    return known, snapshots, ranges


def test_duckdb_folds_every_log_as_the_specification_does():
    rng, engine = random.Random(20261126), OnDuckdb("c")
    for _ in range(LOGS // 4):
        facts, snapshots, ranges = random_log(rng)
        plan = _plan(facts, ranges, rng)
        expected = write_history(facts, snapshots, plan.itinerary)
        rows = [_record("c", fact) for fact in facts]
        rows += [_entry("c", n, i) for n, ids in snapshots.items() for i in ids]
        tables = engine.history(engine.rows("acl_log", rows), engine.rows("acl_reject", []), plan)
        lives = tables["acl_history"].select([field.name for field in fields(Lifetime)])
        assert {Lifetime(**row) for row in lives.to_pylist()} == {*expected.lifetimes}
        assert lives.num_rows == len(expected.lifetimes)
        rejected = tables["acl_reject"]["log_offset"].to_pylist()
        assert sorted(rejected) == list(expected.rejected)


def test_spark_folds_every_log_as_the_specification_does(spark: SparkSession):
    rng = random.Random(20261121)
    expected: dict[str, History] = {}
    rows, stretches, spans = [], [], []
    faults: dict[str, list[int]] = {}
    for number in range(LOGS):
        cluster = f"log{number}"
        facts, snapshots, ranges = random_log(rng)
        plan = _plan(facts, ranges, rng)
        expected[cluster] = write_history(facts, snapshots, plan.itinerary)
        rows += [_record(cluster, fact) for fact in facts]
        rows += [_entry(cluster, n, i) for n, ids in snapshots.items() for i in ids]
        itinerary = plan.itinerary
        stretches += [(cluster, x.fact, x.from_offset, x.to_offset) for x in itinerary.stretches]
        spans += [(cluster, *span) for span in plan.spans]
        faults[cluster] = [fault.log_offset for fault in plan.faults]
    facts_frame = local_frame(spark, rows, TABLES["acl_log"].ddl)
    stretches_frame = local_frame(spark, stretches, fold.STRETCHES_DDL)
    effects = fold.with_effect(
        facts_frame, stretches_frame, local_frame(spark, spans, fold.SPANS_DDL)
    )
    found: dict[str, set[Lifetime]] = {cluster: set() for cluster in expected}
    for row in fold.fold_acls(effects, stretches_frame).collect():
        found[row.cluster_id].add(
            Lifetime(
                row.acl_id,
                row.added_offset,
                row.effective_offset,
                row.added_by,
                row.removed_offset,
            )
        )
    assert found == {cluster: set(h.lifetimes) for cluster, h in expected.items()}
    for row in fold.reject_acls(effects, stretches_frame).collect():
        faults[row.cluster_id].append(row.log_offset)
    assert {c: sorted(f) for c, f in faults.items()} == {
        c: list(h.rejected) for c, h in expected.items()
    }


def _plan(facts: list[AclFact], ranges: list[Range], rng: random.Random) -> HistoryPlan:
    markers = [
        Marker(f.log_offset, f.record_type)
        for f in facts
        if f.record_type not in (ADD_ACL, REMOVE_ACL)
    ]
    return plan_history(
        ranges,
        markers,
        high_watermark=rng.choice([None, None, 10]),
        accept_holes=rng.random() < 0.5,
    )


def _record(cluster: str, fact: AclFact) -> tuple[object, ...]:
    head = (cluster, "record", fact.log_offset, fact.record_type, fact.acl_id or None)
    return (*head, *[None] * 7, None, None, 1, None, None, "test", *[None] * 3)


def _entry(cluster: str, end_offset: int, acl_id: str) -> tuple[object, ...]:
    head = (cluster, "snapshot", end_offset, ADD_ACL, acl_id)
    return (*head, *[None] * 7, None, None, 1, None, None, "test", *[None] * 3)
