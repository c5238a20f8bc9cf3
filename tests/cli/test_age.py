"""Each answer says on which run it stands, and warns where that is old."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from aclkit.cli import cli
from aclkit.warehouse.published import as_of, open_warehouse
from tests.audit.serve.running import serving
from tests.questions.query import small_warehouse as small

STANDS = "as of 2026-11-21 12:00 UTC, offset 100"
KEYS = {"as_of": "2026-11-21T12:00:00Z", "as_of_offset": 100}
QUESTIONS = (
    "who-can READ topic:payments",
    "who-can READ topic --prefix pay",
    "what-can User:bob",
    "audit --fail-on never",
    "acls list",
    "tidy",
    "preview add-acl --allow-principal User:new --operation Read --topic orders",
    "preview add-topic pay-new",
)
OLD = "100000d"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    path = tmp_path_factory.mktemp("age") / "warehouse"
    small.build(path)
    return path


def ask(root, *words, code=0, **env):
    result = CliRunner().invoke(cli, ["--warehouse", str(root), *words], env=env or None)
    assert result.exit_code == code, result.output
    return result


@pytest.mark.parametrize("words", QUESTIONS)
def test_a_table_ends_with_the_run_on_stderr(root, words):
    result = ask(root, "--max-age", OLD, *words.split())
    assert STANDS in result.stderr.splitlines()
    assert STANDS not in result.stdout


@pytest.mark.parametrize("words", QUESTIONS)
def test_json_has_the_run_in_each_object_or_row(root, words):
    result = ask(root, "--max-age", OLD, *words.split(), "--format", "json")
    found = json.loads(result.stdout)
    for each in found if isinstance(found, list) else [found]:
        assert {key: each[key] for key in KEYS} == KEYS
    assert STANDS not in result.stderr


@pytest.mark.parametrize("words", ["why User:bob READ topic:orders", "why User:bob READ group:g1"])
def test_where_as_of_is_an_offset_the_time_has_another_key(root, words):
    found = json.loads(ask(root, *words.split(), "--format", "json").stdout)
    assert (found["as_of"], found["as_of_time"]) == (100, KEYS["as_of"])


def test_csv_and_sql_stay_as_they_are(root):
    result = ask(root, "--max-age", OLD, "who-can", "READ", "topic:payments", "--format", "csv")
    assert "as_of" not in result.stdout
    assert result.stderr == ""
    result = ask(root, "sql", "SELECT host FROM host LIMIT 1", "--format", "json")
    assert "as_of" not in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize("output_format", ["table", "json", "jsonl", "csv"])
def test_older_than_a_day_is_a_warning_in_every_format(root, output_format):
    result = ask(root, "who-can", "READ", "topic:payments", "--format", output_format)
    assert result.stderr.splitlines() == [
        f"warning: {STANDS}: older than 1 day, so what changed since is missing. Next: aclkit run"
    ]


def test_how_old_is_old_can_be_said_before_and_behind_the_command_and_in_the_environment(root):
    words = ("who-can", "READ", "topic:payments", "--format", "csv")
    assert ask(root, *words, "--max-age", OLD).stderr == ""
    assert ask(root, *words, ACLKIT_MAX_AGE=OLD).stderr == ""
    assert "older than 36 hours" in ask(root, "--max-age", "36h", *words).stderr


@pytest.mark.parametrize("text", ["1", "d", "-1d", "1w", "nand", "", "1e999d"])
def test_what_is_no_duration_is_refused(root, text):
    result = ask(root, "--max-age", text, "who-can", "READ", "topic:payments", code=2)
    assert "Pass a number with m, h or d, as in 36h" in result.stderr


@pytest.mark.parametrize("is_found", [False, True])
def test_a_settings_file_says_how_old_is_old(root, tmp_path, monkeypatch, is_found):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    text = f'warehouse = "{root}"\nmax-age = "{OLD}"\n'
    (tmp_path / "aclkit.toml").write_text(text, encoding="utf-8")
    words = [] if is_found else ["--config", "aclkit.toml"]
    result = CliRunner().invoke(cli, [*words, "who-can", "READ", "topic:payments"])
    assert result.stderr.splitlines()[-1] == STANDS


def test_a_found_file_with_no_duration_is_refused(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    text = f'warehouse = "{root}"\nmax-age = "soon"\n'
    (tmp_path / "aclkit.toml").write_text(text, encoding="utf-8")
    result = CliRunner().invoke(cli, ["who-can", "READ", "topic:payments"])
    assert (result.exit_code, "max-age" in result.stderr) == (2, True)


def test_decisions_stand_on_the_run_that_read_the_sources(tmp_path):
    versions = small.build(tmp_path)
    read, decided, later = (small.WHEN + timedelta(hours=hours) for hours in (1, 5, 9))
    small.publish(tmp_path, versions, run_number=2, job="replay", started_at=read)
    small.publish(
        tmp_path, versions, run_number=3, job="materialize", started_at=decided, head_offset=120
    )
    published = open_warehouse(str(tmp_path))
    run = published.last_materialize(small.CLUSTER)
    assert str(as_of(published, run)) == "as of 2026-11-21 13:00 UTC, offset 120"
    small.publish(tmp_path, versions, run_number=4, job="usage", started_at=later)
    published = open_warehouse(str(tmp_path))
    assert as_of(published, published.last_run(small.CLUSTER)).time == read


def test_a_run_that_says_no_time_is_never_old(tmp_path):
    versions = small.build(tmp_path)
    small.publish(tmp_path, versions, run_number=2, started_at=None, head_offset=None)
    result = ask(tmp_path, "what-can", "User:bob")
    assert result.stderr.splitlines()[-1] == "as of an unknown time"


def test_a_proof_about_two_warehouses_stands_on_the_older_one(root, tmp_path):
    versions = small.build(tmp_path)
    now = datetime.now(UTC)
    settings = open_warehouse(str(root)).run.settings_text
    small.publish(tmp_path, versions, run_number=2, started_at=now, settings=settings)
    result = ask(root, "prove", "same", str(root), str(tmp_path), "--format", "json")
    found = json.loads(result.stdout)
    assert {key: found[key] for key in KEYS} == KEYS
    assert result.stderr.count("older than 1 day") == 1
    table = ask(root, "prove", "same", str(tmp_path), str(tmp_path))
    assert table.stderr.splitlines() == [f"as of {now:%Y-%m-%d %H:%M} UTC, offset 100"]


def test_a_page_says_on_which_run_it_stands_and_that_it_is_old(root):
    with serving(root) as client:
        page = client.enter().ask("/what-can", principal="User:bob")
        assert f"This data is old: {STANDS}. Later changes are missing." in page.text
        assert f"complete, {STANDS}. Read-only." in page.text
