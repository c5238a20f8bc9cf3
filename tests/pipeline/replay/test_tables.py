"""What a replay writes: the same rows, whether the driver writes them or Spark."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

from aclkit.model.facts import RECORD
from aclkit.pipeline.replay import tables as module
from aclkit.pipeline.replay.history_plan import plan_history
from aclkit.pipeline.replay.known import Replayed
from aclkit.pipeline.replay.ranges import Range
from aclkit.pipeline.replay.tables import ReplayTables
from aclkit.runtime.frame import local_frame
from aclkit.warehouse.run import begin_run
from aclkit.warehouse.store import Store
from tests.pipeline.replay.frames import added, listed, must_be, table

OTHERS = [added(3, "a3", cluster_id="d")]
KNOWN = [*(added(n, f"a{n}") for n in range(4)), listed(2, "a2"), listed(3, "a3", source=None)]


@pytest.mark.parametrize("most", [0, 100])
def test_few_facts_and_many_are_taken_back_and_moved_alike(spark, tmp_path, monkeypatch, most):
    monkeypatch.setattr(module, "ROWS_IN_A_PLAN", most)
    if most:
        for name in ("delete", "merge"):
            monkeypatch.setattr(Store, name, lambda *_: pytest.fail("it was left to Delta"))
    # Of a fact without a source it is not known whether it goes: it stays.
    removed = (F.col("log_offset") == 3) & (F.col("source") != "another")
    of_moved = "cluster_id STRING, log_offset BIGINT, txn_offset BIGINT"
    moved = local_frame(spark, [("c", 2, 1)], of_moved)
    plan = plan_history([Range(0, 4, 1, RECORD)], ())
    with begin_run(spark, str(tmp_path), "replay", lock_timeout=0) as run:
        for cluster, rows in (("d", OTHERS), ("c", KNOWN)):
            frame = table(spark, "acl_log", rows)
            run.store.replace_cluster("acl_log", frame, cluster, at_most=9)
        done = Replayed(plan=plan, fact_count=0, removed=removed, moved=moved)
        ReplayTables(run.store, "c").write(done, at_most=9)
        must_be(run.store.read("acl_log"), "acl_log", [
            *OTHERS, added(0, "a0"), added(1, "a1"), added(2, "a2", txn_offset=1), *KNOWN[4:],
        ])  # fmt: skip
