"""A user's file of principals, hosts or resources → checked inventory entries.

CSV, JSON lines and Parquet by their ending, Delta by its folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from aclkit.errors import UsageError
from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.enums import ResourceType
from aclkit.model.host import parse_host
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.principal import parse_principal
from aclkit.model.resource import CLUSTER_NAME, TYPE_OF_WORD
from aclkit.pipeline.inventory.arrow_rows import ROWS_PER_BATCH, batch_rows
from aclkit.pipeline.inventory.columns import Columns
from aclkit.pipeline.inventory.entry import FILE, HOSTS, PRINCIPALS, RESOURCES, Entry
from aclkit.pipeline.inventory.sheet import MOST_ROWS, Row, as_texts, read_sheet, too_much
from aclkit.pipeline.sources.files import is_directory
from aclkit.runtime.safe_read import LARGEST_DATA
from aclkit.runtime.uri import shown
from aclkit.warehouse.location import Location
from aclkit.warehouse.storage import newest_version
from aclkit.warehouse.store import NeedsSparkError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS: Final = {
    PRINCIPALS: ("principal",),
    HOSTS: ("host",),
    RESOURCES: ("resource_type", "resource_name"),
}
"""The columns that a file of each kind must have."""


def read_inventory(
    start: Callable[[], SparkSession] | None,
    path: str,
    kind: str,
    build: Callable[[Row], Entry] | None = None,
) -> list[Entry]:
    """Read and check a file of principals, hosts or resources; the first of equal rows counts.

    Args:
        start: starts Spark, which reads Delta, if it was not started yet; None where it must not.
        path: CSV, JSON lines, Parquet or a Delta folder.
        kind: principals, hosts or resources.
        build: makes the entries of a file whose columns are not those of the kind: a principal
            builder's.

    Raises:
        UsageError: no such file, an unreadable one, a missing column, or a row whose value makes
            no sense; the message names the file and the row.
        NeedsSparkError: it is a Delta folder, and Spark must not start.
    """
    columns = Columns(names=COLUMNS[kind], are_needed=build is None)
    rows = _read_folder(start, path, columns) if is_directory(path) else read_sheet(path, columns)
    path = shown(path)
    entries: dict[tuple[str, str], Entry] = {}
    for number, row in enumerate(rows, start=1):
        try:
            entry = (build or _PARSERS[kind])(row)
        except UsageError as error:
            raise UsageError(f"{path}, row {number}: {error}") from None
        entries.setdefault(entry.key, entry)
    return list(entries.values())


def principal_entry(name: str, attributes: Mapping[str, str]) -> Entry:
    """Return the entry of a principal that a file names.

    Raises:
        UsageError: no ``type:name``, or the symbol of "any other".
    """
    parse_principal(name)
    _refuse_symbol(name, ANY_OTHER_PRINCIPAL)
    return Entry(name=name, origin=FILE, attributes=attributes)


def _principal(row: Row) -> Entry:
    return principal_entry(row["principal"] or "", _attributes(row, PRINCIPALS))


def _host(row: Row) -> Entry:
    return Entry(
        name=parse_host(row["host"] or ""), origin=FILE, attributes=_attributes(row, HOSTS)
    )


def _resource(row: Row) -> Entry:
    written = row["resource_type"] or ""
    resource_type = TYPE_OF_WORD.get(written.lower(), written.upper())
    if resource_type not in OPERATIONS_OF_TYPE:
        known = ", ".join(t.name for t in ResourceType if t.name in OPERATIONS_OF_TYPE)
        raise UsageError(f"unknown resource type {written!r}; expected one of {known}")
    name = row["resource_name"] or ""
    if resource_type == "CLUSTER" and name != CLUSTER_NAME:
        raise UsageError(f"invalid cluster name {name!r}; expected {CLUSTER_NAME}")
    _refuse_symbol(name, ANY_OTHER)
    return Entry(
        name=name, resource_type=resource_type, origin=FILE, attributes=_attributes(row, RESOURCES)
    )


def _refuse_symbol(name: str, symbol: str) -> None:
    if name == symbol:
        raise UsageError(f"{symbol} stands for any other name and cannot be a real name")


_PARSERS: Final[dict[str, Callable[[Row], Entry]]] = {
    PRINCIPALS: _principal,
    HOSTS: _host,
    RESOURCES: _resource,
}


def _attributes(row: Row, kind: str) -> dict[str, str]:
    return {k: v for k, v in row.items() if k not in COLUMNS[kind] and v is not None}


def _read_folder(
    start: Callable[[], SparkSession] | None, path: str, columns: Columns
) -> Iterator[Row]:
    if newest_version(Location(path).files, "") is None:
        raise UsageError(f"{shown(path)}: expected a Delta folder, but it has no _delta_log")
    if start is None:
        raise NeedsSparkError
    from pyspark.sql import functions as F

    frame = start().read.format("delta").load(path)
    names = columns.rename(frame.columns, shown(path))
    # Counted before it is collected: a few bytes of Parquet may hold the same row a million times.
    letters = F.sum(F.length(F.to_json(F.struct("*"))))
    rows, size = frame.agg(F.count("*"), letters).first() or (0, 0)
    if rows > MOST_ROWS or (size or 0) > LARGEST_DATA:
        raise too_much(shown(path))
    batches = frame.toArrow().to_batches(max_chunksize=ROWS_PER_BATCH)
    return as_texts(batch_rows(names, batches, shown(path)), shown(path), columns)
