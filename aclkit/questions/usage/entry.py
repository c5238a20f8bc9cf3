"""The lines of a log file, as bytes → its entries, each read or with the reason why not."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from aclkit.kafka.authorizer.audit import LOGGER, PRINCIPAL_IS
from aclkit.questions.usage.clock import Clock, Span
from aclkit.questions.usage.line import Statement, read_statement


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """What a logger wrote at once.

    Attributes:
        position: 1-based number of its first line.
        line_id: hash of the text, and of which it is of the equal ones that follow each other;
            the same entry has the same one under another file name and compressed.
        text: as written; without its end, at most ``LONGEST`` letters.
        span: when, in UTC; None where it does not say.
        statement: what it says; None where it cannot be read, or not in one way only.
        problem: why not.
        is_ambiguous: it can be read in more than one way.
    """

    position: int
    line_id: str
    text: str
    span: Span | None = None
    statement: Statement | None = None
    problem: str | None = None
    is_ambiguous: bool = False


def read_entries(lines: Iterable[bytes], clock: Clock) -> Iterator[LogEntry]:
    """Read all entries of a file.

    An entry is a line; only where names hold line breaks it is several: a line that begins with
    a time and is cut short goes on in those behind it that have no time, if that makes it whole.
    Where fewer lines can be read as well as more, a name holds Kafka's own words in front of a
    line break, and it is not known who was meant. Empty lines are none, but in a name.
    """
    naming = _Naming()
    group: list[_RawLine] = []
    for position, raw in enumerate(lines, start=1):
        entry = read_entry(raw.rstrip(_BREAKS), position, clock)
        if group and (entry.span is not None or len(group) == MOST_LINES):
            yield from naming.names(_put_together(group, clock))
            group = []
        group.append(_RawLine(entry, raw if raw.endswith(b"\n") else raw + b"\n"))
    yield from naming.names(_put_together(group, clock))


@dataclass(frozen=True, slots=True)
class _RawLine:
    """A line read by itself, and its bytes with their end."""

    entry: LogEntry
    raw: bytes


def _put_together(group: list[_RawLine], clock: Clock) -> list[LogEntry]:
    """Return the entries of lines of which only the first may have a time."""
    alone = [line.entry for line in group]
    if len(group) < 2 or not (alone[0].statement or alone[0].problem == CUT_SHORT):
        return alone
    whole, size, raw = alone[0], 1, group[0].raw
    for number, line in enumerate(group[1:], start=2):
        raw += line.raw
        longer = read_entry(raw.rstrip(_BREAKS), whole.position, clock)
        is_read = longer.statement is not None or longer.is_ambiguous
        if is_read and (longer.is_ambiguous or longer.statement != whole.statement):
            is_first = whole.problem == CUT_SHORT
            whole, size = longer if is_first else _ambiguous(longer), number
    if len(group) == MOST_LINES and whole.statement:
        whole = _ambiguous(whole)
    return [whole, *alone[size:]]


def _ambiguous(entry: LogEntry) -> LogEntry:
    problem = "names in it hold Kafka's own words, so that it can be read in several ways"
    return replace(entry, statement=None, problem=problem, is_ambiguous=True)


def read_entry(line: bytes, position: int, clock: Clock) -> LogEntry:
    """Read the bytes of one entry; its ``line_id`` is that of the text alone."""
    digest = hashlib.sha256(line).hexdigest()[:_ID]
    try:
        text = line.decode()
    except UnicodeDecodeError:
        shown = line[:LONGEST].decode(errors="replace")
        problem = "expected UTF-8, found other bytes"
        span = clock.read(shown)
        return LogEntry(position=position, line_id=digest, text=shown, span=span, problem=problem)
    entry = LogEntry(position=position, line_id=digest, text=text[:LONGEST])
    span = clock.read(text.removeprefix("\ufeff"))
    if len(text) > LONGEST:
        return replace(entry, span=span, problem=f"longer than {LONGEST:,} letters")
    if span is None:
        return replace(entry, problem=_no_time(text))
    at = text.find(PRINCIPAL_IS)
    if at < 0:
        problem = f"expected a line of {LOGGER}, found no {PRINCIPAL_IS.strip()!r}"
        return replace(entry, span=span, problem=problem)
    readings = read_statement(text[at:])
    if not readings:
        return replace(entry, span=span, problem=CUT_SHORT)
    if len(readings) > 1:
        return _ambiguous(replace(entry, span=span))
    return replace(entry, span=span, statement=readings[0])


class _Naming:
    """Tells equal entries of one time apart, so that each of them counts."""

    def __init__(self) -> None:
        self._span: Span | None = None
        self._seen: dict[str, int] = {}

    def names(self, entries: Iterable[LogEntry]) -> Iterator[LogEntry]:
        """Name all but empty lines."""
        return (self.name(entry) for entry in entries if entry.text)

    def name(self, entry: LogEntry) -> LogEntry:
        """Give an entry the number that it has among the equal ones of its time."""
        if entry.span != self._span or len(self._seen) > _MOST_SEEN:
            self._span, self._seen = entry.span, {}
        number = self._seen.get(entry.line_id, 0)
        self._seen[entry.line_id] = number + 1
        return replace(entry, line_id=f"{entry.line_id}-{number}") if number else entry


def _no_time(text: str) -> str:
    if text.lstrip().startswith("{"):
        return "expected the text of a pattern layout, found JSON"
    return "expected a date and time at its beginning, found none"


LONGEST: Final = 100_000
"""Letters of an entry that are read; Kafka's names are up to 32,767 bytes each."""

MOST_LINES: Final = 16
"""Lines that one entry may have."""

CUT_SHORT: Final = (
    "expected 'Principal = … is Allowed|Denied operation = … from host = … on resource = … for "
    "request = … with resourceRefCount = … based on rule …', found something else"
)
_BREAKS: Final = b"\r\n"
_ID: Final = 32
_MOST_SEEN: Final = 1_000_000
