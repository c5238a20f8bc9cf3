"""Files that are read → how far that is, for the line that a terminal shows of a step.

This process reads them, or Spark's workers next to it. So each file has a place in a board, a small
file of this process, where its reader writes now and then. On another machine there is no board,
and progress is not reported. Nor is there one where no terminal shows it.
"""

from __future__ import annotations

import io
import os
import struct
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aclkit.runtime.progress import is_shown, measuring, shown
from aclkit.runtime.scratch import scratch
from aclkit.runtime.uri import is_uri

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_TOLD: Final = struct.Struct("=QQQ")
"""Records and bytes that were read, and whether that was the last of them."""
_PLACE: Final = struct.Struct("=QQQQ")
"""The same, and the size of the file; 0 where it is not known."""
_STEP: Final = 1 << 20
"""So many bytes are read before the clock is looked at."""
_PAUSE: Final = 0.25
_numbers = count()


@contextmanager
def followed(sizes: Iterable[int | None], what: str | None = None) -> Iterator[str | None]:
    """Let a terminal show how far files are read, and yield the board that their readers tell.

    Args:
        sizes: bytes of each file, from ``size_of``.
        what: what goes on, where that is no step.
    """
    places = b"".join(_PLACE.pack(0, 0, 0, size or 0) for size in sizes)
    board = _board(places) if places and is_shown() else None
    if board is None:
        yield None
        return
    try:
        with measuring(partial(_words, board)), shown(what) if what else nullcontext():
            yield str(board)
    finally:
        board.unlink(missing_ok=True)


def size_of(path: str) -> int | None:
    """Return the bytes of a file of this machine; None of what is elsewhere or gone."""
    try:
        return None if is_uri(path) else Path(path).stat().st_size
    except (OSError, ValueError):  # who reads it tells
        return None


class ReadProgress:
    """How far one file is read."""

    def __init__(self, board: str | None = None, number: int = 0) -> None:
        """Begin at its first byte.

        Args:
            board: where to tell it; None is nowhere.
            number: which of the board's files it is.
        """
        self._records = self._bytes = 0
        self._next: float = _STEP
        self._number, self._last = number, 0.0
        self._board: int | None = None
        if board is not None:
            with suppress(OSError):  # of another machine, or not looked at any more
                self._board = os.open(board, os.O_WRONLY | os.O_NOFOLLOW)
        if self._board is None:
            self._next = float("inf")

    def add(self, size: int, records: int = 0) -> None:
        """Count bytes, and records of bytes that were counted; for many records at once."""
        self._bytes += size
        self._records += records
        if self._bytes >= self._next:
            self._next = self._bytes + _STEP
            if time.monotonic() - self._last >= _PAUSE:
                self._last = time.monotonic()
                self._tell(is_over=False)

    def close(self) -> None:
        """Tell that the file is read."""
        if self._board is not None:
            self._tell(is_over=True)
            os.close(self._board)
            self._board, self._next = None, float("inf")

    def _tell(self, *, is_over: bool) -> None:
        if self._board is not None:
            told = _TOLD.pack(self._records, self._bytes, is_over)
            with suppress(OSError):  # a full disk: progress is optional
                os.pwrite(self._board, told, self._number * _PLACE.size)


NO_PROGRESS: Final = ReadProgress()
"""Of a file that is not followed."""


class FollowedBytes(io.BytesIO):
    """Bytes of a text that tell how far they are read, and how many lines that is."""

    def __init__(self, data: ReadableBuffer, told: ReadProgress) -> None:
        """Begin at the first byte."""
        super().__init__(data)
        self._told = told

    def read1(self, size: int | None = -1, /) -> bytes:
        """Return some bytes, as a text's reader asks for them."""
        part = super().read1(size)
        self._told.add(len(part), part.count(b"\n"))
        return part


def _board(places: bytes) -> Path | None:
    with suppress(OSError):  # a full disk: what is read is worth more than how far
        board = scratch() / f"reading-{next(_numbers)}"
        board.write_bytes(places)
        return board
    return None


def _words(board: Path) -> str:
    """Write how far it is; nothing before the first word of a reader and after the last."""
    places = list(_PLACE.iter_unpack(board.read_bytes()))
    files = sum(is_over for _, _, is_over, _ in places)
    records, done = sum(place[0] for place in places), sum(place[1] for place in places)
    if not done or files == len(places):
        return ""
    words = [f"{files:,} of {len(places):,} files"] if len(places) > 1 else []
    words += [f"{records:,} records read"] if records else []
    if all(size for *_, size in places):
        # A file that grows meanwhile is never read by more than all of it.
        words.append(f"{min(done / sum(size for *_, size in places), 1):.0%} of the bytes")
    return ", ".join(words)
