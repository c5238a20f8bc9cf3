"""A request's work → its result in a thread of its own: few at once, and none for long."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Generic, TypeVar

import duckdb

from aclkit.audit.serve.snapshot import Snapshot
from aclkit.errors import SurroundingsError
from aclkit.runtime.deadline import TimeUpError, interrupt

_Result = TypeVar("_Result")

_POLL: Final = 0.05
"""Seconds between two calls to a thread that is to stop: one may be lost in a finalizer."""


class BusyError(SurroundingsError):
    """More is asked at once than is answered."""


class TooLongError(SurroundingsError):
    """A question takes longer than one may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one request may take: seconds, and how many are at work and wait."""

    seconds: float = 10.0
    at_once: int = 4
    waiting: int = 64


class Workers:
    """A number of threads at once, a number of requests that wait, and a time for each."""

    def __init__(self, limits: Limits) -> None:
        """Set the limits; nothing is started yet."""
        self._slots = asyncio.Semaphore(limits.at_once)
        self._most, self._inside = limits.at_once + limits.waiting, 0
        self._seconds = limits.seconds

    async def run(
        self,
        newest: Callable[[], Snapshot],
        work: Callable[[Snapshot, duckdb.DuckDBPyConnection], _Result],
    ) -> _Result:
        """Do some work with the newest run and a cursor of it; stop it when it takes too long.

        Raises:
            BusyError: too much is at work and waits already, or it waited too long.
            TooLongError: it took too long.
        """
        if self._inside >= self._most:
            raise BusyError(_BUSY)
        self._inside += 1
        try:
            await asyncio.wait_for(self._slots.acquire(), self._seconds)
        except BaseException as error:  # whoever asks may also stop waiting: CancelledError
            self._inside -= 1
            if isinstance(error, TimeoutError):
                raise BusyError(_BUSY) from None
            raise
        try:
            job = _Job(newest, work, asyncio.get_running_loop(), self._leave)
        except RuntimeError:  # the system has no thread to give
            self._leave()
            raise BusyError(_BUSY) from None
        try:
            return await asyncio.wait_for(asyncio.shield(job.result), self._seconds)
        except TimeoutError:
            raise TooLongError(f"This takes longer than {self._seconds:g} seconds.") from None
        finally:
            job.stop()

    def _leave(self) -> None:
        """Make room; what was told to stop takes its place until it has."""
        self._inside -= 1
        self._slots.release()


_BUSY: Final = "Too many questions at once. Try again in a moment."


class _Job(Generic[_Result]):
    """One thread for one piece of work. It is never used again, so nothing it was told is late."""

    def __init__(
        self,
        newest: Callable[[], Snapshot],
        work: Callable[[Snapshot, duckdb.DuckDBPyConnection], _Result],
        loop: asyncio.AbstractEventLoop,
        leave: Callable[[], None],
    ) -> None:
        self.result: asyncio.Future[_Result] = loop.create_future()
        self._newest, self._work, self._loop, self._leave = newest, work, loop, leave
        self._cursor: duckdb.DuckDBPyConnection | None = None
        self._thread = threading.Thread(target=self._run, name="aclkit-question", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Interrupt the work until it has ended: its SQL, and Python between two of its steps."""
        if self.result.done():
            return
        if not self._thread.is_alive():
            # What it had to say is in the loop's queue before this.
            self._loop.call_soon(self._fail, TimeUpError())
            return
        if self._cursor is not None:
            self._cursor.interrupt()
        interrupt(self._thread)
        self._loop.call_later(_POLL, self.stop)

    def _run(self) -> None:
        with self:
            snapshot = self._newest()
            self._cursor = snapshot.cursor()
            made = self._work(snapshot, self._cursor)
            self._loop.call_soon_threadsafe(self._succeed, made)

    def __enter__(self) -> None:
        """Begin: whatever the work raises is raised where its result is waited for."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Tell the error, where there is one."""
        if error is not None:
            # A loop that is closed has nobody left who waits.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._fail, error)
        return True

    def _succeed(self, made: _Result) -> None:
        if not self.result.done():
            self._leave()
            self.result.set_result(made)

    def _fail(self, error: BaseException) -> None:
        if not self.result.done():
            self._leave()
            late = isinstance(error, TimeUpError)
            self.result.set_exception(TooLongError("It was stopped.") if late else error)
            self.result.exception()  # after the time is over it is not asked for
