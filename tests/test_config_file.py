"""The TOML file of options: what it may say, and what is said of one that makes no sense."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from aclkit.cli.help import ConfigOption
from aclkit.cli.settings import read_config
from aclkit.errors import UsageError

COMMANDS = {
    "": {"warehouse": ConfigOption(parameter="warehouse"),
         "verbose": ConfigOption(parameter="verbose", takes="true or false")},
    "run": {"source": ConfigOption(parameter="source", is_list=True),
            "at": ConfigOption(parameter="at"),
            "lock_timeout": ConfigOption(parameter="lock_timeout", takes="a number"),
            "retries": ConfigOption(parameter="retries", takes="a whole number")},
}  # fmt: skip


@pytest.fixture
def read(tmp_path):
    def call(text):
        path = tmp_path / "c.toml"
        path.write_bytes(text)
        return read_config(str(path), COMMANDS)[0]

    return call


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'warehouse="\xff"', "c.toml: expected UTF-8, found other bytes"),
        (b"a=" + b"[" * 5_000, "c.toml: not valid TOML: nested too deeply"),
        (
            b"nope=1",
            "c.toml: unknown key nope. Keys: at, lock_timeout, retries, source, v",
        ),
        (b"[run]\nnope=1", "c.toml: [run]: unknown key nope. Keys: at, lock_timeout, retr"),
        (b"[rnu]\nat=''", "c.toml: unknown key rnu. Keys: run"),
        (b"run=1", "c.toml: [run] must be a table, not 1"),
        (b"warehouse=['a', 'b']", "c.toml: warehouse: expected a text, found ['a', 'b']"),
        (b"warehouse=5", "c.toml: warehouse: expected a text, found 5"),
        (b"[run]\nsource='a:b'", "[run]: source: expected a list, each of it a text, found 'a:b'"),
        (b"[run]\nsource=[1]", "c.toml: [run]: source: expected a text, found 1"),
        (b"[run]\nlock_timeout=2026-01-01", "lock_timeout: expected a number, found datetime"),
        (b"[run]\nlock_timeout=true", "lock_timeout: expected a number, found True"),
        (b"[run]\nretries=1.5", "[run]: retries: expected a whole number, found 1.5"),
        (b"[run]\nretries=inf", "[run]: retries: expected a whole number, found inf"),
        (b"[run]\nretries=true", "[run]: retries: expected a whole number, found True"),
        (b'"a\\nError: b"=1', "c.toml: unknown key 'a\\nError: b'. Keys:"),
        (b"verbose=1", "c.toml: verbose: expected true or false, found 1"),
    ],
)
def test_a_key_or_type_that_no_option_takes_is_refused_by_its_table(read, text, message):
    with pytest.raises(UsageError) as error:
        read(text)
    assert message in str(error.value)


def test_values_go_to_the_commands_that_have_the_option(read):
    said = read(b"warehouse='w'\nlock-timeout=5\n[run]\nsource=['a:b']\nat=2026-01-01\n")
    assert said["warehouse"] == "w"
    assert {key: str(value) for key, value in said["run"].items()} == {
        "lock_timeout": "5", "source": "['a:b']", "at": "2026-01-01",
    }  # fmt: skip


def test_a_key_is_the_long_name_of_its_option(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(
        "verbose = true\nsource = ['records:x']\n[audit]\nfail_on = 3\n", encoding="utf-8"
    )
    result = CliRunner().invoke(cli, ["--config", str(path), "audit"])
    assert result.exit_code == 2
    assert "[audit]: fail_on: expected a text, found 3" in result.stderr


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_an_editor_may_leave_its_byte_order_mark_and_line_ends(read, mark):
    assert read(mark + b"warehouse='w'\r\nverbose=true\r\n")["warehouse"] == "w"


@pytest.mark.parametrize(
    ("command", "option"),
    [("run", "broad-share"), ("maintain", "keep-days"), ("verify", "timeout")],
)
def test_no_option_takes_what_is_no_number(command, option):
    result = CliRunner().invoke(cli, [command, f"--{option}", "nan"])
    assert result.exit_code == 2
    assert "is not a number" in result.stderr


def test_how_storage_is_reached_is_a_table_of_its_own(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text("warehouse='s3a://b/w'\n[storage]\nregion='eu-west-1'\n", encoding="utf-8")
    defaults, storage = read_config(str(path), COMMANDS)
    assert storage == {"region": "eu-west-1"}
    assert defaults["warehouse"] == "s3a://b/w"


def test_a_secret_in_the_settings_ends_the_command_and_is_not_shown(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text("[storage]\nsecret_access_key = 'hunter2'\n", encoding="utf-8")
    result = CliRunner().invoke(cli, ["--config", str(path), "who-can", "READ", "topic:t"])
    assert result.exit_code == 2
    assert "looks like a secret" in result.stderr
    assert "hunter2" not in result.output
