"""Files of new rows: what they hold, what Delta notes of them, and whose place they take."""

from __future__ import annotations

import errno
import json
import os
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from aclkit.errors import SurroundingsError
from aclkit.warehouse import new_files
from aclkit.warehouse.commits import PROPERTIES, properties_of
from aclkit.warehouse.location import Location
from aclkit.warehouse.new_files import (
    ROWS_OF_A_FILE,
    holds_only,
    may_hold_cluster,
    write_files,
)
from aclkit.warehouse.store import Store
from aclkit.warehouse.table_files import active_files, ask_files, read_files

PAIR = ("cluster_id", "principal", "resource_type", "resource_name", "ruleset_id")
GREATEST = "\U0010ffff"


def pairs(*names, cluster="c", ruleset="r"):
    """Rows of ``explain_pair``, one for each resource."""
    rows = [(cluster, "User:a", "TOPIC", name, ruleset) for name in names]
    columns = zip(*rows, strict=True) if rows else [()] * len(PAIR)
    return pa.table(
        {n: pa.array(c, pa.string()) for n, c in zip(PAIR, map(list, columns), strict=True)}
    )


def as_dictionaries(table):
    return pa.table(
        {n: table.column(n).combine_chunks().dictionary_encode() for n in table.column_names}
    )


def written(folder, *tables, table="explain_pair"):
    return [*write_files(Location(str(folder)), table, tables)]


def names_in(folder, file, table="explain_pair"):
    return pq.read_table(folder / table / file.path).column("resource_name").to_pylist()


def stats_of(folder, *tables, table="explain_pair"):
    (file,) = written(folder, *tables, table=table)
    return json.loads(file.stats)


# -- files ----------------------------------------------------------------------------------------


def test_rows_are_written_in_their_order_into_one_file(tmp_path):
    (file,) = written(tmp_path, pairs("b", "a"), pairs("c"))
    assert names_in(tmp_path, file) == ["b", "a", "c"]
    path = tmp_path / "explain_pair" / file.path
    assert (file.size, [*path.parent.iterdir()]) == (path.stat().st_size, [path])
    assert abs(file.modified / 1000 - path.stat().st_mtime) < 60


@pytest.mark.parametrize("tables", [[], [pairs()], [pairs(), pairs()]])
def test_no_rows_make_no_file_and_no_folder(tmp_path, tables):
    assert written(tmp_path, *tables) == []
    assert [*tmp_path.iterdir()] == []


def test_batches_without_a_row_among_others_change_nothing(tmp_path):
    (file,) = written(tmp_path, pairs(), pairs("a"), pairs(), pairs("b"), pairs())
    assert names_in(tmp_path, file) == ["a", "b"]


def test_texts_may_be_dictionaries_each_batch_with_its_own_or_none(tmp_path):
    batches = as_dictionaries(pairs("a", "b", "a")), pairs("c"), as_dictionaries(pairs("d"))
    (file,) = written(tmp_path, *batches)
    found = pq.read_table(tmp_path / "explain_pair" / file.path)
    assert found.equals(pairs("a", "b", "a", "c", "d"))


def test_a_file_ends_with_the_batch_that_reaches_the_most_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(new_files, "ROWS_OF_A_FILE", 3)
    batches = [pairs("1", "2"), pairs("3", "4"), pairs("5", "6", "7"), pairs(), pairs("8")]
    files = written(tmp_path, *batches)
    assert [names_in(tmp_path, file) for file in files] == [
        ["1", "2", "3", "4"], ["5", "6", "7"], ["8"],
    ]  # fmt: skip
    assert [json.loads(file.stats)["numRecords"] for file in files] == [4, 3, 1]
    assert ROWS_OF_A_FILE == 2_000_000


def test_batches_are_taken_file_by_file(tmp_path, monkeypatch):
    """Whatever makes the rows need not hold them all."""
    monkeypatch.setattr(new_files, "ROWS_OF_A_FILE", 1)
    taken = []

    def batches():
        for name in ("a", "b", "c"):
            taken.append(name)
            yield pairs(name)

    files = write_files(Location(str(tmp_path)), "explain_pair", batches())
    next(files)
    assert taken == ["a"]


def test_a_row_group_is_small_so_that_few_rows_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(new_files, "ROWS_OF_A_GROUP", 2)
    (file,) = written(tmp_path, pairs("a", "b", "c"), pairs("d"))
    found = pq.ParquetFile(tmp_path / "explain_pair" / file.path).metadata
    assert [found.row_group(n).num_rows for n in range(found.num_row_groups)] == [2, 1, 1]


class OfAStore(Location):
    """A place that is written to as an object store is: whole files, through its storage."""

    is_remote = False

    @property
    def files(self):
        return self

    def create(self, path, content):
        self.__dict__.setdefault("made", {})[path] = content


def test_on_an_object_store_a_file_is_created_in_one_piece(tmp_path, monkeypatch):
    place = OfAStore(str(tmp_path))
    monkeypatch.setattr(OfAStore, "is_remote", True)
    (file,) = write_files(place, "explain_pair", [pairs("b", "a")])
    ((path, content),) = place.made.items()
    assert (path, len(content)) == (f"explain_pair/{file.path}", file.size)
    assert pq.read_table(pa.BufferReader(content)).equals(pairs("b", "a"))
    assert [*tmp_path.iterdir()] == []


# -- what Delta notes -----------------------------------------------------------------------------


def test_a_file_is_noted_with_its_rows_and_the_bounds_of_its_columns(tmp_path):
    assert stats_of(tmp_path, pairs("b", "a"), pairs("c", ruleset="q")) == {
        "numRecords": 3,
        "minValues": dict(zip(PAIR, ("c", "User:a", "TOPIC", "a", "q"), strict=True)),
        "maxValues": dict(zip(PAIR, ("c", "User:a", "TOPIC", "c", "r"), strict=True)),
        "nullCount": dict.fromkeys(PAIR, 0),
    }


def test_nulls_are_counted_and_a_column_of_nulls_alone_has_no_bounds(tmp_path):
    table = pa.table(
        {"cluster_id": ["c", "c", "c"], "principal": [None, "User:a", None],
         "resource_type": pa.nulls(3, pa.string())}
    )  # fmt: skip
    assert stats_of(tmp_path, table) == {
        "numRecords": 3,
        "minValues": {"cluster_id": "c", "principal": "User:a"},
        "maxValues": {"cluster_id": "c", "principal": "User:a"},
        "nullCount": {"cluster_id": 0, "principal": 2, "resource_type": 3},
    }


def test_a_row_group_of_nulls_alone_takes_no_bounds_from_the_others(tmp_path):
    columns = {"cluster_id": ["c"], "principal": pa.nulls(1, pa.string())}
    named = {"cluster_id": ["c"], "principal": ["User:a"]}
    found = stats_of(tmp_path, pa.table(columns), pa.table(named))
    assert (found["minValues"]["principal"], found["maxValues"]["principal"]) == ("User:a",) * 2
    assert found["nullCount"]["principal"] == 1


def test_tables_that_lie_by_hashes_have_bounds_of_the_cluster_alone(tmp_path):
    table = pa.table({"cluster_id": ["c", "c"], "ruleset_id": ["x", "a"], "group_ids": [["g"], []]})
    assert stats_of(tmp_path, table, table="ruleset") == {
        "numRecords": 2,
        "minValues": {"cluster_id": "c"},
        "maxValues": {"cluster_id": "c"},
        "nullCount": {"cluster_id": 0},
    }


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("x" * 64, "x" * 64, "x" * 64),
        ("x" * 65, "x" * 64, "x" * 64 + GREATEST),
        ("é" * 70, "é" * 64, "é" * 64 + GREATEST),
        ("x" * 64 + GREATEST, "x" * 64, "x" * 64 + GREATEST),
        ("x" * 64 + GREATEST * 2, "x" * 64, "x" * 64 + GREATEST * 2),
        ("x" * 64 + GREATEST + "y", "x" * 64, "x" * 64 + GREATEST * 2),
        (GREATEST * 64 + "y", GREATEST * 64, GREATEST * 65),
        (GREATEST * 70, GREATEST * 64, GREATEST * 70),
    ],
    ids=[
        "short-enough",
        "long",
        "of-two-bytes",
        "greatest-last",
        "greatest-twice",
        "greatest-within",
        "greatest-before",
        "greatest-alone",
    ],
)
def test_a_long_text_is_cut_to_bounds_that_it_lies_between(tmp_path, text, least, most):
    found = stats_of(tmp_path, pairs(text))
    assert found["minValues"]["resource_name"] == least
    assert found["maxValues"]["resource_name"] == most
    assert least <= text <= most


def test_a_text_so_long_that_parquet_notes_no_bounds_leaves_the_column_without(tmp_path):
    found = stats_of(tmp_path, pairs("x" * 5_000), pairs("a"))
    assert "resource_name" not in {*found["minValues"], *found["maxValues"]}
    assert found["nullCount"]["resource_name"] == 0


def test_bounds_are_in_code_point_order(tmp_path):
    found = stats_of(tmp_path, pairs("\uffff", "\U00010000", "z"))
    assert found["minValues"]["resource_name"] == "z"
    assert found["maxValues"]["resource_name"] == "\U00010000"


# -- errors ---------------------------------------------------------------------------------------


@contextmanager
def as_somebody_else(folder):
    """Let a folder be one that this process cannot write to; root can write to any."""
    if os.geteuid():
        folder.chmod(0o555)
        yield
        folder.chmod(0o755)
    else:
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)


def test_a_folder_that_cannot_be_written_to_is_an_environment_error(tmp_path):
    folder = tmp_path / "explain_pair"
    folder.mkdir()
    with (
        as_somebody_else(folder),
        pytest.raises(SurroundingsError, match=r"explain_pair.*ermission denied"),
    ):
        written(tmp_path, pairs("a"))


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EROFS, "Mount it for writing"),
        (errno.ENOSPC, "No space left"),
        (errno.EIO, "Cannot write .*explain_pair: .*Input/output error"),
    ],
)
def test_what_the_disk_refuses_is_an_environment_error(tmp_path, monkeypatch, number, words):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(new_files.pq.ParquetWriter, "write_table", refuse)
    with pytest.raises(SurroundingsError, match=words):
        written(tmp_path, pairs("a"))


def test_a_file_in_the_place_of_the_folder_is_an_environment_error(tmp_path):
    (tmp_path / "explain_pair").write_text("no folder")
    with pytest.raises(SurroundingsError, match="Cannot write"):
        written(tmp_path, pairs("a"))


# -- whose place they take ------------------------------------------------------------------------


def replaced(store, cluster, *tables, table="explain_pair"):
    store.replace_with_files(table, write_files(store.place, table, tables), cluster)


def held(folder, table="explain_pair"):
    """Every row of a table's newest version: cluster and resource."""
    rows = DeltaTable(str(folder / table)).to_pyarrow_table().to_pylist()
    return sorted((row["cluster_id"], row["resource_name"]) for row in rows)


@pytest.mark.parametrize("bounds", [("a", "a"), ("a", "b"), ("b", "c"), (None, None)])
def test_a_file_is_of_one_cluster_alone_where_both_bounds_are_it(bounds):
    file = dict(zip(("min.cluster_id", "max.cluster_id"), bounds, strict=True))
    assert holds_only(file, "a") == (bounds == ("a", "a"))
    assert may_hold_cluster(file, "a") == (bounds != ("b", "c"))
    assert may_hold_cluster(file, None)


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
    store.compact("explain_pair")
    assert store.extent("explain_pair").files == 1
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
    return active_files(DeltaTable(str(folder / "explain_pair")), with_bounds=True)


def test_a_cluster_that_leaves_a_mixed_file_without_new_rows_has_none(tmp_path):
    store = mixed_store(tmp_path)
    replaced(store, "b")
    assert held(tmp_path) == [("a", "1"), ("a", "2"), ("c", "1"), ("c", "2")]


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
    store.compact("ruleset")
    replaced(store, "a", ruleset("a", "new"), table="ruleset")
    rows = DeltaTable(str(tmp_path / "ruleset")).to_pyarrow_table().to_pylist()
    assert {row["cluster_id"]: row["group_ids"] for row in rows} == {
        "a": ["new"], "b": ["h", "i"], "c": [],
    }  # fmt: skip


# -- who reads them -------------------------------------------------------------------------------

WIDE = pa.concat_tables(
    [pairs("a", "b", "é\U0001f600", "x" * 5_000, "", cluster="c"), pairs("z", ruleset=None)]
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
    frame = store.read("explain_pair")
    expected = [*WIDE.to_pylist(), *pairs(long, "last").to_pylist()]
    found = sorted((tuple(row) for row in frame.collect()), key=sort_key)
    assert found == sorted((tuple(row.values()) for row in expected), key=sort_key)
    assert frame.where(frame.resource_name == long).count() == 1
    store.replace_columns("explain_pair", pairs("by deltalake"), "c")
    replaced(store, "c", pairs("again"))
    assert held(tmp_path) == [("c", "again")]


def test_a_table_that_spark_wrote_is_replaced_and_its_mixed_files_too(spark, tmp_path):
    store = Store(spark, str(tmp_path))
    rows = [tuple(r.values()) for c in "ab" for r in pairs("1", "2", cluster=c).to_pylist()]
    store.replace_cluster("explain_pair", store._frame("explain_pair", rows).coalesce(1), None)
    store._clusters = {"a", "b"}
    replaced(store, "a", pairs("new", cluster="a"))
    assert held(tmp_path) == [("a", "new"), ("b", "1"), ("b", "2")]
