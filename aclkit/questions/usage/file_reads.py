"""Log files that begin alike, and what is known of them → rows of ``access_day`` and ``log_file``.

Files that begin alike may be one: a log and its rotated or packed copy. So one follows the other,
and each is read from where the one before ended. All others can be read at the same time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

import pyarrow as pa

from aclkit.errors import GoneError, UsageError
from aclkit.pipeline.plan import Plan
from aclkit.questions.usage.access_days import AccessDays, LogPosition
from aclkit.questions.usage.check import Judge
from aclkit.questions.usage.clock import Clock, parse_zone
from aclkit.questions.usage.coverage import Activities
from aclkit.questions.usage.log_file import (
    KnownFile,
    LogFile,
    SameFile,
    begins_like,
    digest,
    look_at,
    open_at,
    same_file,
    take_all,
)
from aclkit.questions.usage.reading import LogContent, read_log
from aclkit.runtime.read_progress import ReadProgress
from aclkit.runtime.shared_work import in_processes, in_tasks
from aclkit.runtime.uri import shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


Gone = Literal["none", "open", "all"]
"""Which rows of earlier runs a reading takes the place of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChain:
    """Files that begin alike.

    Attributes:
        files: they, each with its number among all files of the run.
        known: the files of earlier runs that one of them may be.
    """

    files: Sequence[tuple[int, LogFile]]
    known: Sequence[KnownFile]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """What was read of a file.

    Attributes:
        known: how far it is read now.
        batches: rows of ``access_day``.
        gone: which rows of earlier runs these take the place of.
        lines: how many lines were judged.
    """

    known: KnownFile
    batches: Sequence[pa.RecordBatch]
    gone: Gone
    lines: int


def chains_of(paths: Sequence[str], known: Sequence[KnownFile]) -> list[FileChain]:
    """Look at files, and put those together that begin alike; empty ones are left out.

    Raises:
        SurroundingsError: one cannot be read.
    """
    together: dict[bytes, list[tuple[int, LogFile]]] = {}
    for number, path in enumerate(paths):
        found = look_at(path)
        if found.head:
            together.setdefault(found.head[:_ALIKE], []).append((number, found))
    return [FileChain(files=found, known=_near(found, known)) for found in together.values()]


def _near(found: Iterable[tuple[int, LogFile]], known: Sequence[KnownFile]) -> list[KnownFile]:
    near = {each.file_id: each for _, file in found for each in begins_like(file, known)}
    return list(near.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFileReader:
    """What all readings share; a task of another machine gets it too.

    Attributes:
        judge: knows the past.
        zone: of times without one.
        cluster_id: the cluster.
        run_number: the run.
        is_anew: known files are read from their beginning.
        board: where to report progress.
        names: path → the broker whose log it is, as the user says.
    """

    judge: Judge
    zone: str
    cluster_id: str
    run_number: int
    is_anew: bool = False
    board: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)

    def read(self, chain: FileChain) -> list[FileRead]:
        """Read files that begin alike, one after the other.

        Raises:
            SurroundingsError: one cannot be read.
        """
        known = {each.file_id: each for each in chain.known}
        found: dict[str, FileRead] = {}
        for number, file in chain.files:
            same = same_file(file, known.values())
            before = None if same is None else same.known
            is_again = same is not None and self._is_again(same, found)
            if same is not None and not (same.has_news or is_again):
                if (named := self._named(file, same.known)) != same.known:
                    found[named.file_id] = FileRead(known=named, batches=(), gone="none", lines=0)
                    known[named.file_id] = named
                continue
            read = self._read(file, number, before, is_again=is_again)
            if not _is_still(file):
                continue  # it was rotated meanwhile: the next run reads it, and what took its place
            earlier = found.get(read.known.file_id)
            found[read.known.file_id] = read if earlier is None else _joined(earlier, read)
            known[read.known.file_id] = read.known
        return list(found.values())

    def _is_again(self, same: SameFile, found: Mapping[str, FileRead]) -> bool:
        """Whether a file is to be read from its beginning."""
        is_wanted = self.is_anew and same.known.file_id not in found
        return not same.is_shorter and (is_wanted or same.known.log_zone != self.zone)

    def _read(
        self, file: LogFile, number: int, before: KnownFile | None, *, is_again: bool
    ) -> FileRead:
        going_on = None if is_again else before
        file_id = self._id_of(file) if before is None else before.file_id
        with closing(ReadProgress(self.board, number)) as told:
            content = self._content(file, file_id, going_on, told)
        if going_on is not None and _has_nothing_new(going_on, content):
            now = replace(self._named(file, going_on), packed=file.packed or going_on.packed)
            return FileRead(known=now, batches=(), gone="none", lines=0)
        source = shown(file.path) if before is None else before.source
        gone: Gone = "none" if before is None else "all" if is_again else "open"
        now = self._named(file, _known(file, content, file_id, source, self.zone, going_on))
        if before is not None and now.broker is None:
            now = replace(now, broker=before.broker)
        return FileRead(known=now, batches=content.batches, gone=gone, lines=content.lines)

    def _named(self, file: LogFile, known: KnownFile) -> KnownFile:
        """Give a file the name of its broker, if the user names it."""
        return replace(known, broker=self.names.get(file.path, known.broker))

    def _content(
        self, file: LogFile, file_id: str, known: KnownFile | None, told: ReadProgress
    ) -> LogContent:
        """Read a file, from where it was read to."""
        clock = Clock(parse_zone(self.zone))
        days = AccessDays(
            cluster_id=self.cluster_id, file_id=file_id, run_number=self.run_number, is_open=False
        )
        if known is None:
            with open_at(file, 0, told) as stream:
                return read_log(stream, self.judge, clock, days, told=told)
        with open_at(file, known.read_bytes - known.tail_bytes, told) as stream:
            begin = LogPosition(
                known.read_bytes, known.read_lines, take_all(stream, known.tail_bytes)
            )
            activities = _activities(known)
            return read_log(
                stream, self.judge, clock, days, begin=begin, activities=activities, told=told
            )

    def _id_of(self, file: LogFile) -> str:
        name = f"{self.cluster_id} {self.run_number} {file.path} {digest(file.head)}"
        return digest(name.encode())[:_ID]


def _activities(known: KnownFile) -> Activities:
    return Activities(
        zip(known.spoke_from, known.spoke_to, strict=True),
        zip(known.allowed_from or (), known.allowed_to or (), strict=True),
        zip(known.beat_from or (), known.beat_to or (), strict=True),
    )


def _known(
    file: LogFile,
    content: LogContent,
    file_id: str,
    source: str,
    zone: str,
    going_on: KnownFile | None,
) -> KnownFile:
    end, activities = content.end, content.activities
    # An older aclkit did not note the kinds of the lines before.
    has_kinds = going_on is None or going_on.allowed_from is not None
    allowed, beats = activities.allowed, activities.beats
    is_whole = not (content.is_waiting or content.is_damaged)
    return KnownFile(
        file_id=file_id,
        source=source,
        log_zone=zone,
        head_bytes=len(file.head),
        head_digest=digest(file.head),
        read_bytes=end.at,
        read_lines=end.lines,
        tail_bytes=len(end.tail),
        tail_digest=digest(end.tail),
        seen_bytes=content.seen_bytes,
        is_waiting=content.is_waiting,
        packed=file.packed if is_whole else None,
        spoke_from=activities.spoke.starts,
        spoke_to=activities.spoke.ends,
        allowed_from=allowed.starts if has_kinds else None,
        allowed_to=allowed.ends if has_kinds else None,
        beat_from=beats.starts if has_kinds else None,
        beat_to=beats.ends if has_kinds else None,
    )


def _is_still(file: LogFile) -> bool:
    """Whether a path still leads to the file that was looked at."""
    try:
        return look_at(file.path).head.startswith(file.head)
    except (UsageError, GoneError):
        return False


def _has_nothing_new(known: KnownFile, content: LogContent) -> bool:
    """Whether a file turned out to be as it was; of a gzipped one only its end shows that."""
    is_same = content.seen_bytes == known.seen_bytes
    return is_same and not (known.is_waiting or content.is_damaged)


def _joined(earlier: FileRead, later: FileRead) -> FileRead:
    """Return two readings of a file in one run, the second of which went on from the first."""
    if later.gone == "none":  # it turned out to be the same
        return replace(earlier, known=later.known)
    if later.gone == "all":
        return replace(later, gone=earlier.gone if earlier.gone != "open" else "all")
    stays = [batch for batch in earlier.batches if not batch.column("is_open")[0].as_py()]
    lines = later.lines + sum(sum(batch.column("lines").to_pylist()) for batch in stays)
    return replace(later, batches=[*stays, *later.batches], gone=earlier.gone, lines=lines)


_ALIKE: Final = 64
_ID: Final = 16


def read_all(
    work: LogFileReader,
    chains: Sequence[FileChain],
    plan: Plan,
    start_spark: Callable[[], SparkSession],
) -> Iterator[FileRead]:
    """Read files where a plan has them read; Spark starts for its own alone.

    Raises:
        SurroundingsError: a file cannot be read, or a process was killed.
    """
    if plan.engine == "here" or not chains:
        yield from itertools.chain.from_iterable(map(work.read, chains))
    elif plan.engine == "spark":
        # One task for files that begin alike.
        yield from itertools.chain.from_iterable(
            in_tasks(start_spark(), work, LogFileReader.read)(chains)
        )
    else:
        doing = "reads the authorizer log"
        with in_processes(work, LogFileReader.read, plan.workers, doing) as read:
            yield from itertools.chain.from_iterable(read(chains))
