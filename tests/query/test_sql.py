"""sql takes one question and refuses whatever writes, sets or reads outside."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from aclkit.errors import UsageError
from aclkit.query.sql import run_sql


def rows(connection, text):
    answer = run_sql(connection, text)
    return list(answer.rows)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "select 1;",
        "-- why\nWITH a AS (SELECT 1) SELECT * FROM a",
        "VALUES (1), (2)",
        "FROM host",
        "TABLE host",
        "DESCRIBE host",
        "SHOW TABLES",
        "SUMMARIZE host",
        "EXPLAIN SELECT 1",
        "EXPLAIN /* é COPY */ ANALYZE SELECT 'é; COPY'",
        "EXPLAIN (FORMAT json) SELECT 1",
        "SELECT unnest([1, 2]) UNION SELECT 3",
    ],
)
def test_question_is_answered(connection, text):
    assert rows(connection, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-- nothing",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP VIEW host",
        "SELECT * FROM host WHERE host = ?",
        "SELECT $name",
        "SELEC 1",
        "SELECT * FROM nowhere",
        "COPY host TO 'out.csv'",
        "COPY (SELECT 1) TO '/tmp/out.parquet' (FORMAT parquet)",
        "EXPLAIN COPY (SELECT 1) TO 'out.csv'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO 'out.csv'",
        "EXPLAIN (ANALYZE) COPY (SELECT 1) TO 'out.csv'",
        "EXPLAIN (ANALYZE, FORMAT json) COPY (SELECT 1) TO 'out.csv'",
        "/* é */ EXPLAIN /* SELECT 1 */ ANALYZE CREATE TABLE t AS SELECT 1",
        "EXPLAIN ANALYZE INSERT INTO host VALUES (1)",
        "EXPLAIN PRAGMA version",
        "EXPLAIN ATTACH ':memory:' AS m",
        "CREATE TABLE t (i INT)",
        "CREATE VIEW v AS SELECT 1",
        "CREATE OR REPLACE VIEW host AS SELECT 1",
        "CREATE MACRO f() AS 1",
        "CREATE SECRET s (TYPE s3)",
        "INSERT INTO host VALUES ('a')",
        "UPDATE host SET host = 'a'",
        "DELETE FROM host",
        "WITH x AS (INSERT INTO host VALUES ('a') RETURNING host) SELECT * FROM x",
        "DROP VIEW host",
        "ALTER VIEW host RENAME TO h",
        "TRUNCATE host",
        "ATTACH ':memory:' AS m",
        "ATTACH 'other.db'",
        "DETACH memory",
        "USE memory",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET threads = 1",
        "SET VARIABLE a = 1",
        "RESET threads",
        "PRAGMA version",
        "PRAGMA enable_external_access",
        "CALL pragma_version()",
        "CHECKPOINT",
        "VACUUM",
        "ANALYZE",
        "BEGIN",
        "COMMIT",
        "EXPORT DATABASE 'out'",
        "IMPORT DATABASE 'out'",
        "PREPARE p AS SELECT 1",
        "EXECUTE p",
        "DEALLOCATE p",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM 'file.csv'",
        "SELECT * FROM '{outside}'",
        "SELECT * FROM read_parquet('{outside}')",
        "SELECT * FROM read_parquet(['{outside}'])",
        "SELECT * FROM parquet_metadata('{outside}')",
        "SELECT * FROM parquet_scan('{directory}/*.parquet')",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM read_blob('/etc/hostname')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_json('/etc/passwd')",
        "SELECT * FROM sniff_csv('/etc/passwd')",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM query('SELECT * FROM read_text(''/etc/hostname'')')",
        "SELECT * FROM query_table('/etc/hostname')",
        "SELECT * FROM 'https://example.org/a.parquet'",
        "SELECT * FROM read_parquet('s3://bucket/a.parquet')",
        "SELECT getenv('HOME')",
        "SELECT * FROM duckdb_secrets()",
        "SELECT * FROM sqlite_scan('a.db', 't')",
        "SELECT * FROM delta_scan('{directory}')",
        "SELECT * FROM enable_logging()",
        "SELECT * FROM enable_profiling()",
        "SELECT * FROM outside",
        "DESCRIBE '/etc/passwd'",
        "SUMMARIZE '/etc/passwd'",
        "EXPLAIN ANALYZE SELECT * FROM read_text('/etc/hostname')",
    ],
)
def test_anything_else_is_refused(connection, tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    outside = tmp_path / "outside.parquet"
    connection.execute("SELECT 1")
    _parquet(outside)
    with pytest.raises(UsageError) as refused:
        rows(connection, text.format(outside=outside, directory=tmp_path))
    assert str(refused.value)
    assert sorted(path.name for path in Path(tmp_path).iterdir()) == ["outside.parquet"]
    assert rows(connection, "SELECT count(*) FROM host") == [(4,)]


def _parquet(path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1]}), path)


def test_reason_says_what_was_found_and_expected(connection):
    with pytest.raises(UsageError, match=r"^COPY is not allowed: expected one SELECT"):
        rows(connection, "EXPLAIN ANALYZE COPY host TO 'x'")
    with pytest.raises(UsageError, match=r"^expected one SELECT, found 2 statements$"):
        rows(connection, "SELECT 1; SELECT 2")
    with pytest.raises(UsageError, match=r"^bad SQL: .*nowhere"):
        rows(connection, "SELECT * FROM nowhere")


def test_error_after_the_first_rows_is_the_questions_fault(connection):
    with pytest.raises(UsageError, match="bad SQL"):
        rows(connection, "SELECT CAST(CASE i WHEN 50000 THEN 'x' ELSE '1' END AS INT) "
                         "FROM range(60000) t(i)")  # fmt: skip


def test_zoned_times_come_as_utc(connection):
    text = "SELECT TIMESTAMPTZ '2026-01-01 02:00:00+02' AS a, 1 AS a"
    assert rows(connection, text) == [(datetime.fromisoformat("2026-01-01"), 1)]


def test_views_are_open_to_sql(connection):
    text = "SELECT count(*) FROM explain WHERE principal = 'User:alice'"
    assert rows(connection, text)[0][0] > 0
