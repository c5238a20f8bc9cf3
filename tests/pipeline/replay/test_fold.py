"""Both engines fold random logs as the specification does; Spark takes seconds for one."""

from __future__ import annotations

import random
from dataclasses import fields

from aclkit.model.facts import ABORT_TXN, ADD_ACL, BEGIN_TXN, END_TXN, REMOVE_ACL
from aclkit.pipeline.replay.history_plan import HistoryPlan, plan_history
from aclkit.pipeline.replay.on_duckdb import OnDuckdb
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.replay.transactions import Marker
from tests.pipeline.replay.frames import columns_of
from tests.pipeline.replay.specification import AclFact, Lifetime, write_history

LOGS, LOGS_OF_SPARK = 75, 10


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


def test_each_engine_folds_every_log_as_the_specification_does(engine):
    rng = random.Random(20261126)
    for _ in range(LOGS if isinstance(engine, OnDuckdb) else LOGS_OF_SPARK):
        facts, snapshots, ranges = random_log(rng)
        plan = _plan(facts, ranges, rng)
        expected = write_history(facts, snapshots, plan.itinerary)
        rows = [_record("c", fact) for fact in facts]
        rows += [_entry("c", n, i) for n, ids in snapshots.items() for i in ids]
        tables = engine.history(engine.rows("acl_log", rows), engine.rows("acl_reject", []), plan)
        lives = columns_of(tables["acl_history"]).select([field.name for field in fields(Lifetime)])
        assert {Lifetime(**row) for row in lives.to_pylist()} == {*expected.lifetimes}
        assert lives.num_rows == len(expected.lifetimes)
        rejected = columns_of(tables["acl_reject"])["log_offset"].to_pylist()
        assert sorted(rejected) == list(expected.rejected)


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
