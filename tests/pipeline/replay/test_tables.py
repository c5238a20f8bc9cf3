"""What a replay writes: the same rows, whichever engine writes them."""

from __future__ import annotations

import pytest

from aclkit.model.facts import RECORD
from aclkit.pipeline.replay.conditions import OfASource, Offsets, Origin
from aclkit.pipeline.replay.engines import replaying
from aclkit.pipeline.replay.history_plan import plan_history
from aclkit.pipeline.replay.known import Replayed
from aclkit.pipeline.replay.known_tables import KnownTables
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.replay.transactions import COMMITTED, Span
from aclkit.warehouse.run import begin_run
from tests.pipeline.replay.conftest import SPARK
from tests.pipeline.replay.frames import added, fact, listed, must_be, reject, table

OTHERS = [added(3, "a3", cluster_id="d")]
KNOWN = [*(added(n, f"a{n}") for n in range(4)), listed(2, "a2"), listed(3, "a3", source=None)]


def known(tables, name):
    """The rows of all clusters, read without the engine."""
    with tables._open(name) as read:
        return read.connection.sql(f'FROM "all {name}"').to_arrow_table()


@pytest.fixture(params=["duckdb", SPARK])
def tables(request, tmp_path):
    """The tables of cluster c, of which each engine reads and writes a warehouse's."""
    is_here = request.param == "duckdb"
    start = None if is_here else request.getfixturevalue("spark")
    with begin_run(start, str(tmp_path), "replay", lock_timeout=0) as run:
        for cluster, rows in (("d", OTHERS), ("c", KNOWN)):
            with replaying(KnownTables(run.store, cluster), is_here=is_here) as tables:
                tables.rows.replace("acl_log", table(tables.engine, "acl_log", rows))
                if cluster == "c":
                    yield tables


def test_facts_are_taken_back_and_moved(tables):
    # Of a fact without a source it is not known whether it goes: it stays.
    removed = (Offsets(1, 2), Origin("snapshot"))
    moved = tables.engine.moved_records(table(tables.engine, "acl_log", KNOWN), [SPAN])
    plan = plan_history([Range(0, 4, 1, RECORD)], ())
    tables.write(Replayed(plan=plan, fact_count=0, removed=removed, moved=moved))
    must_be(known(tables, "acl_log"), "acl_log", [
        *OTHERS, added(0, "a0"), added(2, "a2", txn_offset=1), added(3, "a3"), KNOWN[-1],
    ])  # fmt: skip


SPAN = Span(1, 3, COMMITTED)


def test_rejects_of_a_source_go_and_those_of_the_replay_stay(tables):
    rows = [reject("a", 3), reject("b", 3, stage="replay"), reject("c", 4), reject("d")]
    tables.rows.append("acl_reject", table(tables.engine, "acl_reject", rows))
    assert tables.rows.delete("acl_reject", OfASource(Offsets(3, 4))) == 1
    assert tables.rows.delete("acl_reject", OfASource(Offsets(7, 9))) == 0
    must_be(tables.rows.read("acl_reject"), "acl_reject", rows[1:])
    must_be(tables.engine.only(tables.rows.read("acl_reject"), OfASource()), "acl_reject", rows[2:])


def test_corrected_facts_take_the_place_of_the_cluster_s_and_others_are_added(tables):
    plan = plan_history([Range(0, 4, 1, RECORD)], ())
    now, more = [added(0, "now")], [fact(9, acl_id="more")]
    frames = (table(tables.engine, "acl_log", each) for each in (now, more))
    tables.write(
        Replayed(plan=plan, fact_count=1, **dict(zip(("corrected", "added"), frames, strict=True)))
    )
    must_be(known(tables, "acl_log"), "acl_log", [*OTHERS, *now, *more])
