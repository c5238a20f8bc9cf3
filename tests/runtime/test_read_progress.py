"""Files that are read: how far that is told, by whom, and where nobody looks nothing."""

from __future__ import annotations

import io
import multiprocessing
from contextlib import closing

import pytest

from aclkit.runtime import progress, read_progress
from aclkit.runtime.progress import measure, step
from aclkit.runtime.read_progress import FollowedBytes, ReadProgress, followed, size_of
from aclkit.runtime.scratch import scratch
from tests.runtime.terminal import CLEARED, Terminal, wait_for

MIB = 1 << 20


@pytest.fixture
def terminal(log_to, monkeypatch):
    """Let somebody look, and be told each word at once."""
    monkeypatch.setattr(read_progress, "_PAUSE", 0)
    return log_to(Terminal())


def test_a_terminal_sees_within_the_step_how_far_a_file_is_read(terminal):
    with (
        step("Reading the source"),
        followed([4 * MIB]) as board,
        closing(ReadProgress(board)) as told,
    ):
        told.add(MIB, 1_500)
        wait_for(terminal, f"{CLEARED}Reading the source … 1,500 records read, 25% of the bytes")
        told.add(2 * MIB, 3_000)
        wait_for(terminal, f"{CLEARED}Reading the source … 4,500 records read, 75% of the bytes")


def test_without_the_size_of_each_there_is_no_share(terminal):
    with followed([4 * MIB, None]) as board, closing(ReadProgress(board, 1)) as told:
        told.add(MIB, 7)
        assert measure() == "0 of 2 files, 7 records read"


def test_what_has_no_records_has_a_share_alone(terminal):
    with followed([4 * MIB]) as board, closing(ReadProgress(board)) as told:
        told.add(MIB)
        assert measure() == "25% of the bytes"


def test_a_file_that_grew_is_never_read_by_more_than_all_of_it(terminal):
    with followed([MIB]) as board, closing(ReadProgress(board)) as told:
        told.add(3 * MIB, 1)
        assert measure() == "1 records read, 100% of the bytes"


def test_readers_of_several_files_count_together_whichever_process_is_theirs(terminal):
    with followed([2 * MIB, 2 * MIB]) as board:
        process = multiprocessing.get_context("spawn").Process(target=read_all, args=(board, 1))
        process.start()
        process.join(60)
        with closing(ReadProgress(board, 0)) as told:
            told.add(MIB, 5)
            assert measure() == "1 of 2 files, 15 records read, 75% of the bytes"


def read_all(board, number):
    with closing(ReadProgress(board, number)) as told:
        told.add(2 * MIB, 10)


def test_others_say_what_is_done_before_the_first_word_and_after_the_last(terminal):
    progress.measure_by(lambda: "3 of 8 tasks")
    with followed([MIB]) as board:
        assert measure() == "3 of 8 tasks"
        with closing(ReadProgress(board)) as told:
            told.add(MIB, 1)
            assert measure() != "3 of 8 tasks"
        assert measure() == "3 of 8 tasks"


def test_a_reader_that_begins_again_counts_once(terminal):
    with followed([4 * MIB]) as board:
        for _ in range(2):
            told = ReadProgress(board)
            told.add(MIB, 5)
        assert measure() == "5 records read, 25% of the bytes"
        told.close()


def test_the_clock_is_asked_once_in_a_mebibyte_and_a_word_said_now_and_then(terminal, monkeypatch):
    asked = []
    monkeypatch.setattr(read_progress, "_PAUSE", 1_000)
    monkeypatch.setattr(read_progress.time, "monotonic", lambda: asked.append(1) or 5_000.0)
    with followed([8 * MIB]) as board, closing(ReadProgress(board)) as told:
        for _ in range(4 * 1024):
            told.add(1024, 1)
        assert len(asked) <= 2 * 4
        assert measure() == "1,024 records read, 12% of the bytes"


def test_where_nobody_looks_no_board_is_made_and_no_line_is_written(log_to):
    stream = log_to(io.StringIO())
    with step("reading"), followed([MIB], "hashing") as board, closing(ReadProgress(board)) as told:
        assert board is None
        told.add(5 * MIB, 5)
        assert measure() == ""
    assert stream.getvalue() == "reading …\n"


def test_what_is_no_step_is_shown_and_leaves_nothing(terminal):
    with followed([MIB], "reading the listing"):
        pass
    assert terminal.getvalue() == f"{CLEARED}reading the listing …{CLEARED}"


def test_a_board_goes_with_what_it_is_of_and_late_readers_tell_nobody(terminal):
    with followed([MIB]) as board:
        pass
    assert not [*scratch().glob("reading-*")]
    with closing(ReadProgress(board)) as told:
        told.add(5 * MIB, 5)
    assert not [*scratch().glob("reading-*")]


def test_an_error_leaves_no_board_behind(terminal):
    with pytest.raises(ZeroDivisionError), followed([MIB]):
        raise ZeroDivisionError
    assert not [*scratch().glob("reading-*")]
    assert measure() == ""


def test_a_disk_that_takes_no_board_keeps_nothing_from_being_read(terminal, monkeypatch):
    def full():
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(read_progress, "scratch", full)
    with followed([MIB]) as board:
        assert board is None


def test_a_text_tells_its_bytes_and_lines(terminal):
    data = b"a line of text\n" * 100_000
    with followed([2 * len(data)]) as board, closing(ReadProgress(board)) as told:
        text = io.TextIOWrapper(FollowedBytes(data, told), encoding="utf-8", newline="\n")
        assert sum(1 for _ in text) == 100_000
        said = measure()
    assert said.endswith(" records read, 35% of the bytes")


def test_the_size_is_that_of_a_file_here(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert size_of(str(tmp_path / "a")) == 3
    assert [size_of(path) for path in (str(tmp_path / "none"), "s3://b/a", "\0")] == [None] * 3
