"""What every command refuses alike, in a line that a terminal can show."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

import aclkit
from aclkit.cli import cli
from tests.questions.query import small_warehouse as small

NOT_UTF8 = "\udcff"


@pytest.fixture
def root(tmp_path):
    small.build(tmp_path / "warehouse")
    return str(tmp_path / "warehouse")


def refused(*arguments, env=None):
    result = CliRunner().invoke(cli, arguments, env=env)
    assert isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code == 2
    return result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("what-can", f"User:{NOT_UTF8}"),
        ("who-can", "READ", f"topic:{NOT_UTF8}"),
        ("sql", f"SELECT '{NOT_UTF8}'"),
        ("--warehouse", f"/{NOT_UTF8}", "sql", "SELECT 1"),
        ("sql", "SELECT 1", "--warehouse", f"file:///{NOT_UTF8}"),
    ],
)
def test_a_word_that_is_not_utf8_is_the_requests_fault(root, words):
    assert "not UTF-8" in refused("--warehouse", root, *words)


@pytest.mark.parametrize("name", ["ACLKIT_WAREHOUSE", "ACLKIT_CLUSTER", "ACLKIT_SUPER_USERS"])
def test_an_environment_that_is_not_utf8_is_the_requests_fault(root, name):
    env = {"ACLKIT_WAREHOUSE": root} | {name: NOT_UTF8}
    assert "not UTF-8" in refused("what-can", "User:a", env=env)


def test_an_error_about_a_long_name_is_cut(root):
    message = refused("--warehouse", root, "what-can", "x" * 1_000_000)
    assert message.startswith("Error: 'xxx")
    assert len(message) < 3_000


def test_an_error_does_nothing_to_a_terminal(root):
    message = refused("--warehouse", root, "sql", 'SELECT "\x1b]0;owned\x07\r\n"')
    assert "Error: Invalid SQL" in message
    assert not {"\x1b", "\x07", "\r"} & set(message)


def test_python_runs_it_as_a_module_and_says_its_version():
    command = [sys.executable, "-m", "aclkit", "-V"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == f"aclkit, version {aclkit.__version__}\n"
