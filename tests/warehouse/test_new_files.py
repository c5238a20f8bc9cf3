"""Files of new rows: what they hold, what Delta notes of them, and why one is not written."""

from __future__ import annotations

import errno
import json
import os
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aclkit.errors import SurroundingsError
from aclkit.warehouse import new_files
from aclkit.warehouse.location import Location
from aclkit.warehouse.new_files import (
    ROWS_OF_A_FILE,
    write_files,
)
from tests.warehouse.pair_rows import GREATEST, PAIR, as_dictionaries, pairs


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
    assert stats_of(tmp_path, table, table="access_change") == {
        "numRecords": 3,
        "minValues": {"cluster_id": "c", "principal": "User:a"},
        "maxValues": {"cluster_id": "c", "principal": "User:a"},
        "nullCount": {"cluster_id": 0, "principal": 2, "resource_type": 3},
    }


def test_a_row_group_of_nulls_alone_takes_no_bounds_from_the_others(tmp_path):
    columns = {"cluster_id": ["c"], "principal": pa.nulls(1, pa.string())}
    named = {"cluster_id": ["c"], "principal": ["User:a"]}
    found = stats_of(tmp_path, pa.table(columns), pa.table(named), table="access_change")
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
    (tmp_path / "explain_pair").write_text("no folder", encoding="utf-8")
    with pytest.raises(SurroundingsError, match="Cannot write"):
        written(tmp_path, pairs("a"))


def test_a_row_group_holds_the_values_alone_that_occur_in_it(tmp_path, monkeypatch):
    """A dictionary of all values, written again for each, took nine tenths of the time of B3."""
    monkeypatch.setattr(new_files, "ROWS_OF_A_GROUP", 2)
    names = pa.DictionaryArray.from_arrays([0, 1, 1, 3], [f"User:{n}" for n in range(1_000)])
    table = pa.table({"cluster_id": ["c"] * 4, "principal": names})
    (file,) = write_files(Location(str(tmp_path)), "explain_pair", [table])
    with pq.ParquetFile(tmp_path / "explain_pair" / file.path, read_dictionary=["principal"]) as of:
        groups = [of.read_row_group(number).column("principal").chunk(0) for number in range(2)]
    assert [group.dictionary.to_pylist() for group in groups] == [
        ["User:0", "User:1"], ["User:1", "User:3"],
    ]  # fmt: skip
