"""One run per warehouse at a time, on a local disk."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from aclkit.errors import SurroundingsError
from aclkit.warehouse.lock import LOCK_NAME, warehouse_lock


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
