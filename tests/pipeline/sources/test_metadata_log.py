"""Rules of aclkit.pipeline.sources.metadata_log and readers: what there is to read at a path."""

from __future__ import annotations

import shutil

import pytest

from aclkit.errors import DataError, SurroundingsError, UsageError
from aclkit.model import facts as rows
from aclkit.model.facts import RECORD, REJECT, TOLD
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.sources import metadata_log
from aclkit.pipeline.sources.items import EPOCHS, WorkItem, metadata_log_items
from aclkit.pipeline.sources.log_names import END_OF_OFFSETS
from aclkit.pipeline.sources.metadata_log import (
    EPOCHS_FILE,
    epochs_of,
    list_metadata_log,
    read_cluster_id,
    read_leader_epochs,
)
from aclkit.pipeline.sources.readers import read_item
from tests.pipeline.sources.log_bytes import ACL, KRAFT, batch, flipped

SEGMENT = "00000000000000000000.log"
NEWEST = "00000000000000000915-0000000001.checkpoint"


@pytest.fixture
def log_dir(tmp_path):
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    for name in ("00000000000000000100.log", SEGMENT):
        (folder / name).write_bytes(batch(int(name[:20]), ACL))
    return folder


def names(paths):
    return [path.rpartition("/")[2] for path in paths]


def test_segments_come_by_base_offset_and_snapshots_by_end_offset():
    found = list_metadata_log(str(KRAFT))
    assert found.segments == (f"{KRAFT}/{SEGMENT}",)
    assert [name[17:20] for name in names(found.snapshots)] == ["326", "626", "915"]


def test_all_other_files_are_ignored(log_dir):
    for name in (
        *("00000000000000000000.index", "00000000000000000000.timeindex", "quorum-state"),
        *("00000000000000000200.snapshot", "00000000000000000300.log.deleted", "server.log"),
        *(f"{NEWEST}.part", f"{NEWEST}.deleted", "leader-epoch-checkpoint", "partition.metadata"),
        "00000000000000000000-0000000000.checkpoint",
    ):
        (log_dir / name).write_bytes(b"?")
    found = list_metadata_log(str(log_dir))
    assert names(found.segments) == [SEGMENT, "00000000000000000100.log"]
    assert found.snapshots == ()


def test_log_dir_of_a_broker_is_descended_into(log_dir):
    found = list_metadata_log(str(log_dir.parent))
    assert found.segments[0] == f"{log_dir}/{SEGMENT}"


def test_paths_stay_as_the_user_wrote_them(log_dir, monkeypatch):
    monkeypatch.chdir(log_dir.parent)
    assert list_metadata_log("__cluster_metadata-0/").segments[0] == (
        f"__cluster_metadata-0/{SEGMENT}"
    )


def test_path_may_be_a_uri(log_dir):
    uri = log_dir.as_uri()
    assert list_metadata_log(uri).segments[0] == f"{uri}/{SEGMENT}"


def test_single_segment_or_snapshot_may_be_given():
    assert list_metadata_log(f"{KRAFT}/{SEGMENT}").segments == (f"{KRAFT}/{SEGMENT}",)
    assert list_metadata_log(f"{KRAFT}/{NEWEST}").snapshots == (f"{KRAFT}/{NEWEST}",)


@pytest.mark.parametrize("path", ["nowhere", "nowhere/00000000000000000000.log", "bad://x/y"])
def test_path_where_nothing_is_makes_no_sense(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=path):
        list_metadata_log(path)


def test_directory_without_segments_and_snapshots_is_no_data(tmp_path):
    (tmp_path / "00000000000000000000-0000000000.checkpoint").write_bytes(b"")
    with pytest.raises(DataError, match="expected segments"):
        list_metadata_log(str(tmp_path))


@pytest.mark.parametrize(
    "name", ["acls.txt", "bootstrap.checkpoint", "00000000000000000000-0000000000.checkpoint"]
)
def test_file_of_another_name_is_of_the_wrong_kind(tmp_path, name):
    (tmp_path / name).write_bytes(batch(0, ACL))
    with pytest.raises(DataError, match="expected"):
        list_metadata_log(str(tmp_path / name))


@pytest.mark.parametrize("content", [b"2026-11-21 INFO text of a log", b"short", b"x" * 17])
def test_file_of_other_content_is_of_the_wrong_kind(tmp_path, content):
    (tmp_path / "server.log").write_bytes(content)
    with pytest.raises(DataError, match="magic 2"):
        list_metadata_log(str(tmp_path / "server.log"))


@pytest.mark.parametrize("content", [b"", bytes(100)])
def test_empty_and_preallocated_segments_are_fine(tmp_path, content):
    (tmp_path / SEGMENT).write_bytes(content)
    assert len(list_metadata_log(str(tmp_path)).segments) == 1


def test_damaged_start_of_one_segment_is_left_to_the_reader(log_dir):
    (log_dir / SEGMENT).write_bytes(flipped(batch(0, ACL), 16))
    assert len(list_metadata_log(str(log_dir)).segments) == 2


@pytest.mark.parametrize("above", [0, 1])
def test_cluster_id_stands_beside_or_above_the_log(log_dir, above):
    folder = [log_dir, log_dir.parent][above]
    (folder / "meta.properties").write_text(
        "#\n#Sat\nversion=1\ncluster.id=aB-_9\nnode.id=1\n", encoding="utf-8"
    )
    assert read_cluster_id(str(log_dir)) == "aB-_9"
    assert read_cluster_id(str(log_dir / SEGMENT)) == "aB-_9"


def test_cluster_id_of_a_broker_stands_in_its_log_dir(log_dir):
    (log_dir.parent / "meta.properties").write_text("cluster.id = x1", encoding="utf-8")
    assert read_cluster_id(str(log_dir.parent)) == "x1"


def test_meta_properties_that_are_none_of_javas_are_unusable_data(log_dir):
    (log_dir.parent / "meta.properties").write_text("cluster.id=\\u12", encoding="utf-8")
    with pytest.raises(DataError, match=r"meta.properties: expected four hexadecimal digits"):
        read_cluster_id(str(log_dir.parent))


def test_cluster_id_may_be_unknown(log_dir):
    assert read_cluster_id(str(log_dir)) is None


def test_snapshot_that_cannot_be_used_is_rejected_with_its_reason(tmp_path):
    newer = "00000000000000000999-0000000001.checkpoint"
    (tmp_path / newer).write_bytes((KRAFT / NEWEST).read_bytes()[:-9])
    (reject,) = read_item(WorkItem(kind="snapshot", path=str(tmp_path / newer)))
    assert (reject.kind, reject.source) == (rows.REJECT, f"{tmp_path}/{newer}")
    assert "torn tail" in reject.reason


def test_work_items_are_each_segment_with_the_one_behind_it_and_each_snapshot(log_dir):
    older = "00000000000000000626-0000000001.checkpoint"
    for name in (older, NEWEST):
        shutil.copy(KRAFT / name, log_dir)
    second = f"{log_dir}/00000000000000000100.log"
    assert metadata_log_items(str(log_dir)) == [
        WorkItem(kind="segment", path=f"{log_dir}/{SEGMENT}", behind=second),
        WorkItem(kind="segment", path=second),
        WorkItem(kind="snapshot", path=f"{log_dir}/{older}", only_below=626, epoch=1),
        WorkItem(kind="snapshot", path=f"{log_dir}/{NEWEST}"),
    ]


def test_snapshot_that_is_given_by_name_is_always_read():
    (item,) = metadata_log_items(f"{KRAFT}/{NEWEST}")
    assert item == WorkItem(kind="snapshot", path=f"{KRAFT}/{NEWEST}")


def test_next_segment_tells_what_a_damaged_end_held(log_dir):
    (log_dir / SEGMENT).write_bytes(batch(0, *[ACL] * 99) + flipped(batch(99, ACL), 70))
    first, _ = metadata_log_items(str(log_dir))
    (lost,) = [row for row in read_item(first) if row.fact == rows.UNREADABLE]
    assert (lost.from_offset, lost.to_offset) == (99, 100)
    (log_dir / SEGMENT).write_bytes(batch(0, *[ACL] * 90) + b"garbage" * 20)
    (lost,) = [row for row in read_item(first) if row.fact == rows.UNREADABLE]
    assert (lost.from_offset, lost.to_offset) == (90, 100)


def going(log_dir, monkeypatch, *names):
    """Let the broker roll files away, one each time that the folder has just been listed."""
    left = [log_dir / name for name in names]
    listed = metadata_log.list_names

    def list_names(path):
        found = listed(path)
        if left:
            gone = left.pop(0)
            gone.rename(gone.with_suffix(".log.deleted"))
        return found

    monkeypatch.setattr(metadata_log, "list_names", list_names)


def test_segment_that_goes_between_listing_and_opening_has_the_folder_listed_again(
    log_dir, monkeypatch
):
    going(log_dir, monkeypatch, SEGMENT)
    assert names(list_metadata_log(str(log_dir)).segments) == ["00000000000000000100.log"]


def test_folder_whose_files_go_each_time_is_given_up_with_a_reason(log_dir, monkeypatch):
    gone = [f"{number:020}.log" for number in range(4)]
    for name in gone:
        (log_dir / name).write_bytes(b"x" * 20)
    going(log_dir, monkeypatch, *gone)
    with pytest.raises(SurroundingsError, match="listed 4 times, and each time a file disappeared"):
        list_metadata_log(str(log_dir))


def test_text_of_dump_log_gives_the_facts_of_its_segment(data_dir):
    text = str(data_dir / "kraft-4.1-text" / "kafka-dump-log.txt")
    from_text, from_bytes = (
        [row for row in read_item(WorkItem(kind=kind, path=path)) if row.kind == rows.FACT]
        for kind, path in (("dump-log", text), ("segment", f"{KRAFT}/{SEGMENT}"))
    )
    keys = [(row.log_offset, row.record_type, row.acl_id) for row in from_bytes]
    assert [(row.log_offset, row.record_type, row.acl_id) for row in from_text] == keys


TEXT = "0\n3\n1 0\n3 7\n4 12\n"


def told(text=TEXT):
    rows = [*read_leader_epochs(text, "s")]
    assert {row.fact for row in rows} <= {TOLD}
    return [Range(row.from_offset, row.to_offset, row.epoch, row.fact) for row in rows]


def record(start, end, epoch):
    return Range(start, end, epoch, RECORD)


def test_each_epoch_goes_on_to_where_the_next_one_begins():
    assert [each[:3] for each in told()] == [(0, 7, 1), (7, 12, 3), (12, END_OF_OFFSETS, 4)]
    assert told("0\n0\n") == []


@pytest.mark.parametrize(
    "text",
    [
        *("", "0\n", "1\n0\n", "0\n2\n1 0\n", TEXT[:-1], TEXT[:-5], f"{TEXT}5 20\n"),
        *(
            "0\n2\n1 0\n1 7\n",
            "0\n2\n1 7\n2 7\n",
            "0\n2\n2 0\n1 7\n",
            "0\n1\n1 x\n",
            "0\n1\n-1 0\n",
        ),
        *("0\n1\n1 \u0663\n", f"0\n1\n1 {1 << 62}\n", "\0" * 40),
    ],
)
def test_a_file_that_is_cut_or_damaged_tells_nothing(text):
    with pytest.raises(DataError):
        told(text)


def test_a_file_that_agrees_with_the_batches_beside_it_tells_where_epochs_begin():
    assert epochs_of(told(), [record(2, 7, 1), record(12, 90, 4)]) == [(7, 3, 1), (12, 4, 3)]


@pytest.mark.parametrize("read", [(2, 8, 1), (6, 9, 3), (9, 13, 3), (20, 21, 5), (9, 10, 4)])
def test_one_batch_with_another_epoch_makes_the_file_count_for_nothing(read):
    assert epochs_of(told(), [record(2, 7, 1), record(*read)]) == ()


def test_the_file_of_a_folder_is_read_with_its_segments_and_rejected_if_it_is_broken(tmp_path):
    (tmp_path / "00000000000000000000.log").write_bytes(batch(0, ACL))
    (tmp_path / EPOCHS_FILE).write_text(TEXT, encoding="utf-8")
    *_, item = metadata_log_items(str(tmp_path))
    assert (item.kind, [row.fact for row in read_item(item)]) == (EPOCHS, [TOLD] * 3)
    (tmp_path / EPOCHS_FILE).write_bytes(b"\xff\0\n")
    (row,) = read_item(item)
    assert (row.kind, row.source) == (REJECT, str(tmp_path / EPOCHS_FILE))
