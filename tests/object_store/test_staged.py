"""Rows that Spark writes to a bucket, and the driver commits."""

from __future__ import annotations

import pytest

from aclkit.errors import SurroundingsError
from aclkit.warehouse.frames import TableFrames, schema_of
from aclkit.warehouse.location import Location
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.recovery import fence_tables
from aclkit.warehouse.retention import remove_unneeded
from aclkit.warehouse.storage import LOG
from aclkit.warehouse.store import Store

pytestmark = [pytest.mark.object_store, pytest.mark.spark, pytest.mark.timeout(600)]

C = [("c", number, number + 1, 1, "record", None) for number in range(50)]
D = [("d", number, number + 1, None, "snapshot", None) for number in range(50)]
NEW = [("c", 100, 101, 2, "record", None)]


@pytest.fixture
def store(session_on_s3, bucket):
    store = Store(session_on_s3, f"{bucket.uri}/acls")
    store.run_id = "r"
    return store


def frame(store, rows):
    return store.spark.createDataFrame(rows, schema_of("log_range"))


def rows(store):
    """Return the rows as DuckDB reads them, and as Spark does; they must agree."""
    with read_written(store, None, "log_range") as read:
        here = sorted(read.rows("SELECT * FROM log_range"), key=repr)
    opened = TableFrames(Store(store.spark, str(store.place)))
    found = opened.read_version("log_range", store.versions["log_range"])
    there = [tuple(row) for row in found.collect()]
    assert sorted(there, key=repr) == here
    return here


def test_rows_are_appended_and_replaced_cluster_by_cluster(store):
    TableFrames(store).append("log_range", frame(store, C).repartition(3))
    TableFrames(store).append("log_range", frame(store, D))
    assert rows(store) == sorted([*C, *D], key=repr)
    TableFrames(store).replace("log_range", frame(store, NEW), "d")  # the store knows no other
    assert rows(store) == NEW
    names = store.place.files.tree("log_range")
    assert {name.partition("/")[0] for name in names if LOG in name} == {LOG}


def test_rows_of_other_clusters_stay_where_they_share_a_file(store):
    store.append("log_range", [*C, *D])
    TableFrames(store).append("log_range", frame(store, C))
    store.clusters.update({"c", "d"})
    TableFrames(store).replace("log_range", frame(store, NEW), "c")
    assert rows(store) == sorted([*NEW, *D], key=repr)
    TableFrames(store).replace("log_range", frame(store, []), None)
    assert rows(store) == []


def test_rows_are_deleted_cluster_by_cluster(store):
    from pyspark.sql import functions as F

    store.append("log_range", [*C, *D])
    store.clusters.update({"c", "d"})
    TableFrames(store).delete("log_range", F.col("epoch") == 1, "c")
    assert rows(store) == sorted(D, key=repr)


def test_what_a_run_wrote_that_may_not_commit_is_in_no_version_and_goes(store):
    store.append("log_range", D)
    store.require_held = lambda: fence_tables(Location(str(store.place)))
    with pytest.raises(SurroundingsError, match="Another program wrote"):
        TableFrames(store).append("log_range", frame(store, C))
    store.require_held = lambda: None
    left = {*store.place.files.tree("log_range")}
    assert any("/" in name and name.endswith(".parquet") for name in left if LOG not in name)
    store.adopt("log_range")
    assert rows(store) == sorted(D, key=repr)
    remove_unneeded(store, {})
    stays = {*store.place.files.tree("log_range")}
    assert not any("/" in name for name in stays if not name.startswith(LOG))
    assert rows(store) == sorted(D, key=repr)
