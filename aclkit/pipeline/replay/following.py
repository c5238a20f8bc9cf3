"""Sources, looked at again and again → whether they hold anything new, and of a log what.

A log is read on from where the last look ended; of all other sources the content is compared. What
was found stays found until a run has published it: a run that fails loses nothing.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from aclkit.errors import AclkitError, GoneError
from aclkit.model.facts import RANGE, RECORD, SourceRow, epoch_row, range_row
from aclkit.pipeline.replay.intake import Intake, Source
from aclkit.pipeline.sources.files import open_stream, size_and_time
from aclkit.pipeline.sources.items import log_of
from aclkit.pipeline.sources.metadata_log import MetadataLog, list_metadata_log, listing_again
from aclkit.pipeline.sources.source_kinds import LIVE, METADATA_LOG
from aclkit.runtime.uri import is_uri, shown

if TYPE_CHECKING:
    from aclkit.pipeline.sources.tail import Place

# The reader of a log's end is imported where it reads: help and questions wait for no decoder.


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What a look found.

    Attributes:
        why: why a run is due, in words.
        tail: the new rows of a log; None where the sources are to be read as a whole.
    """

    why: str
    tail: tuple[SourceRow, ...] | None = None


class Follower(Protocol):
    """One source that is followed."""

    def look(self) -> News | None:
        """Return what is new since the last run that published; None where nothing is.

        Raises:
            AclkitError: the source cannot be read.
        """

    def end(self) -> None:
        """Forget what was found: a run has published it."""


_Read = tuple[int, int, int, int | None]
"""A range of records, or the beginning of an epoch and the epoch that it follows."""


class LogFollower:
    """A folder, or a file, of a metadata log."""

    def __init__(self, path: str) -> None:
        """Take the path; nothing is looked at yet."""
        self._path = path
        self._place: Place | None = None
        self._next: Place | None = None
        self._rows: list[SourceRow] = []
        self._ranges: list[_Read] = []

    @property
    def offset(self) -> int | None:
        """Up to which offset the log was looked at."""
        return None if self._place is None else self._place.offset

    def look(self) -> News | None:
        """See ``Follower.look``."""
        from aclkit.pipeline.sources.tail import NotContinuedError, read_on

        if (place := self._place) is None:
            return News(why=f"{shown(self._path)} is read as a whole")
        try:
            found = listing_again(lambda: read_on(list_metadata_log(self._path), place))
        except NotContinuedError as error:
            return News(why=str(error))
        self._place = self._next = found.place
        self._rows += [row for row in found.rows if row.kind != RANGE]
        for row in found.rows:
            if row.kind == RANGE:
                self._extend(row)
        return News(why="new records", tail=self._tail()) if self._rows else None

    def begin(self, log: MetadataLog) -> None:
        """Note the end of a log that a run is going to read whole: what comes later is new.

        A log without segments is read as a whole each time, and so is one of which a file has
        gone: its run lists again.

        Args:
            log: the files that the run reads; a segment that is none of them comes later.
        """
        from aclkit.pipeline.sources.tail import NotContinuedError, find_end

        try:
            self._next = find_end(log)
        except (NotContinuedError, GoneError):
            self._next = None

    def drop(self) -> None:
        """Forget the place: the run read files that were listed after it was noted."""
        self._next = None

    def end(self) -> None:
        """See ``Follower.end``."""
        self._place = self._next
        self._rows, self._ranges = [], []

    def state(self) -> Mapping[str, object] | None:
        """Return what a later process goes on from; None while something is not published."""
        if self._place is None or self._rows:
            return None
        return {"place": asdict(self._place), "ranges": self._ranges}

    def resume(self, state: Mapping[str, Any]) -> bool:
        """Go on from an earlier process; False where its state is none of this aclkit."""
        from aclkit.pipeline.sources.tail import Place

        try:
            names = {field.name for field in fields(Place)}
            place = Place(**{name: state["place"][name] for name in names})
            ranges = [
                (int(start), int(end), int(epoch), None if follows is None else int(follows))
                for start, end, epoch, follows in state["ranges"]
            ]
        except (KeyError, TypeError, ValueError):
            return False
        self._place = self._next = place
        self._ranges = ranges
        return True

    def _extend(self, row: SourceRow) -> None:
        start, end, epoch = row.from_offset or 0, row.to_offset or 0, row.epoch or 0
        if self._ranges and self._ranges[-1][1:] == (start, epoch, row.follows):
            start = self._ranges.pop()[0]
        self._ranges.append((start, end, epoch, row.follows))

    def _tail(self) -> tuple[SourceRow, ...]:
        source = shown(self._path)
        read = (
            range_row(source, RECORD, start, end, epoch)
            if follows is None
            else epoch_row(source, start, epoch, follows)
            for start, end, epoch, follows in self._ranges
        )
        return (*self._rows, *read)


class ContentFollower:
    """A source whose content is compared: a file, or a live cluster."""

    def __init__(self, what: str, read: Callable[[], object]) -> None:
        """Take words for it, and what reads a value that stands for its content."""
        self._what, self._read = what, read
        self.known: object = None
        self._seen: object = None

    def look(self) -> News | None:
        """See ``Follower.look``."""
        self._seen = self._read()
        return None if self._seen == self.known else News(why=f"{self._what} has changed")

    def begin(self) -> None:
        """Note what a run reads at least: what the last look has seen, if there was one."""
        if self._seen is None:
            self._seen = self._read()

    def end(self) -> None:
        """See ``Follower.end``."""
        self.known = self._seen


class FileContent:
    """A file or folder → a value that stands for its content; a file is read if its look changed.

    A file that was written within two seconds of the look is read at the next look too: another
    write in that time may leave the same look.
    """

    def __init__(self, path: str) -> None:
        """Take the path."""
        self._path = path
        self._look: tuple[int, ...] | None = None
        self._digest = ""

    def __call__(self) -> str:
        """Return the value; of a file that is not there another one than of any file."""
        if not is_uri(self._path) and Path(self._path).is_dir():
            return repr(sorted((str(p), *_look(str(p))) for p in Path(self._path).rglob("*")))
        try:
            look = _look(self._path)
        except (OSError, AclkitError):
            self._look = None
            return _GONE
        if look != self._look:
            with open_stream(self._path) as stream:
                digest = hashlib.blake2b(digest_size=16)
                while part := stream.read(_PART):
                    digest.update(part)
                self._digest = digest.hexdigest()
            is_young = abs(time.time_ns() - look[1]) < _YOUNG
            self._look = None if is_young else look
        return self._digest


def _look(path: str) -> tuple[int, ...]:
    if is_uri(path):
        return size_and_time(path)
    found = Path(path).stat()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


class Following:
    """All sources of a watcher, and the files of its options."""

    def __init__(self, intake: Intake, files: Sequence[str] = ()) -> None:
        """Take the sources, as they were looked at, and files that also decide a run."""
        self._let_go = intake.let_go
        self._logs = [LogFollower(s.path) for s in intake.sources if s.kind == METADATA_LOG]
        others = [s for s in intake.sources if s.kind != METADATA_LOG]
        self._others = [
            *(_follower_of(source, intake) for source in others),
            *(ContentFollower(shown(path), FileContent(path)) for path in files),
        ]
        self._all: list[Follower] = [*self._logs, *self._others]

    @property
    def offset(self) -> int | None:
        """Up to which offset a log was looked at; None where no single log is followed."""
        return self._logs[0].offset if len(self._logs) == 1 else None

    def close(self) -> None:
        """Close what stays open between two looks."""
        if self._let_go is not None:
            self._let_go()

    def look(self) -> News | None:
        """Return what is new since the last run that published; None where nothing is.

        Raises:
            AclkitError: a source cannot be read.
        """
        found = [news for each in self._all if (news := each.look()) is not None]
        if len(found) <= 1:
            return next(iter(found), None)
        if all(news.tail is not None for news in found):
            return News(why=found[0].why, tail=tuple(r for n in found for r in n.tail or ()))
        return next(news for news in found if news.tail is None)

    def begin(self, look_at: Callable[[], Intake]) -> Intake:
        """Look at the sources for a run that reads them as a whole: what comes later is new.

        Contents are noted before they are read, and the end of a log is that of the files that
        were listed: a segment that begins meanwhile is new.
        """
        for each in self._others:
            each.begin()
        intake = look_at()
        listed = zip(intake.sources, intake.listings, strict=False)
        found = [log_of(items) for source, items in listed if source.kind == METADATA_LOG]
        for follower, log in zip(self._logs, found, strict=True):
            follower.begin(log)
        return intake

    def end(self, *, is_listed_again: bool = False) -> None:
        """Forget what was found: a run has published it.

        Args:
            is_listed_again: the run read other listings than that of ``begin``, so the places
                that were noted do not count, and the logs are read as a whole once more.
        """
        for log in self._logs if is_listed_again else ():
            log.drop()
        for each in self._all:
            each.end()

    def state(self) -> Mapping[str, object] | None:
        """Return what a later process goes on from; None where it has to read all."""
        log = self._logs[0].state() if len(self._logs) == 1 else None
        return None if log is None else {**log, "files": [each.known for each in self._others]}

    def resume(self, state: Mapping[str, Any]) -> bool:
        """Go on from an earlier process; False where the sources are to be read as a whole."""
        for each in self._others:
            each.begin()
            each.end()
        is_same = state.get("files") == [each.known for each in self._others]
        return is_same and len(self._logs) == 1 and self._logs[0].resume(state)


def _follower_of(source: Source, intake: Intake) -> ContentFollower:
    if source.kind != LIVE:
        return ContentFollower(shown(source.path), FileContent(source.path))

    def ask() -> object:
        if intake.ask_again is None:
            return None
        listing = intake.ask_again()
        told = (listing.told, listing.cluster_id, listing.brokers, listing.metadata_version)
        return frozenset(listing.rows), told

    return ContentFollower("the cluster", ask)


_GONE: Final = "gone"
_YOUNG: Final = 2_000_000_000
_PART: Final = 1 << 20
