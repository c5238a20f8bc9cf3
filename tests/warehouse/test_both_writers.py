"""Every write of a store by the driver and by Spark: the same rows, in tables that all can read."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from aclkit.errors import DataError, SurroundingsError
from aclkit.runtime.arrow import arrow_table
from aclkit.runtime.frame import local_frame
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.commits import (
    PROPERTIES,
    Commit,
    append_files,
    properties_of,
    replace_files,
)
from aclkit.warehouse.frames import TableFrames, schema_of
from aclkit.warehouse.run import begin_run
from aclkit.warehouse.schemas import TABLES

AT = datetime(2026, 11, 22, 2, 0, 0, 123456, tzinfo=UTC)
WRITERS = ("driver", "spark")


def rejects(cluster, *reasons):
    """Rows of a table with a time, numbers and texts."""
    names = arrow_schema("acl_reject").names
    said = {"cluster_id": cluster, "stage": "source", "log_offset": 7, "source": "x"}
    return [tuple({**said, "reason": reason}.get(name) for name in names) for reason in reasons]


def facts(cluster, *offsets):
    names = arrow_schema("acl_log").names
    said = {"cluster_id": cluster, "fact": "record", "log_time": AT}
    return [tuple({**said, "log_offset": offset}.get(name) for name in names) for offset in offsets]


def frame(spark, table, rows):
    return local_frame(spark, rows, schema_of(table))


def told(store, table):
    return sorted(map(repr, TableFrames(store).read(table).collect()))


def must_be_plain(warehouse, table):
    """A table that every Delta reader can open, and that forgets nothing by itself."""
    protocol = DeltaTable(f"{warehouse}/{table}").protocol()
    assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 2)
    assert not protocol.reader_features
    assert not protocol.writer_features
    assert properties_of(f"{warehouse}/{table}").items() >= PROPERTIES.items()


def append(spark, store, writer, table, rows):
    if writer == "driver":
        store.append(table, rows)
    else:
        TableFrames(store).append(table, frame(spark, table, rows))


def replace(spark, store, writer, table, rows, cluster):
    if writer == "driver":
        store.replace(table, rows, cluster)
    else:
        TableFrames(store).replace(table, frame(spark, table, rows), cluster)


@pytest.mark.parametrize("first", WRITERS)
@pytest.mark.parametrize("second", WRITERS)
def test_what_one_writer_made_the_other_adds_to_and_replaces(spark, tmp_path, first, second):
    with begin_run(spark, str(tmp_path), "replay", lock_timeout=0) as run:
        store = run.store
        for writer, offset in ((first, 1), (second, 2)):
            append(spark, store, writer, "acl_log", facts("a", offset))
        assert told(store, "acl_log") == sorted(
            map(repr, frame(spark, "acl_log", facts("a", 1, 2)).collect())
        )
        for writer, reasons in ((first, ("old", "older")), (second, ("new",))):
            replace(spark, store, writer, "acl_reject", rejects("a", *reasons), "a")
        assert [row["reason"] for row in TableFrames(store).read("acl_reject").collect()] == ["new"]
    for table in ("acl_log", "acl_reject"):
        must_be_plain(tmp_path, table)


@pytest.mark.parametrize("writer", WRITERS)
def test_files_of_the_dense_table_have_bounds_of_cluster_and_resource_alone(
    spark, tmp_path, writer
):
    with begin_run(lambda: spark, str(tmp_path), "replay", lock_timeout=0) as run:
        names = arrow_schema("explain").names
        append(spark, run.store, writer, "explain", [[*map(str, range(len(names)))]])
    files = DeltaTable(f"{tmp_path}/explain").get_add_actions(flatten=True)
    (file,) = pa.table(files).to_pylist()
    assert {name for name in file if name.startswith("min.")} == {
        "min.cluster_id",
        "min.resource_type",
        "min.resource_name",
    }


@pytest.mark.parametrize("writer", WRITERS)
def test_the_rows_of_other_clusters_stay(spark, tmp_path, writer):
    with begin_run(spark, str(tmp_path), "replay", lock_timeout=0) as run:
        store = run.store
        for cluster, *reasons in (("a", "1", "2"), ("b", "3"), ("a", "4"), ("b",)):
            rows = rejects(cluster, *reasons)
            replace(spark, store, writer, "acl_reject", rows, cluster)
        found = [
            (row["cluster_id"], row["reason"])
            for row in TableFrames(store).read("acl_reject").collect()
        ]
        assert found == [("a", "4")]
        store.replace("acl_reject", rejects("b", "5"), "b")
        assert sorted(row["reason"] for row in TableFrames(store).read("acl_reject").collect()) == [
            "4",
            "5",
        ]
    must_be_plain(tmp_path, "acl_reject")


def said_of(warehouse, table):
    """Return all that a table's log says of itself, and the same as Spark shows it."""
    found = DeltaTable(f"{warehouse}/{table}")
    return found.metadata().description, found.schema().to_json(), properties_of(found.table_uri)


def test_a_table_explains_itself_whichever_writer_made_and_replaced_it(spark, tmp_path):
    said = []
    for n, (first, second) in enumerate(itertools.product(WRITERS, WRITERS)):
        place = tmp_path / str(n)
        with begin_run(spark, str(place), "replay", lock_timeout=0) as run:
            replace(spark, run.store, first, "acl_reject", rejects("a", "old"), "a")
            replace(spark, run.store, second, "acl_reject", rejects("a", "new"), "a")
        said.append(said_of(place, "acl_reject"))
    assert said == [said[0]] * 4
    table = TABLES["acl_reject"]
    shown = spark.sql(f"DESCRIBE TABLE EXTENDED delta.`{place}/acl_reject`").collect()
    assert [(row[0], row[2]) for row in shown[: len(table.columns)]] == [
        (name, meaning) for name, _, meaning in table.columns
    ]
    assert ("Comment", table.description) in [(row[0], row[1]) for row in shown]
    # SHOW CREATE TABLE is none of open Delta's statements: what is NOT NULL the schema shows.
    columns = spark.read.format("delta").load(f"{place}/acl_reject").schema
    assert {column.name for column in columns if not column.nullable} == table.required


@pytest.mark.parametrize("is_new", [True, False])
def test_spark_refuses_a_null_where_the_contract_has_none(spark, tmp_path, is_new):
    with begin_run(spark, str(tmp_path), "replay", lock_timeout=0) as run:
        if not is_new:
            run.store.append("acl_reject", rejects("a", "one"))
        with pytest.raises(Exception, match="NOT NULL constraint violated for column: reason"):
            append(spark, run.store, "spark", "acl_reject", rejects("a", None))


def test_a_write_follows_one_version_alone_and_so_is_not_repeated(tmp_path):
    path, application = str(tmp_path / "acl_reject"), "aclkit/run/acl_reject"
    rows = arrow_table(rejects("a", "one"), arrow_schema("acl_reject"))
    append_files(path, rows, Commit("run", application, 1))
    replace_files(path, rows.to_reader(), Commit("run", application, 2, on=0))
    with pytest.raises(SurroundingsError, match="Another program wrote"):
        append_files(path, rows, Commit("run", application, 1))
    with pytest.raises(SurroundingsError, match="Another program wrote"):
        replace_files(path, rows.to_reader(), Commit("run", application, 2, on=0))
    assert DeltaTable(path).version() == 1
    assert DeltaTable(path).to_pyarrow_table().num_rows == 1


@pytest.mark.parametrize("write", [append_files, replace_files])
@pytest.mark.parametrize("failure", [KeyboardInterrupt(), DataError("so it is"), MemoryError()])
def test_what_fails_in_rows_on_their_way_is_no_failure_of_the_write(tmp_path, write, failure):
    def batches():
        yield from arrow_table(rejects("a", "one"), schema).to_batches()
        raise failure

    schema = arrow_schema("acl_reject")
    given = pa.RecordBatchReader.from_batches(schema, batches())
    with pytest.raises(type(failure)) as told:
        write(str(tmp_path / "acl_reject"), given, Commit("run", "app", 1))
    assert told.value is failure
    assert not DeltaTable.is_deltatable(str(tmp_path / "acl_reject"))


@pytest.mark.parametrize("write", [append_files, replace_files])
def test_a_time_without_a_zone_is_refused_before_anything_is_written(tmp_path, write):
    rows = pa.table({"at": pa.array([AT.replace(tzinfo=None)], pa.timestamp("us"))})
    with pytest.raises(ValueError, match="Expected times with a time zone, found none in at"):
        write(str(tmp_path / "t"), rows.to_reader(), Commit("run", "app", 1))
    assert not Path(tmp_path / "t").exists()
