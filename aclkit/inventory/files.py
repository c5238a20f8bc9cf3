"""A user's file of principals, hosts or resources → checked inventory entries.

CSV, JSON lines and Parquet by their ending, Delta by its folder. The file is read whole: it
names things to ask about, not data.
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
from pyspark.sql import SparkSession

from aclkit.delta import newest_version
from aclkit.errors import UsageError
from aclkit.inventory.entry import FILE, HOSTS, PRINCIPALS, RESOURCES, Entry
from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.enums import ResourceType
from aclkit.model.host import parse_host
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.principal import parse_principal
from aclkit.model.resource import CLUSTER_NAME, TYPE_OF_WORD
from aclkit.sources.files import base_name, is_directory, read_bytes, shown

COLUMNS: Final = {
    PRINCIPALS: ("principal",),
    HOSTS: ("host",),
    RESOURCES: ("resource_type", "resource_name"),
}
"""The columns that a file of each kind must have."""

Row = Mapping[str, str | None]
Sheet = tuple[Collection[str], Iterable[Row]]
"""The columns of a file and its rows."""


def read_inventory(spark: SparkSession, path: str, kind: str) -> list[Entry]:
    """Read and check a file of principals, hosts or resources; the first of equal rows counts.

    Raises:
        UsageError: no such file, an unreadable one, a missing column, or a row whose value makes
            no sense; the message names the file and the row.
    """
    columns, rows = _read_rows(spark, path)
    path = shown(path)
    _require_columns(columns, path, kind)
    entries: dict[tuple[str, str], Entry] = {}
    for number, row in enumerate(rows, start=1):
        try:
            entry = _PARSERS[kind](row)
        except UsageError as error:
            raise UsageError(f"{path}, row {number}: {error}") from None
        entries.setdefault(entry.key, entry)
    return list(entries.values())


def _require_columns(columns: Collection[str], path: str, kind: str) -> None:
    wanted = COLUMNS[kind]
    if not set(wanted) <= set(columns):
        found = ", ".join(sorted(columns)) or "none"
        raise UsageError(f"{path}: expected columns {', '.join(wanted)}, found {found}")


def _principal(row: Row) -> Entry:
    name = row["principal"] or ""
    parse_principal(name)
    _refuse_symbol(name, ANY_OTHER_PRINCIPAL)
    return Entry(name=name, origin=FILE, attributes=_attributes(row, PRINCIPALS))


def _host(row: Row) -> Entry:
    return Entry(
        name=parse_host(row["host"] or ""), origin=FILE, attributes=_attributes(row, HOSTS)
    )


def _resource(row: Row) -> Entry:
    written = row["resource_type"] or ""
    resource_type = TYPE_OF_WORD.get(written.lower(), written.upper())
    if resource_type not in OPERATIONS_OF_TYPE:
        known = ", ".join(t.name for t in ResourceType if t.name in OPERATIONS_OF_TYPE)
        raise UsageError(f"bad resource type {written!r}: expected one of {known}")
    name = row["resource_name"] or ""
    if resource_type == "CLUSTER" and name != CLUSTER_NAME:
        raise UsageError(f"bad cluster name {name!r}: expected {CLUSTER_NAME}")
    _refuse_symbol(name, ANY_OTHER)
    return Entry(
        name=name,
        resource_type=resource_type,
        origin=FILE,
        attributes=_attributes(row, RESOURCES),
    )


def _refuse_symbol(name: str, symbol: str) -> None:
    if name == symbol:
        raise UsageError(f"{symbol} stands for whatever is named nowhere; it cannot be a real name")


_PARSERS: Final[dict[str, Callable[[Row], Entry]]] = {
    PRINCIPALS: _principal,
    HOSTS: _host,
    RESOURCES: _resource,
}


def _attributes(row: Row, kind: str) -> dict[str, str]:
    return {k: v for k, v in row.items() if k not in COLUMNS[kind] and v is not None}


def _read_rows(spark: SparkSession, path: str) -> Sheet:
    if is_directory(path):
        return _read_folder(spark, path)
    reader = _READERS.get(PurePosixPath(base_name(path)).suffix.lower())
    if reader is None:
        raise UsageError(
            f"{shown(path)}: expected a file ending in {', '.join(_READERS)} or a Delta folder"
        )
    return reader(read_bytes(path), shown(path))


def _read_folder(spark: SparkSession, path: str) -> Sheet:
    if newest_version(path) is None:
        raise UsageError(f"{shown(path)}: expected a Delta folder, found no _delta_log in it")
    table = spark.read.format("delta").load(path).toArrow()
    return _arrow_rows(table)


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
    return _arrow_rows(table)


def _arrow_rows(table: pa.Table) -> Sheet:
    return table.column_names, [
        {k: _as_text(v) for k, v in row.items()} for row in table.to_pylist()
    ]


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
