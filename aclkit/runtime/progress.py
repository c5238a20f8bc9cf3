"""Steps of long work, told on stderr while they happen.

Where stderr is a terminal one line is rewritten while a step goes on, with how far its files are
read or what Spark has done of it so far, and a line stays of a step that took a second. Elsewhere
each line stays.
"""

from __future__ import annotations

import logging
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Final, TextIO

from aclkit.model.visible import visible

log = logging.getLogger("aclkit.runtime.progress")

SECONDS: Final = 1.0
"""Between two looks at what has been done."""


def tell_first(what: str) -> None:
    """Log what a reader of all that follows has to know."""
    log.info("%s", what)


@contextmanager
def step(what: str) -> Iterator[None]:
    """Log that a step begins, and how long it took when that was a second or more."""
    if not is_shown():
        log.info("%s …", what)
    started = time.monotonic()
    with shown(what):
        yield
    seconds = time.monotonic() - started
    if seconds >= 1:
        log.info("%s: %.1f s", what, seconds)


@contextmanager
def untold() -> Iterator[None]:
    """Log no steps meanwhile: what works for days tells what came out of it."""
    level = log.level
    log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(level)


def is_shown() -> bool:
    """Whether there is a line that is rewritten."""
    return _line is not None


def shown(what: str) -> AbstractContextManager[None]:
    """Show what goes on where there is a line that is rewritten, and leave nothing of it."""
    return _line.during(what) if _line else nullcontext()


class Line:
    """The line of a terminal that is rewritten while steps go on."""

    def __init__(self, stream: TextIO) -> None:
        """Make a line of a stream, empty at first."""
        self._stream = stream
        self._steps: list[str] = []
        self._is_shown = False
        self._lock = threading.RLock()

    @contextmanager
    def during(self, what: str) -> Iterator[None]:
        """Show a step, and what is done of it; then the one that it is a part of, if any."""
        is_over = threading.Event()
        with self._lock:
            self._steps.append(what)
            self._show("")
        threading.Thread(target=self._follow, args=(is_over,), daemon=True).start()
        try:
            yield
        finally:
            is_over.set()
            with self.put_away():
                self._steps.remove(what)

    @contextmanager
    def put_away(self) -> Iterator[None]:
        """Clear the line while something else is written."""
        with self._lock:
            if self._is_shown:
                self._write("\r\x1b[K")
                self._is_shown = False
            yield

    def _follow(self, is_over: threading.Event) -> None:
        while not is_over.wait(SECONDS):
            done = ""
            with suppress(Exception):  # Spark ends, or is not asked in time: it is optional
                done = measure()
            with self._lock:
                if not is_over.is_set():
                    self._show(done)

    def _show(self, done: str) -> None:
        text = visible(f"{self._steps[-1]} … {done}".rstrip())
        self._write(f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}")
        self._is_shown = True

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # the reader is gone
            self._stream.write(text)
            self._stream.flush()


_line: Line | None = None
_measure: Callable[[], str] | None = None
_nearer: list[Callable[[], str]] = []


def measure_by(measure: Callable[[], str]) -> None:
    """Set what measures a step, as ``3 of 8 tasks``; an empty text means nothing to show."""
    global _measure
    _measure = measure


@contextmanager
def measuring(measure: Callable[[], str]) -> Iterator[None]:
    """Let another measure take precedence for a while, as long as its text is not empty."""
    _nearer.append(measure)
    try:
        yield
    finally:
        _nearer.remove(measure)


def measure() -> str:
    """Return what is done of the step that goes on."""
    for nearer in reversed(_nearer):
        if said := nearer():
            return said
    return _measure() if _measure else ""


class ProgressHandler(logging.StreamHandler[TextIO]):
    """Writes log lines on stderr, and a line that is rewritten if that is a terminal."""

    def __init__(self, *, is_shared: bool, dumb: bool) -> None:
        """Begin to write.

        Args:
            is_shared: others write there too, so no line can be rewritten.
            dumb: the terminal can rewrite none.
        """
        global _line
        super().__init__(sys.stderr)
        can_rewrite = sys.stderr.isatty() and not is_shared and not dumb
        _line = Line(sys.stderr) if can_rewrite else None

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line where the one that is rewritten stood."""
        with _line.put_away() if _line else nullcontext():
            super().emit(record)
