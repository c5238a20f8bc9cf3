"""Files that take the place of a cluster's rows, whoever wrote these, and who reads the table."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from aclkit.errors import DamagedError
from aclkit.runtime.frame import local_frame
from aclkit.warehouse import new_files
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.commits import PROPERTIES, properties_of
from aclkit.warehouse.duck_beside import ask_files
from aclkit.warehouse.frames import TableFrames, schema_of
from aclkit.warehouse.maintenance import compact
from aclkit.warehouse.new_files import holds_only, write_files
from aclkit.warehouse.recovery import add_columns
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.store import Store
from aclkit.warehouse.table_files import Extent, active_files, may_hold, read_files
from tests.warehouse.pair_rows import GREATEST, PAIR, as_dictionaries, pairs


def replaced(store, cluster, *tables, table="explain_pair"):
    store.take_over(table, write_files(store.place, table, tables), cluster)


def held(folder, table="explain_pair"):
    """Every row of a table's newest version: cluster and resource."""
    rows = DeltaTable(str(folder / table)).to_pyarrow_table().to_pylist()
    return sorted((row["cluster_id"], row["resource_name"]) for row in rows)


@pytest.mark.parametrize("bounds", [("a", "a"), ("a", "b"), ("b", "c"), (None, None)])
def test_a_file_is_of_one_cluster_alone_where_both_bounds_are_it(bounds):
    file = dict(zip(("min.cluster_id", "max.cluster_id"), bounds, strict=True))
    assert holds_only(file, "a") == (bounds == ("a", "a"))
    assert may_hold(file, "cluster_id", "a") == (bounds != ("b", "c"))


def test_a_new_table_has_the_columns_of_the_contract_and_forgets_nothing(tmp_path):
    replaced(Store(None, str(tmp_path)), "c", pairs("a"))
    table = DeltaTable(str(tmp_path / "explain_pair"))
    assert [field.name for field in table.schema().fields] == [*PAIR]
    assert properties_of(str(tmp_path / "explain_pair")).items() >= PROPERTIES.items()
    assert (table.protocol().min_reader_version, table.protocol().reader_features) == (1, None)


def test_a_table_without_rows_is_made_and_can_be_read(tmp_path):
    store = Store(None, str(tmp_path))
    replaced(store, "c")
    assert (held(tmp_path), store.versions) == ([], {"explain_pair": 0})
    files = read_files(store.place, "explain_pair", None)
    assert ask_files("t", files, "SELECT count(*) AS n FROM t") == [{"n": 0}]


def test_new_rows_take_the_place_of_all_where_there_is_one_cluster(tmp_path):
    store = Store(None, str(tmp_path))
    replaced(store, "a", pairs("old-1", cluster="a"), pairs("old-2", cluster="a"))
    replaced(store, "a", pairs("new", cluster="a"))
    assert held(tmp_path) == [("a", "new")]
    replaced(store, "a")
    assert (held(tmp_path), store.versions) == ([], {"explain_pair": 2})


def test_the_files_of_other_clusters_stay_as_they_are(tmp_path):
    store = Store(None, str(tmp_path))
    for cluster in ("a", "b", "c"):
        replaced(store, cluster, pairs("old", cluster=cluster))
    before = {f["path"] for f in active_files(DeltaTable(str(tmp_path / "explain_pair")))}
    replaced(store, "b", pairs("new", cluster="b"))
    after = {f["path"] for f in active_files(DeltaTable(str(tmp_path / "explain_pair")))}
    assert held(tmp_path) == [("a", "old"), ("b", "new"), ("c", "old")]
    assert (len(before & after), len(after)) == (2, 3)


def mixed_store(folder):
    """A table whose one file has rows of three clusters, as ``maintain`` leaves it."""
    store = Store(None, str(folder))
    for cluster in ("a", "b", "c"):
        replaced(store, cluster, pairs("1", "2", cluster=cluster))
    compact(store, "explain_pair")
    assert Extent.of(store.place, "explain_pair").files == 1
    return store


@pytest.mark.parametrize("cluster", ["a", "b", "c"])
def test_of_a_file_of_several_clusters_the_rows_of_the_others_are_written_anew(tmp_path, cluster):
    store = mixed_store(tmp_path)
    replaced(store, cluster, pairs("new", cluster=cluster))
    others = [(other, name) for other in "abc" if other != cluster for name in ("1", "2")]
    assert held(tmp_path) == sorted([*others, (cluster, "new")])


def test_rows_written_anew_have_the_rows_of_a_group_at_most_at_once(tmp_path, monkeypatch):
    store = mixed_store(tmp_path)
    monkeypatch.setattr(new_files, "ROWS_OF_A_GROUP", 1)
    replaced(store, "b", pairs("new", cluster="b"))
    assert held(tmp_path) == [("a", "1"), ("a", "2"), ("b", "new"), ("c", "1"), ("c", "2")]


def test_a_mixed_file_beside_others_is_the_only_one_written_anew(tmp_path):
    store = mixed_store(tmp_path)
    replaced(store, "d", pairs("own", cluster="d"))
    (own,) = (f["path"] for f in files_of(tmp_path) if f["min.cluster_id"] == "d")
    replaced(store, "a", pairs("new", cluster="a"))
    assert own in {f["path"] for f in files_of(tmp_path)}
    assert held(tmp_path) == [
        ("a", "new"), ("b", "1"), ("b", "2"), ("c", "1"), ("c", "2"), ("d", "own"),
    ]  # fmt: skip


def files_of(folder):
    return active_files(DeltaTable(str(folder / "explain_pair")), ["cluster_id"])


def test_a_cluster_that_leaves_a_mixed_file_without_new_rows_has_none(tmp_path):
    store = mixed_store(tmp_path)
    replaced(store, "b")
    assert held(tmp_path) == [("a", "1"), ("a", "2"), ("c", "1"), ("c", "2")]


@pytest.mark.parametrize("is_cut", [True, False], ids=["cut", "missing"])
def test_a_mixed_file_that_cannot_be_read_is_damage(tmp_path, is_cut):
    store = mixed_store(tmp_path)
    (mixed,) = files_of(tmp_path)
    path = tmp_path / "explain_pair" / mixed["path"]
    path.write_bytes(path.read_bytes()[:100]) if is_cut else path.unlink()
    with pytest.raises(DamagedError, match=rf"Cannot read .*{mixed['path']}.*--rebuild"):
        replaced(store, "a", pairs("new", cluster="a"))
    assert files_of(tmp_path) == [mixed]


@pytest.mark.parametrize("size", [64, 65, 200])
def test_clusters_of_long_and_similar_ids_are_told_apart(tmp_path, size):
    one, other = "x" * size, "x" * (size - 1) + "y"
    store = Store(None, str(tmp_path))
    replaced(store, one, pairs("1", cluster=one))
    replaced(store, other, pairs("1", cluster=other))
    replaced(store, one, pairs("2", cluster=one))
    assert held(tmp_path) == [(one, "2"), (other, "1")]


def test_lists_of_a_mixed_file_are_written_anew_too(tmp_path):
    store = Store(None, str(tmp_path))
    columns = ("cluster_id", "ruleset_id", "resource_type", "group_ids", "wildcard_last")

    def ruleset(cluster, *groups):
        row = [cluster, "r", "TOPIC", [*groups], None]
        kinds = [*[pa.string()] * 3, pa.list_(pa.field("element", pa.string())), pa.string()]
        arrays = [pa.array([value], kind) for value, kind in zip(row, kinds, strict=True)]
        return pa.Table.from_arrays(arrays, names=columns)

    for cluster, groups in (("a", ["g"]), ("b", ["h", "i"]), ("c", [])):
        replaced(store, cluster, ruleset(cluster, *groups), table="ruleset")
    compact(store, "ruleset")
    replaced(store, "a", ruleset("a", "new"), table="ruleset")
    rows = DeltaTable(str(tmp_path / "ruleset")).to_pyarrow_table().to_pylist()
    assert {row["cluster_id"]: row["group_ids"] for row in rows} == {
        "a": ["new"], "b": ["h", "i"], "c": [],
    }  # fmt: skip


def test_rows_of_any_type_are_written_anew_with_the_columns_of_the_contract(tmp_path):
    old = [field for field in arrow_schema("acl_log") if field.name not in ("min_level", "epoch")]
    said = {"fact": "record", "log_offset": 7, "log_time": datetime(2026, 1, 2, tzinfo=UTC)}
    rows = [{**dict.fromkeys(f.name for f in old), **said, "cluster_id": c} for c in "ab"]
    write_deltalake(str(tmp_path / "acl_log"), pa.Table.from_pylist(rows, pa.schema(old)))
    store = Store(None, str(tmp_path))
    store.clusters = {"a", "b"}
    add_columns(store, "acl_log", ("epoch", "min_level"))
    replaced(store, "a", table="acl_log")
    (row,) = DeltaTable(str(tmp_path / "acl_log")).to_pyarrow_table().to_pylist()
    assert row == dict.fromkeys(TABLES["acl_log"].column_names) | said | {"cluster_id": "b"}
    (file,) = active_files(DeltaTable(str(tmp_path / "acl_log")), ["cluster_id", "log_offset"])
    assert (file["min.cluster_id"], file.get("min.log_offset")) == ("b", None)


# -- who reads them -------------------------------------------------------------------------------

WIDE = pa.concat_tables(
    [pairs("a", "b", "é\U0001f600", "x" * 5_000, "", cluster="c"), pairs("z", ruleset="")]
)


def sort_key(row):
    return [value or "" for value in row]


@pytest.mark.parametrize("batch", [WIDE, as_dictionaries(WIDE)], ids=["texts", "dictionaries"])
def test_deltalake_and_duckdb_read_the_rows_that_were_written(tmp_path, batch):
    store = Store(None, str(tmp_path))
    replaced(store, "c", batch)
    by_delta = DeltaTable(str(tmp_path / "explain_pair")).to_pyarrow_table()
    by_duckdb = ask_files("t", read_files(store.place, "explain_pair", None), "SELECT * FROM t")
    expected = sorted((tuple(row.values()) for row in WIDE.to_pylist()), key=sort_key)
    assert sorted((tuple(r.values()) for r in by_delta.to_pylist()), key=sort_key) == expected
    assert sorted((tuple(r.values()) for r in by_duckdb), key=sort_key) == expected


def test_duckdb_leaves_out_the_files_that_cannot_hold_a_name(tmp_path, monkeypatch):
    monkeypatch.setattr(new_files, "ROWS_OF_A_FILE", 1)
    store = Store(None, str(tmp_path))
    names = ("a", "x" * 64 + GREATEST + "y", "z", "\U00020bb7", GREATEST)
    replaced(store, "c", *map(pairs, names))
    for name in names:
        files = read_files(store.place, "explain_pair", None, {"resource_name": name})
        assert len(files.files) == 1
        assert [row["resource_name"] for row in ask_files("t", files, "FROM t")] == [name]


def test_spark_reads_the_rows_and_finds_a_name_by_the_bounds(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(new_files, "ROWS_OF_A_FILE", 1)
    store = Store(spark, str(tmp_path))
    long = "x" * 64 + GREATEST + "y"
    replaced(store, "c", WIDE, pairs(long), as_dictionaries(pairs("last")))
    frame = TableFrames(store).read("explain_pair")
    expected = [*WIDE.to_pylist(), *pairs(long, "last").to_pylist()]
    found = sorted((tuple(row) for row in frame.collect()), key=sort_key)
    assert found == sorted((tuple(row.values()) for row in expected), key=sort_key)
    assert frame.where(frame.resource_name == long).count() == 1
    store.replace("explain_pair", pairs("by deltalake"), "c")
    replaced(store, "c", pairs("again"))
    assert held(tmp_path) == [("c", "again")]


def test_a_table_that_spark_wrote_is_replaced_and_its_mixed_files_too(spark, tmp_path):
    store = Store(spark, str(tmp_path))
    rows = [tuple(r.values()) for c in "ab" for r in pairs("1", "2", cluster=c).to_pylist()]
    frame = local_frame(spark, rows, schema_of("explain_pair"))
    TableFrames(store).replace("explain_pair", frame.coalesce(1), None)
    store.clusters = {"a", "b"}
    replaced(store, "a", pairs("new", cluster="a"))
    assert held(tmp_path) == [("a", "new"), ("b", "1"), ("b", "2")]
