"""The option --engine: who answers a question."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.cli.running import run

QUESTIONS = [
    ("sql", "SELECT decision, count(*) AS n FROM explain GROUP BY decision ORDER BY decision"),
    ("who-can", "READ", "topic:payments", "--all"),
    ("what-can", "User:alice", "--host", "10.0.0.1"),
    ("why", "User:bob", "READ", "topic:payments", "--host", "10.0.0.1"),
    ("can", "User:alice", "DESCRIBE", "topic:payments"),
    ("history", "User:alice", "READ", "topic:payments"),
    ("diff", "1", "50"),
    ("preview", "remove-acl", "--topic", "payments"),
    ("preview", "add-topic", "payments-new"),
]


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda words: " ".join(words[:2]))
def test_both_engines_print_the_same(root, spark, question):
    here = run("--warehouse", root, *question, "--format", "json")
    there = run("--warehouse", root, *question, "--engine", "spark", "--format", "json")
    assert json.loads(there.stdout) == json.loads(here.stdout)
    assert here.stdout


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
