"""sql takes one question and refuses whatever writes, sets or reads outside."""

from __future__ import annotations

from datetime import datetime

import pytest

from aclkit.errors import UsageError
from aclkit.warehouse.sql import run_sql


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
