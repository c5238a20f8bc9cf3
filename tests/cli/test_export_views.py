"""export views: the statements make elsewhere what sql shows here, of one published run."""

from __future__ import annotations

import re

import duckdb
import pytest
import sqlglot

from aclkit.audit.mcp.asked_sql import VIEWS
from aclkit.warehouse import for_others
from aclkit.warehouse.schemas import TABLES
from tests.cli.running import Warehouse
from tests.on_disk import on_disk
from tests.questions.query import small_warehouse as small

NAMES = {*TABLES, *VIEWS}
COUNTED = ("acl_current", "explain", "explain_acl", "host", "job_run")


@pytest.fixture
def warehouse(tmp_path):
    made = Warehouse(tmp_path / on_disk("two words 'é'"))
    small.build(made.path)
    return made


def script(warehouse, dialect):
    return warehouse.run("export", "views", "--dialect", dialect).stdout


def statements(text):
    return [line for line in text.splitlines() if not line.startswith("--")]


def counts(warehouse):
    return {name: warehouse.sql(f"SELECT count(*) AS n FROM {name}")[0]["n"] for name in COUNTED}


def test_the_first_lines_name_the_run_and_until_when_it_is_kept(warehouse):
    first, second, *_ = script(warehouse, "spark").splitlines()
    assert first.startswith(f"-- Views of {warehouse.path} as of run 1")
    assert re.search(r"keeps until \d{4}-\d\d-\d\d at least", second)


def test_duckdb_has_every_view_with_the_rows_that_sql_shows(warehouse):
    made = duckdb.connect()
    made.execute(script(warehouse, "duckdb"))
    found = {name: made.sql(f"SELECT count(*) FROM {name}").fetchall() for name in NAMES}
    assert {name: str(found[name][0][0]) for name in COUNTED} == counts(warehouse)


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "trino"])
def test_what_a_run_at_work_writes_is_in_no_view(warehouse, dialect):
    def without_aliases():
        return re.sub(r"unnamed_relation_\w+", "r", script(warehouse, dialect))

    before = without_aliases()
    row = {"cluster_id": small.CLUSTER, "host": "10.9.9.9"}
    small.write_table(warehouse.path, "host", [row], "append")
    assert without_aliases() == before


def test_runs_that_write_and_publish_meanwhile_are_in_no_view(warehouse, monkeypatch):
    right = counts(warehouse)
    versions = dict(warehouse.published().run.table_versions)

    def another_run(number):
        row = {"cluster_id": small.CLUSTER, "host": f"10.9.9.{number}"}
        versions["host"] = small.write_table(warehouse.path, "host", [row], "append")
        versions["acl_history"] = small.write_table(warehouse.path, "acl_history", [])
        small.publish(warehouse.path, versions, run_number=number, run_id=f"r{number}")

    read = for_others.find_tables

    def find_tables(published):
        another_run(2)
        found = read(published)
        another_run(3)
        return found

    monkeypatch.setattr(for_others, "find_tables", find_tables)
    made = duckdb.connect()
    made.execute(script(warehouse, "duckdb"))
    another_run(4)
    found = {name: made.sql(f"SELECT count(*) FROM {name}").fetchall() for name in COUNTED}
    assert {name: str(rows[0][0]) for name, rows in found.items()} == right
    assert counts(warehouse) != right


@pytest.mark.parametrize("dialect", ["spark", "trino"])
def test_each_statement_is_of_the_dialect_and_there_is_one_for_each_name(warehouse, dialect):
    found = statements(script(warehouse, dialect))
    made = [sqlglot.parse_one(text, dialect=dialect).this.name for text in found]
    assert sorted(made) == sorted(NAMES)


def test_trino_is_told_that_it_never_ran_this(warehouse):
    text = script(warehouse, "trino")
    assert "never run by Trino" in text
    place = f"{warehouse.path}/host".replace("'", "''")
    assert f"table_name => 'host', table_location => '{place}');" in text


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_spark_has_every_view_with_the_rows_that_sql_shows(warehouse, spark):
    spark.sql("CREATE DATABASE exported")
    spark.sql("USE exported")
    try:
        for text in statements(script(warehouse, "spark")):
            spark.sql(text.removesuffix(";"))
        assert {row.viewName for row in spark.sql("SHOW VIEWS").collect()} == NAMES
        found = {name: str(spark.table(name).count()) for name in COUNTED}
    finally:
        spark.sql("USE default")
        spark.sql("DROP DATABASE exported CASCADE")
    assert found == counts(warehouse)
