"""A user's file of principals, hosts or resources → checked inventory entries.

CSV, JSON lines and Parquet by their ending, Delta by its folder. A principal builder makes
principals of rows of a file, and finds attributes for principals that are known otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from deltalake.exceptions import DeltaError

from aclkit.errors import UsageError
from aclkit.kafka.principals.load import CheckedBuilder
from aclkit.model.enums import ResourceType
from aclkit.model.host import parse_host
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.principal import parse_principal
from aclkit.model.resource import CLUSTER_NAME, TYPE_OF_WORD
from aclkit.model.symbol import HOSTS, PRINCIPALS, RESOURCES, refuse_symbol
from aclkit.pipeline.inventory.arrow_rows import ROWS_PER_BATCH, batch_rows
from aclkit.pipeline.inventory.entry import FILE, Entry
from aclkit.pipeline.inventory.sheet import (
    MOST_ROWS,
    Columns,
    Row,
    as_texts,
    read_parquet,
    read_sheet,
    too_much,
)
from aclkit.pipeline.sources.files import is_directory, read_user_file
from aclkit.runtime.safe_read import LARGEST_DATA
from aclkit.runtime.uri import child, shown
from aclkit.warehouse.location import Location
from aclkit.warehouse.storage import newest_version
from aclkit.warehouse.table_files import columns_of, plain_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS: Final = {
    PRINCIPALS: ("principal",),
    HOSTS: ("host",),
    RESOURCES: ("resource_type", "resource_name"),
}
"""The columns that a file of each kind must have."""


def read_inventory(
    start: Callable[[], SparkSession],
    path: str,
    kind: str,
    build: Callable[[Row], Entry] | None = None,
) -> list[Entry]:
    """Read and check a file of principals, hosts or resources; the first of equal rows counts.

    Args:
        start: starts Spark, if it was not started yet: it reads a Delta folder that is on an object
            store, or is not plain; see ``plain_files``.
        path: CSV, JSON lines, Parquet or a Delta folder.
        kind: principals, hosts or resources.
        build: makes the entries of a file whose columns are not those of the kind: a principal
            builder's.

    Raises:
        UsageError: no such file, an unreadable one, a missing column, or a row whose value makes
            no sense; the message names the file and the row.
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
    refuse_symbol(PRINCIPALS, name)
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
    refuse_symbol(RESOURCES, name)
    return Entry(
        name=name, resource_type=resource_type, origin=FILE, attributes=_attributes(row, RESOURCES)
    )


_PARSERS: Final[dict[str, Callable[[Row], Entry]]] = {
    PRINCIPALS: _principal,
    HOSTS: _host,
    RESOURCES: _resource,
}


def _attributes(row: Row, kind: str) -> dict[str, str]:
    return {k: v for k, v in row.items() if k not in COLUMNS[kind] and v is not None}


def _read_folder(start: Callable[[], SparkSession], path: str, columns: Columns) -> Iterator[Row]:
    place = Location(path)
    if newest_version(place.files, "") is None:
        raise UsageError(f"{shown(path)}: expected a Delta folder, but it has no _delta_log")
    files = None if place.is_remote else _plain_files(place)
    rows = _by_spark(start, path, columns) if files is None else _by_file(place, files, columns)
    return as_texts(rows, shown(path), columns)


def _plain_files(place: Location) -> list[str] | None:
    """Return the files of a Delta folder; None where Spark has to read them."""
    try:
        place.require_plain()
        return plain_files(place.text)
    except (UsageError, DeltaError, OSError):  # deltalake does not know all that Spark knows
        return None


def _by_file(
    place: Location, files: Iterable[str], columns: Columns
) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of Parquet files, each read as a Parquet file of its own would be."""
    columns.rename(columns_of(place.text), shown(place.text))  # a folder may have no file at all
    for file in files:
        data = read_user_file(child(place.text, file), LARGEST_DATA)
        yield from read_parquet(data, shown(place.text), columns)


def _by_spark(
    start: Callable[[], SparkSession], path: str, columns: Columns
) -> Iterator[Mapping[str, Any]]:
    from pyspark.sql import functions as F

    frame = start().read.format("delta").load(path)
    names = columns.rename(frame.columns, shown(path))
    # Counted before it is collected: a few bytes of Parquet may hold the same row a million times.
    letters = F.sum(F.length(F.to_json(F.struct("*"))))
    rows, size = frame.agg(F.count("*"), letters).first() or (0, 0)
    if rows > MOST_ROWS or (size or 0) > LARGEST_DATA:
        raise too_much(shown(path))
    batches = frame.toArrow().to_batches(max_chunksize=ROWS_PER_BATCH)
    return batch_rows(names, batches, shown(path))


PRINCIPAL_COLUMN = "principal"


def entries_built_by(builder: CheckedBuilder) -> Callable[[Row], Entry]:
    """Return what makes an entry of a row of the user's file of principals.

    The column ``principal``, where there is one, is the name that the principal is built from;
    without it the whole row is its properties. Further columns stay attributes, and those of the
    builder go before columns of the same name.

    Raises:
        UsageError: when called, for a row that the builder refuses.
    """

    def entry_of(row: Row) -> Entry:
        columns = {key: value for key, value in row.items() if value is not None}
        name = columns.pop(PRINCIPAL_COLUMN, None)
        if name is None:
            built = builder.build_principal(columns)
        else:
            built = builder.build_principal_from_name(name)
        return principal_entry(str(built), {**columns, **built.attributes})

    return entry_of


def attributes_built_by(builder: CheckedBuilder) -> Callable[[str], Mapping[str, str]]:
    """Return what finds attributes for principals of the log, of ACLs and of ``super.users``.

    Their names are those that a broker compares, so the builder may describe them and not rename
    them: where it makes another principal of the name, or refuses it, there are no attributes.
    """

    def attributes_of(principal: str) -> Mapping[str, str]:
        try:
            built = builder.build_principal_from_name(principal)
        except UsageError:
            return {}
        return built.attributes if str(built) == principal else {}

    return attributes_of
