"""Which files of a table a question opens, and how a table is written without Spark."""

from __future__ import annotations

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from aclkit.warehouse.table_files import Commit, read_files, replace_files, restore_files


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """A table of four files: two ranges of resources × two ranges of principals."""
    path = tmp_path_factory.mktemp("grid") / "explain_pair"
    for resources in (("a", "b"), ("c", "d" * 40)):
        for principals in (("User:a", "User:m"), ("User:n", "User:z")):
            rows = {
                "principal": [p for p in principals for _ in resources],
                "resource_name": [r for _ in principals for r in resources],
            }
            write_deltalake(str(path), pa.table(rows), mode="append")
    return path


@pytest.mark.parametrize(
    ("holding", "files"),
    [
        ({}, 4),
        ({"resource_name": "b"}, 2),
        ({"principal": "User:n"}, 2),
        ({"principal": "User:n", "resource_name": "c"}, 1),
        ({"resource_name": "bb"}, 0),
        ({"resource_name": "d" * 40}, 2),
        ({"no_such_column": "x"}, 4),
    ],
)
def test_only_files_that_may_hold_the_row_are_opened(grid, holding, files):
    assert len(read_files(grid, None, holding).files) == files


def test_a_table_of_an_older_aclkit_gets_a_new_column_when_it_is_written_anew(tmp_path):
    path = tmp_path / "finding"
    write_deltalake(path, pa.table({"cluster_id": ["c"], "subject": ["old"]}))
    rows = pa.table({"cluster_id": ["c", "c"], "subject": ["a", "b"], "first_seen": [None, "x"]})
    replace_files(str(path), rows.to_reader(), Commit("r", "aclkit/r/finding", 1))
    found = pa.table(DeltaTable(path).to_pyarrow_dataset().to_table())
    assert found.to_pylist() == rows.to_pylist()
    old = DeltaTable(path, version=0).to_pyarrow_dataset().to_table()
    assert old.to_pylist() == [{"cluster_id": "c", "subject": "old"}]


def test_putting_a_table_back_keeps_the_bounds_by_which_its_files_are_found(tmp_path):
    path = tmp_path / "explain_pair"
    for name in ("a", "z"):
        write_deltalake(path, pa.table({"principal": [name]}), mode="append")
    write_deltalake(path, pa.table({"principal": ["m"]}), mode="overwrite")
    restore_files(str(path), 1)
    assert len(read_files(path, None).files) == 2
    assert len(read_files(path, None, {"principal": "a"}).files) == 1
