"""What engines raise of a warehouse's files, and what is none of theirs."""

from __future__ import annotations

import errno

import duckdb
import pyarrow as pa
import pytest

from aclkit.errors import UsageError
from aclkit.warehouse.damage import damage_of

TEXT = "Invalid Input Error: No magic bytes found at end of file '/w/explain_pair/part-1.parquet'"


@pytest.mark.parametrize(
    "error",
    [duckdb.InvalidInputException(TEXT), OSError(TEXT), pa.ArrowInvalid(TEXT)],
    ids=["at once", "in a stream", "in a stream of Arrow"],
)
def test_a_cut_file_is_damage_whenever_it_is_met(error):
    assert "aclkit run --rebuild" in str(damage_of(error))


@pytest.mark.parametrize(
    "error",
    [OSError(errno.ENOSPC, "No space left", "/w/a.parquet"), OSError("no"), UsageError(TEXT)],
)
def test_any_other_error_is_none(error):
    assert damage_of(error) is None
