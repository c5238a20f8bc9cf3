"""The command sql: asked in a process that is stopped when it takes too much."""

from __future__ import annotations

import dataclasses
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aclkit.cli import sandbox
from aclkit.cli.sandbox import SqlQuestion, answer
from aclkit.errors import SurroundingsError, UsageError
from tests.cli.running import run
from tests.questions.query.statements import ENDLESS, HUGE, WRITING, fill
from tests.untouched import digests

PATIENCE = 60
"""Seconds that a busy machine may add; what is endless is still going on after them."""


def some_slow(statements, *ordinary: int):
    """Leave out, where time is short, all but some of a list: together they take half a minute."""
    return [
        pytest.param(text, marks=() if place in ordinary else pytest.mark.slow)
        for place, text in enumerate(statements)
    ]


def start(root: Path, *arguments: str, **settings) -> subprocess.Popen[str]:
    """Start aclkit sql as a person does."""
    return subprocess.Popen(
        [sys.executable, "-c", "from aclkit.cli import cli; cli()", "--warehouse", str(root),
         "sql", *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        encoding="utf-8",
        **settings,
    )  # fmt: skip


def child_of(process: subprocess.Popen[str]) -> int:
    """Wait for the process that answers, and return its id."""
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if found := path.read_text(encoding="utf-8").split():
            return int(found[0])
        time.sleep(0.01)
    raise AssertionError("no process was started")


def is_gone(pid: int) -> bool:
    """Wait for a process to end."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            state = (
                Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            )
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":  # its parent, the test's own init perhaps, has yet to look
            return True
        time.sleep(0.01)
    return False


needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc")


@pytest.mark.parametrize("text", some_slow(ENDLESS, 1, 4, 9), ids=lambda text: text[:50])
def test_what_is_endless_ends_in_one_line_when_its_time_is_over(root, text):
    began = time.monotonic()
    ended = run("--warehouse", root, "sql", "--format", "csv", "--timeout", "1.5", text, code=2)
    assert time.monotonic() - began < PATIENCE
    assert ended.stderr == (
        "Error: The statement took longer than 1.5 s. Ask for less, or pass a larger --timeout.\n"
    )


@pytest.mark.parametrize("text", some_slow(HUGE, 3, 5), ids=lambda text: text[:50])
def test_what_takes_too_much_memory_ends_in_one_line(root, monkeypatch, text):
    if text == HUGE[-1] and sys.platform != "linux":
        pytest.skip("nobody counts what Python holds here")
    monkeypatch.setattr(sandbox, "_CHILD", "tests.cli.sandbox_worker_in_little_memory")
    ended = run("--warehouse", root, "sql", text, code=2)
    (line,) = ended.stderr.splitlines()
    assert line.startswith("Error: The query needs more memory than the limit")


def test_rows_come_out_as_they_go_in(root):
    """Of every kind of text and every length: the pipe between cuts them anywhere."""
    text = "SELECT repeat('é😀,\n', i) AS a, NULL AS b FROM range(3000) t(i) ORDER BY i"
    out = run("--warehouse", root, "sql", "--format", "csv", text).stdout_bytes.decode()
    rows = "".join('"' + "é😀,\n" * i + '",\r\n' for i in range(3000))
    assert out == "a,b\r\n" + rows.replace('"",\r\n', '"",\r\n', 1)


def test_a_hostile_statement_ends_with_2_and_one_line(root):
    before = digests(root)
    file = next(root.glob("explain_pair/*.parquet"))
    places = {"file": file, "served": file, "warehouse": root, "outside": "/etc/passwd"}
    for text in (WRITING[0], WRITING[31], WRITING[38]):
        ended = run("--warehouse", root, "sql", fill(text, **places), code=2)
        assert ended.stdout == ""
        assert len(ended.stderr.splitlines()) == 1
        assert ended.stderr.startswith("Error: COPY is not allowed. Expected one SELECT")
    assert digests(root) == before


def test_no_warehouse_is_the_same_error_as_everywhere(tmp_path):
    ended = run("--warehouse", tmp_path / "none", "sql", "SELECT 1", code=2)
    assert "has no data yet. Next: aclkit --warehouse" in ended.stderr


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "soon"])
def test_a_time_that_is_none_is_refused(root, seconds):
    assert "--timeout" in run("sql", "SELECT 1", "--timeout", seconds, code=2).stderr


def test_no_end_of_time_is_a_time(root):
    assert run("--warehouse", root, "sql", "SELECT 1 AS a", "--timeout", "inf").stdout == "a\n1\n"


def test_a_reader_that_leaves_early_is_no_error(root):
    asked = start(root, "--format", "csv", ENDLESS[1], stdout=subprocess.PIPE)
    with asked:
        assert asked.stdout.readline() == "range\n"
        asked.stdout.close()
        assert asked.wait(PATIENCE) == 0
        assert asked.stderr.read() == ""


def test_the_time_of_a_slow_reader_does_not_count(root):
    question = SqlQuestion(
        warehouse=str(root),
        statement="SELECT i, repeat('x', 100) FROM range(20000) t(i)",
        output_format="csv",
    )
    rows = answer(question, 20)
    found = next(rows)
    clock, until = time.monotonic, time.monotonic() + 1
    while clock() < until:
        time.sleep(0.1)
    found += "".join(rows)
    assert len(found.splitlines()) == 20_001


@needs_proc
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_the_command_ends_the_process_that_answers(root, sent):
    asked = start(root, ENDLESS[0], stdout=subprocess.DEVNULL)
    with asked:
        child = child_of(asked)
        asked.send_signal(sent)
        code = asked.wait(PATIENCE)
        told = asked.stderr.read()
    assert is_gone(child)
    if sent == signal.SIGINT:
        assert code == 130
        assert told.startswith("Stopped by SIGINT. No half-done work is visible")
        assert len(told.splitlines()) == 1


@needs_proc
def test_the_process_that_answers_can_write_nothing(root):
    asked = start(root, "--format", "csv", ENDLESS[1], stdout=subprocess.PIPE)
    with asked:
        assert asked.stdout.readline() == "range\n"
        place = Path(f"/proc/{child_of(asked)}")
        limits = (place / "limits").read_text(encoding="utf-8")
        threads = [path.read_text(encoding="utf-8") for path in place.glob("task/*/status")]
        environment = (place / "environ").read_bytes().split(b"\0")
        asked.kill()
    assert re.search(r"^Max file size +0 +0 ", limits, re.M)
    assert not re.search(r"^Max address space +unlimited", limits, re.M)
    assert len(threads) > 2
    if confinement_of_linux():
        assert all("NoNewPrivs:\t1" in status for status in threads)
    assert not [entry for entry in environment if entry.startswith((b"HOME=", b"ACLKIT_"))]


def confinement_of_linux() -> bool:
    """Whether a process here can be put under Landlock."""
    text = "from aclkit.runtime import confinement; raise SystemExit(not confinement._landlock())"
    return subprocess.run([sys.executable, "-c", text], check=False).returncode == 0


def test_the_process_that_answers_knows_nothing_of_the_environment(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cret")
    kept = sandbox._environment()
    assert "s3cret" not in kept.values()
    assert not {
        key for key in kept if not key.startswith(("PYTHON", "LD_", "DYLD_", "LANG", "LC_"))
    }


def test_a_process_that_dies_is_not_taken_for_an_empty_answer(root, monkeypatch):
    question = SqlQuestion(warehouse=str(root), statement="SELECT 1", output_format="csv")
    monkeypatch.setattr(sandbox, "_CHILD", "json.nothing")
    # More than a pipe holds: it cannot be handed over.
    question = dataclasses.replace(question, statement=f"SELECT 1 -- {'x' * 1_000_000}")
    with pytest.raises(SurroundingsError, match=r"failed: .*No module named json\.nothing"):
        "".join(answer(question, PATIENCE))


def test_a_defect_of_ours_is_said(root, monkeypatch):
    question = SqlQuestion(warehouse=str(root), statement="SELECT 1", output_format="csv")
    monkeypatch.setattr(sandbox, "_CHILD", "tests.cli.sandbox_worker_with_a_defect")
    with pytest.raises(SurroundingsError, match=r"answers failed: KeyError: 'some defect'$"):
        "".join(answer(question, PATIENCE))


@needs_proc
@pytest.mark.parametrize("is_at_work", [False, True])
def test_a_process_that_is_killed_is_not_taken_for_the_end_of_the_answer(root, is_at_work):
    asked = start(root, "--format", "csv", ENDLESS[1], stdout=subprocess.PIPE)
    with asked:
        if is_at_work:
            asked.stdout.readline()
        os.kill(child_of(asked), signal.SIGKILL)
        asked.stdout.read()
        assert asked.wait(PATIENCE) == 4
        assert (
            asked.stderr.read() == "Error: the process that answers failed: it was ended (Killed)\n"
        )


def test_a_module_in_the_folder_where_one_stands_is_not_taken(root, tmp_path):
    (tmp_path / "duckdb.py").write_text("raise SystemExit(9)", encoding="utf-8")
    asked = start(root, "SELECT 1 AS a", stdout=subprocess.PIPE, cwd=tmp_path)
    with asked:
        assert asked.stdout.read() == "a\n1\n", asked.stderr.read()


def test_too_long_says_what_to_do():
    assert isinstance(sandbox.too_long(60), UsageError)
    assert "longer than 60 s" in str(sandbox.too_long(60))
