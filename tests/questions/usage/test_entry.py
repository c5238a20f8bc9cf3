"""Files of lines, as brokers and people leave them."""

from __future__ import annotations

import collections
import gzip
import itertools
import os

import pytest

from aclkit.errors import UsageError
from aclkit.questions.usage import log_file
from aclkit.questions.usage.clock import Clock, parse_zone
from aclkit.questions.usage.entry import CUT_SHORT, read_entries
from aclkit.questions.usage.log_file import DamagedLogError, find_log_files, read_lines
from tests.questions.usage.pasts import LOG

AT = b"[2026-11-21 10:00:00,000] INFO "
GOOD = (
    AT + b"Principal = User:a is Denied operation = READ from host = 10.0.0.1 on resource = "
    b"Topic:LITERAL:x for request = Fetch with resourceRefCount = 1 based on rule DefaultDeny"
)


def entries(*lines):
    return list(read_entries(lines, Clock(parse_zone("UTC"))))


def test_every_line_of_a_real_log_is_read():
    found = list(read_entries(LOG.read_bytes().splitlines(), Clock(parse_zone("UTC"))))
    assert len(found) == 369
    assert {each.problem for each in found} == {None}
    assert {each.statement.rule for each in found} == {"SuperUser", "MatchingAcl", "DefaultDeny"}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"@timestamp":"2026-11-21","message":"Principal = User:a"}', "JSON without a time"),
        (b"Principal = User:a is Denied", "found no date and time before"),
        (AT + b"set super.users=User:admin", "found no 'Principal ='"),
        (AT + b"Principal = User:a is Denied Operation = Read", "found something else"),
        (AT + b"Principal = User:\xff", "expected UTF-8"),
        (GOOD + b"x" * 100_000, "longer than 100,000"),
    ],
)
def test_what_cannot_be_read_says_why(line, problem):
    (entry,) = entries(line)
    assert entry.statement is None
    assert problem in entry.problem


def test_ends_of_lines_and_empty_lines_do_not_matter():
    found = entries(GOOD + b"\r\n", b"\n", GOOD + b"\n", GOOD)
    assert [each.position for each in found] == [1, 3, 4]
    assert len({each.statement for each in found}) == 1


def test_a_name_with_a_line_break_is_put_together():
    first, last = GOOD.split(b":x ")
    (entry,) = entries(first + b":a\n", b"b\n", b"c " + last)
    assert entry.statement.request.resource_name == "a\nb\nc"


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("name", [b"a\r\nb", b"a\n\nb", b"a\n\n\r\n\nb"])
def test_line_breaks_in_a_name_are_kept_as_they_are(name, end):
    first, last = GOOD.split(b":x ")
    lines = (first + b":" + name + b" " + last + end).splitlines(keepends=True)
    found = entries(*lines, GOOD)
    assert [each.statement.request.resource_name for each in found] == [name.decode(), "x"]
    assert [each.position for each in found] == [1, len(lines) + 1]


@pytest.mark.parametrize("bad", [GOOD.replace(b":x", b":\xff"), GOOD + b"x" * 100_000])
def test_a_line_with_a_time_that_cannot_be_read_never_ends_the_one_before(bad):
    found = entries(AT + b"Principal = User:z is\n", bad + b"\n", GOOD)
    assert [each.position for each in found] == [1, 2, 3]
    assert [each.statement is None for each in found] == [True, True, False]


def test_a_name_that_goes_on_with_other_bytes_than_utf_8_is_not_read():
    first, last = GOOD.split(b":x ")
    found = entries(first + b":a\n", b"\xff " + last)
    assert [each.statement for each in found] == [None, None]


HIDDEN = b":a for request = Fetch with resourceRefCount = 1 based on rule DefaultDeny\n"


@pytest.mark.parametrize("more", [b"", b"\n\n", b"b\nc"])
def test_a_whole_tail_before_a_line_break_in_a_name_makes_the_entry_ambiguous(more):
    first, last = GOOD.split(b":x ")
    lines = (first + HIDDEN + more + b" " + last + b"\n").splitlines(keepends=True)
    found = entries(*lines, GOOD)
    assert [each.is_ambiguous for each in found] == [True, False]
    assert found[0].statement is None


def test_an_ambiguous_name_with_line_breaks_is_one_entry():
    first, last = GOOD.split(b":x ")
    head = GOOD[GOOD.index(b" is Denied") : GOOD.index(b"x for request")]
    lines = b"".join([first.replace(b"User:a", b"User:a\n" + head + b"\n"), b":x ", last])
    found = entries(*lines.splitlines(keepends=True), GOOD)
    assert [each.is_ambiguous for each in found] == [True, False]


def test_a_whole_tail_before_more_line_breaks_than_are_read_makes_the_entry_ambiguous():
    first, last = GOOD.split(b":x ")
    lines = (first + HIDDEN + b"\n" * 40 + b" " + last + b"\n").splitlines(keepends=True)
    assert {each.statement for each in entries(*lines)} == {None}


def test_a_whole_line_before_lines_of_something_else_stays_what_it_is():
    found = entries(GOOD, b"at java.lang.Thread.run", b"x = y", GOOD)
    assert [each.statement is None for each in found] == [False, True, True, False]


def test_empty_lines_behind_a_line_that_is_cut_short_are_no_entries():
    found = entries(AT + b"Principal = User:a is\n", b"\n", b"\n", GOOD)
    assert [each.position for each in found] == [1, 4]


def test_a_line_that_is_cut_short_does_not_swallow_those_behind_it():
    cut = AT + b"Principal = User:a is"
    found = entries(cut, b"no time", GOOD, cut, b"tail")
    assert [each.position for each in found] == [1, 2, 3, 4, 5]
    assert [each.problem is None for each in found] == [False, False, True, False, False]
    assert found[0].problem == CUT_SHORT


def test_gzipped_lines_are_the_same_also_in_several_members(tmp_path):
    data = LOG.read_bytes()
    packed = tmp_path / "log"
    packed.write_bytes(gzip.compress(data[:5_000]) + gzip.compress(data[5_000:]))
    assert list(read_lines(str(packed))) == list(read_lines(str(LOG)))


def test_of_a_damaged_gzip_the_lines_before_the_damage_are_read(tmp_path):
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(LOG.read_bytes())[:2_000])
    lines = read_lines(str(packed))
    assert next(lines) == LOG.read_bytes().splitlines(keepends=True)[0]
    with pytest.raises(DamagedLogError):
        list(lines)


def test_a_line_without_an_end_is_one_line_and_takes_no_memory(tmp_path):
    packed = tmp_path / "bomb.gz"
    packed.write_bytes(gzip.compress(b"a" * 20_000_000 + b"\n" + GOOD))
    first, last = read_lines(str(packed))
    assert len(first) < 1_000_000
    assert last == GOOD


def test_an_archive_that_unpacks_far_too_much_is_read_no_further(tmp_path, monkeypatch):
    monkeypatch.setattr(log_file, "_LOOK_EVERY", 1 << 20)
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress(GOOD + b"\n" * (8 << 20)))
    lines, read = read_lines(str(path)), itertools.count()
    with pytest.raises(DamagedLogError, match="packed more than 500 times"):
        collections.deque(zip(lines, read, strict=False), maxlen=0)
    assert 1 << 20 <= next(read) <= 500 * path.stat().st_size + (1 << 20)
    path.write_bytes(gzip.compress(GOOD + b"\n" + b"x" * (8 << 20)))
    lines = read_lines(str(path))
    assert next(lines) == GOOD + b"\n"
    with pytest.raises(DamagedLogError):
        list(lines)


def test_an_archive_of_lines_that_are_much_alike_is_read_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(log_file, "_LOOK_EVERY", 1 << 16)
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress((GOOD + b"\n") * 10_000, 9))
    assert sum(1 for _ in read_lines(str(path))) == 10_000


def test_a_pipe_is_no_log_as_it_cannot_be_read_twice(tmp_path):
    os.mkfifo(tmp_path / "a.log")
    for path in ("a.log", "*.log"):
        with pytest.raises(UsageError, match=r"a\.log: expected a file, found a pipe, a socket"):
            find_log_files([str(tmp_path / path)])
    with pytest.raises(UsageError, match="no authorizer log found"):
        find_log_files([str(tmp_path)])


def test_of_a_directory_only_authorizer_logs_are_read(tmp_path):
    for name, data in {
        "b1/kafka-authorizer.log": GOOD,
        "b2/x.log.gz": gzip.compress(GOOD),
        "server.log": b"[2026] INFO started\n",
        ".hidden": GOOD,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    logs, others = find_log_files([str(tmp_path)])
    assert logs == [f"{tmp_path}/b1/kafka-authorizer.log", f"{tmp_path}/b2/x.log.gz"]
    assert others == [f"{tmp_path}/server.log"]
    assert find_log_files([f"{tmp_path}/*/*", f"{tmp_path}/b1"]) == (logs, [])
    assert find_log_files([f"{tmp_path}/server.log"])[0] == others


@pytest.mark.parametrize("path", ["nothing", "*.none", "."])
def test_where_no_log_is_that_is_said(tmp_path, path):
    with pytest.raises(UsageError, match=r"does not exist|no authorizer log"):
        find_log_files([str(tmp_path / path)])


def test_what_aclkit_wrote_is_no_log_of_a_folder(tmp_path):
    line = LOG.read_bytes().splitlines(keepends=True)[0]
    for name in (
        "wh/job_run/_delta_log/0.json", "wh/job_run/part-0.parquet", "wh/access_day/part-0.parquet",
        "wh/page.md", "table/_delta_log/0.json", "table/day=1/part-0.parquet",
        "wh.reviews/2026/review.json", "wh.reviews/2026/evidence.json",
        "broker/kafka.log", "wh.log",
    ):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(line)
    wanted = [str(tmp_path / "broker/kafka.log"), str(tmp_path / "wh.log")]
    assert find_log_files([str(tmp_path)]) == (wanted, [])
    with pytest.raises(UsageError, match="no authorizer log found"):
        find_log_files([str(tmp_path / "wh")])
