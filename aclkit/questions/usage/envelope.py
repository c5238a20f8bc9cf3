"""Lines of a file as a container runtime or a logger split them → the lines that were written.

CRI (containerd, CRI-O) puts a time, the stream and a flag in front of each piece of a line;
docker's json-file makes an object of it. java.util.logging writes an entry on two lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from aclkit.kafka.authorizer.audit import PRINCIPAL_IS


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
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


def unwrap(lines: Iterable[bytes]) -> Iterator[Written]:
    r"""Take lines out of their envelopes, and join the pieces of one.

    >>> cut = [b"2026-11-20T10:00:00Z stdout P [a]\n", b"2026-11-20T10:00:00Z stdout F b\n"]
    >>> [line.line for line in unwrap(cut)]
    [b'[a]b\n']
    """
    return _with_headers(_joined(lines))


def is_piece(raw: bytes) -> bool:
    """Whether a line of a file is a piece of one that was written, and more of it follows."""
    written = Written(position=1, raw=raw, line=raw)
    piece = _cri(written) or _json_file(written)
    return piece is not None and not piece[1]


def _joined(lines: Iterable[bytes]) -> Iterator[Written]:
    """Join pieces, of each stream its own."""
    begun: dict[str, Written] = {}
    for position, raw in enumerate(lines, start=1):
        written = Written(position=position, raw=raw, line=raw)
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


def _cri(written: Written) -> tuple[str, bool, Written] | None:
    """Read a line of CRI: its stream, whether the line ends with it, and what was written."""
    head = _CRI.match(written.raw)
    if head is None:
        return None
    time, stream, flag = (part.decode() for part in head.groups())
    line = written.raw[head.end() :]
    if flag == "P":
        line = line.rstrip(b"\r\n")
    return stream, flag == "F", replace(written, line=line, outer=time)


def _json_file(written: Written) -> tuple[str, bool, Written] | None:
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


def _with_headers(lines: Iterable[Written]) -> Iterator[Written]:
    """Join java.util.logging's two lines: time and class, then level and message."""
    header: Written | None = None
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
