"""Where an answer goes: terminal, pager, pipe or file; and what --columns and --wide make of it."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from types import SimpleNamespace

import pytest

from aclkit.cli.output import deliver, layout_of
from tests.cli.running import run
from tests.on_disk import on_disk

QUESTION = ("who-can", "READ", "topic:payments")


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    for name in ("COLUMNS", "NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)


class Terminal(io.StringIO):
    """Both ends of a terminal of 80 columns and 10 lines, and what went through the pager."""

    def __init__(self):
        super().__init__()
        self.paged = []

    def isatty(self):
        return True

    def page(self, lines):
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        self.paged.extend(lines)


@pytest.fixture
def terminal(monkeypatch):
    ends = Terminal()
    monkeypatch.setattr(
        "aclkit.cli.output.sys", SimpleNamespace(stdin=ends, stdout=ends, stderr=sys.stderr)
    )
    size = os.terminal_size((80, 10))
    monkeypatch.setattr("shutil.get_terminal_size", lambda fallback=size: size)
    monkeypatch.setattr("click.echo_via_pager", ends.page)
    return ends


def ask(root, *words, code=0):
    return run("--warehouse", root, *words, code=code)


def test_a_terminal_has_its_width_and_colour(terminal):
    layout = layout_of(None, is_wide=False)
    assert (layout.width, layout.has_colour) == (80, True)


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colour_can_be_declined(terminal, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert not layout_of(None, is_wide=False).has_colour


def test_a_pipe_has_neither_width_nor_colour():
    layout = layout_of(None, is_wide=False)
    assert (layout.width, layout.has_colour) == (None, False)


@pytest.mark.parametrize(
    ("given", "width"),
    [("100", 100), ("1", 20), ("999999", 10_000), ("0", None), ("-5", None), ("9" * 99, None),
     ("x", None), ("٣", None)],
)  # fmt: skip
def test_the_environment_names_the_width(monkeypatch, given, width):
    monkeypatch.setenv("COLUMNS", on_disk(given))
    assert layout_of(None, is_wide=False).width == width
    assert layout_of("a file", is_wide=False).width is None


def test_what_a_terminal_cannot_show_at_once_goes_through_the_pager(terminal):
    before = signal.getsignal(signal.SIGINT)
    deliver((f"{number}\n" for number in range(20)), None, may_page=True)
    assert terminal.paged == [f"{number}\n" for number in range(20)]
    assert signal.getsignal(signal.SIGINT) is before
    assert terminal.getvalue() == ""


def test_what_fits_a_terminal_is_printed_and_so_is_data(terminal):
    deliver(["a few\n"] * 3, None, may_page=True)
    deliver(["data\n"] * 20, None, may_page=False)
    assert terminal.paged == []
    assert terminal.getvalue() == "a few\n" * 3 + "data\n" * 20


@pytest.mark.parametrize("words", [(), ("--format", "csv"), ("--format", "json")])
def test_output_writes_the_same_into_a_file(root, tmp_path, words):
    shown = ask(root, *QUESTION, *words)
    path = tmp_path / "answer"
    silent = ask(root, *QUESTION, *words, "-o", str(path))
    assert silent.stdout == ""
    assert path.read_bytes() == shown.stdout_bytes


def test_a_file_that_cannot_be_written_ends_with_4(root, tmp_path):
    result = ask(root, *QUESTION, "-o", str(tmp_path / "no" / "folder"), code=4)
    assert "no/folder" in result.stderr or "No such file" in result.stderr


def test_columns_are_chosen_in_their_order_in_every_format_of_rows(root):
    wanted = ("--columns", "acl_id, principal")
    table = ask(root, *QUESTION, *wanted).stdout.splitlines()
    assert table[0].split() == ["acl_id", "principal"]
    rows = ask(root, *QUESTION, *wanted, "--format", "csv").stdout_bytes
    assert rows.startswith(b"acl_id,principal\r\n")
    (line, *_) = ask(root, *QUESTION, *wanted, "--format", "jsonl").stdout.splitlines()
    assert list(json.loads(line)) == ["acl_id", "principal"]


def test_questions_that_need_another_process_are_laid_out_alike(root, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    statement = "SELECT principal, operation FROM explain LIMIT 1"
    assert ask(root, "sql", statement, "--columns", "operation").stdout.startswith("operation\n")
    narrow = ask(root, "sql", "SELECT repeat('word ', 30) AS many").stdout.splitlines()
    assert max(map(len, narrow)) <= 60


@pytest.mark.parametrize(
    "words",
    [
        QUESTION,
        ("who-can", "ANY", "topic:payments", "--all"),
        ("what-can", "User:bob", "--all"),
        ("why", "User:bob", "READ", "topic:payments", "--host", "10.0.0.1"),
        ("history", "User:bob", "READ", "topic:payments"),
        ("audit",),
        ("changes",),
        ("preview", "remove-acl", "--topic", "payments"),
        ("preview", "add-topic", "pay-new"),
        ("acls", "list", "--format", "table"),
    ],
    ids=lambda words: words[0],
)
def test_every_question_fits_80_columns(root, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    shown = ask(root, *words).stdout.splitlines()
    assert shown
    assert [line for line in shown if len(line) > 80 and not line.startswith("kafka-acls")] == []
