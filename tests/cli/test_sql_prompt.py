"""The prompt of sql: statements and commands with a dot, until the input ends."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from aclkit.cli.sql import MORE, READY, answer_all
from aclkit.errors import UsageError
from tests.cli.running import run


def asked(*lines):
    """Type lines, and keys as exceptions; return what was asked, and the prompts."""
    rest, found, prompts = list(lines), [], []

    def read(prompt):
        prompts.append(prompt)
        if not rest:
            raise EOFError
        line = rest.pop(0)
        if isinstance(line, str):
            return line
        raise line

    def ask(statement):
        found.append(statement)
        if statement.startswith("BAD"):
            raise UsageError("bad SQL")
        if statement.startswith("LONG"):
            raise KeyboardInterrupt

    answer_all(ask, read)
    return found, prompts


def test_a_statement_ends_with_a_semicolon_or_an_empty_line():
    found, prompts = asked("SELECT 1", "FROM t;", "SELECT 2", "", "")
    assert found == ["SELECT 1\nFROM t;", "SELECT 2"]
    assert prompts == [READY, MORE, READY, MORE, READY, READY]


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        (".tables", ["SHOW TABLES"]),
        (".schema explain", ['DESCRIBE "explain"']),
        ('.schema a"b', ['DESCRIBE "a""b"']),
        (".help", []),
        (".schema", []),
        (".nonsense", []),
    ],
)
def test_a_command_stands_for_a_statement_or_shows_help(typed, wanted, capsys):
    assert asked(typed)[0] == wanted
    assert (".tables" in capsys.readouterr().err) is not bool(wanted)


@pytest.mark.parametrize("leave", [".quit", ".exit"])
def test_quit_leaves(leave):
    assert asked(leave, "SELECT 1;")[0] == []


def test_an_error_is_told_and_the_next_statement_is_read(capsys):
    assert asked("BAD;", "SELECT 1;")[0] == ["BAD;", "SELECT 1;"]
    assert "Error: bad SQL" in capsys.readouterr().err


def test_ctrl_c_drops_what_was_typed_or_stops_the_answer(capsys):
    found, prompts = asked("SELECT", KeyboardInterrupt(), "LONG;", "SELECT 1;")
    assert found == ["LONG;", "SELECT 1;"]
    assert prompts[:3] == [READY, MORE, READY]
    assert "Stopped." in capsys.readouterr().err


def test_without_a_terminal_the_statement_is_read_from_stdin(root):
    words = ["--warehouse", str(root), "sql", "-o", "csv"]
    result = CliRunner().invoke(cli, words, input="SELECT 2 AS two\n")
    assert (result.exit_code, result.stdout.split()) == (0, ["two", "2"])


def test_without_any_statement_the_next_step_is_named(root):
    assert "No statement given." in run("--warehouse", root, "sql", code=2).stderr
