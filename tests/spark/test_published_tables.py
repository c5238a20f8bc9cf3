"""Published tables as temporary views: those of DuckDB, pinned to the run, pruned by filters."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

from aclkit.audit.mcp.asked_sql import VIEWS
from aclkit.errors import SurroundingsError, UsageError
from aclkit.model.semantics import BrokerSettings
from aclkit.spark import tables as spark_tables
from aclkit.warehouse.duck import open_tables
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.sql import run_sql
from aclkit.warehouse.views import PAST_TABLES
from tests.questions.query import changed_warehouse
from tests.questions.query import small_warehouse as small


def _log(offset: int) -> dict[str, object]:
    time = datetime(2026, 11, 21, 11, offset, 0, 123456, tzinfo=UTC)
    return {"cluster_id": small.CLUSTER, "fact": "record", "log_offset": offset, "log_time": time}


@pytest.fixture(scope="session")
def nights(tmp_path_factory):
    """Two nights: what changed, the log with its times, and the brokers' settings."""
    root = tmp_path_factory.mktemp("two nights é")
    before = BrokerSettings(super_users=frozenset({small.SUPER_USER}), allow_everyone=True)
    after = BrokerSettings(super_users=frozenset({small.SUPER_USER}), allow_everyone=False)
    acls = (small.acl(20, operation="ALL"), *small.ACLS[1:])
    changed_warehouse.build(root, [(small.ACLS, before), (acls, after)])
    last = DeltaTable(root / "job_run").to_pyarrow_table().to_pylist()
    versions = dict(max(last, key=lambda row: row["run_number"])["table_versions"])
    more = {
        "acl_log": [_log(offset) for offset in range(20)],
        "log_range": [
            {"cluster_id": small.CLUSTER, "from_offset": 0, "to_offset": 20, "epoch": 1,
             "fact": "record"}
        ],
        "setting": [
            {"cluster_id": small.CLUSTER, "since_time": _log(minute)["log_time"],
             "super_users": [small.SUPER_USER], "allow_everyone": allow_everyone}
            for minute, allow_everyone in ((0, True), (12, False))
        ],
    }  # fmt: skip
    versions |= {name: small.write_table(root, name, rows) for name, rows in more.items()}
    newest = max(last, key=lambda row: row["run_number"])
    kept = {
        name: newest[name] for name in ("settings", "head_offset") if newest.get(name) is not None
    }
    small.publish(
        root, versions, run_number=3, run_id="night-2", notes=[],
        counts=dict(newest["counts"]) | {"decided_in_run": 2}, **kept,
    )  # fmt: skip
    return root


def without_times(frame):
    return [name for name in frame.columns if not name.endswith(("_at", "_time"))]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_table_and_view_of_the_reference_is_that_of_sql(nights, spark):
    frames = spark_tables(spark, str(nights))
    assert {*frames} == {*TABLES, *VIEWS}
    # listTables() fails in a session that compiles no plan, as that of the tests.
    assert all(map(spark.catalog.tableExists, (*TABLES, *VIEWS)))
    with open_tables(str(nights)) as (_, here):
        for name, frame in frames.items():
            every = run_sql(here, f"SELECT * FROM {name} LIMIT 0").columns
            assert frame.columns == [*every]
            if name in VIEWS or name == "setting":
                columns = without_times(frame)
                rows = run_sql(here, f"SELECT {', '.join(columns)} FROM {name}").rows
                found = frame.select(*columns).collect()
                assert sorted(str(tuple(row)) for row in found) == sorted(map(str, rows)), name


def test_views_of_the_session_with_other_names_stay(spark, tmp_path):
    small.build(tmp_path)
    theirs = [f"before_{name}" for name in PAST_TABLES]
    try:
        for name in theirs:
            spark.sql("SELECT 'theirs' AS whose").createOrReplaceTempView(name)
        found = spark_tables(spark, tmp_path, "access_change_cell")
        assert "access_change_cell" in found
        assert not {*theirs} & {*found}
        assert all(spark.table(name).columns == ["whose"] for name in theirs)
    finally:
        for name in theirs:
            spark.catalog.dropTempView(name)


def test_what_is_not_published_is_in_no_table(spark, tmp_path):
    versions = small.build(tmp_path)
    # A run at work has written, and was killed.
    small.write_table(
        tmp_path, "host", [{"cluster_id": small.CLUSTER, "host": "10.9.9.9"}], "append"
    )
    small.write_table(tmp_path, "acl_history", [])
    names = ("acl_current", "host", "job_run")
    opened = spark_tables(spark, str(tmp_path), names)
    before = {name: opened[name].count() for name in names}
    assert before == {"acl_current": len(small.ACLS), "host": len(small.HOSTS), "job_run": 1}
    # What was opened stays at its run when the next one publishes.
    versions["host"] += 1
    small.publish(tmp_path, versions, run_number=9, run_id="later")
    assert {name: opened[name].count() for name in names} == before
    later = spark_tables(spark, str(tmp_path), names)
    assert later["host"].count() == before["host"] + 1
    assert later["job_run"].count() == before["job_run"] + 1


class BusyWarehouse:
    """A session; each time when it is asked, a run has written and published before."""

    def __init__(self, spark, root, versions):
        self.spark, self.root, self.versions, self.number = spark, root, versions, 1

    def __getattr__(self, name):
        return getattr(self.spark, name)

    def sql(self, query):
        self.number += 1
        host = {"cluster_id": small.CLUSTER, "host": f"10.9.9.{self.number}"}
        self.versions["host"] = small.write_table(self.root, "host", [host], "append")
        self.versions["acl_history"] = small.write_table(self.root, "acl_history", [])
        of_run = {"run_number": self.number, "run_id": f"r{self.number}"}
        small.publish(self.root, self.versions, **of_run)
        return self.spark.sql(query)


def test_runs_that_write_and_publish_meanwhile_are_in_no_table(spark, tmp_path):
    busy = BusyWarehouse(spark, tmp_path, small.build(tmp_path))
    names = ("acl_current", "host", "job_run")
    opened = spark_tables(busy, str(tmp_path), names)
    assert busy.number > len(names)
    found = {name: opened[name].count() for name in names}
    assert found == {"acl_current": len(small.ACLS), "host": len(small.HOSTS), "job_run": 1}


def test_what_is_not_there_is_told(spark, tmp_path):
    with pytest.raises(UsageError, match="has no data yet"):
        spark_tables(spark, str(tmp_path))
    small.build(tmp_path)
    with pytest.raises(UsageError, match="Unknown table: explained"):
        spark_tables(spark, str(tmp_path), ["explained", "host"])
    assert {*spark_tables(spark, tmp_path, "host")} == {"host"}


class WithoutDelta:
    """A session that knows no delta."""

    def sql(self, query):
        raise AnalysisException("[TABLE_OR_VIEW_NOT_FOUND] the table delta.`w` cannot be found")


def test_a_session_without_delta_is_told_what_it_needs(tmp_path):
    small.build(tmp_path)
    with pytest.raises(SurroundingsError, match=r"needs Delta's jars .*TABLE_OR_VIEW_NOT_FOUND"):
        spark_tables(WithoutDelta(), str(tmp_path))


def files_read(frame):
    """Return how many files each scan of a plan that has run has read, by its table."""
    found = {}
    walk = [frame._jdf.queryExecution().executedPlan()]
    while walk:
        plan = walk.pop()
        walk += [plan.children().apply(n) for n in range(plan.children().size())]
        if "FileSourceScan" in plan.getClass().getSimpleName():
            table = Path(plan.relation().location().rootPaths().apply(0).toString()).name
            found[table] = plan.metrics().apply("numFiles").value()
    return found


def test_a_filter_on_a_name_reads_only_files_that_may_hold_it(spark, tmp_path):
    versions = small.build(tmp_path)
    for number in range(4):
        row = {
            "cluster_id": small.CLUSTER, "principal": f"User:u{number}", "resource_type": "TOPIC",
            "resource_name": f"t{number}", "ruleset_id": "r",
        }  # fmt: skip
        mode = "append" if number else "overwrite"
        versions["explain_pair"] = small.write_table(tmp_path, "explain_pair", [row], mode)
    small.publish(tmp_path, versions, run_number=2)
    explain = spark_tables(spark, str(tmp_path), ["explain"])["explain"]
    for column, name in (("resource_name", "t3"), ("principal", "User:u3")):
        asked = explain.where(F.col(column) == name)
        asked.collect()
        assert files_read(asked)["explain_pair"] == 1, column
