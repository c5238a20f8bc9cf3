"""A log file → which one it is of those that were read before, and from where to go on.

A file is known by its first bytes, gzip undone, and not by its name: a log that is rotated, renamed
or packed stays the same, and one that is emptied and begun again is another one. A known file has
also the bytes before the place up to which it was read. A shorter one that begins alike is a copy
of its beginning, so nothing in it is new.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, Final

from aclkit.pipeline.sources import files
from aclkit.questions.usage.log_file import LOOKED_AT, DamagedLogError, LogStream, open_log
from aclkit.runtime.read_progress import NO_PROGRESS, ReadProgress

LOG_FILE: Final = "log_file"
_PACKED_TIMES: Final = 15
HEAD: Final = 4_096
"""Bytes by which a file is known, if it has as many: some ten lines with their milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFile:
    """A row of ``log_file``: see the table's columns."""

    file_id: str
    source: str
    log_zone: str
    head_bytes: int
    head_digest: str
    read_bytes: int
    read_lines: int
    tail_bytes: int
    tail_digest: str
    seen_bytes: int
    is_waiting: bool
    packed: str | None
    spoke_from: Sequence[int]
    spoke_to: Sequence[int]
    broker: str | None = None
    allowed_from: Sequence[int] | None = None
    allowed_to: Sequence[int] | None = None
    beat_from: Sequence[int] | None = None
    beat_to: Sequence[int] | None = None


KNOWN_COLUMNS: Final = tuple(field.name for field in fields(KnownFile))


def known_row(cluster_id: str, known: KnownFile) -> tuple[Any, ...]:
    """Return the row of a file."""
    return (cluster_id, *(getattr(known, name) for name in KNOWN_COLUMNS))


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """A file as it is found.

    Attributes:
        path: where it is.
        head: its first bytes, gzip undone.
        stored: its bytes.
        size: of its content; None where it is gzipped.
        packed: where it is gzipped, its size and a digest of its ends.
    """

    path: str
    head: bytes
    stored: int
    size: int | None
    packed: str | None

    @property
    def unpacked(self) -> int:
        """Its bytes, gzip undone, about."""
        return self.stored if self.size is not None else self.stored * _PACKED_TIMES


def look_at(path: str) -> LogFile:
    """Look at a file.

    Raises:
        SurroundingsError: it cannot be read.
    """
    size = files.size_and_time(path)[0]
    with open_log(path, most_ahead=LOOKED_AT) as stream:
        is_packed = stream.is_packed
        try:
            head = take_all(stream, HEAD)
        except DamagedLogError:  # reading it reports that
            head = files.read_bytes(path, HEAD)
    packed = _packed(path, size) if is_packed else None
    return LogFile(
        path=path, head=head, stored=size, size=None if is_packed else size, packed=packed
    )


def _packed(path: str, size: int) -> str:
    with files.open_stream(path) as stream:
        ends = stream.read(HEAD)
    with files.open_stream(path, max(0, size - HEAD)) as stream:
        ends += stream.read(HEAD)
    return f"{size} {digest(ends)}"


def digest(content: bytes) -> str:
    """Return what stands for bytes."""
    return hashlib.sha256(content).hexdigest()


def begins_like(found: LogFile, known: Iterable[KnownFile]) -> list[KnownFile]:
    """Return the files that begin as one does, those that were read farthest first."""
    heads: dict[int, str] = {}
    alike = []
    for each in known:
        size = each.head_bytes
        if 0 < size <= len(found.head):
            if size not in heads:
                heads[size] = digest(found.head[:size])
            if heads[size] == each.head_digest:
                alike.append(each)
    return sorted(alike, key=lambda each: -each.read_bytes)


@dataclass(frozen=True, slots=True)
class Same:
    """The file that one is.

    Attributes:
        known: the file.
        has_news: it has bytes that were not read for good.
        is_shorter: it is a copy of the file's beginning.
    """

    known: KnownFile
    has_news: bool
    is_shorter: bool = False


def same_file(found: LogFile, known: Iterable[KnownFile]) -> Same | None:
    """Return which of the known files one is; None where it is a new one.

    Raises:
        SurroundingsError: it cannot be read.
    """
    shorter: KnownFile | None = None
    for each in begins_like(found, known):
        if found.packed is not None and found.packed == each.packed:
            return Same(each, has_news=False)
        tail = _bytes_before(found, each)
        if tail is None:
            shorter = shorter or each
        elif digest(tail) == each.tail_digest:
            is_seen = found.size == each.seen_bytes and not each.is_waiting
            return Same(each, has_news=not is_seen)
    return None if shorter is None else Same(shorter, has_news=False, is_shorter=True)


def _bytes_before(found: LogFile, known: KnownFile) -> bytes | None:
    """Return the bytes before the place up to which a file was read; None if it is shorter."""
    if found.size is not None and found.size < known.read_bytes:
        return None
    try:
        with open_at(found, known.read_bytes - known.tail_bytes) as stream:
            tail = take_all(stream, known.tail_bytes)
            return tail if stream.at == known.read_bytes else None
    except DamagedLogError:
        return None


@contextmanager
def open_at(found: LogFile, place: int, told: ReadProgress = NO_PROGRESS) -> Iterator[LogStream]:
    """Open a file at a place of its content, or at its end if that comes first.

    Raises:
        DamagedLogError: the place of a gzipped file cannot be reached.
        SurroundingsError: it cannot be read.
    """
    with open_log(found.path, told, place if found.packed is None else 0) as stream:
        stream.skip_to(place)
        yield stream


def take_all(stream: LogStream, size: int) -> bytes:
    """Read so many bytes, fewer only at the end."""
    found = b""
    while len(found) < size and (more := stream.take(size - len(found))):
        found += more
    return found
