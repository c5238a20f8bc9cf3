"""One run per warehouse at a time, on a local disk and elsewhere."""

from __future__ import annotations

import gc
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from aclkit.errors import SurroundingsError
from aclkit.warehouse.lease import _DeltaRow, hold, warehouse_lease
from aclkit.warehouse.lock import LOCK_NAME, warehouse_lock
from aclkit.warehouse.place import Place

SHORT = timedelta(seconds=0.3)


class MemoryRow:
    """A lease row as Delta keeps it, in memory; ``is_broken``: the storage does not answer."""

    def __init__(self):
        self.owner, self.until = "", datetime.fromtimestamp(0, UTC)
        self.is_broken = False
        self._guard = threading.Lock()

    def take(self, owner, until):
        with self._guard:
            if self.until < datetime.now(UTC):
                self.owner, self.until = owner, until
            return self.owner == owner

    def extend(self, owner, until):
        if self.is_broken:
            raise PySparkException("no answer")
        with self._guard:
            if self.owner == owner:
                self.until = until
            return self.owner == owner

    def release(self, owner):
        with self._guard:
            if self.owner == owner:
                self.owner, self.until = "", datetime.fromtimestamp(0, UTC)

    def expires_at(self):
        return self.until


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


@pytest.mark.parametrize("what", ["require_room", "require_writable"])
def test_what_cannot_be_written_is_told_before_the_lock_is_waited_for(tmp_path, monkeypatch, what):
    def refuse(_):
        raise SurroundingsError("no room")

    with warehouse_lock(str(tmp_path), 0):
        monkeypatch.setattr(f"aclkit.warehouse.lock.{what}", refuse)
        with (
            pytest.raises(SurroundingsError, match="no room"),
            warehouse_lock(str(tmp_path), 60),
        ):
            pass
    gc.collect()  # a file that was left open would be told of here


def test_a_lock_whose_file_was_removed_is_held_no_longer(tmp_path: Path):
    with warehouse_lock(str(tmp_path), 0) as require_held:
        require_held()
        (tmp_path / LOCK_NAME).unlink()
        with pytest.raises(SurroundingsError, match="was removed") as lost:
            require_held()
    assert lost.value.exit_code == 4


def test_a_lease_is_renewed_for_as_long_as_the_run_takes():
    row = MemoryRow()
    with hold(row, "s3://w", 0, SHORT) as require_held:
        ended = time.monotonic() + 4 * SHORT.total_seconds()
        while time.monotonic() < ended:
            with pytest.raises(SurroundingsError), hold(row, "s3://w", 0, SHORT):
                pass
            time.sleep(0.05)
        require_held()
    with hold(row, "s3://w", 0, SHORT):
        pass


def test_a_killed_runs_lease_ends_by_itself():
    row = MemoryRow()
    assert row.take("killed", datetime.now(UTC) + SHORT)
    with hold(row, "s3://w", 5, SHORT) as require_held:
        require_held()


def test_losing_the_lease_ends_the_run_with_exit_code_4():
    row = MemoryRow()
    with hold(row, "s3://w", 0, SHORT) as require_held:
        row.owner = "somebody else"
        time.sleep(SHORT.total_seconds())
        with pytest.raises(SurroundingsError, match="has taken the lease of s3://w over") as lost:
            require_held()
    assert lost.value.exit_code == 4
    assert row.owner == "somebody else"


def test_a_renewal_that_fails_is_tried_again():
    row = MemoryRow()
    with hold(row, "s3://w", 0, SHORT) as require_held:
        row.is_broken = True
        time.sleep(SHORT.total_seconds() * 1.2)
        with pytest.raises(PySparkException):
            require_held()
        row.is_broken = False
        require_held()


def test_a_lease_is_held_by_one_run_and_free_after_it(spark: SparkSession, tmp_path: Path):
    uri = tmp_path.as_uri()
    with (
        warehouse_lease(spark, uri, 0),
        pytest.raises(SurroundingsError, match="holds the lease"),
        warehouse_lease(spark, uri, 0),
    ):
        pass
    row = _DeltaRow(spark, Place(uri))
    with hold(row, uri, 0, timedelta(seconds=3)) as require_held:
        began = row.expires_at()
        time.sleep(4)
        require_held()
        assert row.expires_at() > began
    with warehouse_lease(spark, uri, 0):
        pass
