"""DuckDB's SQL, written anew for Spark."""

from __future__ import annotations

import subprocess
import sys

import pytest
from sqlglot.errors import SqlglotError

from aclkit.warehouse.pinned_sql import spark_sql


def test_a_time_has_no_zone_and_what_is_null_comes_last():
    text = spark_sql("SELECT CAST(a AS TIMESTAMP) FROM t ORDER BY a")
    assert text == "SELECT CAST(a AS TIMESTAMP_NTZ) FROM t ORDER BY a NULLS LAST"


def test_a_text_keeps_its_signs():
    assert spark_sql(r"SELECT 'it''s \n'") == r"SELECT 'it\'s \\n'"


def test_a_schema_becomes_a_part_of_the_name():
    text = spark_sql("SELECT 'host' AS principal FROM explain e JOIN before.host h ON e.a = h.a")
    assert "FROM explain AS e JOIN before_host AS h" in text


def test_what_is_no_sql_is_told():
    with pytest.raises(SqlglotError):
        spark_sql("SELECT FROM WHERE")


def test_a_question_to_duckdb_does_not_wait_for_it():
    code = (
        "import sys, aclkit.warehouse.reader, aclkit.questions.query.access; "
        "print({'sqlglot', 'pyspark'} & {*sys.modules})"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert told.stdout == "set()\n"
