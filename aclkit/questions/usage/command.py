"""A run and log files → ``access_day``, ``acl_usage``, findings, and the result to print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from itertools import chain
from string import Template
from typing import Any, Final

import pyarrow as pa

from aclkit.errors import DataError, UsageError
from aclkit.model.findings import AUTHORIZER_LOG_MISMATCH, Finding
from aclkit.model.phrases import number_of
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, Semantics
from aclkit.pipeline.plan import DecideWith, plan_reading
from aclkit.pipeline.replay.known_tables import KnownTables
from aclkit.questions.denials.answer import LEAST_LINES, find_refused
from aclkit.questions.denials.read import ACCESS_DAY, denials_of_run
from aclkit.questions.query.as_of import note_on_settings
from aclkit.questions.usage.check import MISMATCH, UNDETERMINED, UNREADABLE, Judge
from aclkit.questions.usage.clock import to_micros
from aclkit.questions.usage.coverage import Coverage, describe
from aclkit.questions.usage.file_reads import FileRead, LogFileReader, chains_of, read_all
from aclkit.questions.usage.lines import (
    Disagreement,
    count_verdicts,
    coverage_of,
    disagreements,
    first_unreadable,
    grants_of,
    worst_lines,
)
from aclkit.questions.usage.log_file import KNOWN_COLUMNS, LOG_FILE, KnownFile, known_row
from aclkit.questions.usage.past import PAST_TABLES, ClusterPast, note_on_ranges, past_of
from aclkit.questions.usage.read_use import LogOptions, read_judgeable
from aclkit.questions.usage.use import Grant, find_unused
from aclkit.questions.usage.whole_log import Judgeable
from aclkit.runtime.progress import step
from aclkit.runtime.read_progress import followed
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.job_run import MATERIALIZING, REPLAYING, PublishedRun
from aclkit.warehouse.reader import Reader, read_written
from aclkit.warehouse.run import Run
from aclkit.warehouse.store import Store

ACL_USAGE: Final = "acl_usage"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesRead:
    """What was read of files.

    Attributes:
        lines: how many lines were judged.
        is_first: of all files it is the first reading.
    """

    lines: int
    is_first: bool


@dataclass(frozen=True, slots=True)
class UsageTables:
    """The tables of one cluster."""

    store: Store
    cluster_id: str

    def read_past(self, head: int, semantics: Semantics) -> ClusterPast:
        """Read the past up to a head, as ACLs are read.

        Raises:
            UsageError: no table has the values of super.users and allow.everyone.
        """
        ranges = KnownTables(self.store, self.cluster_id).ranges()
        runs = [(run.run_number, run.started_at) for run in self.store.runs]
        newest = runs[-1] if runs else (0, None)
        with self._open(*PAST_TABLES) as read:
            past = past_of(
                ranges,
                read,
                head=head,
                newest=newest,
                deciding=self._deciding_runs,
                semantics=semantics,
            )
        if past is None:
            raise UsageError(
                f"The super.users and allow.everyone of cluster {self.cluster_id!r} are not "
                f"known yet. Next: aclkit --warehouse {self.store.place} materialize "
                "--super-users … (or --server-properties FILE)"
            )
        return past

    def _deciding_runs(self) -> list[tuple[int, datetime]]:
        """Return number and beginning of each run that saw the settings of the brokers."""
        return [
            (run.run_number, run.started_at)
            for run in self.store.all_runs()
            if run.cluster_id == self.cluster_id and run.job in MATERIALIZING and run.started_at
        ]

    def known_files(self) -> list[KnownFile]:
        """Read which log files are known, and how far each is read."""
        with self._open(LOG_FILE) as read:
            rows = read.rows(_KNOWN)
        return [KnownFile(**dict(zip(KNOWN_COLUMNS, row, strict=True))) for row in rows]

    def write(self, reads: Iterable[FileRead], run_number: int) -> FilesRead:
        """Write what is read of files, batch by batch."""
        done: list[FileRead] = []
        batches = _batches(reads, done)
        first = next(batches, None)
        if first is not None:
            rows = pa.RecordBatchReader.from_batches(
                arrow_schema(ACCESS_DAY), chain([first], batches)
            )
            self.store.append(ACCESS_DAY, rows)
        self._remove_replaced(done, run_number)
        if done:
            now = {each.known.file_id: each.known for each in done}
            stay = (each for each in self.known_files() if each.file_id not in now)
            self._write_files([*stay, *now.values()])
        return FilesRead(
            lines=sum(each.lines for each in done), is_first=all(e.gone == "none" for e in done)
        )

    def _remove_replaced(self, reads: Sequence[FileRead], run_number: int) -> None:
        """Remove the rows of earlier runs whose lines were read again."""
        for which, more in (("open", " AND is_open"), ("all", "")):
            ids = sorted(each.known.file_id for each in reads if each.gone == which)
            if ids:
                named = ", ".join(f"'{each}'" for each in ids)
                self.store.remove(
                    ACCESS_DAY,
                    f"cluster_id = '{self.cluster_id}' AND run_number <> {run_number} "
                    f"AND file_id IN ({named}){more}",
                )

    def _write_files(self, known: Iterable[KnownFile]) -> None:
        rows = [known_row(self.cluster_id, each) for each in known]
        self.store.replace(LOG_FILE, rows, self.cluster_id)

    def lines(self) -> AbstractContextManager[Reader]:
        """Open what was read of logs, by this run too."""
        return self._open(ACCESS_DAY, LOG_FILE, "broker")

    def write_usage(self, grants: Iterable[Grant]) -> None:
        """Replace the verdicts on the grants."""
        own = [field.name for field in fields(Grant) if field.name != "acl"]
        rows = [
            (self.cluster_id, g.acl.acl_id, *g.acl.binding, *(getattr(g, name) for name in own))
            for g in grants
        ]
        self.store.replace(ACL_USAGE, rows, self.cluster_id)

    def _open(self, *tables: str) -> AbstractContextManager[Reader]:
        return read_written(self.store, self.cluster_id, *tables)


_KNOWN: Final = Template("SELECT $columns FROM log_file ORDER BY file_id").substitute(
    columns=", ".join(KNOWN_COLUMNS)
)


def _batches(reads: Iterable[FileRead], done: list[FileRead]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of files, and note what else is known of each."""
    for read in reads:
        yield from read.batches
        done.append(FileRead(known=read.known, batches=(), gone=read.gone, lines=read.lines))


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageOptions:
    """The options of the user.

    Attributes:
        paths: the files to read.
        others: files of named directories that are other logs.
        zone: for times without one; see ``parse_zone``.
        skew: how long brokers may take to learn of a change.
        log: what the log must have before it shows what is unused.
        names: path → the broker whose log it is, as the user says.
        decide_with: where the files are read, see ``plan_reading``.
        is_anew: files that are known are read from their beginning.
        refused_lines: an access that is refused in so many lines is a finding.
    """

    paths: Sequence[str]
    others: Sequence[str]
    zone: str
    skew: timedelta
    log: LogOptions
    names: Mapping[str, str] = field(default_factory=dict)
    decide_with: DecideWith = "auto"
    is_anew: bool = False
    refused_lines: int = LEAST_LINES


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageResult:
    """What came out.

    Attributes:
        counts: verdict → lines that this run read.
        examples: verdict → the first lines alike of it, of the verdicts that ask for a look.
        coverage: of all lines of the cluster that were ever read.
        log: what they can show.
        grants: every grant alive.
    """

    counts: Mapping[str, int]
    examples: Mapping[str, Sequence[Mapping[str, Any]]]
    coverage: Coverage
    log: Judgeable
    grants: Sequence[Grant]

    @property
    def lines(self) -> int:
        """How many lines this run read."""
        return sum(self.counts.values())


def check_usage(run: Run, options: UsageOptions) -> UsageResult:
    """Read the log, check each line, and find the grants that are used; the caller publishes.

    Raises:
        UsageError: no run has recorded super.users and allow.everyone.
        DataError: none of the lines can be read.
    """
    tables = UsageTables(run.store, run.cluster_id)
    decided = run.previous(MATERIALIZING)
    past = tables.read_past(run.head_offset, _as_brokers_read(decided))
    reading = run.previous(REPLAYING)
    past = _known_until(past, reading)
    written = _read_files(run, tables, past, options)
    with tables.lines() as read, step("Looking for unused grants"):
        counts = count_verdicts(read, run.run_number)
        if written.is_first:
            _require_readable(read, run.run_number, counts)
        # Use is asked of all lines, those of earlier runs too.
        coverage = coverage_of(read)
        started = reading.started_at if reading else None
        read_at = started.replace(tzinfo=None) if started else None
        log = read_judgeable(read.connection, run.cluster_id, options.log, read_at)
        grants = grants_of(read, past, log)
        result = _result_of(read, run.run_number, counts, coverage, log, grants)
        found = disagreements(read, log.window_from, MOST_FINDINGS)
    tables.write_usage(grants)
    run.findings += map(_mismatch, found)
    run.findings += find_unused(grants, log)
    if decided is not None:
        replayed = run.previous(REPLAYING)
        told = None if replayed is None else replayed.settings.told
        refused = denials_of_run(run.store, decided, told.unread if told else ())
        run.findings += find_refused(refused, options.refused_lines)
    run.counts |= {f"lines_{verdict}": count for verdict, count in result.counts.items()}
    run.notes += _notes(past, coverage, log, options)
    if not written.lines:
        run.notes.append(_NOTHING_NEW)
    return result


def _read_files(
    run: Run, tables: UsageTables, past: ClusterPast, options: UsageOptions
) -> FilesRead:
    """Read what is new of the files into ``access_day``."""
    with step(f"Looking at {number_of(len(options.paths), 'file')}"):
        chains = chains_of(options.paths, tables.known_files())
    sizes = {number: file.stored for chain in chains for number, file in chain.files}
    with (
        step(f"Reading {number_of(len(options.paths), 'file')} and checking the lines"),
        followed(sizes.get(number) for number in range(len(options.paths))) as board,
    ):
        work = LogFileReader(
            judge=Judge(past, round(options.skew.total_seconds() * 1_000_000)),
            zone=options.zone,
            cluster_id=run.cluster_id,
            run_number=run.run_number,
            is_anew=options.is_anew,
            names=options.names,
            board=board,
        )
        unpacked = [sum(file.unpacked for _, file in chain.files) for chain in chains]
        plan = plan_reading(options.decide_with, unpacked)
        reads = read_all(work, chains, plan, lambda: run.store.spark)
        return tables.write(reads, run.run_number)


def _as_brokers_read(decided: PublishedRun | None) -> Semantics:
    """Return Kafka's reading, with the ranges and the authorizer of the decisions."""
    told = (decided and decided.settings.semantics) or KAFKA
    return replace(KAFKA, cidr_hosts=told.cidr_hosts, authorizer=told.authorizer)


def _require_readable(read: Reader, run_number: int, counts: Mapping[str, int]) -> None:
    """Refuse a log of which no line can be read, with the reason of the first."""
    if not counts[UNREADABLE] or counts[UNREADABLE] < sum(counts.values()):
        return
    source, position, reason = first_unreadable(read, run_number)
    raise DataError(
        f"No line of the authorizer log could be read, so nothing was written. {source}, line "
        f"{position}: {reason}"
    )


def _known_until(past: ClusterPast, reading: PublishedRun | None) -> ClusterPast:
    """Note when the run began that read the sources: the state of later times is not known."""
    if reading is None or reading.started_at is None:
        return past
    return replace(past, read_at=to_micros(reading.started_at))


def _result_of(
    read: Reader,
    run_number: int,
    counts: Mapping[str, int],
    coverage: Coverage,
    log: Judgeable,
    grants: Sequence[Grant],
) -> UsageResult:
    asking = (MISMATCH, UNDETERMINED, UNREADABLE)
    return UsageResult(
        counts=counts,
        examples={each: worst_lines(read, run_number, each, MOST_EXAMPLES) for each in asking},
        coverage=coverage,
        log=log,
        grants=grants,
    )


def _mismatch(found: Disagreement) -> Finding:
    """Return the finding that brokers decided against their ACLs."""
    principal, host, operation, resource_type, name = found.request
    resource = Resource(resource_type, name)
    said = f"{found.decision} by {found.rule}" if found.rule else found.decision
    return AUTHORIZER_LOG_MISMATCH.about(
        f"{principal} {operation} {resource} from {host}: {said}; {found.reason}",
        f"A broker decided differently than the ACLs imply: {operation} on {resource} by "
        f"{principal} from {host} was {said} ({found.reason}). The authorizer log has "
        f"{number_of(found.lines, 'such line')}, the first at "
        f"{found.first.isoformat(timespec='seconds')}Z ({found.source}:{found.position}).",
    )


def _notes(
    past: ClusterPast, coverage: Coverage, log: Judgeable, options: UsageOptions
) -> Iterator[str]:
    """Yield what a reader of the result must know."""
    yield describe(coverage)
    yield from use_notes(log)
    on_ranges = note_on_ranges(past)
    if on_ranges:
        yield on_ranges
    since = past.timeline.settings[0].since
    note = note_on_settings(past.timeline)
    if note and since is not None and coverage.first is not None and coverage.first < since:
        yield note
    if options.others:
        yield (
            "Not read, because they do not begin with lines of an authorizer: "
            f"{_some(options.others)}."
        )


def use_notes(log: Judgeable) -> Iterator[str]:
    """Yield why nothing, or not everything, can be called unused, with what to do next."""
    if log.missing:
        yield "No grant counts as unused, because the log does not show all use."
    for each in log.missing:
        yield f"{each.words} Next: {each.next}"
    if log.controllers is not None and not log.missing:
        yield (
            f"{log.controllers.words} What only controllers check is not called unused. Next: "
            f"{log.controllers.next}"
        )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


MOST_FINDINGS: Final = 1_000
"""Mismatches, those alike together, that become findings; the table holds all."""

MOST_EXAMPLES: Final = 100
"""At most this many lines of a verdict are listed; the table holds all."""

_NOTHING_NEW: Final = "These files have no lines that were not read before."
_MOST_NAMES: Final = 5
