"""The option --engine: who answers SQL."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.cli.running import run


def test_sql_prints_the_same_with_both_engines(root, spark):
    text = "SELECT decision, count(*) AS n FROM explain GROUP BY decision ORDER BY decision"
    here = run("--warehouse", root, "sql", text, "--format", "json")
    there = run("--warehouse", root, "sql", text, "--engine", "spark", "--format", "json")
    assert json.loads(there.stdout) == json.loads(here.stdout)
    assert here.stdout


def test_an_engine_of_another_question_is_ignored_and_named(root):
    question = ("--warehouse", root, "who-can", "READ", "topic:payments")
    plain, asked = run(*question), run(*question, "--engine", "spark")
    assert asked.stdout == plain.stdout
    assert "note: --engine is ignored." in asked.stderr
    assert "note: --engine" not in plain.stderr


def test_sql_that_writes_is_refused_with_spark_too(root, spark):
    result = run(
        "--warehouse", root, "sql", "--engine", "spark", "INSERT INTO host VALUES ('a')", code=2
    )
    assert "InsertIntoStatement is not allowed. Expected one SELECT" in result.stderr
    assert result.stdout == ""


def test_duckdb_answers_without_loading_spark_or_pandas(root):
    code = (
        "import sys; from aclkit.cli import cli; "
        f"cli(['--warehouse', {str(root)!r}, 'why', 'User:bob', 'READ', 'topic:payments'], "
        "standalone_mode=False); "
        "sys.exit(any(name.partition('.')[0] in ('pyspark', 'py4j', 'pandas') "
        "for name in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


RETIRED = {
    "an option": (["--no-class-archive"], {}, ""),
    "a variable of an option": ([], {"ACLKIT_CLASS_ARCHIVE": "0"}, ""),
    "a variable": ([], {"ACLKIT_FAST_JVM": "1"}, ""),
    "a key": ([], {}, "class_archive = true\n"),
}


@pytest.mark.parametrize("how", RETIRED)
def test_what_was_retired_is_named_and_ends_no_command(root, tmp_path, monkeypatch, how):
    words, variables, text = RETIRED[how]
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "a.toml").write_text(text)
    result = run("--config", tmp_path / "a.toml", "--warehouse", root, *words, "sql", "SELECT 1")
    assert "is ignored. It was removed" in result.stderr
