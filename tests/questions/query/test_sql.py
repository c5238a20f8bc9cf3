"""sql takes one question and refuses whatever writes, sets or reads outside."""

from __future__ import annotations

from datetime import datetime

import duckdb
import pytest

from aclkit.errors import UsageError
from aclkit.warehouse.sql import run_sql, tables_of


def rows(connection, text):
    answer = run_sql(connection, text)
    return list(answer.rows)


def test_reason_says_what_was_found_and_expected(connection):
    with pytest.raises(UsageError, match=r"^COPY is not allowed\. Expected one SELECT"):
        rows(connection, "EXPLAIN ANALYZE COPY host TO 'x'")
    with pytest.raises(UsageError, match=r"^Expected one SELECT, found 2 statements$"):
        rows(connection, "SELECT 1; SELECT 2")
    with pytest.raises(UsageError, match=r"^Invalid SQL: .*nowhere"):
        rows(connection, "SELECT * FROM nowhere")


def test_error_after_the_first_rows_is_the_questions_fault(connection):
    with pytest.raises(UsageError, match="Invalid SQL"):
        rows(connection, "SELECT CAST(CASE i WHEN 50000 THEN 'x' ELSE '1' END AS INT) "
                         "FROM range(60000) t(i)")  # fmt: skip


def test_zoned_times_come_as_utc(connection):
    text = "SELECT TIMESTAMPTZ '2026-01-01 02:00:00+02' AS a, 1 AS a"
    assert rows(connection, text) == [(datetime.fromisoformat("2026-01-01"), 1)]


def test_views_are_open_to_sql(connection):
    text = "SELECT count(*) FROM explain WHERE principal = 'User:alice'"
    assert rows(connection, text)[0][0] > 0


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("SELECT count(*) FROM acl_log", {"acl_log"}),
        ('SELECT * FROM "ACL_Log" JOIN (FROM host) USING (cluster_id)', {"acl_log", "host"}),
        ("SELECT * FROM acl_current", {"acl_history"}),
        ("WITH host AS (FROM host) FROM host", {"host"}),
        ("WITH x AS (FROM host) SELECT (SELECT count(*) FROM principal) FROM x",
         {"host", "principal"}),
        ("SELECT 1 WHERE 'a' IN (SELECT host FROM host)", {"host"}),
    ],
)  # fmt: skip
def test_a_text_opens_the_tables_that_it_names(text, tables):
    with duckdb.connect() as connection:
        assert set(tables_of(connection, text)) == tables


@pytest.mark.parametrize(
    "text",
    [
        "SHOW TABLES", "DESCRIBE acl_log", "FROM main.acl_log", "FROM nothing", "no SQL",
        "FROM information_schema.tables", "FROM access_change_cell", "EXPLAIN FROM acl_log",
        "FROM acl_log; FROM host", "FROM acl_log JOIN x ON true",
    ],
)  # fmt: skip
def test_a_text_that_may_see_any_table_opens_all(text):
    with duckdb.connect() as connection:
        assert tables_of(connection, text) == {}
