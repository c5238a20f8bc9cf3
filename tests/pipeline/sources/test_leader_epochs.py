"""The file with the leader epochs of a log: what it tells, and whether it counts."""

from __future__ import annotations

import pytest

from aclkit.errors import DataError
from aclkit.model.facts import RECORD, REJECT, TOLD
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.sources.items import EPOCHS, metadata_log_items
from aclkit.pipeline.sources.leader_epochs import FILE_NAME, epochs_of, read_leader_epochs
from aclkit.pipeline.sources.log_names import END_OF_OFFSETS
from aclkit.pipeline.sources.readers import read_item
from tests.pipeline.sources.log_bytes import ACL, batch

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
    (tmp_path / FILE_NAME).write_text(TEXT, encoding="utf-8")
    *_, item = metadata_log_items(str(tmp_path))
    assert (item.kind, [row.fact for row in read_item(item)]) == (EPOCHS, [TOLD] * 3)
    (tmp_path / FILE_NAME).write_bytes(b"\xff\0\n")
    (row,) = read_item(item)
    assert (row.kind, row.source) == (REJECT, str(tmp_path / FILE_NAME))
