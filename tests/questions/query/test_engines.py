"""DuckDB and Spark show the same views to a person's SQL."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from deltalake import DeltaTable

from aclkit.model.semantics import BrokerSettings
from aclkit.warehouse.reader import open_tables
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.spark_tables import open_with_spark
from aclkit.warehouse.sql import run_sql
from aclkit.warehouse.views import view_sql
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


@pytest.fixture(scope="module")
def both(nights, _session):
    """A warehouse's tables for DuckDB and for Spark, opened once: no SELECT changes either."""
    with open_tables(str(nights)) as (published, here):
        yield published, here, open_with_spark(_session, str(nights))


@pytest.mark.slow
def test_every_view_has_the_same_rows_on_both_engines(both):
    published, here, there = both
    views = view_sql({*TABLES, *published.run.table_versions} - {"explain"})
    assert len(views) == 5
    for name in [*views, "setting"]:
        every = run_sql(here, f"SELECT * FROM {name} LIMIT 0").columns
        assert there.ask(f"SELECT * FROM {name} LIMIT 0").columns == every
        columns = [column for column in every if not column.endswith(("_at", "_time"))]
        text = f"SELECT {', '.join(columns)} FROM {name}"
        rows = sorted(map(str, run_sql(here, text).rows))
        assert sorted(map(str, there.ask(text).rows)) == rows
        assert rows or name == "finding_current"


def test_what_others_do_to_the_session_is_not_seen(nights, spark):
    spark.sql("SELECT 'mine' AS host").createOrReplaceTempView("host")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    tables = open_with_spark(spark, str(nights))
    assert len(list(tables.ask("SELECT host FROM host").rows)) == len(small.HOSTS)
    times = list(tables.ask("SELECT max(log_time) FROM acl_log").rows)
    assert times == [(datetime.fromisoformat("2026-11-21T11:19:00.123456"),)]
    assert spark.sql("SELECT host FROM host").collect()[0].host == "mine"
