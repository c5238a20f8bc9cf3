"""DuckDB's SQL, written anew for Spark."""

from __future__ import annotations

import subprocess
import sys

import pytest
from sqlglot.errors import SqlglotError

from aclkit.warehouse.dialect import spark_sql


def test_values_go_by_names_in_the_order_of_their_question_marks():
    found = spark_sql("WITH a AS (SELECT ? AS x) SELECT '?' FROM a WHERE x < ? LIMIT ?")
    first, second, third = found.parameters
    assert found.text == (
        f"WITH a AS (SELECT :{first} AS x) SELECT '?' FROM a WHERE x < :{second} LIMIT :{third}"
    )


def test_a_list_comes_as_json():
    text = spark_sql("SELECT unnest(CAST(? AS BIGINT[]))").text
    assert text == "SELECT EXPLODE(FROM_JSON(CAST(:p19 AS STRING), 'ARRAY<BIGINT>'))"


def test_milliseconds_are_asked_of_a_time():
    assert spark_sql("SELECT epoch_ms(a) FROM t").text == "SELECT UNIX_MILLIS(a) FROM t"


def test_a_time_has_no_zone_and_what_is_null_comes_last():
    text = spark_sql("SELECT CAST(a AS TIMESTAMP) FROM t ORDER BY a").text
    assert text == "SELECT CAST(a AS TIMESTAMP_NTZ) FROM t ORDER BY a NULLS LAST"


def test_a_text_keeps_its_signs():
    assert spark_sql(r"SELECT 'it''s \n'").text == r"SELECT 'it\'s \\n'"


def test_names_are_those_of_tables_and_a_schema_becomes_a_part_of_them():
    found = spark_sql("SELECT 'host' AS principal FROM explain e JOIN before.host h ON e.a = h.a")
    assert found.names == {"explain", "before_host"}
    assert "JOIN before_host AS h" in found.text


def test_what_is_no_sql_is_told():
    with pytest.raises(SqlglotError):
        spark_sql("SELECT FROM WHERE")


def test_a_question_to_duckdb_does_not_wait_for_it():
    code = (
        "import sys, aclkit.warehouse.reader, aclkit.questions.query.access; "
        "print({'sqlglot', 'pyspark'} & {*sys.modules})"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "set()\n"
