"""Bytes of a text that a tool wrote → its lines, in which no name became another one.

Names are exact: a byte that is no UTF-8 must not turn into a letter that other such bytes turn
into too. Here it becomes half a surrogate pair, which no name of Kafka's has, and who reads the
line refuses it.

Where stderr goes into the same file, a log line may stand between two lines of the output, or cut
one in two wherever the buffer of stdout was full (log4j's ``[%d] %p %m (%c)%n`` of Kafka's
tools-log4j.properties; slf4j, log4j and the JVM write forms of their own).
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Final

from aclkit.errors import DataError, UsageError
from aclkit.runtime.safe_read import UTF_16_MARKS, decode

NOT_UTF_8: Final = (
    "bytes that are not UTF-8, so a name in the line is unknown; write the file as UTF-8"
)


def to_utf_8(data: bytes, source: str) -> bytes:
    """Return a text as UTF-8, also one of UTF-16 with its mark: PowerShell's ``>`` writes that.

    Raises:
        DataError: it has the mark of UTF-16, and other bytes.
    """
    if not data.startswith(UTF_16_MARKS):
        return data
    try:
        return decode(data, source).encode()
    except UsageError as error:
        raise DataError(str(error)) from None


LONGEST_LINE: Final = 16 << 20
"""Characters of a line: a batch of the metadata log has at most 8 MiB."""


def text_lines(data: io.BytesIO, source: str) -> Iterator[str]:
    """Yield the lines of a text; only a line feed ends one, for names may hold the others.

    Raises:
        DataError: a line is far too long, so the text is none that a tool wrote.
    """
    stream = io.TextIOWrapper(data, encoding="utf-8", errors="surrogateescape", newline="\n")
    for number in count(1):
        line = stream.readline(LONGEST_LINE)
        if not line:
            return
        if len(line) == LONGEST_LINE:
            raise DataError(f"{source}:{number}: a line of more than {LONGEST_LINE:,} characters")
        yield line


def is_utf_8(text: str) -> bool:
    """Whether the bytes of a line were all UTF-8."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


_LOG: Final = re.compile(
    r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] (?:WARN|INFO|DEBUG|TRACE) "
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d{3,9}Z? \S{1,80} (?:WARN|INFO|DEBUG|TRACE) "
    r"|SLF4J(?:\([A-Z]\))?: "
    r"|log4j:(?:WARN|INFO) "
    r"|(?:OpenJDK|Java HotSpot\(TM\)) \S{1,40} (?:Server|Client) VM warning: "
    r"|Picked up (?:JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS): "
    r"|WARNING: |Warning: "
)
_TRACE: Final = re.compile(
    r"\s+at [\w.$/@<>-]{1,300}\(.{0,200}\)|\s+\.\.\. \d{1,6} (?:more|common frames omitted)"
    r"|(?:Caused by: )?(?:[a-z][\w$]{0,60}\.){1,20}[A-Z][\w$]{0,80}(?:Exception|Error)(?:: .*)?"
)
Line = tuple[int, str]


def is_log_line(text: str) -> bool:
    """Whether a line is one that a tool logged, its level below ERROR."""
    return _LOG.match(text) is not None


def without_log(lines: Iterable[Line], is_line: Callable[[str], bool]) -> Iterator[Line]:
    """Leave out log lines, and join what one of them has cut.

    Args:
        lines: number and text of each.
        is_line: whether a text is a whole line of the output. Such a line stays as it is,
            whatever its names look like, and pieces are only joined into such a line.
    """
    cut: Line | None = None
    is_logged = False
    for number, text in lines:
        found = None if is_line(text) else _LOG.search(text)
        if found is None and is_logged and cut is None and _TRACE.fullmatch(text):
            continue
        is_logged = found is not None
        if found is not None:
            piece = text[: found.start()]
            if piece:
                cut = (cut[0], cut[1] + piece) if cut else (number, piece)
        elif cut is not None:
            whole = cut[1] + text
            if is_line(whole):
                yield cut[0], whole
            else:
                yield cut
                yield number, text
            cut = None
        else:
            yield number, text
    if cut is not None:
        yield cut
