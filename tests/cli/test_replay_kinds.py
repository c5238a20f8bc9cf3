"""The same cluster read from every kind of source: the same ACLs."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.cli.dump_text import alive_at_end, read_dump
from tests.cli.running import BINDING, DATA, KRAFT_TEXT, Warehouse

pytestmark = pytest.mark.usefixtures("spark")


@pytest.fixture(scope="module")
def warehouse(_session, tmp_path_factory):
    return Warehouse(tmp_path_factory.mktemp("kinds") / "warehouse")


@pytest.fixture(scope="module")
def live():
    """What Kafka's admin client listed; it calls CLUSTER by its old name."""
    rows = json.loads((KRAFT_TEXT / "live-acls.json").read_text(encoding="utf-8"))
    acls = Counter((row[0].replace("BROKER", "CLUSTER"), *row[1:]) for row in rows)
    assert acls.total() == 627
    return acls


def test_metadata_log_directory_gives_the_acls_that_kafka_lists(replayed, live):
    assert replayed.acls() == live


@pytest.mark.slow
def test_single_segment_gives_the_acls_that_kafka_lists(warehouse, segment_path, live):
    warehouse.replay(f"metadata-log:{segment_path}", cluster="segment")
    assert warehouse.acls("segment") == live


def test_dump_log_text_gives_the_acls_that_kafka_lists(warehouse, live):
    warehouse.replay(f"dump-log:{KRAFT_TEXT / 'kafka-dump-log.txt'}", cluster="dump")
    assert warehouse.acls("dump") == live


@pytest.mark.slow
def test_acls_list_text_gives_the_acls_that_kafka_lists(warehouse, live):
    warehouse.replay(f"acls-list:{KRAFT_TEXT / 'kafka-acls-list.txt'}", cluster="listing")
    assert warehouse.acls("listing") == live


@pytest.mark.slow
def test_json_records_give_the_acls_that_kafka_lists(warehouse, tmp_path, live):
    file = tmp_path / "records.jsonl"
    records = read_dump(KRAFT_TEXT / "kafka-dump-log.txt")
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    warehouse.replay(f"records:{file}", cluster="records")
    assert warehouse.acls("records") == live


def test_snapshot_gives_the_acls_of_its_end_offset_of_the_log(warehouse, snapshot_path, replayed):
    warehouse.replay(f"metadata-log:{snapshot_path}", cluster="snapshot")
    dumped = alive_at_end(read_dump(KRAFT_TEXT / "kafka-dump-checkpoint.txt"))
    assert dumped.total() == 630
    assert warehouse.acls("snapshot") == dumped
    as_of_915 = replayed.sql(
        f"SELECT {BINDING} FROM acl_history WHERE effective_offset < 915"
        " AND (removed_offset IS NULL OR removed_offset >= 915)"
    )
    assert Counter(tuple(row.values()) for row in as_of_915) == dumped


@pytest.mark.slow
def test_pasted_listings_and_the_table_of_rpk_become_the_acls_that_they_state(spark, tmp_path):
    warehouse = Warehouse(tmp_path / "warehouse")
    for name in ("tabs", "eight-spaces", "commented"):
        warehouse.replay(f"acls-list:{DATA / 'pasted-listings' / name}.txt", cluster=name)
    assert warehouse.acls("tabs") == warehouse.acls("eight-spaces") == warehouse.acls("commented")
    assert sum(warehouse.acls("tabs").values()) == 3
    warehouse.replay(f"acls-list:{DATA / 'other-acl-forms' / 'rpk.txt'}", cluster="rpk")
    assert set(warehouse.acls("rpk")) == {
        ("TOPIC", "foo", "LITERAL", "User:ann", "*", "READ", "ALLOW"),
        ("CLUSTER", "kafka-cluster", "LITERAL", "User:ann", "*", "ALL", "ALLOW"),
    }


def test_a_dump_without_decoder_says_which_option_is_missing(tmp_path):
    source = f"dump-log:{DATA / 'pasted-listings' / 'dump-without-decoder.txt'}"
    result = Warehouse(tmp_path / "warehouse").replay(source, code=3)
    assert "the option --cluster-metadata-decoder is missing" in result.stderr
