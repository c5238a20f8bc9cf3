"""Whether Spark's workers write where the driver reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aclkit.errors import SurroundingsError
from aclkit.warehouse.location import Location
from aclkit.warehouse.shared_folder import NOT_SHARED, Mark, marked, require_files_here


@pytest.fixture
def committed(tmp_path):
    """A table of one commit: a file of 10 bytes and 3 rows, with a name that is escaped."""
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    (tmp_path / "t" / "part 1.parquet").write_bytes(b"0123456789")
    actions = [
        {"commitInfo": {"operationMetrics": {"numOutputRows": "3"}}},
        {"add": {"path": "part%201.parquet", "size": 10}},
    ]
    (log / f"{0:020}.json").write_text("\n".join(map(json.dumps, actions)), encoding="utf-8")
    return Location(str(tmp_path))


def test_a_mark_is_seen_where_the_folder_is_the_same_and_goes_at_the_end(tmp_path):
    with marked(Location(str(tmp_path))) as mark:
        mark.insist()
    with pytest.raises(SurroundingsError, match=NOT_SHARED):
        mark.insist()
    assert [*(tmp_path / "_aclkit").iterdir()] == []


def test_the_mark_of_another_run_is_not_this_one(tmp_path):
    with marked(Location(str(tmp_path))) as mark, pytest.raises(SurroundingsError):
        Mark(mark.path, "another word").insist()


def test_a_bucket_needs_no_mark():
    with marked(Location("s3a://bucket/acls")) as mark:
        assert mark is None


def test_the_rows_of_a_commit_count_where_its_files_are_here(committed):
    assert require_files_here(committed, "t", 0) == 3


@pytest.mark.parametrize("change", [Path.unlink, lambda path: path.write_bytes(b"012345678")])
def test_a_file_that_is_missing_or_cut_was_written_elsewhere(committed, change):
    change(committed.folder / "t" / "part 1.parquet")
    with pytest.raises(SurroundingsError, match="Use a disk that the driver and all workers mount"):
        require_files_here(committed, "t", 0)
