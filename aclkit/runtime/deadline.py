"""A number of seconds → the moment until which something is waited for, and ways to stop there.

Three ways, by what is at work: ``start`` and ``within`` abandon a thread that may never return,
``interrupt`` raises in a thread of Python, ``alarm`` raises in the main thread, whatever it waits
for.
"""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from types import FrameType
from typing import Final, TypeVar

_Result = TypeVar("_Result")

LONGEST: Final = 10_000_000.0
"""Seconds, four months: not every system takes more."""


class TimeUpError(BaseException):
    """The time is over; no ``except Exception`` on the way may take it for its own."""


class Deadline:
    """A moment of the monotonic clock."""

    __slots__ = ("_end",)

    def __init__(self, seconds: float) -> None:
        """Set the moment, so many seconds from now."""
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds until the moment, 0 after it."""
        return max(0.0, self._end - time.monotonic())

    @property
    def is_over(self) -> bool:
        """Whether the moment has passed."""
        return time.monotonic() >= self._end

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock for what happens within."""
        began = time.monotonic()
        yield
        self._end += time.monotonic() - began


def start(work: Callable[[], _Result], name: str | None = None) -> Future[_Result]:
    """Start work in a thread that keeps no process alive; return its result to come."""
    future: Future[_Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where the result is waited for
            future.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future


def within(seconds: float, work: Callable[[], _Result]) -> _Result:
    """Return what some work returns, however it waits; after the time it is abandoned.

    Time limits of a library do not do: a socket's starts anew with every byte, and finding a name
    has none.

    Raises:
        TimeoutError: the work has not ended in time.
    """
    return start(work).result(seconds)


def interrupt(thread: threading.Thread) -> None:
    """Raise ``TimeUpError`` in a thread, between two steps of Python; a finalizer may lose it."""
    ident = ctypes.c_ulong(thread.ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(TimeUpError))


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise ``TimeUpError`` in this thread after some time; only the main thread gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGALRM, _ring)
    timer = signal.setitimer(signal.ITIMER_REAL, min(seconds, LONGEST))
    try:
        yield
    finally:
        # Somebody else's alarm goes on, if a little late.
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


def _ring(_: int, __: FrameType | None) -> None:
    raise TimeUpError
