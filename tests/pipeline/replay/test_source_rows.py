"""What of a source is read, by whom, and which items again: those that may hold anything new."""

from __future__ import annotations

import gzip
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from aclkit.errors import SurroundingsError
from aclkit.model.facts import SourceRow
from aclkit.pipeline.replay import engines
from aclkit.pipeline.replay import on_duckdb as here
from aclkit.pipeline.replay.asking import TooManyRowsError
from aclkit.pipeline.replay.intake import Source, imprint_of, look_at
from aclkit.pipeline.replay.job import news_filter, replay, source_rows
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.pipeline.replay.on_duckdb import OnDuckdb
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.sources.items import WorkItem, metadata_log_items
from aclkit.pipeline.sources.readers import read_item
from aclkit.runtime import memory
from aclkit.warehouse.run import begin_run
from tests.pipeline.replay.frames import columns_of
from tests.pipeline.sources.log_bytes import KRAFT

READ_BEFORE = [Range(0, 100, 1, "record")]


@pytest.mark.parametrize(
    ("end", "head", "has_brokers", "is_news"),
    [
        pytest.param(50, 100, True, False, id="the-log-leads-past-it"),
        pytest.param(120, 100, True, True, id="it-is-newer-than-all"),
        pytest.param(50, 40, True, True, id="history-was-not-computed-so-far"),
        pytest.param(50, None, True, True, id="no-history-was-computed"),
        pytest.param(50, 100, False, True, id="an-older-aclkit-passed-over-its-brokers"),
        pytest.param(None, 100, True, True, id="it-is-no-older-snapshot"),
    ],
)
def test_an_older_snapshot_is_news_unless_all_it_says_is_known(end, head, has_brokers, is_news):
    item = WorkItem(kind="any", path="any", only_below=end)
    assert news_filter(READ_BEFORE, head, has_brokers=has_brokers)(item) is is_news


@pytest.mark.parametrize(("epoch", "is_news"), [(1, False), (2, True)])
def test_an_older_snapshot_is_news_until_what_it_proves_is_known(epoch, is_news):
    item = WorkItem(kind="any", path="any", only_below=40, epoch=epoch)
    known = [*READ_BEFORE, Range(19, 60, 1, "committed")]
    assert news_filter(known, 100, has_brokers=True)(item) is is_news


def rows_of(frame):
    return Counter(SourceRow(**row) for row in columns_of(frame).to_pylist())


def expected(items):
    return Counter(row for item in items for row in read_item(item))


def test_both_engines_read_what_the_readers_read(engine):
    items = metadata_log_items(str(KRAFT))
    assert rows_of(engine.read(items, None)) == expected(items)
    assert rows_of(engine.read([], None)) == {}


def test_a_source_with_more_rows_than_fit_is_left_to_the_other_engine(monkeypatch):
    monkeypatch.setattr(here, "ROWS_REPLAYED_HERE", 10)
    with pytest.raises(TooManyRowsError):
        OnDuckdb("c").read(metadata_log_items(str(KRAFT)), None)


def test_spark_replays_a_source_with_more_rows_than_fit(spark, tmp_path, monkeypatch):
    results = []
    for most in (here.ROWS_REPLAYED_HERE, 10):
        monkeypatch.setattr(here, "ROWS_REPLAYED_HERE", most)
        start = None if most > 10 else spark
        with begin_run(start, str(tmp_path / str(most)), "replay", lock_timeout=0) as run:
            intake = look_at([Source("metadata-log", str(KRAFT))])
            results.append(replay(run, intake, None, ReplayOptions()))
    assert results[0] == results[1]
    assert results[0].facts > 500


def test_where_a_file_went_since_it_was_listed_all_is_listed_and_read_again(tmp_path):
    log = tmp_path / "log"
    shutil.copytree(KRAFT, log)
    intake = look_at([Source("metadata-log", str(log))])
    next(log.glob("*.checkpoint")).unlink()
    read = source_rows(OnDuckdb("c"), intake, lambda _: True)
    assert rows_of(read.rows) == expected(intake.listed_again().items)
    assert len(read.whole) == len(intake.items) - 1 == len(read.intake.items)


def test_a_run_that_listed_again_keeps_no_imprint_of_the_listing_before(tmp_path, monkeypatch):
    """A file that went and is back looks as before, and yet it was not read."""
    log = tmp_path / "log"
    shutil.copytree(KRAFT, log)
    newest = sorted(log.glob("*.log"))[-1]
    read, found = OnDuckdb.read, []

    def reading(engine, items, board):
        found.append(len(items))
        if len(found) == 1:
            newest.rename(tmp_path / "away")
        rows = read(engine, items, board)
        if len(found) == 2:
            (tmp_path / "away").rename(newest)
        return rows

    monkeypatch.setattr(OnDuckdb, "read", reading)
    with begin_run(None, str(tmp_path / "w"), "replay", lock_timeout=0) as run:
        intake = look_at([Source("metadata-log", str(log))])
        intake = replace(intake, imprint=imprint_of(intake, ReplayOptions()))
        result = replay(run, intake, None, ReplayOptions())
        assert (result.is_listed_again, run.settings.sources) == (True, None)
    assert found[0] == found[1] + 1


@pytest.mark.parametrize(
    ("most_bytes", "most_facts", "is_ours", "fits"),
    [
        (100, 5, True, True), (99, 5, True, False), (100, 4, True, False),
        (300, 15, False, True), (299, 15, False, False), (300, 14, False, False),
    ],
)  # fmt: skip
def test_what_fits_is_replayed_by_this_process_a_third_of_it_by_a_driver_of_spark(
    tmp_path, monkeypatch, most_bytes, most_facts, is_ours, fits
):
    (tmp_path / "a").write_bytes(b"x" * 100)
    items = [WorkItem(kind="records", path=str(tmp_path / name)) for name in ("a", "gone")]
    monkeypatch.setattr("aclkit.pipeline.plan._BYTES_REPLAYED_HERE", most_bytes)
    monkeypatch.setattr("aclkit.pipeline.plan._FACTS_REPLAYED_HERE", most_facts)
    monkeypatch.setattr(memory, "IS_OURS", is_ours)
    assert engines.fits(SimpleNamespace(count_facts=lambda: 5), "auto", items) is fits


def test_the_rows_of_a_listing_count_as_the_records_of_a_log_do(monkeypatch):
    monkeypatch.setattr("aclkit.pipeline.plan._BYTES_REPLAYED_HERE", 640)
    tables = SimpleNamespace(count_facts=lambda: 0)
    assert [engines.fits(tables, rows=rows) for rows in (10, 11)] == [True, False]


def test_a_packed_file_counts_as_several_times_its_size(tmp_path):
    packed = tmp_path / "a.gz"
    packed.write_bytes(gzip.compress(b"x" * 1_000))
    item = WorkItem(kind="records", path=str(packed))
    assert engines._bytes_of([item]) == 10 * Path(packed).stat().st_size


def test_of_a_store_that_does_not_answer_the_size_is_unknown(monkeypatch):
    def fail(_):
        raise SurroundingsError("no answer")

    monkeypatch.setattr(engines, "size_and_time", fail)
    assert engines._bytes_of([WorkItem(kind="records", path="s3://bucket/x")]) is None
