"""A .properties file → its keys and values, as ``java.util.Properties`` reads it."""

from __future__ import annotations

import codecs
from pathlib import Path

import javaproperties

from aclkit.errors import UsageError
from aclkit.runtime.safe_read import LARGEST_TEXT, UTF_16_MARKS, decode, read_file


def read_properties(path: str | Path) -> dict[str, str]:
    """Read a .properties file; its text as in ``properties_text``.

    Raises:
        UsageError: as in ``safe_read.read_file``, or it holds an escape that is none.
        SurroundingsError: it cannot be read.
    """
    try:
        data = read_file(str(path), LARGEST_TEXT)
    except UsageError as error:
        raise UsageError(f"{error}. Expected a .properties file.") from None
    return parse_properties(properties_text(data, str(path)), str(path))


def properties_text(data: bytes, path: str) -> str:
    """Return the text of a .properties file, without a byte order mark.

    It is Latin-1, as for ``java.util.Properties.load``, unless the mark is UTF-16's: Java reads no
    such file, so it is a copy that was saved on Windows.

    Raises:
        UsageError: it has the mark of UTF-16 and other bytes.
    """
    if data.startswith(UTF_16_MARKS):
        return decode(data, path)
    return data.removeprefix(codecs.BOM_UTF8).decode("latin-1")


def parse_properties(text: str, source: str = "properties") -> dict[str, str]:
    r"""Read the text of a .properties file; of a key given twice the last value holds.

    Raises:
        UsageError: a ``\u`` that four hexadecimal digits do not follow. The message quotes
            nothing, because the value may be a password.

    >>> parse_properties("# comment\nacks = all\na\\ b: c\\\n   d\nempty")
    {'acks': 'all', 'a b': 'cd', 'empty': ''}
    """
    try:
        found = dict(javaproperties.loads(text))
    except javaproperties.InvalidUEscapeError:
        raise UsageError(f"{source}: expected four hexadecimal digits after \\u") from None
    return {_in_unicode(key): _in_unicode(value) for key, value in found.items()}


def _in_unicode(text: str) -> str:
    """Put a question mark in the place of half a surrogate pair, which no text can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
