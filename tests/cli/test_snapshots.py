"""A log that a real broker truncated: all its snapshots count, and few of them are kept."""

from __future__ import annotations

import shutil

import pytest

from aclkit.errors import GoneError
from aclkit.pipeline.replay.on_duckdb import OnDuckdb
from tests.cli.running import REPLAYED, Warehouse
from tests.truncated import unpack

pytestmark = pytest.mark.usefixtures("spark")

OLDEST, NEWEST = 2015, 2417
SNAPSHOT = "{:020}-0000000001.checkpoint"
HISTORY = ("acl_id", "effective_offset", "removed_offset", "added_by")


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """The folders as they lay on the broker's disk: ``truncated``, and ``whole``."""
    folder = tmp_path_factory.mktemp("logs")
    return {name: unpack(name, folder) for name in ("truncated", "whole")}


@pytest.fixture(scope="module")
def whole(_session, logs, tmp_path_factory):
    warehouse = Warehouse(tmp_path_factory.mktemp("whole") / "warehouse")
    warehouse.replay(f"metadata-log:{logs['whole']}")
    return warehouse


@pytest.fixture(scope="module")
def truncated(_session, logs, tmp_path_factory):
    warehouse = Warehouse(tmp_path_factory.mktemp("truncated") / "warehouse")
    result = warehouse.replay(f"metadata-log:{logs['truncated']}")
    assert f"History begins with the snapshot at offset {OLDEST}" in result.stderr
    return warehouse


def lives(warehouse, since=OLDEST):
    """What came or went from an offset on, exactly; what was alive before only by its end."""
    rows = warehouse.sql(f"SELECT {', '.join(HISTORY)} FROM acl_history ORDER BY ALL")
    return {
        (r["acl_id"], max(since - 1, int(r["effective_offset"])), r["removed_offset"] or None)
        for r in rows
        if not r["removed_offset"] or int(r["removed_offset"]) >= since
    }


def known(warehouse):
    of = "SELECT fact, from_offset, to_offset FROM log_range WHERE fact IN ('record', 'snapshot')"
    ranges = warehouse.sql(f"{of} ORDER BY ALL")
    return [(r["fact"], int(r["from_offset"]), int(r["to_offset"])) for r in ranges]


def test_history_of_a_truncated_log_is_that_of_the_whole_one_from_the_oldest_snapshot_on(
    whole, truncated
):
    assert lives(truncated) == lives(whole)
    assert len(lives(whole)) > len([life for life in lives(whole) if life[2] is None])
    assert truncated.acls() == whole.acls()


def test_snapshot_that_the_log_explains_is_checked_and_not_kept(truncated, logs):
    assert known(truncated) == [("record", 1895, 2621), ("snapshot", 0, OLDEST)]
    facts = truncated.sql("SELECT DISTINCT log_offset FROM acl_log WHERE fact = 'snapshot'")
    assert [row["log_offset"] for row in facts] == [str(OLDEST)]
    assert truncated.sql("SELECT finding FROM finding") == []


@pytest.mark.slow
def test_log_behind_a_gap_is_bridged_by_the_nearest_snapshot_and_told(whole, logs, tmp_path):
    """A warehouse that knows the log up to 1413 meets it again when it begins at 1895."""
    early = tmp_path / "early"
    early.mkdir()
    for segment in sorted(logs["whole"].iterdir())[:3]:
        shutil.copy(segment, early)
    warehouse = Warehouse(tmp_path / "warehouse")
    warehouse.replay(f"metadata-log:{early}")
    result = warehouse.replay(f"metadata-log:{logs['truncated']}")
    assert f"Offsets 1413–{OLDEST - 1} are missing; the snapshot at offset {OLDEST}" in (
        result.stderr
    )
    assert "1413–2014" in result.stdout
    assert lives(warehouse) == lives(whole)
    before = {life for life in lives(whole, 0) if life[2] and int(life[2]) < 1413}
    assert before <= lives(warehouse, 0)

    # The missing segment turns up: nothing is bridged any more, in whatever order it came.
    warehouse.replay(f"metadata-log:{sorted(logs['whole'].iterdir())[3]}")
    assert known(warehouse) == known(whole)
    others = [name for name in REPLAYED if name != "log_range"]
    assert warehouse.tables(others) == whole.tables(others)


@pytest.mark.slow
def test_damaged_snapshot_is_rejected_and_the_next_one_bridges(logs, tmp_path, whole):
    damaged = tmp_path / "damaged"
    shutil.copytree(logs["truncated"], damaged)
    path = damaged / SNAPSHOT.format(OLDEST)
    path.write_bytes(path.read_bytes()[:-9])
    warehouse = Warehouse(tmp_path / "warehouse")
    result = warehouse.replay(f"metadata-log:{damaged}")
    assert f"History begins with the snapshot at offset {NEWEST}" in result.stderr
    (reject,) = warehouse.sql("SELECT source, reason FROM acl_reject")
    assert reject["source"] == str(path)
    assert "torn tail" in reject["reason"]
    assert lives(warehouse, NEWEST) == lives(whole, NEWEST)

    # Whole again, it brings back what the other one had bridged.
    shutil.copy(logs["truncated"] / path.name, path)
    warehouse.replay(f"metadata-log:{damaged}")
    assert lives(warehouse) == lives(whole)
    assert known(warehouse) == [("record", 1895, 2621), ("snapshot", 0, OLDEST)]
    assert warehouse.table("acl_reject") == []


@pytest.mark.slow
def test_snapshot_that_contradicts_the_log_is_found_and_kept(logs, tmp_path, whole):
    warehouse = whole.copy(tmp_path / "warehouse")
    wrong = tmp_path / SNAPSHOT.format(NEWEST)
    shutil.copy(logs["truncated"] / SNAPSHOT.format(OLDEST), wrong)
    result = warehouse.replay(f"metadata-log:{wrong}")
    assert f"The snapshot at offset {NEWEST} and the log before it disagree on" in result.stderr
    assert ("snapshot", 0, NEWEST) in known(warehouse)
    assert warehouse.tables(("acl_history",)) == whole.tables(("acl_history",))
    warehouse.run("replay", "--forget", str(wrong))
    assert {name: warehouse.table(name) for name in REPLAYED} == whole.tables()


@pytest.mark.slow
def test_snapshot_that_the_broker_rolls_away_meanwhile_has_all_listed_and_read_again(
    logs, tmp_path, whole, monkeypatch
):
    folder = tmp_path / "log"
    shutil.copytree(logs["truncated"], folder)
    oldest, reads = folder / SNAPSHOT.format(OLDEST), []
    read = OnDuckdb.read

    def reading(engine, items, board):
        reads.append(len(items))
        if len(reads) == 1:
            oldest.rename(f"{oldest}.deleted")
        return read(engine, items, board)

    monkeypatch.setattr(OnDuckdb, "read", reading)
    warehouse = Warehouse(tmp_path / "warehouse")
    warehouse.replay(f"metadata-log:{folder}")
    assert reads == [4, 3]
    assert lives(warehouse, NEWEST) == lives(whole, NEWEST)
    assert warehouse.table("acl_reject") == []


@pytest.mark.slow
def test_log_whose_files_go_each_time_is_given_up_and_nothing_is_written(
    logs, whole, tmp_path, monkeypatch
):
    def raise_failures(engine, rows):
        raise GoneError("/log/1.log: the file no longer exists")

    monkeypatch.setattr(OnDuckdb, "raise_failures", raise_failures)
    warehouse = whole.copy(tmp_path / "warehouse")
    result = warehouse.replay(f"metadata-log:{logs['truncated']}", code=4)
    assert "/log/1.log: the file no longer exists: the log was listed 4 times" in result.stderr
    assert warehouse.tables() == whole.tables()
