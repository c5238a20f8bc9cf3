"""One run per warehouse at a time, on a local disk and elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from aclkit.errors import SurroundingsError
from aclkit.lease import warehouse_lease
from aclkit.lock import LOCK_NAME, warehouse_lock


def test_a_second_run_waits_and_then_gives_up(tmp_path: Path):
    with (
        warehouse_lock(str(tmp_path), 0),
        pytest.raises(SurroundingsError, match="holds the lock"),
        warehouse_lock(str(tmp_path), 0.3),
    ):
        pass


def test_the_lock_is_free_again_after_a_run(tmp_path: Path):
    for _ in range(2):
        with warehouse_lock(str(tmp_path), 0):
            assert (tmp_path / LOCK_NAME).exists()


def test_a_warehouse_that_is_a_file_is_refused(tmp_path: Path):
    path = tmp_path / "file"
    path.write_text("not a folder")
    with (
        pytest.raises(SurroundingsError, match="cannot write the warehouse"),
        warehouse_lock(str(path), 0),
    ):
        pass


def test_a_lease_is_held_by_one_run_and_free_after_it(spark: SparkSession, tmp_path: Path):
    uri = tmp_path.as_uri()
    with (
        warehouse_lease(spark, uri, 0),
        pytest.raises(SurroundingsError, match="holds the lease"),
        warehouse_lease(spark, uri, 0),
    ):
        pass
    with warehouse_lease(spark, uri, 0):
        pass
