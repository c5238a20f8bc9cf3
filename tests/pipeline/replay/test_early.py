"""Small sources are read beside the start of Spark, with the same rows and errors."""

from __future__ import annotations

import shutil
import threading
from collections import Counter
from concurrent.futures import Future
from dataclasses import replace

import pytest

from aclkit.model.facts import FAILURE, SPARK_DDL, SourceRow
from aclkit.pipeline.replay import early, source_rows
from aclkit.pipeline.replay.early import EarlyRows, read_early
from aclkit.pipeline.replay.intake import Source, look_at
from aclkit.pipeline.sources import readers
from aclkit.pipeline.sources.arrow import to_record_batch
from aclkit.pipeline.sources.items import WorkItem, metadata_log_items
from aclkit.pipeline.sources.readers import read_item
from aclkit.runtime.frame import struct_of
from tests.pipeline.sources.log_bytes import KRAFT


@pytest.fixture
def items():
    return metadata_log_items(str(KRAFT))


def test_its_rows_are_those_of_the_readers(items):
    read = read_early(items)
    assert read is not None
    chosen = items[:2]
    expected = to_record_batch([row for item in chosen for row in read_item(item)])
    assert read.of(chosen).to_pylist() == expected.to_pylist()


def test_items_that_were_not_read_have_to_be(items):
    read = read_early(items[1:])
    assert read is not None
    assert read.of(items) is None


def test_the_start_of_spark_does_not_wait_for_the_reading(items, monkeypatch):
    may_go_on = threading.Event()
    monkeypatch.setattr(readers, "read_or_tell", lambda item: iter([may_go_on.wait()][:0]))
    read = read_early(items)
    assert read is not None
    assert not read.reading.done()
    may_go_on.set()
    assert read.of(items).num_rows == 0


def test_the_end_of_the_process_does_not_wait_for_it(items, monkeypatch):
    may_go_on, threads = threading.Event(), []

    def read_or_tell(item):
        threads.append(threading.current_thread())
        yield from [may_go_on.wait()][:0]

    monkeypatch.setattr(readers, "read_or_tell", read_or_tell)
    read = read_early(items)
    assert read is not None
    may_go_on.set()
    read.of(items)
    assert {thread.daemon for thread in threads} == {True}


def test_a_file_that_went_meanwhile_is_a_row_that_tells_it(tmp_path, items):
    gone = tmp_path / "00000000000000000000.log"
    gone.write_bytes(b"")
    item = WorkItem(kind="segment", path=str(gone))
    gone.unlink()
    assert read_early([item]) is None
    rows = early._rows([item])
    assert [(row.kind, row.fact) for row in rows[item]] == [(FAILURE, "GoneError")]


@pytest.mark.parametrize("limit", ["MOST_BYTES", "MOST_ROWS"])
def test_what_is_large_is_left_to_spark(items, monkeypatch, limit):
    monkeypatch.setattr(early, limit, 10)
    read = read_early(items)
    assert read is None or read.of(items) is None


def test_what_is_packed_is_left_to_spark(tmp_path):
    packed = tmp_path / "dump.txt.gz"
    packed.write_bytes(b"")
    assert read_early([WorkItem(kind="dump-log", path=str(packed))]) is None


def test_what_lies_at_a_uri_is_left_to_spark():
    assert read_early([WorkItem(kind="dump-log", path="s3://bucket/dump.txt")]) is None


def test_a_reader_that_breaks_leaves_its_error_to_spark(items, monkeypatch):
    monkeypatch.setattr(readers, "read_or_tell", lambda item: 1 / 0)
    read = read_early(items)
    assert read is not None
    assert read.of(items) is None


def test_nothing_to_read_is_nothing_to_begin():
    assert read_early([]) is None


def rows_of(frame):
    return Counter(SourceRow(**row) for row in frame.toArrow().to_pylist())


def test_spark_gets_the_rows_that_it_would_have_read(spark, items, monkeypatch):
    read, unknown = source_rows._frame(spark, items, None, None)
    rows = rows_of(read)
    assert unknown is None
    for rows_in_a_plan in (0, 1_000_000):
        monkeypatch.setattr(source_rows, "ROWS_IN_A_PLAN", rows_in_a_plan)
        early_frame, count = source_rows._frame(spark, items, read_early(items), None)
        assert count == early_frame.count()
        assert early_frame.schema == read.schema
        assert rows_of(early_frame) == rows


def test_of_no_source_there_are_no_rows_and_nobody_reads(spark, monkeypatch):
    monkeypatch.setattr(source_rows, "read_sources", lambda *_: pytest.fail("it was read"))
    frame, count = source_rows._frame(spark, [], None, None)
    assert (frame.schema, frame.count(), count) == (struct_of(SPARK_DDL), 0, 0)


def test_where_a_file_went_while_spark_started_all_is_listed_and_read_again(spark, tmp_path):
    log = tmp_path / "log"
    shutil.copytree(KRAFT, log)
    intake = look_at([Source("metadata-log", str(log))])
    gone = SourceRow(kind=FAILURE, source="snapshot", fact="GoneError", reason="it went")
    reading: Future = Future()
    reading.set_result({item: [gone] for item in intake.items})
    next(log.glob("*.checkpoint")).unlink()
    intake = replace(intake, early=EarlyRows(reading))
    with source_rows.source_rows(spark, intake, lambda _: True) as (rows, whole, count):
        assert count is None
        expected = Counter(row for item in intake.list_again() for row in read_item(item))
        assert rows_of(rows) == expected
        assert len(whole) == len(intake.items) - 1
