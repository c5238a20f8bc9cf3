"""A user's file of rows, CSV, JSON lines or Parquet by its ending → its rows as texts.

It names things to ask about and is no data, so its bytes are read at once, and its rows one by one.
The limits here and in ``safe_read`` bound the time and the memory that any file takes.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from aclkit.errors import UsageError
from aclkit.model.phrases import few
from aclkit.pipeline.inventory.arrow_rows import batch_rows
from aclkit.pipeline.inventory.parquet_file import parquet_batches
from aclkit.pipeline.sources.files import base_name, read_user_file
from aclkit.runtime.notation import MOST_VALUES, parse_json, shown_key
from aclkit.runtime.safe_read import LARGEST_DATA, MIB, decode
from aclkit.runtime.uri import shown

Row = Mapping[str, str | None]

MOST_ROWS: Final = 1_000_000
"""Rows of a file; ten times as many lines."""

LONGEST_VALUE: Final = 131_072
"""Letters of a value; Kafka's names have up to 32,767 bytes."""

LONGEST_ROW: Final = 4 * MIB
"""Letters of a row as it is written in CSV or JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What a file of a kind is about.

    Attributes:
        names: the columns that name a thing; all others are attributes of it.
        are_needed: a file without them is refused.
    """

    names: tuple[str, ...]
    are_needed: bool = True

    def rename(self, written: Sequence[str], where: str) -> list[str]:
        """Return the columns of a file, the naming ones as they are known here.

        These are found in any case and between spaces, ``Principal``; attributes stay as they
        are written.

        Raises:
            UsageError: one is missing, or there twice.
        """
        renamed = [
            plain if (plain := name.strip().lower()) in self.names else name for name in written
        ]
        if len(set(renamed)) != len(renamed):
            raise UsageError(f"{where}: expected distinct column names, found {_listed(written)}")
        if self.are_needed and not set(self.names) <= set(renamed):
            wanted = ", ".join(self.names)
            raise UsageError(f"{where}: expected columns {wanted}, found {_listed(written)}")
        return renamed


def read_sheet(path: str, columns: Columns) -> Iterator[Row]:
    """Yield the rows of a file; what is no text in JSON or Parquet becomes one.

    In CSV the separator is the first of comma, semicolon and tab that the header contains.

    Raises:
        UsageError: no such file, an unknown extension, content that does not match the extension,
            a missing column, or more than the limits of this module; partly while rows are read.
        SurroundingsError: it cannot be read.
    """
    data = read_user_file(path, LARGEST_DATA)
    reader = _READERS.get(PurePosixPath(base_name(path)).suffix.lower())
    path = shown(path)
    if reader is None:
        endings = ", ".join(_READERS)
        raise UsageError(f"{path}: expected a file ending in {endings} or a Delta folder")
    return as_texts(reader(data, path, columns), path, columns)


def as_texts(rows: Iterable[Mapping[str, Any]], path: str, columns: Columns) -> Iterator[Row]:
    """Yield rows whose values are texts, as long as they keep to the limits.

    Raises:
        UsageError: they do not, or a value is no text and cannot become one.
    """
    values = letters = 0
    for number, row in enumerate(rows, start=1):
        texts: dict[str, str | None] = {}
        for name, value in row.items():
            try:
                text = as_text(value, is_name=name in columns.names)
            except ValueError as error:
                raise UsageError(f"{path}, row {number}, column {name!r}: {error}") from None
            if text is not None and len(text) > LONGEST_VALUE:
                raise UsageError(
                    f"{path}, row {number}, column {name!r}: expected at most {LONGEST_VALUE:,} "
                    f"letters, found {len(text):,}"
                )
            letters += len(text or "")
            texts[name] = text
        values += len(texts)
        if number > MOST_ROWS or values > MOST_VALUES or letters > LARGEST_DATA:
            raise too_much(path)
        yield texts


def as_text(value: Any, *, is_name: bool = False) -> str | None:  # noqa: ANN401 -- whatever JSON or Arrow holds
    """Return a value as text: lists and objects as JSON, all else as it is written there.

    Args:
        value: of JSON or of an Arrow column.
        is_name: it names a thing; then lists, fractions and the like are refused, because their
            spelling is not defined.

    Raises:
        ValueError: bytes that are no UTF-8, or a name that is neither text nor a whole number.

    >>> as_text(7), as_text(["x"]), as_text(b"User:a", is_name=True)
    ('7', '["x"]', 'User:a')
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return _decode(value)
    if is_name and (isinstance(value, bool) or not isinstance(value, int)):
        raise ValueError(f"expected a text, found {value!r}")
    if isinstance(value, _IN_JSON):
        return json.dumps(value, default=as_text, ensure_ascii=False)
    return str(value)


def _decode(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise ValueError(f"expected UTF-8, found other bytes: {value[:_SHOWN]!r}") from None


_MOST_LISTED: Final = 20
"""Columns of a file that a message names."""


def _listed(names: Collection[str]) -> str:
    if any("\0" in name for name in names):
        return "NUL bytes; perhaps it is UTF-16. Save it as UTF-8."
    return few(map(shown_key, sorted(names)), _MOST_LISTED) or "none"


def too_much(path: str) -> UsageError:
    """Return the error about a file of more rows, values or letters than are read."""
    return UsageError(
        f"{path}: expected at most {MOST_ROWS:,} rows, {MOST_VALUES:,} values and "
        f"{LARGEST_DATA // MIB} Mi letters, found more"
    )


def _read_csv(data: bytes, path: str, columns: Columns) -> Iterator[Mapping[str, Any]]:
    lines = _Lines(decode(data, path), path)
    reader = csv.reader(lines, delimiter=separator_of(lines.text), strict=True)
    names: list[str] | None = None
    number = begin = 0
    try:
        for values in reader:
            if names is None:
                names = columns.rename(values, path)
            elif values:
                number += 1
                if len(values) != len(names):
                    raise UsageError(f"{path}, row {number}: expected {len(names)} values per row")
                yield dict(zip(names, values, strict=True))
            begin, lines.letters = reader.line_num, 0
    except csv.Error as error:
        said = f"{error}; perhaps a quote is not closed" if '"' in lines.text else str(error)
        raise UsageError(f"{path}, line {begin + 1}: not valid CSV: {said}") from None
    if names is None:
        columns.rename((), path)


def separator_of(text: str) -> str:
    """Return what separates the values of a CSV: a European spreadsheet writes semicolons."""
    line = _LINE.match(text)
    header = _QUOTED.sub("", line[0]) if line else ""
    return next((mark for mark in ",;\t" if mark in header), ",")


def _read_jsonl(data: bytes, path: str, columns: Columns) -> Iterator[Mapping[str, Any]]:
    lines = _Lines(decode(data, path), path)
    written: tuple[str, ...] | None = None
    names: list[str] = []
    for number, line in enumerate(lines, start=1):
        lines.letters = 0
        if not line.strip():
            continue
        row = parse_json(line.rstrip("\r\n"), path, number)
        if not isinstance(row, dict):
            raise UsageError(f"{path}, line {number}: expected a JSON object")
        if tuple(row) != written:
            written = tuple(row)
            names = columns.rename(written, f"{path}, line {number}")
        yield dict(zip(names, row.values(), strict=True))
    if written is None:
        columns.rename((), path)


class _Lines:
    """The lines of a text with their ends, of any kind; they tell of one that is far too long.

    Attributes:
        text: all of it.
        letters: how many were read since this was last set to 0: those of a row.
    """

    def __init__(self, text: str, path: str) -> None:
        """Begin with the first line."""
        self.text, self.letters = text, 0
        self._path, self._number, self._rest = path, 0, _LINE.finditer(text)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._rest)[0]
        self._number += 1
        self.letters += len(line)
        if self.letters > LONGEST_ROW:
            raise UsageError(
                f"{self._path}, line {self._number}: expected a row of at most "
                f"{LONGEST_ROW // MIB} Mi letters, found a longer one"
            )
        if self._number > 10 * MOST_ROWS:
            raise too_much(self._path)
        return line


def read_parquet(data: bytes, path: str, columns: Columns) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a Parquet file, apart and within limits; see ``parquet_batches``."""
    names, batches = parquet_batches(data, path, most_rows=MOST_ROWS, most_bytes=LARGEST_DATA)
    return batch_rows(columns.rename(names, path), batches, path)


_IN_JSON: Final = (bool, int, float, list, tuple, dict)
_SHOWN: Final = 40
_LINE: Final = re.compile(r"[^\r\n]*+(?:\r\n?|\n)|[^\r\n]++")
_QUOTED: Final = re.compile(r'"[^"]*+"?')
_READERS: Final[dict[str, Callable[[bytes, str, Columns], Iterator[Mapping[str, Any]]]]] = {
    ".csv": _read_csv,
    ".jsonl": _read_jsonl,
    ".json": _read_jsonl,
    ".parquet": read_parquet,
}
