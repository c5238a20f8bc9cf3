"""With Spark, too, sql takes one question and refuses what writes, sets or reads outside."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aclkit.cli.sql import time_limit
from aclkit.errors import UsageError
from aclkit.warehouse.spark_tables import open_with_spark
from tests.questions.query import small_warehouse as small
from tests.questions.query.statements import HOSTILE, fill
from tests.untouched import digests

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    place = tmp_path_factory.mktemp("guarded")
    small.build(place)
    return place


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """A file that nothing but an attack would read."""
    path = tmp_path_factory.mktemp("outside") / "outside.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    return path


@pytest.fixture(scope="module")
def session(_session):
    return _session


@pytest.fixture(scope="module")
def tables(root, _session):
    """One session for all: nothing that is asked here may change it."""
    return open_with_spark(_session, str(root))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "select HOST from HOST;",
        "-- why\nWITH a AS (SELECT 1 AS x), b AS (FROM a) SELECT * FROM b JOIN a USING (x)",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) FROM r",
        "VALUES (1, 'a'), (2, upper('b'))",
        "FROM host",
        "TABLE host",
        "FROM host |> WHERE host LIKE '10%' |> SELECT host",
        "SELECT principal, count(*) FILTER (WHERE decision = 'ALLOWED') AS n FROM explain "
        "GROUP BY ALL HAVING n > 0 ORDER BY n DESC LIMIT 5 OFFSET 1",
        "SELECT * EXCEPT (host) FROM host WHERE host IN (SELECT host FROM host_match)",
        "SELECT DISTINCT host FROM host h WHERE EXISTS (SELECT 1 FROM host x)",
        "SELECT rank() OVER w FROM host WINDOW w AS (PARTITION BY cluster_id ORDER BY host)",
        "SELECT CASE WHEN is_any_other THEN 1 ELSE 2 END, CAST('1' AS INT), (SELECT 1) FROM host",
        "SELECT * FROM (SELECT 1 AS a UNION SELECT 2 EXCEPT SELECT 3 INTERSECT SELECT 4)",
        "SELECT * FROM range(3) JOIN LATERAL (SELECT id + 1)",
        "SELECT v.g FROM ruleset LATERAL VIEW explode(group_ids) v AS g",
        "SELECT explode(transform(array(1, 2), x -> x + 1))",
        "SELECT map('a', 1)['a'], struct(1, 2).col1, now() > DATE '2026-01-01', counts, notes "
        "FROM job_run",
        "SELECT * FROM host PIVOT (count(*) FOR cluster_id IN ('c1'))",
        "SELECT /*+ BROADCAST(host) */ host FROM host TABLESAMPLE (100 PERCENT)",
        "SELECT host FROM host DISTRIBUTE BY host SORT BY host",
        "SELECT 'INSERT; DROP ? :a', 1 AS a, 2 AS a",
    ],
)  # fmt: skip
def test_question_is_answered_by_spark(tables, text):
    assert list(tables.ask(text).rows)


ATTACKS = [
    "",
    "-- nothing",
    "SELEC 1",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP VIEW host",
    "BEGIN SELECT 1; END",
    "BEGIN DROP VIEW host; END",
    "SELECT * FROM host WHERE host = ?",
    "SELECT :name",
    "SELECT '${{env:HOME}}'",
    "SELECT '${{system:user.home}}'",
    "SELECT * FROM nowhere",
    "SELECT * FROM default.host",
    "SELECT * FROM spark_catalog.default.host",
    "SELECT * FROM global_temp.host",
    "SELECT * FROM parquet.`{outside}`",
    "SELECT * FROM text.`/etc/passwd`",
    "SELECT * FROM csv.`/etc/passwd`",
    "SELECT * FROM json.`/etc/passwd`",
    "SELECT * FROM binaryFile.`/etc/hostname`",
    "SELECT * FROM delta.`{warehouse}/host`",
    "SELECT * FROM delta.`{warehouse}/host@v0`",
    "SELECT * FROM `delta`.`{warehouse}/host`",
    "TABLE parquet.`{outside}`",
    "FROM parquet.`{outside}`",
    "SELECT (SELECT max(a) FROM parquet.`{outside}`)",
    "SELECT 1 WHERE 1 IN (SELECT a FROM parquet.`{outside}`)",
    "SELECT 1 WHERE EXISTS (SELECT a FROM parquet.`{outside}`)",
    "SELECT 1 FROM host JOIN LATERAL (SELECT a FROM parquet.`{outside}`)",
    "SELECT 1 FROM host ORDER BY (SELECT max(a) FROM parquet.`{outside}`)",
    "WITH a AS (SELECT * FROM parquet.`{outside}`) SELECT * FROM a",
    "WITH a AS (WITH secret AS (SELECT 1) SELECT * FROM secret) SELECT * FROM secret",
    "SELECT * FROM b WHERE EXISTS (WITH b AS (SELECT 1) SELECT * FROM b)",
    "WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a",
    "SELECT * FROM IDENTIFIER('parquet.`{outside}`')",
    "SELECT * FROM IDENTIFIER('par' || 'quet.`{outside}`')",
    "SELECT * FROM host VERSION AS OF 0",
    "SELECT * FROM host TIMESTAMP AS OF '2026-01-01'",
    "SELECT * FROM host WITH ('path' = '{outside}')",
    "SELECT * FROM STREAM host",
    "SELECT * FROM STREAM(host)",
    "SELECT * FROM read_files('{outside}')",
    "SELECT * FROM table_changes('host', 0)",
    "SELECT * FROM table_changes_by_path('{warehouse}/host', 0)",
    "SELECT * FROM python_worker_logs()",
    "SELECT reflect('java.lang.System', 'getenv', 'HOME')",
    "SELECT java_method('java.lang.System', 'getProperty', 'user.home')",
    "SELECT try_reflect('java.lang.System', 'getenv', 'HOME')",
    "SELECT ReFlect('java.lang.System', 'getenv', 'HOME')",
    "SELECT `reflect`('java.lang.System', 'getenv', 'HOME')",
    "SELECT builtin.reflect('java.lang.System', 'getenv', 'HOME')",
    "SELECT system.builtin.reflect('java.lang.System', 'getenv', 'HOME')",
    "SELECT IDENTIFIER('reflect')('java.lang.System', 'getenv', 'HOME')",
    "SELECT IDENTIFIER('ref' || 'lect')('java.lang.System', 'getenv', 'HOME')",
    "SELECT host FROM host WHERE reflect('java.lang.System', 'getenv', 'HOME') = 'a'",
    "SELECT host FROM host ORDER BY reflect('java.lang.System', 'getenv', 'HOME')",
    "SELECT host FROM host GROUP BY host HAVING reflect('a', 'b') = 'c'",
    "SELECT count(*) FILTER (WHERE reflect('a', 'b') = 'c') FROM host",
    "SELECT count(*) OVER w FROM host WINDOW w AS (ORDER BY reflect('a', 'b'))",
    "SELECT count(*) OVER (PARTITION BY reflect('a', 'b')) FROM host",
    "SELECT transform(array(1), x -> reflect('java.lang.System', 'getenv', 'HOME'))",
    "SELECT CASE WHEN true THEN reflect('a', 'b') END",
    "SELECT x.* FROM host JOIN host x ON reflect('a', 'b') = 'c'",
    "SELECT * FROM host PIVOT (max(reflect('a', 'b')) FOR cluster_id IN ('c1'))",
    "SELECT * FROM range(length(reflect('java.lang.System', 'getenv', 'HOME')))",
    "SELECT 1 LIMIT length(reflect('java.lang.System', 'getenv', 'HOME'))",
    "SELECT 1 FROM host LATERAL VIEW explode(array(reflect('a', 'b'))) v",
    "VALUES (reflect('java.lang.System', 'getenv', 'HOME'))",
    "FROM host |> EXTEND reflect('a', 'b')",
    "FROM host |> JOIN parquet.`{outside}`",
    "SELECT from_xml('<a/>', 'a INT', map('rowValidationXSDPath', '/etc/passwd'))",
    "SELECT xpath_string('<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/hosts\">]><a/>', 'a')",
    "SELECT from_protobuf(X'00', 'M', '/etc/passwd')",
    "SELECT from_avro(X'00', '\"int\"', map())",
    "SELECT input_file_name() FROM host",
    "SELECT current_catalog()",
    "SELECT TRANSFORM(host) USING 'cat /etc/passwd' FROM host",
    "FROM host SELECT TRANSFORM(host) USING 'cat'",
    "FROM (FROM host MAP host USING 'cat' AS a) SELECT a",
    "INSERT INTO host VALUES ('a')",
    "INSERT OVERWRITE DIRECTORY '{warehouse}/out' USING parquet SELECT 1",
    "INSERT OVERWRITE LOCAL DIRECTORY '{warehouse}/out' USING csv SELECT 1",
    "INSERT INTO delta.`{warehouse}/host` SELECT * FROM host",
    "FROM host INSERT INTO host SELECT *",
    "FROM host INSERT INTO host SELECT * INSERT INTO host SELECT *",
    "WITH a AS (SELECT 1) INSERT INTO host SELECT * FROM a",
    "UPDATE host SET host = 'a'",
    "UPDATE delta.`{warehouse}/host` SET host = 'a'",
    "DELETE FROM delta.`{warehouse}/host`",
    "MERGE INTO delta.`{warehouse}/host` a USING host b ON true WHEN MATCHED THEN DELETE",
    "TRUNCATE TABLE host",
    "CREATE TABLE t (i INT) USING delta LOCATION '{warehouse}/out'",
    "CREATE TABLE t USING parquet LOCATION '{warehouse}/out' AS SELECT 1",
    "CREATE TEMPORARY VIEW v AS SELECT 1",
    "CREATE OR REPLACE TEMPORARY VIEW host AS SELECT 1",
    "CREATE TEMPORARY VIEW v USING csv OPTIONS (path '/etc/passwd')",
    "CREATE TEMPORARY FUNCTION f AS 'java.lang.System'",
    "CREATE TEMPORARY FUNCTION f() RETURNS INT RETURN 1",
    "CREATE DATABASE d LOCATION '{warehouse}/out'",
    "DROP VIEW host",
    "DROP TABLE delta.`{warehouse}/host`",
    "ALTER TABLE delta.`{warehouse}/host` SET TBLPROPERTIES ('a' = 'b')",
    "LOAD DATA LOCAL INPATH '/etc/passwd' INTO TABLE host",
    "COPY INTO host FROM '{outside}'",
    "VACUUM delta.`{warehouse}/host` RETAIN 0 HOURS",
    "OPTIMIZE delta.`{warehouse}/host`",
    "RESTORE TABLE delta.`{warehouse}/host` TO VERSION AS OF 0",
    "CONVERT TO DELTA parquet.`{warehouse}`",
    "DESCRIBE HISTORY delta.`{warehouse}/host`",
    "DESCRIBE DETAIL delta.`{warehouse}/host`",
    "CACHE TABLE host",
    "CACHE TABLE c AS SELECT 1",
    "UNCACHE TABLE host",
    "CLEAR CACHE",
    "REFRESH '{warehouse}'",
    "ANALYZE TABLE host COMPUTE STATISTICS",
    "SET spark.sql.ansi.enabled = false",
    "SET",
    "SET -v",
    "SET VAR a = 1",
    "DECLARE VARIABLE a INT",
    "RESET",
    "USE default",
    "ADD JAR '/tmp/a.jar'",
    "ADD FILE '/etc/passwd'",
    "LIST FILES",
    "SHOW TABLES",
    "DESCRIBE host",
    "EXPLAIN SELECT 1",
    "EXPLAIN INSERT INTO host VALUES (1)",
    "EXECUTE IMMEDIATE 'DROP VIEW host'",
    "CALL p()",
]


@pytest.fixture(scope="module")
def untouched(root, tables):
    """The digest of each file before the first attack; no question may change one."""
    return digests(root)


@pytest.mark.parametrize("text", [*ATTACKS, *HOSTILE])
def test_anything_but_a_select_is_refused_by_spark(tables, root, outside, untouched, text):
    file = next(root.glob("explain_pair/*.parquet"))
    filled = fill(text, outside=outside, warehouse=root, file=file, served=file)
    with pytest.raises(UsageError) as refused:
        list(tables.ask(filled).rows)
    assert "/root" not in str(refused.value)
    assert digests(root) == untouched


def test_what_is_endless_is_stopped_in_spark_too(tables, session):
    text = "SELECT count(*) FROM range(1000000000000000) a JOIN range(100000000) b ON a.id % 7 = 1"
    with pytest.raises(UsageError, match="took longer than 1 s"), time_limit(session, 1):
        list(tables.ask(text).rows)
    assert list(tables.ask("SELECT 1").rows) == [(1,)]


def outcome(tables, text):
    """Return the rows as text, or why there are none."""
    try:
        return str(list(tables.ask(text).rows))
    except UsageError as error:
        return str(error)


@pytest.mark.parametrize("depth", [50, 200, 400])
def test_what_is_nested_is_answered_by_spark_or_refused_in_words(tables, depth):
    found = outcome(tables, f"SELECT {'upper(' * depth}'a'{')' * depth}")
    assert found == "[('A',)]" or (
        depth > 50 and re.match("Invalid SQL: .*too (deep|complex)", found)
    )


def test_what_is_in_time_is_left_alone(tables, session):
    with time_limit(session, 300):
        assert list(tables.ask("SELECT 1").rows) == [(1,)]
    with pytest.raises(UsageError, match="nowhere"), time_limit(session, 300):
        tables.ask("SELECT * FROM nowhere")


def test_after_all_attacks_the_tables_are_as_they_were(tables):
    found = tables.ask("SELECT host FROM host ORDER BY host")
    assert [host for (host,) in found.rows] == sorted(small.HOSTS)


def test_spark_says_what_was_found_and_expected(tables):
    with pytest.raises(UsageError, match=r"^InsertIntoStatement is not allowed\. Expected one SEL"):
        tables.ask("INSERT INTO host VALUES ('a')")
    with pytest.raises(
        UsageError, match=r"the table or view parquet\.x does not exist\. Expected one of"
    ):
        tables.ask("SELECT * FROM parquet.x")
    with pytest.raises(UsageError, match=r"^Invalid SQL: the function reflect is not allowed$"):
        tables.ask("SELECT reflect('a', 'b')")
    with pytest.raises(UsageError, match=r"Invalid SQL: .*nothing"):
        tables.ask("SELECT nothing FROM host")


def test_a_value_that_does_not_fit_is_the_questions_fault_in_spark(tables):
    with pytest.raises(UsageError, match="Invalid SQL"):
        list(tables.ask("SELECT CAST(IF(id = 50, 'x', '1') AS INT) FROM range(60)").rows)
