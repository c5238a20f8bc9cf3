"""One run per warehouse at a time, one watcher, one alert: flocks on a local warehouse."""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from aclkit.errors import SurroundingsError
from aclkit.runtime.atomic_file import open_own
from aclkit.runtime.child import held_by_children
from aclkit.runtime.deadline import Deadline
from aclkit.runtime.environment import require_room, require_writable, write_error
from aclkit.runtime.permissions import make_folder, writing_like
from aclkit.runtime.signals import pause

LOCK_NAME = ".aclkit.lock"
WATCH_LOCK_NAME: Final = ".aclkit.watch.lock"
ALERT_LOCK_NAME: Final = ".aclkit.alert.lock"
log = logging.getLogger(__name__)
_A_TABLE: Final = "job_run"
"""The table that every warehouse has; new files are readable for the same users."""


@contextmanager
def warehouse_lock(warehouse: str, timeout_seconds: float) -> Iterator[Callable[[], None]]:
    """Hold a warehouse's lock, waiting for another run to end.

    The lock ends with the process and the JVM that it started meanwhile. So a killed run leaves no
    lock, and no JVM of a killed run writes while the next run does. The function that is yielded
    insists that the lock is still held: call it before anything becomes visible to others.

    Raises:
        SurroundingsError: the folder cannot be made or written, there is no room, or another run
            still holds the lock after ``timeout_seconds``.
    """
    folder = Path(warehouse)
    with writing_like(folder / _A_TABLE):
        with _plain_errors(warehouse):
            make_folder(folder)
            handle = _opened(folder / LOCK_NAME)
        with handle, held_by_children(handle.fileno()):
            with _plain_errors(warehouse):
                require_writable(folder)
                require_room(warehouse)
            _wait(handle, "run", f"holds the lock of {warehouse}", timeout_seconds)
            try:
                with _plain_errors(warehouse):
                    _sign(handle)
                yield lambda: _require_same_file(handle, folder / LOCK_NAME)
            finally:
                # Not left to the closing: a JVM that lives on holds the file open.
                fcntl.flock(handle, fcntl.LOCK_UN)


@contextmanager
def only_watcher(warehouse: str) -> Iterator[None]:
    """Be the one watcher of a warehouse; its runs take the lock of runs as all others do.

    Raises:
        SurroundingsError: there is another one, or the folder cannot be made or written.
    """
    folder = Path(warehouse)
    with writing_like(folder / _A_TABLE), _plain_errors(warehouse):
        make_folder(folder)
        handle = _opened(folder / WATCH_LOCK_NAME)
    with handle:
        if not _locks(handle, fcntl.LOCK_EX):
            handle.seek(0)
            holder = handle.read().strip() or "unknown"
            raise SurroundingsError(
                f"Another watcher (process {holder}) follows {warehouse}. One is enough: stop "
                "it first, or let it do the work."
            )
        with _plain_errors(warehouse):
            _sign(handle)
        yield


@contextmanager
def alert_lock(warehouse: str, timeout_seconds: float) -> Iterator[SurroundingsError | None]:
    """Be the one process that sends alerts about a warehouse.

    What is yielded is None, or why the folder cannot be written. There is no lock then, because
    nothing can be noted either.

    Raises:
        SurroundingsError: another process still sends after ``timeout_seconds``.
    """
    folder, refused = Path(warehouse), None
    with ExitStack() as held:
        try:
            with writing_like(folder / _A_TABLE), _plain_errors(warehouse):
                handle = held.enter_context(_opened(folder / ALERT_LOCK_NAME))
        except SurroundingsError as error:
            refused = error
        else:
            _wait(handle, "command", f"sends an alert about {warehouse}", timeout_seconds)
            with suppress(OSError):  # on a full disk: who waits reads no number then
                _sign(handle)
        yield refused


def _opened(path: Path) -> IO[str]:
    return os.fdopen(open_own(path), "a+", encoding="utf-8")


def lock_holder(warehouse: str) -> str | None:
    """Return the process that holds a warehouse's lock now; None where no process does.

    Raises:
        OSError: that cannot be seen.
    """
    try:
        handle = (Path(warehouse) / LOCK_NAME).open(encoding="utf-8")
    except FileNotFoundError:
        return None
    with handle:
        return None if _locks(handle, fcntl.LOCK_SH) else handle.read().strip() or "unknown"


@contextmanager
def _plain_errors(warehouse: str) -> Iterator[None]:
    """Raise a plain error where a warehouse cannot be written."""
    try:
        yield
    except OSError as error:
        where, reason = f"the warehouse {warehouse}", error.strerror or str(error)
        raise (
            write_error(where, reason) or SurroundingsError(f"Cannot write {where}: {reason}")
        ) from error


def _require_same_file(handle: IO[str], path: Path) -> None:
    """Insist that others who want the lock meet the file that is locked."""
    try:
        is_same = os.path.samestat(path.stat(), os.fstat(handle.fileno()))
    except FileNotFoundError:
        is_same = False
    if not is_same:
        raise SurroundingsError(
            f"The lock {path} was removed while this run held it, so another run may be "
            "active. Nothing of this run is published."
        )


def _sign(handle: IO[str]) -> None:
    """Note in a lock's file which process holds it."""
    handle.truncate(0)
    # Past the buffer, which would fail once more when the file is closed.
    os.write(handle.fileno(), f"{os.getpid()}\n".encode())


def _wait(handle: IO[str], who: str, does: str, timeout_seconds: float) -> None:
    """Wait for a lock that another one holds, which does something meanwhile."""
    deadline = Deadline(timeout_seconds)
    is_told = False
    while not _take(handle):
        handle.seek(0)
        holder = handle.read().strip() or "unknown"
        if deadline.is_over:
            raise SurroundingsError(
                f"Another {who} (process {holder}) {does}. Waited {timeout_seconds:g} s. Let it "
                "end, or wait longer with --lock-timeout."
            )
        if not is_told:
            log.info("Waiting for another %s (process %s) to end …", who, holder)
            is_told = True
        pause(0.2)


def _take(handle: IO[str]) -> bool:
    """Take the lock unless a run holds it.

    A process that looks for the holder (``lock_holder``) shares the lock for a moment. Such a
    process is no run, so even a run that does not wait for another run waits for it.
    """
    deadline = Deadline(_LONGEST_LOOK)
    while not _locks(handle, fcntl.LOCK_EX):
        if not _locks(handle, fcntl.LOCK_SH):
            return False
        fcntl.flock(handle, fcntl.LOCK_UN)
        if deadline.is_over:
            return False
        # Of another length in each process, so that two runs do not meet again and again.
        time.sleep(0.001 + os.getpid() % 16 / 1000)
    return True


def _locks(handle: IO[str], how: int) -> bool:
    try:
        fcntl.flock(handle, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


_LONGEST_LOOK: Final = 5.0
"""Seconds; a look takes less than a millisecond, if its process is not stopped meanwhile."""
