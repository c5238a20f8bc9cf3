"""The option --engine of older versions, and others that were retired."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.running import run


@pytest.mark.parametrize("words", [("who-can", "READ", "topic:payments"), ("sql", "SELECT 1")])
def test_an_engine_is_ignored_and_named(root, words):
    question = ("--warehouse", root, *words)
    plain, asked = run(*question), run(*question, "--engine", "spark")
    assert asked.stdout == plain.stdout
    assert "note: --engine is ignored." in asked.stderr
    assert "note: --engine" not in plain.stderr


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
    (tmp_path / "a.toml").write_text(text, encoding="utf-8")
    result = run("--config", tmp_path / "a.toml", "--warehouse", root, *words, "sql", "SELECT 1")
    assert "is ignored. It was removed" in result.stderr
