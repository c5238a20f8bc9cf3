"""The brokers of a log, from every kind of source to SQL: known, taken back, read again."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter

import pytest

from tests.cli.dump_text import read_dump
from tests.cli.running import KRAFT as KRAFT_LOG
from tests.cli.running import KRAFT_TEXT, NEWEST, SEGMENT, UPGRADE, Warehouse, split_batches
from tests.pipeline.sources.log_bytes import batch

pytestmark = pytest.mark.usefixtures("spark")

LOG = UPGRADE / "__cluster_metadata-0"
COLUMNS = (
    "broker_id, is_registered, min_level, max_level, since_offset, finalized_level, "
    "finalized_offset"
)
AT_THE_END = ("1", "true", "7", "33", "132", "33", "185")
UNKNOWN_TYPE = b"\x01\x1e\x00\x00"


def brokers(warehouse, cluster=None):
    where = f" WHERE cluster_id = '{cluster}'" if cluster else ""
    found = warehouse.sql(f"SELECT {COLUMNS} FROM broker{where} ORDER BY broker_id")
    return [tuple(row.values()) for row in found]


@pytest.fixture(scope="module")
def upgraded(_session, tmp_path_factory):
    """The log as it stood before the restart with 4.4, then between the levels, then whole."""
    warehouse = Warehouse(tmp_path_factory.mktemp("upgraded") / "warehouse")
    said = []
    for limit in (129, 184, 261):
        more = ("--high-watermark", str(limit))
        result = warehouse.replay(f"metadata-log:{LOG}", more=more, cluster="up")
        said.append((brokers(warehouse), result.stderr))
    return warehouse, said


def test_each_stage_of_an_upgrade_says_whether_ranges_decide(upgraded):
    _, ((old, noted), (middle, changed), (new, last)) = upgraded
    assert old == [("1", "true", "7", "27", "10", "27", "7")]
    assert middle == [("1", "true", "7", "33", "132", "30", "180")]
    assert new == [AT_THE_END]
    assert (
        "note: Brokers compare hosts such as 10.0.0.0/8 as text: broker 1 supports "
        "metadata.version up to 27 (4.1-IV1). metadata.version 27 (4.1-IV1) is in force."
    ) in noted
    assert "as address ranges: broker 1 supports metadata.version up to 33 (4.4-IV2). " in changed
    assert "CIDR" not in last


def test_a_log_of_4_4_gives_the_acls_that_kafka_lists(upgraded):
    lines = (UPGRADE / "acls.tsv").read_text(encoding="utf-8").splitlines()
    listed = Counter(tuple(line.split("\t")) for line in lines)
    assert listed.total() == 109
    assert upgraded[0].acls("up") == listed


def test_a_replay_again_changes_nothing_and_notes_nothing(upgraded, tmp_path):
    warehouse = upgraded[0].copy(tmp_path / "again")
    before = warehouse.tables()
    result = warehouse.replay(f"metadata-log:{LOG}")
    assert warehouse.tables() == before
    assert "CIDR" not in result.stderr


def test_a_text_and_json_lines_say_the_same_as_the_log(upgraded, tmp_path):
    warehouse = upgraded[0].copy(tmp_path / "forms")
    dump = tmp_path / "dump.txt"
    dump.write_bytes(gzip.decompress((UPGRADE / "kafka-dump-log.txt.gz").read_bytes()))
    lines = tmp_path / "records.jsonl"
    lines.write_text(
        "".join(json.dumps(record) + "\n" for record in read_dump(dump)), encoding="utf-8"
    )
    for kind, file in (("dump-log", dump), ("records", lines)):
        warehouse.replay(f"{kind}:{file}", cluster=kind)
        assert brokers(warehouse, kind) == [AT_THE_END]
    assert brokers(warehouse, "up") == [AT_THE_END]


def test_what_is_taken_back_is_known_no_more_and_comes_again(upgraded, tmp_path):
    warehouse = upgraded[0].copy(tmp_path / "forgotten")
    result = warehouse.run("replay", "--forget", "130-")
    assert brokers(warehouse) == [("1", "true", "7", "27", "10", "27", "7")]
    assert (
        "hosts such as 10.0.0.0/8 as text: broker 1 supports metadata.version up to 27 (4.1-IV1)."
    ) in result.stderr
    warehouse.run("replay", "--forget", "0-")
    assert brokers(warehouse) == []
    warehouse.replay(f"metadata-log:{LOG}")
    assert brokers(warehouse) == [AT_THE_END]


def test_a_snapshot_alone_tells_its_brokers_and_a_listing_none(upgraded, tmp_path):
    warehouse = upgraded[0].copy(tmp_path / "others")
    warehouse.replay(f"metadata-log:{KRAFT_LOG / NEWEST}", cluster="snapshot")
    assert brokers(warehouse, "snapshot") == [("1", "true", "7", "27", "914", "27", "914")]
    source = f"acls-list:{KRAFT_TEXT / 'kafka-acls-list.txt'}"
    first = warehouse.replay(source, cluster="listing")
    assert brokers(warehouse, "listing") == []
    assert "It is unknown how brokers read hosts such as 10.0.0.0/8" in first.stderr
    assert "CIDR" not in warehouse.replay(source, cluster="listing").stderr


def test_a_record_of_an_unknown_type_is_counted_named_and_refused_by_strict(tmp_path):
    folder = tmp_path / "__cluster_metadata-0"
    shutil.copytree(LOG, folder)
    log = (LOG / SEGMENT).read_bytes()
    end = max(base for base, _ in split_batches(log)) + 1
    newer = batch(end, UNKNOWN_TYPE, UNKNOWN_TYPE, epoch=2)
    (folder / SEGMENT).write_bytes(log + newer)
    warehouse = Warehouse(tmp_path / "warehouse")
    result = warehouse.replay(f"metadata-log:{folder}")
    assert (
        "note: Skipped 2 records (see acl_reject): unknown record type 30: Kafka up to 4.4 "
        "has no such type"
    ) in result.stderr
    assert len(warehouse.acls()) == 109
    strict = warehouse.replay(f"metadata-log:{folder}", more=("--strict",), code=3)
    assert "2 rows cannot be used (see acl_reject), and --strict is set." in strict.stderr
