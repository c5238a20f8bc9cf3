"""What is written on stdout and stderr → letters that the stream can encode, whatever its encoding.

Text for people is escaped, as ``\\xe9``, and JSON by its own escapes, as ``\\u00e9``. What other
programs read byte by byte (CSV, JSON lines, scripts, unchanged names) is UTF-8 in any locale.
"""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Final, Literal, TextIO

Reader = Literal["people", "json", "programs"]
"""For whom lines are: people, those who read JSON, or programs that expect UTF-8."""

PEOPLE: Final = "people"
JSON_READERS: Final = "json"
PROGRAMS: Final = "programs"

_ESCAPED: Final = "backslashreplace"
_ESCAPED_JSON: Final = "aclkit.json"
_ASCII: Final = "aclkit_ascii"


_READERS: Final[Mapping[str, Reader]] = {
    "table": PEOPLE,
    "markdown": PEOPLE,
    "json": JSON_READERS,
    "sarif": JSON_READERS,
}


def reader_of(form: str) -> Reader:
    """Return for whom a format is; what is not listed here is for programs.

    >>> reader_of("markdown"), reader_of("csv")
    ('people', 'programs')
    """
    return _READERS.get(form, PROGRAMS)


def escape_streams() -> None:
    """Let stdout and stderr escape what they cannot encode: Python would raise an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding=_ASCII if is_ascii else None, errors=_ESCAPED)


@contextmanager
def written_for(reader: Reader, stream: TextIO) -> Iterator[None]:
    """Let a stream take lines for somebody; afterwards it is as before."""
    if not isinstance(stream, TextIOWrapper):
        yield
        return
    encoding, errors = stream.encoding, stream.errors
    stream.reconfigure(
        encoding="utf-8" if reader == PROGRAMS else encoding,
        errors=_ESCAPED_JSON if reader == JSON_READERS else _ESCAPED,
    )
    try:
        yield
    finally:
        stream.reconfigure(encoding=encoding, errors=errors)


def encodable(text: str, stream: TextIO) -> str:
    """Return a text for people with escapes for what a stream cannot encode."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, _ESCAPED).decode(encoding)


def _escape_json(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def _find_ascii(name: str) -> codecs.CodecInfo | None:
    """Return ASCII under a name of ours: click writes UTF-8 where it sees ASCII's own."""
    if name != _ASCII:
        return None
    own = codecs.lookup("ascii")
    return codecs.CodecInfo(
        own.encode,
        own.decode,
        own.streamreader,
        own.streamwriter,
        own.incrementalencoder,
        own.incrementaldecoder,
        name=_ASCII,
    )


codecs.register_error(_ESCAPED_JSON, _escape_json)
codecs.register(_find_ascii)
