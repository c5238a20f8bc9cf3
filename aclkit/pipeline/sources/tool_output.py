"""Lines of a tool's output → the same without what the tool logged among them.

Where stderr goes into the same file, a log line may stand between two lines of the output, or cut
one in two wherever the buffer of stdout was full (log4j's ``[%d] %p %m (%c)%n`` of Kafka's
tools-log4j.properties; slf4j, log4j and the JVM write forms of their own).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

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
