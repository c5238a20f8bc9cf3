"""Which files of a table a question opens, and how a table is written without Spark."""

from __future__ import annotations

import pyarrow as pa
import pytest
from deltalake import Schema, write_deltalake

from aclkit.errors import SurroundingsError
from aclkit.warehouse.commits import Commit, change_table, replace_files
from aclkit.warehouse.duck_beside import ask_files
from aclkit.warehouse.location import Location
from aclkit.warehouse.table_files import columns_of, read_files


def of(path):
    return Location(str(path.parent))


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
    assert len(read_files(of(grid), grid.name, None, holding).files) == files


def test_a_column_that_the_table_lacks_is_refused_and_not_left_out(tmp_path):
    path = tmp_path / "finding"
    write_deltalake(path, pa.table({"cluster_id": ["c"], "subject": ["old"]}))
    rows = pa.table({"cluster_id": ["c"], "subject": ["a"], "first_seen": ["x"]})
    with pytest.raises(SurroundingsError, match=r"Expected .* to have the columns .*first_seen"):
        replace_files(str(path), rows.to_reader(), Commit("r", "aclkit/r/finding", 1, on=0))


def test_rows_of_a_table_have_null_in_a_column_that_came_later(tmp_path):
    path = tmp_path / "finding"
    write_deltalake(path, pa.table({"cluster_id": ["c"], "subject": ["old"]}))
    fields = Schema.from_arrow(pa.schema([("fix", pa.string())])).fields
    commit = Commit("r", "aclkit/r/finding", 1, on=0)
    change_table(str(path), commit, lambda table, **how: table.alter.add_columns(fields, **how))
    assert columns_of(str(path)) == ["cluster_id", "subject", "fix"]
    for version in (0, None):
        table = read_files(of(path), path.name, version)
        (row,) = ask_files("finding", table, "SELECT subject, fix FROM finding")
        assert row == {"subject": "old", "fix": None}


def test_putting_a_table_back_keeps_the_bounds_by_which_its_files_are_found(tmp_path):
    path = tmp_path / "explain_pair"
    for name in ("a", "z"):
        write_deltalake(path, pa.table({"principal": [name]}), mode="append")
    write_deltalake(path, pa.table({"principal": ["m"]}), mode="overwrite")
    commit = Commit("r", "aclkit/r/explain_pair", 1, on=2)
    change_table(str(path), commit, lambda table, **how: table.restore(1, **how))
    assert len(read_files(of(path), path.name, None).files) == 2
    assert len(read_files(of(path), path.name, None, {"principal": "a"}).files) == 1


def test_the_view_explain_keeps_no_product_in_memory_whatever_duckdb_thinks_of_its_size(connection):
    ((_, plan),) = connection.execute("EXPLAIN SELECT count(decision) FROM explain").fetchall()
    assert "Join Type: LEFT" in plan
    assert "Join Type: RIGHT" not in plan
