"""One run per warehouse at a time: an flock on a local warehouse."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from aclkit.errors import SurroundingsError
from aclkit.surroundings import write_error

LOCK_NAME = ".aclkit.lock"


@contextmanager
def warehouse_lock(warehouse: str, timeout_seconds: float) -> Iterator[Callable[[], None]]:
    """Hold a warehouse's lock, waiting for another run to end.

    The lock goes with the process, so a killed run leaves none behind. What is handed out insists
    that it is still held: call it before anything becomes visible to others.

    Raises:
        SurroundingsError: the folder cannot be made or written, or another run still holds the
            lock after ``timeout_seconds``.
    """
    folder = Path(warehouse)
    with _plain_errors(warehouse):
        folder.mkdir(parents=True, exist_ok=True)
        handle = (folder / LOCK_NAME).open("a+")
    with handle:
        _wait(handle, warehouse, timeout_seconds)
        with _plain_errors(warehouse):
            handle.truncate(0)
            # Past the buffer, which would fail once more when the file is closed.
            os.write(handle.fileno(), f"{os.getpid()}\n".encode())
        yield lambda: _require_same_file(handle, folder / LOCK_NAME)


@contextmanager
def _plain_errors(warehouse: str) -> Iterator[None]:
    """Say plainly why a warehouse cannot be written."""
    try:
        yield
    except OSError as error:
        where, reason = f"the warehouse {warehouse}", error.strerror or str(error)
        raise (
            write_error(where, reason) or SurroundingsError(f"cannot write {where}: {reason}")
        ) from error


def _require_same_file(handle: IO[str], path: Path) -> None:
    """Insist that others who want the lock meet the file that is locked."""
    try:
        is_same = os.path.samestat(path.stat(), os.fstat(handle.fileno()))
    except FileNotFoundError:
        is_same = False
    if not is_same:
        raise SurroundingsError(
            f"the lock {path} was removed while this run held it, so another run may be at work; "
            "nothing of this run is published"
        )


def _wait(handle: IO[str], warehouse: str, timeout_seconds: float) -> None:
    deadline = time.monotonic() + timeout_seconds
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                handle.seek(0)
                holder = handle.read().strip() or "unknown"
                raise SurroundingsError(
                    f"another run (process {holder}) holds the lock of {warehouse}; waited "
                    f"{timeout_seconds:g} s. Let it end, or wait longer with --lock-timeout"
                ) from None
            time.sleep(0.2)
        else:
            return
