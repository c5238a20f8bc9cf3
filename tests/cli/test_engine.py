"""DuckDB answers: ``sql`` names its old option ``--engine``, and Spark is not loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.running import run


def test_the_engine_of_sql_is_ignored_and_named(root):
    question = ("--warehouse", root, "sql", "SELECT 1")
    plain, asked = run(*question), run(*question, "--engine", "spark")
    assert asked.stdout == plain.stdout
    assert "note: --engine is ignored." in asked.stderr
    assert "note: --engine" not in plain.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("who-can", "READ", "topic:t", "--engine", "duckdb"),
        ("maintain", "--retain-days", "7"),
        ("--no-class-archive", "audit"),
    ],
)
def test_an_option_that_0_3_0_had_for_older_schedules_only_is_unknown(root, words):
    asked = run("--warehouse", root, *words, code=2)
    assert "No such option" in asked.stderr


def test_duckdb_answers_without_loading_spark_or_pandas(root):
    code = (
        "import sys; from aclkit.cli import cli; "
        f"cli(['--warehouse', {str(root)!r}, 'why', 'User:bob', 'READ', 'topic:payments'], "
        "standalone_mode=False); "
        "sys.exit(any(name.partition('.')[0] in ('pyspark', 'py4j', 'pandas') "
        "for name in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
