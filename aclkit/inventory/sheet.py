"""A user's file of rows, CSV, JSON lines or Parquet by its ending → its columns and its rows.

The file is read whole: it names things to ask about, not data.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from aclkit.errors import UsageError
from aclkit.sources.files import base_name, is_directory, read_bytes, shown

Row = Mapping[str, str | None]
Sheet = tuple[Collection[str], Iterable[Row]]
"""The columns of a file and its rows."""


def read_sheet(path: str) -> Sheet:
    """Read a file; what is no text in JSON or Parquet becomes JSON text.

    Raises:
        UsageError: no such file, an unknown ending, or a file that is not what its ending says.
    """
    if is_directory(path):
        raise UsageError(f"{shown(path)}: expected a file, found a folder")
    reader = _READERS.get(PurePosixPath(base_name(path)).suffix.lower())
    if reader is None:
        raise UsageError(
            f"{shown(path)}: expected a file ending in {', '.join(_READERS)} or a Delta folder"
        )
    return reader(read_bytes(path), shown(path))


def arrow_rows(table: pa.Table) -> Sheet:
    """Return columns and rows of an Arrow table."""
    return table.column_names, [
        {k: _as_text(v) for k, v in row.items()} for row in table.to_pylist()
    ]


def _read_csv(data: bytes, path: str) -> Sheet:
    reader = csv.DictReader(io.StringIO(_decode(data, path), newline=""), strict=True)
    try:
        header = reader.fieldnames or ()
        rows = list(reader)
    except csv.Error as error:
        raise UsageError(f"{path}, line {reader.line_num}: not valid CSV: {error}") from None
    if len(set(header)) != len(header):
        raise UsageError(f"{path}: expected distinct column names, found {', '.join(header)}")
    for number, row in enumerate(rows, start=1):
        if None in row or None in row.values():
            raise UsageError(f"{path}, row {number}: expected {len(header)} values per row")
    return header, rows


def _read_jsonl(data: bytes, path: str) -> Sheet:
    rows: list[Row] = []
    for number, line in enumerate(_decode(data, path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if "\\u" in line:
                json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise UsageError(f"{path}, line {number}: holds half a surrogate pair") from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}, line {number}: not valid JSON: {error}") from None
        if not isinstance(row, dict):
            raise UsageError(f"{path}, line {number}: expected a JSON object")
        rows.append({key: _as_text(value) for key, value in row.items()})
    common = set.intersection(*(set(row) for row in rows)) if rows else set()
    return common, rows


def _read_parquet(data: bytes, path: str) -> Sheet:
    try:
        table = pq.read_table(pa.BufferReader(data))
    except (pa.ArrowException, OSError) as error:
        raise UsageError(f"{path}: not a Parquet file: {error}") from None
    return arrow_rows(table)


def _as_text(value: Any) -> str | None:  # noqa: ANN401 -- whatever JSON or Arrow holds
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, default=str, ensure_ascii=False)


def _decode(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: expected UTF-8 text, byte {error.start} is not") from None


_READERS: Final[dict[str, Callable[[bytes, str], Sheet]]] = {
    ".csv": _read_csv,
    ".jsonl": _read_jsonl,
    ".json": _read_jsonl,
    ".parquet": _read_parquet,
}
