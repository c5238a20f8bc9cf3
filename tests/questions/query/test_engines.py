"""DuckDB and Spark answer the same questions alike."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from deltalake import DeltaTable

from aclkit.model.resource import Resource
from aclkit.model.semantics import BrokerSettings
from aclkit.questions.query import access
from aclkit.questions.query.as_of import find_moment, read_timeline
from aclkit.questions.query.history import read_history
from aclkit.questions.query.why import explain_why
from aclkit.warehouse.acls_in_force import acls_in_force, times_added
from aclkit.warehouse.reader import open_tables
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.sql import fetch, run_sql
from aclkit.warehouse.views import view_sql
from tests.questions.query import changed_warehouse
from tests.questions.query import small_warehouse as small

PAYMENTS = Resource("TOPIC", "payments")


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
    """(published, tables) of DuckDB and of Spark, opened once: a question changes neither."""
    with open_tables(str(nights)) as here, open_tables(str(nights), spark=_session) as there:
        yield here, there


def alike(both, ask):
    """Ask both engines; return the answer on which they agree."""
    here, there = (ask(tables, published) for published, tables in both)
    assert here == there
    return here


@pytest.mark.slow
def test_every_view_has_the_same_rows_on_both_engines(both):
    (published, _), _ = both
    views = view_sql({*TABLES, *published.run.table_versions} - {"explain"})
    assert len(views) == 5
    for name in [*views, "setting"]:
        columns = ", ".join(alike(both, lambda tables, _, name=name: _columns(tables, name)))
        text = f"SELECT {columns} FROM {name}"
        rows = alike(both, lambda tables, _, text=text: sorted(map(str, fetch(tables, text, []))))
        assert rows or name == "finding_current"


def _columns(tables, name):
    found = run_sql(tables, f"SELECT * FROM {name} LIMIT 0").columns
    return [column for column in found if not column.endswith(("_at", "_time"))]


@pytest.mark.parametrize("resource", [PAYMENTS, Resource("TOPIC", "nowhere")])
@pytest.mark.parametrize("host", [None, "10.0.0.1", "10.9.9.9"])
def test_who_can_is_the_same(both, resource, host):
    found = alike(
        both,
        lambda tables, published: access.who_can(
            tables, published, small.CLUSTER, "any", resource, host=host, decision=None
        ),
    )
    assert found.rows


@pytest.mark.parametrize("principal", ["User:alice", "User:x'y", "User:nobody\\"])
def test_what_can_is_the_same(both, principal):
    found = alike(
        both,
        lambda tables, published: access.what_can(
            tables, published, small.CLUSTER, principal, decision=None
        ),
    )
    assert found.rows


@pytest.mark.parametrize(
    "moment", [None, 16, datetime(2026, 11, 21, 11, 14, 0, 123456, tzinfo=UTC)]
)
def test_why_is_the_same_now_and_as_of(both, moment):
    found = alike(
        both,
        lambda tables, published: explain_why(
            tables, published, small.CLUSTER, "User:alice", "read", PAYMENTS, moment=moment
        ),
    )
    assert found.acls


def test_history_is_the_same(both):
    found = alike(
        both,
        lambda tables, published: read_history(
            tables, published, small.CLUSTER, "User:alice", "alter", PAYMENTS
        ),
    )
    assert len(found.intervals) > 1
    assert any(interval.from_time for interval in found.intervals)


def test_a_time_is_the_same_offset(both):
    def offset(tables, published):
        run = published.last_run(small.CLUSTER)
        timeline = read_timeline(tables, published, run)
        time = datetime(2026, 11, 21, 11, 12, 0, 123455, tzinfo=UTC)
        return find_moment(tables, timeline, run, time)

    assert alike(both, offset).offset == 12


def test_acls_alive_and_their_times_are_the_same(both):
    assert alike(both, lambda tables, published: acls_in_force(tables, published.run, ["acl-02"]))
    assert alike(both, lambda tables, published: acls_in_force(tables, published.run))
    assert alike(both, lambda tables, _: times_added(tables, small.CLUSTER))


def test_what_others_do_to_the_session_is_not_seen(nights, spark):
    spark.sql("SELECT 'mine' AS host").createOrReplaceTempView("host")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    with open_tables(str(nights), spark=spark) as (_, tables):
        assert len(list(run_sql(tables, "SELECT host FROM host").rows)) == len(small.HOSTS)
        times = list(run_sql(tables, "SELECT max(log_time) FROM acl_log").rows)
    assert times == [(datetime.fromisoformat("2026-11-21T11:19:00.123456"),)]
    assert spark.sql("SELECT host FROM host").collect()[0].host == "mine"
