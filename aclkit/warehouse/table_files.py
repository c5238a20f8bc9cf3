"""A Delta table, without Spark: its files at a version, and a view of them.

On a local disk and on an object store alike: deltalake reads the log, DuckDB the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import unquote

import duckdb
from deltalake import DeltaTable

from aclkit.model.values import dataclass
from aclkit.runtime.requests_made import REQUESTS
from aclkit.runtime.uri import is_uri
from aclkit.warehouse.duck_types import type_of_contract, type_of_delta
from aclkit.warehouse.formats import GROWN
from aclkit.warehouse.location import Location
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.storage import Opens, RangedFile

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that a version of a table is read from.

    Attributes:
        storage: has it.
        path: where, there.
        size: its bytes.
        modified: when it was written, in milliseconds since 1970.
        local: it on this machine, which DuckDB opens by itself; None on an object store.
    """

    storage: Opens
    path: str
    size: int
    modified: int
    local: Path | None

    @property
    def name(self) -> str:
        """Its path within the table."""
        return self.path.partition("/")[2]

    def exists(self) -> bool:
        """Whether it exists; an object store reveals that only to readers."""
        return self.local is None or self.local.exists()

    def open(self) -> RangedFile:
        """Open it for reading."""
        return self.storage.open(self.path, self.size)


@dataclass(frozen=True, slots=True)
class TableFiles:
    """A Delta table at one version: its Parquet files and its columns as (name, DuckDB type).

    ``has_grown`` where files of an older aclkit may lack columns: there they are null. ``names``
    are those of the files where a connection has a file system of its own.
    """

    files: tuple[StoredFile, ...]
    columns: tuple[tuple[str, str], ...]
    has_grown: bool = False
    names: tuple[str, ...] = ()

    @property
    def readable(self) -> list[str]:
        """By what the files are opened."""
        return list(self.names) or [str(file.local) for file in self.files]

    @property
    def is_remote(self) -> bool:
        """Whether DuckDB needs a file system of ours for them."""
        return any(file.local is None for file in self.files)


def read_files(
    place: Location, table: str, version: int | None, holding: Mapping[str, str] | None = None
) -> TableFiles:
    """Return the files and columns of a Delta table at a version, or at its latest.

    ``file_uris`` is not used: it leaves the directory's own name URL-encoded.

    Args:
        place: the warehouse.
        table: the table.
        version: Delta version.
        holding: text columns and values: files that cannot hold such a row, by the least and the
            greatest value that Delta noted for each, are left out.
    """
    found = DeltaTable(place.of_table(table), version=version)
    if place.is_remote:
        REQUESTS.note(logs=1)
    local = None if place.is_remote else Path(place.of_table(table))
    files = tuple(
        StoredFile(
            storage=place.files,
            path=f"{table}/{(name := unquote(str(file['path'])))}",
            size=file["size_bytes"],
            modified=file["modification_time"],
            local=None if local is None else local / name,
        )
        for file in active_files(found, holding or ())
        if all(may_hold(file, column, value) for column, value in (holding or {}).items())
    )
    columns = {field.name: type_of_delta(field.type) for field in found.schema().fields}
    if has_grown := table in GROWN:
        columns = dict(unwritten(table).columns) | columns
    return TableFiles(files, tuple(columns.items()), has_grown)


def plain_files(uri: str) -> list[str] | None:
    """Return the files of a table at its newest version, whoever wrote it, by path within it.

    None where the rows of a file are not those of the table: columns have other names there, some
    are in no file (partitions), rows are deleted by a list; where files lie elsewhere; or where a
    reader needs what is not known here.
    """
    table = DeltaTable(uri)
    protocol, metadata = table.protocol(), table.metadata()
    features = {*(protocol.reader_features or ())} if protocol.min_reader_version > 1 else set()
    is_plain = protocol.min_reader_version in (1, _BY_FEATURES) and features <= _HARMLESS
    if not is_plain or metadata.partition_columns:
        return None
    found = [unquote(str(file["path"])) for file in active_files(table)]
    return None if any(is_uri(name) or name.startswith("/") for name in found) else found


_BY_FEATURES: Final = 3
_HARMLESS: Final = frozenset({"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"})


def active_files(table: DeltaTable, bounds_of: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return the log's entries for the files of a table, in its order.

    Args:
        table: the table.
        bounds_of: text columns: ``min.NAME`` and ``max.NAME`` are among the entries where noted.
    """
    noted = table.get_add_actions(flatten=True)
    bounds = (f"{end}.{column}" for column in bounds_of for end in ("min", "max"))
    names = [*_OF_A_FILE, *(name for name in bounds if name in noted.column_names)]
    # One after the other: pyarrow, which would take the whole, takes a tenth of a second to load.
    columns = [[each[row].as_py() for row in range(len(each))] for each in map(noted.column, names)]
    return [dict(zip(names, file, strict=True)) for file in zip(*columns, strict=True)]


_OF_A_FILE: Final = ("path", "size_bytes", "modification_time")


def columns_of(uri: str) -> list[str]:
    """Return the columns of a table at its newest version."""
    return [field.name for field in DeltaTable(uri).schema().fields]


class Extent(NamedTuple):
    """What a version of a table takes: its files, and their bytes."""

    files: int
    size_bytes: int

    @classmethod
    def of(cls, place: Location, table: str) -> Extent:
        """Return that of the newest version of a table."""
        found = active_files(DeltaTable(place.of_table(table)))
        return cls(len(found), sum(file["size_bytes"] for file in found))


def unwritten(name: str) -> TableFiles:
    """Return a table of the contract that no run has written: it has columns and no files."""
    return TableFiles(
        (), tuple((column, type_of_contract(kind)) for column, kind, _ in TABLES[name].columns)
    )


def create_view(connection: duckdb.DuckDBPyConnection, name: str, query: str) -> None:
    """Make the rows of a SELECT readable under a name, for this connection alone."""
    connection.execute(f"CREATE TEMP VIEW {quoted(name)} AS {query}")


def open_files(connection: duckdb.DuckDBPyConnection, table: TableFiles) -> duckdb.DuckDBPyRelation:
    """Return the rows of a table's files, with the types of the Delta schema."""
    return connection.sql(files_sql(connection, table))


def files_sql(connection: duckdb.DuckDBPyConnection, table: TableFiles) -> str:
    """Return the SELECT of the rows of a table's files."""
    files = table.readable
    there = [column for column, _ in table.columns] if files else []
    if files and table.has_grown:  # only the files say which columns they have
        there = connection.read_parquet(files, union_by_name=True).columns
    columns = ", ".join(
        f"CAST({quoted(column) if column in there else 'NULL'} AS {kind}) AS {quoted(column)}"
        for column, kind in table.columns
    )
    names = ", ".join("'" + name.replace("'", "''") + "'" for name in files)
    rows = f"FROM read_parquet([{names}], union_by_name = {str(table.has_grown).lower()})"
    return f"SELECT {columns} {rows if files else 'WHERE false'}"


def may_hold(file: Mapping[str, Any], column: str, value: str) -> bool:
    """Whether a file may hold a row with a text, by the bounds that Delta noted of a column.

    Delta cuts long texts, the greatest one to something greater; so both stay bounds.
    """
    least, most = file.get(f"min.{column}"), file.get(f"max.{column}")
    return (least is None or least <= value) and (most is None or value <= most)


def quoted(name: str) -> str:
    """Write a name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'
