"""A replay of what was read before takes no work, and tells what it would tell by Spark."""

from __future__ import annotations

import shutil

import pytest

from tests.cli.running import (
    KRAFT,
    KRAFT_TEXT,
    NEWEST,
    SEGMENT,
    SYNTHETIC,
    UPGRADE,
    Warehouse,
    split_batches,
    write_segment,
)
from tests.nightly.both_ways import both_ways, call, takes_work

pytestmark = [pytest.mark.usefixtures("spark"), pytest.mark.timeout(600)]

BATCHES = list(split_batches((KRAFT / SEGMENT).read_bytes()))


def with_a_hole(folder):
    write_segment(folder, BATCHES[:20])
    write_segment(folder, BATCHES[30:])
    return f"metadata-log:{folder}"


def with_damage(folder):
    """A bad CRC, a torn tail, and a snapshot that cannot be used."""
    path = write_segment(folder, BATCHES)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data[:-9])
    (folder / NEWEST).write_bytes((KRAFT / NEWEST).read_bytes()[:-9])
    return f"metadata-log:{folder}"


def bridged(folder):
    """A log that a broker truncated: it begins with a snapshot."""
    write_segment(folder, BATCHES[-20:])
    for snapshot in KRAFT.glob("*.checkpoint"):
        shutil.copy(snapshot, folder)
    return f"metadata-log:{folder}"


def records_with_rejects(folder):
    file = folder / "records.jsonl"
    file.write_text(
        '{"type": "TOPIC_RECORD", "version": 0, "data": {"name": "t"}}\n{"cut\n', encoding="utf-8"
    )
    return f"records:{file}"


SOURCES = {
    "a log and its snapshots": (lambda _: f"metadata-log:{KRAFT}", (), 0),
    "brokers that register": (lambda _: f"metadata-log:{UPGRADE / '__cluster_metadata-0'}", (), 0),
    "a high watermark": (lambda _: f"metadata-log:{KRAFT}", ("--high-watermark", "700"), 0),
    "an open transaction": (lambda _: f"metadata-log:{SYNTHETIC / 'txn_open'}", (), 0),
    "a hole": (with_a_hole, (), 3),
    "a hole that is accepted": (with_a_hole, ("--accept-holes",), 0),
    "damage": (with_damage, ("--accept-holes",), 0),
    "damage, strictly": (with_damage, ("--accept-holes", "--strict"), 3),
    "a snapshot that bridges": (bridged, (), 0),
    "a dump": (lambda _: f"dump-log:{KRAFT_TEXT / 'kafka-dump-log.txt'}", (), 0),
    "records with rejects": (records_with_rejects, ("--accept-holes",), 0),
    "a listing": (lambda _: f"acls-list:{KRAFT_TEXT / 'kafka-acls-list.txt'}", (), 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES)
def test_it_tells_and_leaves_what_it_would_by_spark(tmp_path, name):
    make, more, code = SOURCES[name]
    folder = tmp_path / "log"
    folder.mkdir()
    command = ("replay", "--source", make(folder), *more)
    assert call(tmp_path / "warehouse", command).exit_code == code
    by_spark, without = both_ways(tmp_path / "warehouse", tmp_path / "work", lambda _: command)
    assert without == by_spark
    assert (without.code, without.run.counts["facts_added"]) == (code, 0)


def test_a_log_that_contradicts_itself_is_read_each_time(tmp_path):
    """A snapshot of the wrong name: the log is believed, and the snapshot told of."""
    folder = tmp_path / "log"
    shutil.copytree(KRAFT, folder)
    older = sorted(folder.glob("*.checkpoint"))[0]
    older.rename(folder / NEWEST)
    command = ("replay", "--source", f"metadata-log:{folder}")
    first = call(tmp_path / "warehouse", command)
    assert "disagree on" in first.stderr
    assert takes_work(tmp_path / "warehouse", command)


@pytest.mark.slow
def test_two_clusters_of_a_warehouse_are_each_read_once(tmp_path):
    warehouse = Warehouse(tmp_path / "warehouse")
    commands = [
        ("--cluster", name, "replay", "--source", f"metadata-log:{SYNTHETIC / name}")
        for name in ("basic", "txn")
    ]
    for command in commands:
        assert call(warehouse.path, command).exit_code == 0
    # The other cluster's rows came since: its tables are not as this one left them.
    assert [takes_work(warehouse.path, command) for command in commands] == [True, False]
    assert call(warehouse.path, commands[0]).exit_code == 0
    before = warehouse.tables()
    for _ in range(2):
        assert [takes_work(warehouse.path, command) for command in commands] == [False, False]
    assert warehouse.tables() == before
