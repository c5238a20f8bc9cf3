"""What a folder says to those who ask in it: to questions of people, and to nobody else."""

from __future__ import annotations

import os

import click
import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from aclkit.cli.help import Question, read_index, walk
from tests.questions.query import small_warehouse as small

CLEAN = {name: None for name in os.environ if name.startswith("ACLKIT_")} | {"CI": None}
GATED = [
    ("audit", "--fail-on", "high"),
    ("can", "User:alice", "READ", "topic:payments", "--quiet"),
    ("diff", "1", "2", "--fail-on", "any"),
    ("preview", "add-acl", "--allow-principal", "User:a", "--topic", "t", "--fail-on", "any"),
    ("preview", "apply", "plan.json", "--assertions", "policies.toml"),
    ("preview", "apply", "plan.json", "--watch", "policies.toml"),
    ("preview", "apply", "plan.json", "--reference", "plan.json"),
    ("preview", "apply", "plan.json", "--summary-env", "verdict.env"),
]
"""Questions with an option that makes them a gate."""

ACCESS = ("User:alice", "READ", "topic:payments")
REVIEWER = ("--by", "ana")
WORDS = {
    "can": ACCESS, "why": ACCESS, "history": ACCESS,
    "who-can": ("READ", "topic:payments"), "what-can": ("User:alice",), "show": ("topic:payments",),
    "export views": ("--dialect", "duckdb"), "sql": ("SELECT 1",), "diff": ("1", "2"),
    "preview add-acl": ("--allow-principal", "User:a", "--topic", "t"),
    "preview add-topic": ("x",), "preview apply": ("plan.json",),
    "preview remove-acl": ("--topic", "t"), "preview upgrade": ("--to", "4.4"),
    "prove never": ("policies.toml",), "prove no-less": ("--", "@1", "@2"),
    "prove no-more": ("--", "@1", "@2"), "prove same": ("--", "@1", "@2"),
    "acls add": ("--allow-principal", "User:a", "--topic", "t"), "acls remove": ("--topic", "t"),
    "audit accept": (
        "x", "--mutes", "m.toml", "--reason", "r", "--owner", "o", "--until", "2030-01-01",
    ),
    "assert": ("policies.toml",), "usage": ("--authorizer-log", "x.log"),
    "review start": REVIEWER, "review decide": ("1", "keep", "--reason", "r", *REVIEWER),
    "review import": ("x.csv", *REVIEWER), "review close": REVIEWER,
    "review verify": ("evidence.json",), "alert": ("--dry-run",),
    "run": ("--source", "records:x"), "replay": ("--source", "records:x"),
    "watch": ("--source", "records:x"),
    "serve": ("--listen", "nowhere"), "export acls": ("--format", "csv"),
    "export explain": ("--format", "csv"), "export duckdb": ("--output", "x.duckdb"),
}  # fmt: skip
"""What a command needs besides a warehouse."""

NEED_NONE = {"jars", "completion", "help", "init", "demo", "desired show"}
"""Commands that ask no warehouse."""


def commands() -> dict[str, bool]:
    """Every command of the index, and whether it is a question."""
    ctx = click.Context(cli, info_name="aclkit")
    found = dict(walk(cli, ctx))
    assert found.keys() == read_index().keys() - {""}
    is_run = {
        words: not isinstance(command, click.Group) or command.invoke_without_command
        for words, command in found.items()
    }
    return {words: isinstance(found[words], Question) for words in found if is_run[words]}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return what a command comes to in a folder with a warehouse; none is named."""
    small.build(tmp_path / "warehouse")
    policy = '[[never]]\nname = "x"\nresources = ["topic:x"]\n'
    (tmp_path / "policies.toml").write_text(policy, encoding="utf-8")
    (tmp_path / "plan.json").write_text('{"type": "ACCESS_CONTROL_ENTRY_RECORD"}', encoding="utf-8")
    (tmp_path / "evidence.json").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return lambda *words, **env: CliRunner().invoke(cli, words, env=CLEAN | env)


@pytest.mark.parametrize("words", sorted(words for words, asks in commands().items() if asks))
def test_a_question_finds_the_warehouse_and_says_so(run, words):
    result = run(*words.split(), *WORDS.get(words, ()))
    assert "Using ./warehouse.\n" in result.stderr
    assert "No warehouse given" not in result.stderr


@pytest.mark.parametrize(
    "words",
    sorted(words for words, asks in commands().items() if not asks and words not in NEED_NONE),
)
def test_what_writes_or_ends_a_build_finds_nothing_and_names_the_option(run, words):
    result = run(*words.split(), *WORDS.get(words, ()))
    assert result.exit_code == 2
    assert f"No warehouse given. Did you mean: cli {words} --warehouse warehouse\n" in result.stderr


def test_only_what_changes_nothing_is_a_question():
    writing = {
        *("run", "replay", "materialize", "maintain", "usage", "watch", "alert", "audit accept"),
        *("acls add", "acls remove"),
        *("review start", "review decide", "review import", "review close"),
    }
    judging = {"assert", "verify", "review verify", *(w for w in commands() if "prove" in w)}
    others = {"mcp"}  # other programs start it
    assert {words for words, asks in commands().items() if not asks} == (
        writing | judging | others | NEED_NONE
    )


@pytest.mark.parametrize("empty", ["", " "])
@pytest.mark.parametrize("words", [("can", *ACCESS), ("run", "--source", "records:x")])
def test_an_empty_name_as_of_an_unset_variable_is_refused(run, words, empty):
    result = run("--warehouse", empty, *words)
    assert result.exit_code == 2
    assert result.stderr == "Error: --warehouse is empty. Pass a folder or a URI.\n"


@pytest.mark.parametrize("words", GATED, ids=" ".join)
def test_a_question_that_is_a_gate_finds_nothing(run, words):
    result = run(*words)
    assert result.exit_code == 2
    assert "No warehouse given." in result.stderr


@pytest.mark.parametrize("env", [{"CI": "true"}, {"ACLKIT_FAIL_ON": "high"}])
def test_the_environment_of_a_build_finds_nothing(run, env):
    assert "No warehouse given." in run("audit", **env).stderr


def test_a_warehouse_that_is_named_is_asked(run, tmp_path):
    (tmp_path / "aclkit.toml").write_text("not TOML", encoding="utf-8")
    result = run("--warehouse", "warehouse", "sql", "SELECT 1")
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_file_that_is_found_says_where_and_not_what_fails(run, tmp_path):
    small.build(tmp_path / "other")
    said = 'warehouse = "other"\nfail_on = "never"\nformat = "json"\n'
    (tmp_path / "aclkit.toml").write_text(said, encoding="utf-8")
    result = run("sql", "SELECT 1 AS one")
    assert "Using other (from aclkit.toml).\n" in result.stderr
    assert result.stdout == "one\n  1\n"


def test_a_file_that_is_found_says_how_its_storage_is_reached_and_to_nobody_after(run, tmp_path):
    small.build(tmp_path / "other")
    said = 'warehouse = "other"\n[storage]\nendpoint = "https://far.example"\n'
    (tmp_path / "aclkit.toml").write_text(said, encoding="utf-8")
    result = run("sql", "SELECT 1 AS one", AWS_ENDPOINT_URL=None)
    assert "Using other at https://far.example (from aclkit.toml).\n" in result.stderr
    assert "AWS_ENDPOINT_URL" not in os.environ


def test_a_secret_in_a_file_that_is_found_is_refused(run, tmp_path):
    (tmp_path / "aclkit.toml").write_text(
        'warehouse = "w"\n[storage]\nsecret = "hunter2"\n', encoding="utf-8"
    )
    result = run("sql", "SELECT 1")
    assert result.exit_code == 2
    assert "./aclkit.toml: [storage]: secret looks like a secret" in result.stderr
    assert "hunter2" not in result.output


@pytest.mark.parametrize("text", ["warehouse", "warehouse = 5", "cluster = ['a']"])
def test_a_file_that_makes_no_sense_is_named(run, tmp_path, text):
    (tmp_path / "aclkit.toml").write_text(text, encoding="utf-8")
    result = run("sql", "SELECT 1")
    assert (result.exit_code, "aclkit.toml: " in result.stderr) == (2, True)


def test_settings_that_were_named_are_all_there_is(run, tmp_path):
    (tmp_path / "mine.toml").write_text("", encoding="utf-8")
    assert "No warehouse given." in run("sql", "SELECT 1", "--config", "mine.toml").stderr


def test_the_error_names_what_is_near(run, tmp_path, monkeypatch):
    wrong = "Error: No warehouse given."
    meant = f"{wrong} Did you mean: cli verify"
    assert f"{meant} --warehouse warehouse\n" in run("verify").stderr
    (tmp_path / "aclkit.toml").write_text("", encoding="utf-8")
    assert f"{meant} --config aclkit.toml\n" in run("verify").stderr
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert f"{wrong} Pass --warehouse DIR or set" in run("sql", "SELECT 1").stderr
