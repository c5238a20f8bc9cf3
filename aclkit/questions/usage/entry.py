"""The lines of a log file, as bytes → its entries, each read or with the reason why not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from aclkit.questions.usage.clock import Clock, Span
from aclkit.questions.usage.layout import (
    LAYOUT_NOT_READ,
    Message,
    RawLine,
    find_messages,
    is_companion,
    unwrap,
)
from aclkit.questions.usage.line import Statement, is_before_2_4, read_statement


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """The text of one logger call.

    Attributes:
        position: 1-based number of its first line.
        text: as written; without its end, at most ``LONGEST`` letters.
        span: its time, in UTC; None where it has none.
        statement: its content; None where it cannot be read, or not in one way only.
        problem: why not.
        is_ambiguous: it can be read in more than one way.
        group: number of the first of the lines that it might be one entry with: what follows the
            last of them may still change how all of them are read.
    """

    position: int
    text: str
    span: Span | None = None
    statement: Statement | None = None
    problem: str | None = None
    is_ambiguous: bool = False
    group: int = 0


def read_entries(lines: Iterable[bytes], clock: Clock) -> Iterator[LogEntry]:
    """Read all entries of a file.

    An entry is one line; only where names hold line breaks it is several. A line that begins with
    a time and is cut short continues in the following lines without a time, if that completes it.
    Where both fewer and more lines form an entry, a name holds Kafka's own words before a line
    break, and it is unknown who was meant. The same holds where each of the lines begins with the
    name of a pod or a service. Empty lines are no entries, but may be part of a name.
    """
    return (entry for entry in _entries(lines, clock) if entry.text)


def _entries(lines: Iterable[bytes], clock: Clock) -> Iterator[LogEntry]:
    group: list[_ParsedLine] = []
    for written in unwrap(lines):
        line = _read(written, clock)
        if group and (_begins(line, group[0]) or len(group) == MOST_LINES):
            yield from _put_together(group, clock)
            group = []
        group.append(line)
    yield from _put_together(group, clock)


def read_alone(raw: bytes, clock: Clock) -> LogEntry | None:
    """Read a line of a file for itself; None where it may be the rest of one before it."""
    lines = [_read(written, clock) for written in unwrap([raw])]
    return lines[0].entry if len(lines) == 1 and lines[0].message.begins else None


@dataclass(frozen=True, slots=True)
class _ParsedLine:
    """A line read by itself."""

    written: RawLine
    message: Message
    entry: LogEntry


def _begins(line: _ParsedLine, first: _ParsedLine) -> bool:
    """Whether a line begins an entry and is not the rest of a name of the one that began before.

    Where that earlier line has no time of its own, only the authorizer's first words decide. Where
    a pod's name is in front, a line begins with that name and not with its time.
    """
    if line.message.begins or (line.message.has_time and not first.message.is_bare):
        return True
    return bool(line.message.text) and not first.message.begins


def _put_together(group: list[_ParsedLine], clock: Clock) -> list[LogEntry]:
    """Return the entries of lines of which only the first may have a time."""
    alone = [line.entry for line in group]
    if len(group) < 2:
        return alone
    first = group[0].written.position
    alone = [replace(entry, group=first) for entry in alone]
    if group[0].message.is_json:
        return alone
    if not (alone[0].statement or alone[0].problem == CUT_SHORT):
        return alone
    whole, size, written = alone[0], 1, group[0].written
    for number, line in enumerate(group[1:], start=2):
        written = _behind(written, line.written)
        longer = _read(written, clock).entry
        is_read = longer.statement is not None or longer.is_ambiguous
        if is_read and (longer.is_ambiguous or longer.statement != whole.statement):
            is_sure = whole.problem == CUT_SHORT and group[0].message.is_bare
            whole, size = longer if is_sure else _ambiguous(longer), number
    if len(group) == MOST_LINES and whole.statement and group[0].message.is_bare:
        whole = _ambiguous(whole)
    return [replace(whole, group=first), *alone[size:]]


def _behind(first: RawLine, second: RawLine) -> RawLine:
    raw, line = (part if part.endswith(b"\n") else part + b"\n" for part in (first.raw, first.line))
    return replace(first, raw=raw + second.raw, line=line + second.line)


def _ambiguous(entry: LogEntry) -> LogEntry:
    return replace(entry, statement=None, problem=SEVERAL_WAYS, is_ambiguous=True)


def _read(written: RawLine, clock: Clock) -> _ParsedLine:
    """Read a line by itself."""
    raw, line = written.raw.rstrip(_BREAKS), written.line.rstrip(_BREAKS)
    text = line.decode(errors="replace")
    messages = find_messages(text, written.outer, clock)
    first = messages[0]
    own, statement, problem, is_ambiguous = first, None, None, False
    if "\ufffd" in text and not _is_utf_8(line):
        problem = _other_bytes(line)
    elif len(text) > LONGEST:
        problem = f"longer than {LONGEST:,} letters"
    elif not first.text and is_companion(text):
        raw = b""
    else:
        own, statement, problem, is_ambiguous = _said(messages)
    entry = LogEntry(
        position=written.position,
        text=raw[: 4 * LONGEST].decode(errors="replace")[:LONGEST],
        span=own.span,
        statement=statement,
        problem=problem,
        is_ambiguous=is_ambiguous,
        group=written.position,
    )
    return _ParsedLine(written, first, entry)


def _said(messages: list[Message]) -> tuple[Message, Statement | None, str | None, bool]:
    """Return the statement of a line's messages, if all have the same, and the message read."""
    first = messages[0]
    readings = [read_statement(message.text) for message in messages]
    found = [(own, one) for own, some in zip(messages, readings, strict=True) for one in some]
    if any(len(some) > 1 for some in readings) or any(one != found[0][1] for _, one in found):
        return first, None, SEVERAL_WAYS, True
    if found:
        return *found[0], None, False
    for message in messages:
        if message.problem:
            return message, None, message.problem, False
    is_old = any(is_before_2_4(message.text) for message in messages)
    return first, None, BEFORE_2_4 if is_old else CUT_SHORT, False


def _is_utf_8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _other_bytes(line: bytes) -> str:
    if line.startswith((b"\xff\xfe", b"\xfe\xff")):
        return f"{LAYOUT_NOT_READ}expected UTF-8, found UTF-16, as PowerShell writes it"
    return "expected UTF-8, found other bytes"


LONGEST: Final = 100_000
"""Letters of an entry that are read; Kafka's names are up to 32,767 bytes each."""

MOST_LINES: Final = 16
"""Lines that one entry may have."""

CUT_SHORT: Final = (
    "expected 'Principal = … is Allowed|Denied operation = … from host = … on resource = … for "
    "request = … with resourceRefCount = … based on rule …', found something else"
)
SEVERAL_WAYS: Final = "its names contain Kafka's own words, so it can be read in several ways"
BEFORE_2_4: Final = (
    f"{LAYOUT_NOT_READ}this is the form of Kafka up to 2.3 or of Confluent Server, which does "
    "not show where the name of the resource ends; aclkit reads the logs of Apache Kafka 2.4 "
    "and newer"
)
_BREAKS: Final = b"\r\n"
