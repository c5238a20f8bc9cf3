"""Files of the controllers' authorizer log → the requests that change ACLs, and what is covered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from aclkit.kafka.authorizer.audit import PRINCIPAL_IS
from aclkit.questions.by_whom.match import CHANGE_OF, PAUSE, ControllerLog, Sent
from aclkit.questions.usage.clock import Clock, Span, parse_zone
from aclkit.questions.usage.coverage import HEARTBEAT
from aclkit.questions.usage.entry import LONGEST, LogEntry, read_entries
from aclkit.questions.usage.line import Statement
from aclkit.questions.usage.log_file import DamagedLogError, read_lines
from aclkit.rules.decide.rules import ALLOWED
from aclkit.runtime.uri import shown


def read_controller_log(paths: Sequence[str], zone: str) -> ControllerLog:
    """Read the files of all controllers; in which order they stand does not matter.

    Args:
        paths: the files, plain or gzipped, rotated ones too; see ``find_log_files``.
        zone: for times without one; see ``parse_zone``.

    Raises:
        UsageError: the zone is invalid.
        SurroundingsError: a file cannot be read.
    """
    clock = Clock(parse_zone(zone))
    found = _Found()
    for path in paths:
        found.read(shown(path), read_entries(_wanted(path), clock))
    return ControllerLog(
        requests=found.requests,
        heartbeats=sorted(set(found.heartbeats)),
        doubts=found.doubts,
        files=len(paths),
    )


@dataclass(slots=True)
class _Found:
    """What has been read so far."""

    requests: list[Sent] = field(default_factory=list)
    heartbeats: list[int] = field(default_factory=list)
    doubts: list[tuple[int, int]] = field(default_factory=list)

    def read(self, source: str, entries: Iterable[LogEntry]) -> None:
        """Take the entries of a file over.

        A line that was not read may have no time, or be joined with the one before it. It was
        written before the next line with a time, or, at the end of a file, soon after the last.

        Where a file begins or ends lines can be lost, and be it for less time than heartbeats
        take: logrotate's copytruncate loses what is written between its two steps.
        """
        last, since = _BEGINNING, None
        ends: tuple[Span | None, Span | None] = None, None
        for entry in entries:
            if entry.span is not None:
                if since is not None:
                    self.doubts.append((since, entry.span[1]))
                since, last = None, entry.span[0]
                ends = ends[0] or entry.span, entry.span
            if entry.statement is not None and entry.span is not None:
                self._take(source, entry.statement, entry.span)
            elif _may_change_acls(entry) and since is None:
                since = last
        if since is not None:
            self.doubts.append((since, _END if last == _BEGINNING else last + PAUSE))
        self.doubts += (span for span in ends if span is not None)

    def _take(self, source: str, statement: Statement, span: tuple[int, int]) -> None:
        name = statement.request_name
        if statement.decision != ALLOWED:
            return
        if name == HEARTBEAT and span[0] == span[1]:
            self.heartbeats.append(span[0])
        elif name in CHANGE_OF and statement.request.operation == _ALTER:
            self.requests.append(
                Sent(
                    first=span[0],
                    last=span[1],
                    change=CHANGE_OF[name],
                    principal=statement.request.principal,
                    host=statement.request.host,
                    source=source,
                )
            )


def _may_change_acls(entry: LogEntry) -> bool:
    """Whether an entry that was not read, or has no time, may be a request to change ACLs."""
    if entry.statement is not None:
        return entry.statement.request_name in CHANGE_OF
    is_cut = len(entry.text) >= LONGEST
    return is_cut or entry.is_ambiguous or any(name in entry.text for name in CHANGE_OF)


def _wanted(path: str) -> Iterator[bytes]:
    """Yield the lines of a file, except whole lines about requests that do not matter here.

    If the rest of a gzipped file cannot be read, its heartbeats end.
    """
    lines = read_lines(path)
    try:
        for line in lines:
            if _PRINCIPAL not in line or any(name in line for name in _NAMES):
                yield line
    except DamagedLogError:
        return


_ALTER: Final = "ALTER"
_PRINCIPAL: Final = PRINCIPAL_IS.encode()
_NAMES: Final = tuple(name.encode() for name in (*CHANGE_OF, HEARTBEAT))
_BEGINNING: Final = -(1 << 62)
_END: Final = 1 << 62
