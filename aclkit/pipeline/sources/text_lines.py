"""Bytes of a text that a tool wrote → its lines, in which no name became another one.

Names are exact: a byte that is no UTF-8 must not turn into a letter that other such bytes turn
into too. Here it becomes half a surrogate pair, which no name of Kafka's has, and who reads the
line refuses it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
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
