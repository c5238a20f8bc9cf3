"""Completion in a shell: what it offers, what it leaves out, and that nobody waits for it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from aclkit.cli import cli, completion
from aclkit.cli.completion import PLAIN, Bash, within
from tests.questions.query import small_warehouse as small


@pytest.fixture
def offered(tmp_path, monkeypatch):
    """Return what is offered behind some words, in a folder with a warehouse."""
    small.build(tmp_path / "warehouse")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(completion, "SECONDS", 60.0)
    for name in ("ACLKIT_WAREHOUSE", "ACLKIT_CONFIG", "CI"):
        monkeypatch.delenv(name, raising=False)

    def offer(*words):
        complete = ShellComplete(cli, {}, "aclkit", "_ACLKIT_COMPLETE")
        return [item.value for item in complete.get_completions([*words[:-1]], words[-1])]

    return offer


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("wh",), ["who-can", "what-can", "why"]),
        (("acls", "l"), ["list"]),
        (("who-can", "re"), ["READ"]),
        (("why", "User:al"), ["User:alice"]),
        (("what-can", "User:alice", "to"), ["topic:"]),
        (("who-can", "READ", "topic:paym"), ["topic:payments"]),
        (("who-can", "READ", "unknown:x"), []),
        (("audit", "--finding", "esc"), ["escalation"]),
        (("--warehouse", "nowhere", "why", "User:al"), []),
        (("--config", "nowhere.toml", "why", "User:al"), []),
    ],
)
def test_names_of_the_warehouse_and_words_of_ours_are_offered(offered, words, names):
    assert offered(*words) == names


def test_nothing_is_imported_for_help_and_to_offer_commands():
    program = """
import sys
from click.shell_completion import ShellComplete
from aclkit.cli import cli
ShellComplete(cli, {}, "aclkit", "_ACLKIT_COMPLETE").get_completions([], "")
cli(["--help"], standalone_mode=False)
unwanted = {"duckdb", "pyspark", "aclkit.cli.questions", "aclkit.cli.who_can"}
sys.stderr.write(str(sorted(unwanted & set(sys.modules))))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8")
    assert done.stderr == "[]"


@pytest.mark.parametrize("name", ["User:$(reboot)", "User:a b", "User:`x`", "a\nb", "-x", "User:*"])
def test_a_name_that_a_shell_would_act_on_is_left_out(name):
    assert re.fullmatch(PLAIN, name) is None


def test_what_takes_too_long_or_fails_is_no_answer():
    never = threading.Event()
    started = time.monotonic()
    assert within(0.1, lambda: [str(never.wait())]) == []
    assert time.monotonic() - started < 30
    never.set()
    assert within(60, lambda: [str(1 / 0)]) == []


def test_a_shell_that_was_not_answered_in_time_hears_nothing_of_it(tmp_path):
    small.build(tmp_path / "warehouse")
    program = "from aclkit.cli import cli, completion; completion.SECONDS = {}; cli()"
    asked = {"_ACLKIT_COMPLETE": "fish_complete", "COMP_WORDS": "aclkit why User:al"}
    env = {**os.environ, **asked, "COMP_CWORD": "User:al"}
    for name in ("ACLKIT_WAREHOUSE", "ACLKIT_CONFIG", "CI"):
        env.pop(name, None)
    told = set()
    for seconds in (0.0, 0.02, 0.1, 0.2, 60.0):
        command = [sys.executable, "-c", program.format(seconds)]
        done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, encoding="utf-8")
        assert (done.returncode, done.stderr) == (0, "")
        told.add(done.stdout)
    assert told <= {"", "\n", "plain,User:alice\n"}
    assert "plain,User:alice\n" in told


@pytest.mark.parametrize(
    ("said", "read", "replaced"),
    [
        ("aclkit why User:al", (["why"], "User:al"), "plain,alice"),
        ('aclkit why "User:al', (["why"], "User:al"), "plain,User:alice"),
        ("aclkit why User:alice ", (["why", "User:alice"], ""), "plain,User:alice"),
    ],
)
def test_bash_gets_what_it_replaces(monkeypatch, said, read, replaced):
    monkeypatch.setenv("COMP_SAID", said)
    monkeypatch.setenv("COMP_BREAKS", " :=")
    shell = Bash(cli, {}, "aclkit", "_ACLKIT_COMPLETE")
    assert shell.get_completion_args() == read
    assert shell.format_completion(click.shell_completion.CompletionItem("User:alice")) == replaced


def test_the_script_of_bash_completes_in_bash(tmp_path):
    script = CliRunner().invoke(cli, ["completion", "bash"]).stdout
    (tmp_path / "aclkit").write_text(
        f'#!/bin/sh\nexec {sys.executable} -m aclkit "$@"\n', encoding="utf-8"
    )
    (tmp_path / "aclkit").chmod(0o755)
    line = f"{tmp_path}/aclkit audit --explain esc"
    asked = f"{script}\nCOMP_LINE='{line}' COMP_POINT={len(line)}\n"
    asked += f'_aclkit_completion {tmp_path}/aclkit; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "--norc", "-c", asked], capture_output=True, encoding="utf-8")
    assert (done.stdout, done.stderr) == ("escalation\n", "")
