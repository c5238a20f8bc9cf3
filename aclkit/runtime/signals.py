"""SIGINT, SIGTERM or SIGHUP → the end of the command: one line, its exit code, nothing left.

Nothing is raised in what is at work: an exception at any moment could be lost in a finalizer, be
taken for an error of Spark, or leave a call to the JVM half done. A thread of its own, which the
signal wakes, ends the JVM and then the process, as SIGKILL would; and that every run survives.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import Any, Final

from aclkit.runtime import child
from aclkit.runtime.scratch import remove_scratch

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SECONDS: Final = 15.0
"""After so long the process ends, whatever is left to do."""
_LOOK_SECONDS: Final = 0.1

_is_ending = threading.Event()
_handlers: dict[signal.Signals, Callable[..., None] | signal.Handlers] = {}
_before: list[Callable[[], None]] = []
_unhurried = threading.Lock()
_is_finishing = False


def install() -> None:
    """Put the handlers in place again: pyspark puts its own there when a session is made."""
    if threading.current_thread() is threading.main_thread():
        for number, handler in _handlers.items():
            signal.signal(number, handler)


def begin() -> None:
    """Take over the signals for the rest of this process, if this is its main thread.

    What is ignored stays so: nohup wants it, and a shell that starts a command in the background.
    """
    if threading.current_thread() is not threading.main_thread() or _handlers:
        return
    for number in _SIGNALS:
        is_ignored = signal.getsignal(number) is signal.SIG_IGN
        _handlers[number] = signal.SIG_IGN if is_ignored else _wake
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reader,), name="aclkit-signals", daemon=True).start()
    install()


@contextmanager
def before_end(last_act: Callable[[], None]) -> Iterator[None]:
    """Do something first where a signal comes meanwhile; it is given some seconds."""
    _before.append(last_act)
    try:
        yield
    finally:
        _before.remove(last_act)


@contextmanager
def finishing_first() -> Iterator[None]:
    """Let a signal that comes meanwhile wait until the block is left; a second one does not.

    For a program that runs until a signal ends it: what it does is worth finishing.
    """
    global _is_finishing
    with _unhurried:
        _is_finishing = True
        try:
            yield
        finally:
            _is_finishing = False


def pause(seconds: float) -> None:
    """Wait for something that others do; a signal need not wait for that."""
    with _hurried():
        time.sleep(seconds)


def wait_for(work: Future[Any], seconds: float) -> bool:
    """Wait for work of another thread, as ``pause`` does; return whether it has ended."""
    with _hurried():
        return bool(wait([work], seconds).done)


@contextmanager
def _hurried() -> Iterator[None]:
    """Let a signal end the process meanwhile, within ``finishing_first`` too."""
    if not _is_finishing:
        yield
        return
    _unhurried.release()
    try:
        yield
    finally:
        _unhurried.acquire()


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C raise ``KeyboardInterrupt`` meanwhile, where nothing can be left half done."""
    if _handlers.get(signal.SIGINT) is not _wake:
        yield
        return
    _handlers[signal.SIGINT] = signal.default_int_handler
    install()
    try:
        yield
    finally:
        _handlers[signal.SIGINT] = _wake
        install()


def block_if_ending() -> None:
    """Stop here where a signal came: the process ends with the signal's exit code."""
    if _is_ending.is_set():
        threading.Event().wait()


def _wake(*_: object) -> None:
    """Do nothing: the system has written the signal's number to the pipe."""


def _watch(reader: int) -> None:
    number = _next(reader, None)
    _let_finish(reader)
    _is_ending.set()
    threading.Thread(target=_end, args=(number,), name="aclkit-end", daemon=True).start()
    _next(reader, _SECONDS)
    child.kill_all()
    os._exit(128 + number)


def _let_finish(reader: int) -> None:
    """Wait until nothing is in ``finishing_first``, or another signal comes; nothing begins it."""
    if _unhurried.acquire(blocking=False):
        return
    os.write(2, b"Stopping after the work in progress. Send the signal again to stop at once.\n")
    while not (_unhurried.acquire(timeout=_LOOK_SECONDS) or _next(reader, 0.0)):
        pass


def _next(reader: int, seconds: float | None) -> int:
    """Wait for a signal that ends the command; 0 where none came in time."""
    while select.select([reader], [], [], seconds)[0]:
        number = os.read(reader, 1)[0]
        if _handlers.get(signal.Signals(number)) is _wake:
            return number
    return 0


def _end(number: int) -> None:
    name = signal.Signals(number).name
    said = f"Stopped by {name}. No half-done work is visible. Start again to continue.\n"
    if os.isatty(2) and os.environ.get("TERM", "dumb") != "dumb":
        said = f"\r\x1b[K{said}"  # in the place of the step that was at work, see progress
    try:
        os.write(2, said.encode())
        # Running code may notice that the JVM is gone; it must not report that.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        for last_act in reversed(_before):
            last_act()
    finally:
        child.end_all()
        remove_scratch()
        os._exit(128 + number)
