"""docs/sql.md: each query, as it stands there, finds the same in DuckDB and in Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from aclkit.spark import tables
from aclkit.warehouse.duck import open_tables
from aclkit.warehouse.sql import run_sql
from tests.documents import console_commands

NAMED = ("explain_acl", "explain", "acl_current", "finding_current", "principal_lifetime")
PAGE = Path(__file__).parents[2] / "docs" / "sql.md"


def queries():
    for shown in console_commands(PAGE.read_text(encoding="utf-8")):
        command, query = shown.arguments
        assert command == "sql"
        yield query


@pytest.fixture
def views(demo_warehouse, spark):
    return tables(spark, str(demo_warehouse), NAMED)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_query_finds_the_same_in_both_engines(demo_warehouse, views, spark):
    asked = [*queries()]
    assert len(asked) >= 12
    with open_tables(str(demo_warehouse)) as (_, here):
        for query in asked:
            there = run_sql(here, query)
            found = spark.sql(query)
            assert [*found.columns] == [*there.columns], query
            assert [tuple(row) for row in found.collect()] == [*map(tuple, there.rows)], query
