"""One run per warehouse at a time, on a local disk."""

from __future__ import annotations

import fcntl
import gc
import threading
import time
from pathlib import Path

import pytest

from aclkit.errors import SurroundingsError
from aclkit.warehouse.lock import LOCK_NAME, lock_holder, warehouse_lock


def test_a_second_run_waits_and_then_gives_up(tmp_path: Path):
    with (
        warehouse_lock(str(tmp_path), 0),
        pytest.raises(SurroundingsError, match="holds the lock"),
        warehouse_lock(str(tmp_path), 0.3),
    ):
        pass


def test_a_run_that_does_not_wait_is_not_stopped_by_somebody_who_looks(tmp_path: Path):
    with warehouse_lock(str(tmp_path), 0):
        pass
    looks, is_looking = (tmp_path / LOCK_NAME).open(), threading.Event()

    def look():
        # What lock_holder does, for longer.
        with looks:
            fcntl.flock(looks, fcntl.LOCK_SH)
            is_looking.set()
            time.sleep(0.3)

    looker = threading.Thread(target=look)
    looker.start()
    is_looking.wait()
    with warehouse_lock(str(tmp_path), 0):
        assert lock_holder(str(tmp_path)) is not None
    looker.join()


def test_many_looks_stop_no_run(tmp_path: Path):
    with warehouse_lock(str(tmp_path), 0):
        pass
    is_over = threading.Event()

    def look():
        while not is_over.is_set():
            lock_holder(str(tmp_path))

    lookers = [threading.Thread(target=look) for _ in range(3)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(100):
            with warehouse_lock(str(tmp_path), 0):
                pass
    finally:
        is_over.set()
        for looker in lookers:
            looker.join()


def test_the_lock_is_free_again_after_a_run(tmp_path: Path):
    for _ in range(2):
        with warehouse_lock(str(tmp_path), 0):
            assert (tmp_path / LOCK_NAME).exists()


def test_a_warehouse_that_is_a_file_is_refused(tmp_path: Path):
    path = tmp_path / "file"
    path.write_text("not a folder", encoding="utf-8")
    with (
        pytest.raises(SurroundingsError, match="Cannot write the warehouse"),
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
