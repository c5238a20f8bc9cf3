"""Repetition, order of arrival, other file borders, other clusters: no trace in the tables."""

from __future__ import annotations

import struct

import pytest

from tests.cli.dump_text import alive_at_end, read_dump
from tests.cli.running import (
    KRAFT,
    KRAFT_TEXT,
    REPLAYED,
    SEGMENT,
    SYNTHETIC,
    Warehouse,
    split_batches,
    write_segment,
)

pytestmark = pytest.mark.usefixtures("spark")

LOGS = (
    *("basic", "txn", "txn_open"),
    # How their bytes are read is tested without Spark too.
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("truncated", "codecs", "control")),
)


@pytest.fixture(scope="module")
def synthetic(_session, tmp_path_factory):
    """A warehouse into which each synthetic log is replayed as a cluster when it is asked for."""
    warehouse = Warehouse(tmp_path_factory.mktemp("synthetic") / "warehouse")
    results = {}

    def replayed_into(name, code=0):
        if name not in results:
            source = f"metadata-log:{SYNTHETIC / name}"
            results[name] = warehouse.replay(source, cluster=name, code=code)
        return warehouse, results[name]

    return replayed_into


def test_replaying_the_same_source_again_changes_nothing(replayed, tmp_path):
    again = replayed.copy(tmp_path / "again")
    again.replay(f"metadata-log:{KRAFT}")
    assert again.tables() == replayed.tables()
    assert again.published().run.counts["facts_added"] == 0


@pytest.mark.slow
def test_halves_in_reverse_and_a_late_snapshot_leave_the_tables_of_one_undisturbed_replay(
    replayed, tmp_path, segment_path, snapshot_path
):
    batches = list(split_batches((KRAFT / SEGMENT).read_bytes()))
    third, two_thirds = len(batches) // 3, 2 * len(batches) // 3
    for part in (batches[third:two_thirds], batches[two_thirds:]):
        write_segment(tmp_path / "second", part)
    overlapping = write_segment(tmp_path / "first", batches[: third + 5])
    warehouse = Warehouse(tmp_path / "warehouse")

    result = warehouse.replay(f"metadata-log:{tmp_path / 'second'}", code=3)
    assert f"Offsets 0–{batches[third][0] - 1} could not be read." in result.stderr
    run = warehouse.published().run
    assert (run.head_offset, run.status, warehouse.acls().total()) == (0, "incomplete", 0)

    warehouse.replay(f"metadata-log:{overlapping}")
    assert warehouse.published().run.status == "complete"
    warehouse.replay(f"metadata-log:{snapshot_path}")

    actual, expected = warehouse.tables(), replayed.tables()
    for name in REPLAYED:
        assert actual[name] == expected[name], name


@pytest.mark.slow
def test_clusters_of_one_warehouse_do_not_touch_each_other(synthetic):
    warehouse, _ = synthetic("basic")
    before = warehouse.tables(cluster="basic")
    assert before["acl_history"]
    synthetic("txn")
    assert set(warehouse.published().clusters) >= {"basic", "txn"}
    assert warehouse.tables(cluster="basic") == before


@pytest.mark.parametrize("name", LOGS)
def test_log_gives_the_state_of_its_dump_where_aborted_transactions_have_no_effect(synthetic, name):
    warehouse, _ = synthetic(name)
    dumped = alive_at_end(read_dump(SYNTHETIC / name / f"{SEGMENT}.dump.txt"))
    assert dumped
    assert warehouse.acls(name) == dumped


def test_aborted_and_open_transactions_leave_no_acl(synthetic):
    names = {name: {acl[1] for acl in synthetic(name)[0].acls(name)} for name in LOGS[1:3]}
    assert {"aborted", "leak?"}.isdisjoint(names["txn"])
    assert {"aborted", "leak?", "openAtEnd", "openAtEnd2"}.isdisjoint(names["txn_open"])
    assert {"committed", "after", "sameBatchAfterAbort"} <= names["txn"]


@pytest.mark.slow
def test_gap_stops_the_state_before_it_and_can_be_accepted(synthetic):
    warehouse, result = synthetic("gap", code=3)
    assert "Offsets 3–9 could not be read." in result.stderr
    assert warehouse.published().last_run("gap").head_offset == 3
    assert {acl[1] for acl in warehouse.acls("gap")} == {"ok"}

    warehouse.replay(f"metadata-log:{SYNTHETIC / 'gap'}", cluster="gap", more=("--accept-holes",))
    run = warehouse.published().last_run("gap")
    assert (run.status, run.head_offset) == ("incomplete", 11)
    assert {acl[1] for acl in warehouse.acls("gap")} == {"ok", "gap"}


@pytest.mark.slow
def test_higher_epoch_withdraws_the_tail_of_the_lower_one(replayed, tmp_path):
    """The new leader repeats some batches and writes others than the old one did.

    Base offset and epoch stand before what the CRC covers, so batches can be moved.
    """
    batches = list(split_batches((KRAFT / SEGMENT).read_bytes()))
    kept, repeated = batches[:-12], batches[-12:-6]
    cut, end = repeated[0][0], batches[-6][0]
    others = [content for _, content in split_batches((SYNTHETIC / "basic" / SEGMENT).read_bytes())]
    tail = [(base, _moved(content, base, epoch=2)) for base, content in repeated]
    next_offset = end
    for content in others[2:4]:
        tail.append((next_offset, _moved(content, next_offset, epoch=2)))
        next_offset += struct.unpack_from(">i", content, 23)[0] + 1

    warehouse = replayed.copy(tmp_path / "warehouse")
    result = warehouse.replay(f"metadata-log:{write_segment(tmp_path / 'log', kept + tail)}")

    old_end = replayed.published().run.head_offset
    assert f"Offsets {cut}–{old_end - 1}" in result.stderr
    assert [row["finding"] for row in warehouse.sql("SELECT finding FROM finding")] == [
        "log-diverged"
    ]
    dumped = [r for r in read_dump(KRAFT_TEXT / "kafka-dump-log.txt") if r["offset"] < end]
    basic = [
        r for r in read_dump(SYNTHETIC / "basic" / f"{SEGMENT}.dump.txt") if r["offset"] in (2, 3)
    ]
    assert warehouse.acls() == alive_at_end([*dumped, *basic]) != replayed.acls()


def _moved(batch: bytes, base: int, *, epoch: int) -> bytes:
    return struct.pack(">q", base) + batch[8:12] + struct.pack(">i", epoch) + batch[16:]
