"""What a folder says to those who ask in it: to questions of people, and to nobody else."""

from __future__ import annotations

import os

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from tests.questions.query import small_warehouse as small

CLEAN = {name: None for name in os.environ if name.startswith("ACLKIT_")} | {"CI": None}
QUESTIONS = [
    ("can", "User:alice", "READ", "topic:payments"),
    ("who-can", "READ", "topic:payments"),
    ("what-can", "User:alice"),
    ("why", "User:alice", "READ", "topic:payments"),
    ("sql", "SELECT 1"),
    ("audit",),
    ("preview", "add-topic", "x"),
    ("export", "acls", "--format", "csv"),
]
OTHERS = [
    ("run", "--source", "records:x"),
    ("maintain",),
    ("acls", "list"),
    ("assert", "policies.toml"),
    ("prove", "never", "policies.toml"),
    ("verify",),
    ("alert", "--dry-run"),
    ("audit", "--fail-on", "high"),
    ("can", "User:alice", "READ", "topic:payments", "--quiet"),
    ("diff", "1", "2", "--fail-on", "any"),
]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return what a command comes to in a folder with a warehouse; none is named."""
    small.build(tmp_path / "warehouse")
    policy = '[[never]]\nname = "x"\nresources = ["topic:x"]\n'
    (tmp_path / "policies.toml").write_text(policy)
    monkeypatch.chdir(tmp_path)
    return lambda *words, **env: CliRunner().invoke(cli, words, env=CLEAN | env)


@pytest.mark.parametrize("words", QUESTIONS, ids=lambda words: words[0])
def test_a_question_finds_the_warehouse_and_says_so(run, words):
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    assert "Using ./warehouse.\n" in result.stderr


@pytest.mark.parametrize("empty", ["", " "])
@pytest.mark.parametrize("words", [QUESTIONS[0], OTHERS[0]], ids=lambda words: words[0])
def test_an_empty_name_as_of_an_unset_variable_is_refused(run, words, empty):
    result = run("--warehouse", empty, *words)
    assert result.exit_code == 2
    assert result.stderr == "Error: --warehouse is empty. Pass a folder or a URI.\n"


@pytest.mark.parametrize("words", OTHERS, ids=" ".join)
def test_what_writes_or_ends_a_build_finds_nothing(run, words):
    result = run(*words)
    assert result.exit_code == 2
    assert "No warehouse given." in result.stderr


@pytest.mark.parametrize("env", [{"CI": "true"}, {"ACLKIT_FAIL_ON": "high"}])
def test_the_environment_of_a_build_finds_nothing(run, env):
    assert "No warehouse given." in run("audit", **env).stderr


def test_a_warehouse_that_is_named_is_asked(run, tmp_path):
    (tmp_path / "aclkit.toml").write_text("not TOML")
    result = run("--warehouse", "warehouse", "sql", "SELECT 1")
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_file_that_is_found_says_where_and_not_what_fails(run, tmp_path):
    small.build(tmp_path / "other")
    said = 'warehouse = "other"\nfail_on = "never"\nformat = "json"\n'
    (tmp_path / "aclkit.toml").write_text(said)
    result = run("sql", "SELECT 1 AS one")
    assert "Using other (from aclkit.toml).\n" in result.stderr
    assert result.stdout == "one\n  1\n"


def test_a_file_that_is_found_says_how_its_storage_is_reached_and_to_nobody_after(run, tmp_path):
    small.build(tmp_path / "other")
    said = 'warehouse = "other"\n[storage]\nendpoint = "https://far.example"\n'
    (tmp_path / "aclkit.toml").write_text(said)
    result = run("sql", "SELECT 1 AS one", AWS_ENDPOINT_URL=None)
    assert "Using other at https://far.example (from aclkit.toml).\n" in result.stderr
    assert "AWS_ENDPOINT_URL" not in os.environ


def test_a_secret_in_a_file_that_is_found_is_refused(run, tmp_path):
    (tmp_path / "aclkit.toml").write_text('warehouse = "w"\n[storage]\nsecret = "hunter2"\n')
    result = run("sql", "SELECT 1")
    assert result.exit_code == 2
    assert "./aclkit.toml: [storage]: secret looks like a secret" in result.stderr
    assert "hunter2" not in result.output


@pytest.mark.parametrize("text", ["warehouse", "warehouse = 5", "cluster = ['a']"])
def test_a_file_that_makes_no_sense_is_named(run, tmp_path, text):
    (tmp_path / "aclkit.toml").write_text(text)
    result = run("sql", "SELECT 1")
    assert (result.exit_code, "aclkit.toml: " in result.stderr) == (2, True)


def test_settings_that_were_named_are_all_there_is(run, tmp_path):
    (tmp_path / "mine.toml").write_text("")
    assert "No warehouse given." in run("sql", "SELECT 1", "--config", "mine.toml").stderr


def test_the_error_names_what_is_near(run, tmp_path, monkeypatch):
    wrong = "Error: No warehouse given."
    meant = f"{wrong} Did you mean: cli acls list"
    assert f"{meant} --warehouse warehouse\n" in run("acls", "list").stderr
    (tmp_path / "aclkit.toml").write_text("")
    assert f"{meant} --config aclkit.toml\n" in run("acls", "list").stderr
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert f"{wrong} Pass --warehouse DIR or set" in run("sql", "SELECT 1").stderr
