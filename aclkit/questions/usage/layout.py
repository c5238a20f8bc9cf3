"""A line in the layout of loggers and tools → the authorizer's message in it, and its time.

A pattern layout, or a tool that forwards lines, may put anything before the message: the name of a
pod, a viewer's time, a level, a thread. The broker's own time is the last one before the message.
In JSON, the string that holds the message counts, under any key. Its time is the one in the string,
else one in another field. For any other layout the problem names it and what to do.

Container runtimes and loggers split and wrap lines; that is undone first, see ``unwrap``: CRI
(containerd, CRI-O) puts a time, the stream and a flag in front of each piece of a line, docker's
json-file makes an object of it, and java.util.logging writes an entry on two lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from aclkit.kafka.authorizer.audit import LOGGER, PRINCIPAL_IS
from aclkit.questions.usage.clock import Clock, Moment, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class RawLine:
    """A line that was written at once.

    Attributes:
        position: 1-based number of the line of the file on which it begins.
        raw: the bytes of the file, with their end.
        line: the bytes that were written, with their end.
        outer: the time that the container runtime gave it; empty where none did.
    """

    position: int
    raw: bytes
    line: bytes
    outer: str = ""


def unwrap(lines: Iterable[bytes]) -> Iterator[RawLine]:
    r"""Take lines out of their envelopes, and join the pieces of one.

    >>> cut = [b"2026-11-20T10:00:00Z stdout P [a]\n", b"2026-11-20T10:00:00Z stdout F b\n"]
    >>> [line.line for line in unwrap(cut)]
    [b'[a]b\n']
    """
    return _with_headers(_joined(lines))


def is_piece(raw: bytes) -> bool:
    """Whether a line of a file is a piece of one that was written, and more of it follows."""
    written = RawLine(position=1, raw=raw, line=raw)
    piece = _cri(written) or _json_file(written)
    return piece is not None and not piece[1]


def _joined(lines: Iterable[bytes]) -> Iterator[RawLine]:
    """Join pieces, of each stream its own."""
    begun: dict[str, RawLine] = {}
    for position, raw in enumerate(lines, start=1):
        written = RawLine(position=position, raw=raw, line=raw)
        piece = _cri(written) or _json_file(written)
        if piece is None:
            yield from begun.values()
            begun.clear()
            yield written
            continue
        stream, is_whole, found = piece
        if before := begun.pop(stream, None):
            found = replace(before, raw=before.raw + raw, line=before.line + found.line)
        if is_whole or len(found.raw) > _LONGEST:
            yield found
        else:
            begun[stream] = found
    yield from begun.values()


def _cri(written: RawLine) -> tuple[str, bool, RawLine] | None:
    """Read a line of CRI: its stream, whether the line ends with it, and what was written."""
    head = _CRI.match(written.raw)
    if head is None:
        return None
    time, stream, flag = (part.decode() for part in head.groups())
    line = written.raw[head.end() :]
    if flag == "P":
        line = line.rstrip(b"\r\n")
    return stream, flag == "F", replace(written, line=line, outer=time)


def _json_file(written: RawLine) -> tuple[str, bool, RawLine] | None:
    """Read a line of docker's json-file in the same way."""
    if not written.raw.startswith(_JSON_FILE):
        return None
    try:
        found = json.loads(written.raw)
        if not found.keys() <= _JSON_FILE_KEYS:
            return None
        line = found["log"].encode()
        time, stream = found["time"], found.get("stream", "")
    except (ValueError, KeyError, AttributeError, RecursionError):
        return None
    if not (isinstance(time, str) and isinstance(stream, str)):
        return None
    return stream, line.endswith(b"\n"), replace(written, line=line, outer=time)


def _with_headers(lines: Iterable[RawLine]) -> Iterator[RawLine]:
    """Join java.util.logging's two lines: time and class, then level and message."""
    header: RawLine | None = None
    for line in lines:
        if header is not None and _JUL_MESSAGE.search(line.line):
            yield replace(header, raw=header.raw + line.raw, line=header.line + line.line)
            header = None
            continue
        if header is not None:
            yield header
        is_header = b"M " in line.line and _PRINCIPAL not in line.line
        header = line if is_header and _JUL_HEADER.search(line.line) else None
        if header is None:
            yield line
    if header is not None:
        yield header


_LONGEST: Final = 800_000
_CRI: Final = re.compile(
    rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) (stdout|stderr) ([FP])"
    rb"(?::\S{1,80})? "
)
_JSON_FILE: Final = b'{"log":"'
_JSON_FILE_KEYS: Final = {"log", "stream", "time", "attrs"}
_PRINCIPAL: Final = PRINCIPAL_IS.encode()
_JUL_HEADER: Final = re.compile(
    rb"(?<!\w)[A-Z][a-z]{2} \d\d?, \d{4},? \d\d?:\d\d:\d\d(?: |\xc2\xa0|\xe2\x80\xaf)[AP]M"
    rb" [\w.$]{1,200} [\w$<>]{1,200}\r?\n$"
)
_JUL_MESSAGE: Final = re.compile(
    rb"(?:^|[ |])(?:SEVERE|WARNING|INFO|CONFIG|FINE(?:R|ST)?): Principal = "
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What the authorizer wrote on a line, or why there is nothing to read.

    Attributes:
        text: from ``Principal = `` on; empty where there is a problem.
        span: its time; None where it is unknown.
        problem: why the line cannot be read; None where it can.
        begins: the line has a time of its own, so it is not the rest of a name of another line.
        is_bare: nothing is before that time, so lines without one may be the rest of a name of
            this line; if a pod's name were in front, these lines would have it too.
        is_json: it is JSON, in which no name has a line break.
        has_time: it has a time somewhere, for example after a pod's name.
    """

    text: str = ""
    span: Span | None = None
    problem: str | None = None
    begins: bool = False
    is_bare: bool = False
    is_json: bool = False
    has_time: bool = False


def find_messages(text: str, outer: str, clock: Clock) -> list[Message]:
    """Return the messages of a line: one, or of JSON each string that holds one.

    Args:
        text: the line, without its end.
        outer: the time that a container runtime gave it, or nothing.
        clock: reads the times.
    """
    text = text.removeprefix("\ufeff")
    around = clock.read(outer)
    found = _of_json(text, around, clock, 0)
    return [_of_text(text, around, clock)] if found is None else found


def is_companion(text: str) -> bool:
    """Whether ZooKeeper's AclAuthorizer writes such a line in addition to that of a decision."""
    return PRINCIPAL_IS not in text and any(
        all(word in text for word in words) for words in _COMPANIONS
    )


def _of_text(text: str, outer: Span | None, clock: Clock) -> Message:
    """Read a line that a pattern laid out."""
    at = text.find(PRINCIPAL_IS)
    if at < 0:
        own = clock.read(text)
        problem = f"expected a line of {LOGGER}, found no {PRINCIPAL_IS.strip()!r}"
        return Message(
            span=own or outer,
            problem=problem,
            begins=own is not None,
            has_time=clock.last(text[:_LOOKED_AT]) != Moment(),
        )
    before, message = text[:at], text[at:]
    if _ESCAPE in text:
        before, message = _COLOUR.sub("", before), _COLOURED_END.sub("", message)
    moment = clock.last(before)
    span = moment.span or outer
    found = _problem_of(before, message, moment, span)
    return Message(
        text="" if found else message,
        span=span,
        problem=found and f"{LAYOUT_NOT_READ}{found}",
        begins=moment != Moment(),
        is_bare=moment.is_first,
    )


def _problem_of(before: str, message: str, moment: Moment, span: Span | None) -> str | None:
    """Return why a message cannot be read as it stands, and what to do."""
    if before.lstrip().startswith("{"):
        return "found JSON that is cut or on several lines; write one object per line"
    if before.endswith(('"', "'")):
        return (
            "found the message in quotation marks, as in CSV and logfmt; pass the lines as "
            "the broker wrote them, or JSON with one object per line"
        )
    if _ESCAPE in message and _COLOUR.search(message):
        return "found the colours of a terminal in the message; pass --color=never to grep"
    if span is None:
        return moment.problem or (
            f"found no date and time before {PRINCIPAL_IS.strip()!r}; add %d to the broker's log4j "
            "pattern, or pass --timestamps to docker logs or kubectl logs"
        )
    return None


def _of_json(text: str, outer: Span | None, clock: Clock, depth: int) -> list[Message] | None:
    """Read JSON, with what a tool put in front; None where the line is none."""
    start = text.find("{")
    if start < 0 or not text.rstrip().endswith("}") or PRINCIPAL_IS in text[:start]:
        return None
    try:
        value = json.loads(text[start:])
    except (ValueError, RecursionError):
        return None
    before = clock.last(_COLOUR.sub("", text[:start])).span or outer
    found = list(_messages(value, before, clock, depth))
    if found:
        return found
    span = _time_beside(value, clock) or before
    problem = f"expected a line of {LOGGER}, found JSON without {PRINCIPAL_IS.strip()!r}"
    if PRINCIPAL_IS in text:
        problem = f"{LAYOUT_NOT_READ}found the message in a list in JSON; write one object per line"
    return [Message(span=span, problem=problem, begins=True, is_json=True)]


def _messages(
    value: Mapping[str, Any], outer: Span | None, clock: Clock, depth: int
) -> Iterator[Message]:
    """Yield the messages in the strings of an object, and of objects in it."""
    span = _time_beside(value, clock) or outer
    for part in value.values():
        if isinstance(part, dict) and depth < _DEEPEST:
            yield from _messages(part, span, clock, depth + 1)
        elif isinstance(part, str) and _PRINCIPAL_IS.search(part):
            yield from _of_string(part.rstrip("\r\n"), span, clock, depth)


def _of_string(text: str, outer: Span | None, clock: Clock, depth: int) -> Iterator[Message]:
    """Read a string of JSON: it is JSON again, or a line as a pattern lays it out."""
    inner = _of_json(text, outer, clock, depth + 1) if depth < _DEEPEST else None
    for message in [_of_text(text, outer, clock)] if inner is None else inner:
        problem = message.problem
        if not _is_text(message.text):
            problem = "expected text, found half a character"
        elif message.span is None:
            problem = f"{LAYOUT_NOT_READ}found JSON without a time next to the message"
        own = message.text if problem is None else ""
        yield Message(text=own, span=message.span, problem=problem, begins=True, is_json=True)


def _is_text(text: str) -> bool:
    """Whether a text can be written; JSON may hold half of a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _time_beside(value: Mapping[str, Any], clock: Clock) -> Span | None:
    """Return the time of an object; where it has several, from the first of them to the last."""
    times = (
        _time_of(part, clock)
        for key, part in value.items()
        if key.lower().strip("@_") in _TIME_KEYS
    )
    spans = [span for span in times if span is not None]
    return (min(s[0] for s in spans), max(s[1] for s in spans)) if spans else None


def _time_of(value: object, clock: Clock) -> Span | None:
    """Read a time of JSON: a text, a number since 1970 of any unit, or log4j's instant."""
    if isinstance(value, dict):
        seconds, nanos = value.get("epochSecond"), value.get("nanoOfSecond", 0)
        if not (type(seconds) is int and type(nanos) is int):
            return None
        value = seconds * 1_000_000_000 + nanos
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            return clock.last(value).span
        value = float(value) if "." in value else int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    for least, multiply, divide in _UNITS:
        if least <= value < least * 1_000:
            micros = int(value * multiply // divide)
            return micros, micros
    return None


LAYOUT_NOT_READ: Final = "layout not read: "
"""How each problem begins of a line of the authorizer that is laid out as none that is read."""

_PRINCIPAL_IS: Final = re.compile(re.escape(PRINCIPAL_IS) + r"|Principal \\u003d ")
"""The message's first words, also in JSON within JSON as Gson writes it."""

_COMPANIONS: Final = (
    ("operation = ", " on resource = ", " from host = ", " is Allow based on acl = "),
    ("operation = ", " on resource = ", " from host = ", " is Deny based on acl = "),
    ("No acl found for resource ", ", authorized = "),
    ("principal = ", " is a super user, allowing operation without checking acls"),
)
_ESCAPE: Final = "\x1b"
_COLOUR: Final = re.compile(r"\x1b\[[\d;]*[mK]", re.A)
_COLOURED_END: Final = re.compile(r"(?:\s*\x1b\[[\d;]*[mK])+\s*\Z", re.A)
_NUMBER: Final = re.compile(r"\d{9,20}(?:\.\d{1,9})?", re.A)
_TIME_KEYS: Final = frozenset(
    {
        *("timestamp", "time", "ts", "instant", "timemillis", "datetime", "date", "asctime"),
        *("eventtime", "logtime", "timestamp_ms", "timestampmillis", "epochmillis"),
        *("realtime_timestamp", "source_realtime_timestamp"),
    }
)
_UNITS: Final = (
    (10**8, 1_000_000, 1),
    (10**11, 1_000, 1),
    (10**14, 1, 1),
    (10**17, 1, 1_000),
)
"""From which number on one counts seconds, milli-, micro- and nanoseconds since 1970."""

_DEEPEST: Final = 5
_LOOKED_AT: Final = 300
