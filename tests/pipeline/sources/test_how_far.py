"""Whoever reads a file tells how far it is: every byte of it, and its records."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from types import SimpleNamespace

import pytest

from aclkit.pipeline.replay import intake, job
from aclkit.pipeline.replay.intake import imprint_of, look_at, parse_source
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.pipeline.sources import readers
from aclkit.pipeline.sources.items import EPOCHS, SEGMENT, SNAPSHOT, WorkItem
from aclkit.pipeline.sources.readers import READERS, read_item, read_listing
from aclkit.pipeline.sources.source_kinds import DUMP_LOG, RECORDS
from aclkit.pipeline.sources.spark_source import MetadataLog
from aclkit.runtime import read_progress
from aclkit.runtime.progress import measure, step
from aclkit.runtime.read_progress import ReadProgress, followed, size_of
from tests.pipeline.sources.log_bytes import KRAFT
from tests.pipeline.sources.test_readers import DATA, LISTING, NEWEST
from tests.runtime.terminal import Terminal

RECORD = {"type": "REMOVE_ACCESS_CONTROL_ENTRY_RECORD", "version": 0, "offset": 1, "data": {}}


class Heard(ReadProgress):
    """Keeps what is told."""

    def __init__(self, *_):
        super().__init__()
        self.size = self.records = 0

    def add(self, size, records=0):
        self.size += size
        self.records += records


@pytest.fixture
def samples(tmp_path):
    """A file of each kind."""
    (tmp_path / "records.jsonl").write_text(f"{json.dumps(RECORD)}\n" * 3_000, encoding="utf-8")
    return {
        SEGMENT: KRAFT / "00000000000000000000.log",
        SNAPSHOT: KRAFT / NEWEST,
        DUMP_LOG: DATA / "kafka-dump-log.txt",
        RECORDS: tmp_path / "records.jsonl",
    }


@pytest.fixture
def terminal(log_to, monkeypatch):
    """Let somebody look, and be told each word at once."""
    monkeypatch.setattr(read_progress, "_PAUSE", 0)
    monkeypatch.setattr(read_progress, "_STEP", 1)
    return log_to(Terminal())


# The list of epochs is some lines, read at once.
@pytest.mark.parametrize("kind", sorted(READERS.keys() - {EPOCHS}))
def test_a_reader_of_each_kind_tells_every_byte_and_its_records(samples, kind):
    heard = Heard()
    path = samples[kind]
    assert list(read_item(WorkItem(kind=kind, path=str(path)), heard))
    assert heard.size == path.stat().st_size
    # All that their batches hold, control records too.
    records = {SEGMENT: 1_020, SNAPSHOT: 832}
    assert heard.records == (records.get(kind) or path.read_bytes().count(b"\n"))


def test_a_damaged_segment_is_told_to_its_end_too(tmp_path):
    heard = Heard()
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes((KRAFT / path.name).read_bytes()[:-1_000])
    list(read_item(WorkItem(kind=SEGMENT, path=str(path)), heard))
    assert heard.size == path.stat().st_size


def test_a_task_of_spark_tells_how_far_its_own_item_is(samples, terminal):
    items = [WorkItem(kind=kind, path=str(path)) for kind, path in samples.items()]
    with followed(size_of(item.path) for item in items) as board:
        options = {"items": json.dumps([asdict(item) for item in items]), "board": board}
        reader = MetadataLog(options).reader(None)
        first, *_, last = reader.partitions()
        list(reader.read(first))
        assert measure().startswith("1 of 4 files, ")
        batches = reader.read(last)
        next(batches)
        assert measure().startswith("1 of 4 files, ")
        list(batches)
        assert measure().startswith("2 of 4 files, ")


def test_a_task_that_nobody_follows_reads_all_the_same(samples):
    item = WorkItem(kind=SEGMENT, path=str(samples[SEGMENT]))
    options = {"items": json.dumps([asdict(item)]), "board": ""}
    reader = MetadataLog(options).reader(None)
    (partition,) = reader.partitions()
    found = sum(batch.num_rows for batch in reader.read(partition))
    assert found == len(list(read_item(item)))


def test_the_step_that_reads_a_source_is_followed_and_no_longer(samples, terminal):
    items = [WorkItem(kind=kind, path=str(path)) for kind, path in samples.items()]
    seen = []

    def read(_items, board):
        ReadProgress(board, 0).add(samples[SEGMENT].stat().st_size, 915)
        seen.append(measure())

    engine = SimpleNamespace(read=read, raise_failures=lambda _: None)
    job.source_rows(engine, SimpleNamespace(items=items), lambda _: True)
    assert measure() == ""
    assert seen[0].startswith("0 of 4 files, 915 records read, ")


def test_a_packed_file_has_no_share_as_its_size_says_nothing():
    item = WorkItem(kind=RECORDS, path=f"{LISTING}.gz")
    assert job._size_of(item) is None


@pytest.mark.parametrize("what", ["imprint", "listing"])
def test_what_is_read_before_spark_is_shown_with_how_far_it_is(what, terminal, monkeypatch):
    said = []

    class Said(ReadProgress):
        def add(self, size, records=0):
            super().add(size, records)
            said.append(measure())

    monkeypatch.setattr({"imprint": intake, "listing": readers}[what], "ReadProgress", Said)
    if what == "imprint":
        imprint_of(look_at([parse_source(f"metadata-log:{KRAFT}")]), ReplayOptions())
        assert any(words.endswith("of the bytes") for words in said)
        assert "Checking whether the source has anything new …" in terminal.getvalue()
    else:
        assert len(list(read_listing(str(LISTING)))) == 627
        assert any(" records read, " in words for words in said)
        assert "reading the listing …" in terminal.getvalue()
    assert measure() == ""


def test_elsewhere_reading_says_nothing_more_than_it_did(log_to, samples):
    stream = log_to(io.StringIO())
    with step("Reading the source"):
        list(read_listing(str(LISTING)))
        imprint_of(look_at([parse_source(f"metadata-log:{KRAFT}")]), ReplayOptions())
    assert stream.getvalue() == "Reading the source …\n"
