"""Which files of a table a question opens."""

from __future__ import annotations

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from aclkit.table_files import read_files


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
