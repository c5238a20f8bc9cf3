"""Paths, directories and globs → the log files that are meant; a file → its lines, and which it is.

A file is known by its first bytes, gzip undone, and not by its name: a log that is rotated, renamed
or packed stays the same, and one that is emptied and begun again is another one. A known file has
also the bytes before the place up to which it was read. A shorter one that begins alike is a copy
of its beginning, so nothing in it is new.
"""

from __future__ import annotations

import fnmatch
import glob
import gzip
import hashlib
import io
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, BinaryIO, Final, cast

from aclkit.errors import UsageError
from aclkit.kafka.authorizer.audit import PRINCIPAL_IS
from aclkit.pipeline.sources import files
from aclkit.questions.usage.entry import LONGEST
from aclkit.runtime.read_progress import NO_PROGRESS, ReadProgress
from aclkit.runtime.uri import child, is_uri, shown


def find_log_files(paths: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the files to read, each once, and those of directories that are other logs.

    A path is a file, a directory, or a glob where there is no such file. In a directory and below
    it, only files that begin with lines of an authorizer log are read: brokers write their other
    logs to the same place. Warehouses and reviews in it are left out. A file that is named, also by
    a glob, is read whatever it holds.

    Raises:
        UsageError: nothing exists there, or it is no file.
        SurroundingsError: it cannot be read.
    """
    named: dict[str, None] = {}
    others: list[str] = []
    for path in paths:
        for found in _expand(path):
            if not files.is_directory(found):
                files.require_file(found)
                named[found] = None
                continue
            below = [
                name
                for name in _without_our_own(files.list_files(found))
                if not _is_hidden(found, name)
            ]
            logs = [name for name in below if is_authorizer_log(name)]
            others += sorted(set(below) - set(logs))
            named.update(dict.fromkeys(logs))
    if not named:
        listed = ", ".join(shown(path) for path in paths)
        raise UsageError(
            f"{listed}: no authorizer log found; expected files that begin with lines of "
            f"{PRINCIPAL_IS.strip()!r}, plain or gzipped"
        )
    return list(named), others


def _without_our_own(paths: list[str]) -> list[str]:
    """Leave out warehouses, other Delta tables and reviews: what aclkit wrote holds lines too."""
    own = {path.partition(_TABLE_LOG)[0] for path in paths if _TABLE_LOG in path}
    own |= {folder.removesuffix(_RUNS) for folder in own if folder.endswith(_RUNS)}
    own |= {path.removesuffix(_A_REVIEW) for path in paths if path.endswith(_A_REVIEW)}
    return [path for path in paths if not path.startswith(tuple(f"{each}/" for each in own))]


_TABLE_LOG: Final = "/_delta_log/"
_RUNS: Final = "/job_run"
_A_REVIEW: Final = "/review.json"


def is_authorizer_log(path: str) -> bool:
    """Whether a line of an authorizer log stands at a file's beginning."""
    size = 0
    try:
        for line in read_lines(path, most_ahead=LOOKED_AT):
            if any(words in line for words in _WANTED):
                return True
            size += len(line)
            if size > LOOKED_AT:
                break
    except DamagedLogError:
        return False
    return False


class DamagedLogError(Exception):
    """The compressed bytes end early or are none; what came before was read."""


def read_lines(
    path: str, told: ReadProgress = NO_PROGRESS, most_ahead: int | None = None
) -> Iterator[bytes]:
    """Yield the lines of a file, plain or gzipped; see ``open_log`` and ``LogStream``."""
    with open_log(path, told, most_ahead=most_ahead) as stream:
        yield from stream.lines()


class LogStream:
    """The content of a log file, which knows where its lines begin.

    Attributes:
        is_packed: it is gzipped; its first bytes decide that.
        start: where the line begins that ``lines`` yielded last, gzip undone.
        at: where the next one begins.
    """

    def __init__(
        self, raw: BinaryIO, told: ReadProgress, at: int, most_ahead: int | None = None
    ) -> None:
        """Begin at a place of the content; ``raw`` is there already, unless it is gzipped."""
        self._counter = _Counter(raw, told)
        buffered = io.BufferedReader(self._counter, most_ahead or _BUFFER)
        self.is_packed = at == 0 and buffered.peek(len(_GZIP))[: len(_GZIP)] == _GZIP
        packed = gzip.GzipFile(fileobj=buffered) if self.is_packed else None
        self._stream = cast(BinaryIO, packed or buffered)
        self.start = self.at = at

    def lines(self) -> Iterator[bytes]:
        """Yield the lines that follow; only the beginning of one that is much too long.

        Raises:
            DamagedLogError: the rest of a gzipped file cannot be read.
        """
        is_begin = True
        next_look = self.at + _LOOK_EVERY
        readline = self._stream.readline
        with _reporting_damage():
            while part := readline(_LONGEST_LINE):
                at = self.at
                self.at = at + len(part)
                if self.at > next_look:
                    next_look = self.at + _LOOK_EVERY
                    self._require_sound()
                if is_begin:
                    self.start = at
                    yield part
                is_begin = len(part) < _LONGEST_LINE or part.endswith(b"\n")

    def take(self, size: int) -> bytes:
        """Read some bytes, fewer only at the end, and go on behind them.

        Raises:
            DamagedLogError: they cannot be read.
        """
        with _reporting_damage():
            found = self._stream.read(size)
        self.at += len(found)
        return found

    def skip_to(self, place: int) -> bool:
        """Go on at a later place; False where the content ends before.

        Raises:
            DamagedLogError: it cannot be reached.
        """
        while self.at < place:
            if not self.take(min(place - self.at, _BUFFER)):
                return False
            if self.at > _LOOK_EVERY:
                self._require_sound()
        return True

    def _require_sound(self) -> None:
        if self.is_packed and self.at > MOST_PACKED * self._counter.count:
            raise DamagedLogError(f"it is packed more than {MOST_PACKED} times")


@contextmanager
def open_log(
    path: str, told: ReadProgress = NO_PROGRESS, at: int = 0, most_ahead: int | None = None
) -> Iterator[LogStream]:
    """Open a log file, plain or gzipped.

    Args:
        path: the file.
        told: what is read is reported to it.
        at: a place of a plain file.
        most_ahead: how many bytes are fetched at once, each time a request where it is in a bucket.

    Raises:
        SurroundingsError: the file cannot be read.
    """
    with files.open_stream(path, at) as raw:
        yield LogStream(raw, told, at, most_ahead)


@contextmanager
def _reporting_damage() -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DamagedLogError(str(error)) from None


class _Counter(io.RawIOBase):
    """A stream that counts the bytes that are read from it."""

    def __init__(self, raw: BinaryIO, told: ReadProgress) -> None:
        self._raw = cast(io.RawIOBase, raw)
        self._told = told
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401 -- any buffer of bytes
        size = self._raw.readinto(buffer) or 0
        self.count += size
        self._told.add(size)
        return size


def _expand(path: str) -> list[str]:
    """Return what a glob names; a path that is there, or has no wildcard, names itself."""
    if not any(mark in path for mark in "*?["):
        return [path]
    if not is_uri(path):
        there = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 -- absolute patterns too
        return [path] if path in there else there
    folder, pattern = files.parent(path), files.base_name(path)
    names = fnmatch.filter(files.list_names(folder), pattern)
    return [child(folder, name) for name in sorted(names)]


def _is_hidden(folder: str, path: str) -> bool:
    below = path.removeprefix(folder)
    return any(part.startswith((".", "_")) for part in below.split("/"))


MOST_PACKED: Final = 500
"""Bytes that one byte of a gzipped log may stand for; of authorizer lines it is some 20."""

_LOOK_EVERY: Final = 1 << 26
_GZIP: Final = b"\x1f\x8b"
_BUFFER: Final = 1 << 20
_WANTED: Final = (PRINCIPAL_IS.encode(), b"Principal \\u003d ")
_LONGEST_LINE: Final = 8 * LONGEST
LOOKED_AT: Final = 1 << 16
"""How many bytes tell what a file is, about."""


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
class SameFile:
    """The file that one is.

    Attributes:
        known: the file.
        has_news: it has bytes that were not read for good.
        is_shorter: it is a copy of the file's beginning.
    """

    known: KnownFile
    has_news: bool
    is_shorter: bool = False


def same_file(found: LogFile, known: Iterable[KnownFile]) -> SameFile | None:
    """Return which of the known files one is; None where it is a new one.

    Raises:
        SurroundingsError: it cannot be read.
    """
    shorter: KnownFile | None = None
    for each in begins_like(found, known):
        if found.packed is not None and found.packed == each.packed:
            return SameFile(each, has_news=False)
        tail = _bytes_before(found, each)
        if tail is None:
            shorter = shorter or each
        elif digest(tail) == each.tail_digest:
            is_seen = found.size == each.seen_bytes and not each.is_waiting
            return SameFile(each, has_news=not is_seen)
    return None if shorter is None else SameFile(shorter, has_news=False, is_shorter=True)


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
