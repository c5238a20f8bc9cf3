"""A Delta table on a local disk, without Spark: its files at a version, a view, new files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import duckdb
import pyarrow as pa
from deltalake import (
    CommitProperties,
    DeltaTable,
    PostCommitHookProperties,
    Schema,
    Transaction,
    WriterProperties,
    write_deltalake,
)
from deltalake.exceptions import DeltaError

from aclkit.errors import SurroundingsError
from aclkit.runtime.surroundings import write_error
from aclkit.warehouse.column_types import type_of_contract, type_of_delta
from aclkit.warehouse.formats import GROWN
from aclkit.warehouse.schemas import TABLES

CHECKPOINT_EVERY: Final = 10
_FOR_EVER: Final = "interval 36500 days"
AT_ONCE: Final = "interval 0 seconds"
KEEPING: Final = {
    # So Spark does anyway; deltalake would write a tenth of them, and readers read more commits.
    "delta.checkpointInterval": str(CHECKPOINT_EVERY),
    # job_run names versions, of any age: only ``aclkit maintain`` knows which are still needed.
    "delta.enableExpiredLogCleanup": "false",
    "delta.logRetentionDuration": _FOR_EVER,
    "delta.deletedFileRetentionDuration": _FOR_EVER,
}
"""The properties by which a table forgets nothing by itself; old tables get them too."""

PROPERTIES: Final = {
    # Every Delta reader must be able to open the tables.
    "delta.enableDeletionVectors": "false",
    "delta.columnMapping.mode": "none",
    **KEEPING,
}
"""The properties of every new table, whichever engine makes it."""

_HASHED: Final = frozenset({"ruleset", "ruleset_group", "explain_ruling"})
"""Tables whose rows lie by hashes, in no order that the bounds of a file could tell."""


def properties_of_new(table: str) -> dict[str, str]:
    """Return the properties of a table that is made now.

    Bounds are half the cost of writing large tables: where nobody can use them there are those of
    the first column alone, the cluster.
    """
    return {**PROPERTIES, **({"delta.dataSkippingNumIndexedCols": "1"} if table in _HASHED else {})}


@dataclass(frozen=True, slots=True)
class TableFiles:
    """A Delta table at one version: its Parquet files and its columns as (name, DuckDB type).

    ``has_grown`` where files of an older aclkit may lack columns: there they are null. ``names``
    are those of the files where a connection has a file system of its own.
    """

    files: tuple[Path, ...]
    columns: tuple[tuple[str, str], ...]
    has_grown: bool = False
    names: tuple[str, ...] = ()

    @property
    def readable(self) -> list[str]:
        """By what the files are opened."""
        return list(self.names) or [str(file) for file in self.files]


def read_files(
    path: Path, version: int | None, holding: Mapping[str, str] | None = None
) -> TableFiles:
    """Return the files and columns of a Delta table at a version, or at its latest.

    ``file_uris`` is not used: it leaves the directory's own name URL-encoded.

    Args:
        path: folder of the table.
        version: Delta version.
        holding: text columns and values: files that cannot hold such a row, by the least and the
            greatest value that Delta noted for each, are left out.
    """
    table = DeltaTable(str(path), version=version)
    actions = pa.table(table.get_add_actions(flatten=True))
    files = actions.select(["path"]).to_pylist() if not holding else actions.to_pylist()
    names = [
        file["path"]
        for file in files
        if all(
            _may_hold(value, file.get(f"min.{column}"), file.get(f"max.{column}"))
            for column, value in (holding or {}).items()
        )
    ]
    columns = {field.name: type_of_delta(field.type) for field in table.schema().fields}
    if has_grown := path.name in GROWN:
        columns = dict(unwritten(path.name).columns) | columns
    return TableFiles(
        tuple(path / unquote(str(name)) for name in names), tuple(columns.items()), has_grown
    )


@dataclass(frozen=True, slots=True)
class Commit:
    """What a commit says of itself.

    Attributes:
        run_id: noted as ``userMetadata``.
        application: with ``version`` it marks a write that must not happen twice (``txnAppId``).
        version: which write of the application it is (``txnVersion``).
    """

    run_id: str
    application: str
    version: int

    def properties(self) -> CommitProperties:
        """Return it as ``deltalake`` takes it."""
        return CommitProperties(
            custom_metadata={"userMetadata": self.run_id},
            app_transactions=[Transaction(self.application, self.version)],
        )


def append_files(path: str, rows: pa.Table, commit: Commit) -> None:
    """Append rows to a table; a new one gets their columns.

    Raises:
        SurroundingsError: the disk is full, or may not be written.
    """
    _require_zones(rows.schema)
    if _is_done(path, commit):
        return
    with _writing(path):
        write_deltalake(
            path,
            rows,
            mode="append",
            configuration=properties_of_new(Path(path).name),
            commit_properties=commit.properties(),
        )


def replace_files(
    path: str, rows: pa.RecordBatchReader, commit: Commit, whose: str | None = None
) -> None:
    """Put rows in the place of all rows of a table, in their order, in one commit.

    Files stay about as large as they are, and a row group is at most 50,000 rows: what is
    found by the bounds of its files stays so.

    Args:
        path: folder of the table; a new one gets the columns of the rows.
        rows: names are those of the table's columns.
        commit: what the commit says of itself.
        whose: a predicate: only its rows are replaced, and only such rows come.

    Raises:
        SurroundingsError: the disk is full, or may not be written.
    """
    if _is_done(path, commit):
        return
    sizes, schema = [], rows.schema
    if DeltaTable.is_deltatable(path):
        table = DeltaTable(path)
        schema = pa.schema(table.schema().to_arrow())
        if unknown := set(rows.schema.names) - set(schema.names):
            raise SurroundingsError(f"expected {path} to have columns {sorted(unknown)}")
        sizes = pa.table(table.get_add_actions(flatten=True))["size_bytes"].to_pylist()
    _require_zones(schema)
    batches = (batch.select(schema.names).cast(schema) for batch in rows)
    with _writing(path):
        write_deltalake(
            path,
            pa.RecordBatchReader.from_batches(schema, batches),
            mode="overwrite",
            predicate=whose if sizes else None,
            configuration=properties_of_new(Path(path).name),
            target_file_size=max([_LEAST_FILE, *sizes]) if sizes else _NEW_FILE,
            writer_properties=WriterProperties(
                max_row_group_size=_ROWS_OF_A_GROUP, compression="SNAPPY"
            ),
            commit_properties=commit.properties(),
        )


def _is_done(path: str, commit: Commit) -> bool:
    """Whether a table has this very write already: deltalake notes what it is, and does not ask."""
    if not DeltaTable.is_deltatable(path):
        return False
    last = DeltaTable(path).transaction_version(commit.application)
    return last is not None and last >= commit.version


def _require_zones(schema: pa.Schema) -> None:
    """Insist that times have a zone: of others deltalake makes a kind of table that few can read.

    Raises:
        ValueError: one has none.
    """
    naive = [f.name for f in schema if pa.types.is_timestamp(f.type) and f.type.tz is None]
    if naive:
        raise ValueError(f"expected times with a zone, found none in {', '.join(naive)}")


@contextmanager
def _writing(path: str) -> Iterator[None]:
    """Say plainly why a table cannot be written, where the disk is the reason."""
    try:
        yield
    except (DeltaError, OSError) as error:
        plain = write_error(path, str(error))
        if plain is None:
            raise
        raise plain from error


def properties_of(path: str) -> dict[str, str]:
    """Return the properties of a table at its newest version."""
    said = DeltaTable(path).metadata().configuration
    return {key: value for key, value in said.items() if value is not None}


def set_properties(path: str, properties: Mapping[str, str]) -> None:
    """Set properties of a table, in a commit of its own even where they are those it has."""
    with _writing(path):
        DeltaTable(path).alter.set_table_properties(
            dict(properties), post_commithook_properties=_KEEPING_THE_LOG
        )


def columns_of(path: str) -> list[str]:
    """Return the columns of a table at its newest version."""
    return [field.name for field in DeltaTable(path).schema().fields]


def add_columns(path: str, columns: Schema) -> None:
    """Give a table more columns, null in the rows that are there."""
    with _writing(path):
        DeltaTable(path).alter.add_columns(
            columns.fields, post_commithook_properties=_KEEPING_THE_LOG
        )


class Extent(NamedTuple):
    """What a version of a table takes: its files, and their bytes."""

    files: int
    size_bytes: int


def extent_of(path: str) -> Extent:
    """Return what the newest version of a table takes."""
    found = read_files(Path(path), None).files
    return Extent(len(found), sum(file.stat().st_size for file in found))


def write_checkpoint(path: str) -> None:
    """Write a checkpoint of a table's newest version."""
    with _writing(path):
        DeltaTable(path).create_checkpoint()


def compact_files(path: str) -> None:
    """Write the small files of a table together; its rows stay."""
    with _writing(path):
        DeltaTable(path).optimize.compact(post_commithook_properties=_KEEPING_THE_LOG)


def restore_files(path: str, version: int) -> None:
    """Put a table back to an earlier version, its columns and properties too."""
    with _writing(path):
        DeltaTable(path).restore(version, post_commithook_properties=_KEEPING_THE_LOG)


def remove_rows(path: str) -> None:
    """Remove all rows of a table."""
    with _writing(path):
        DeltaTable(path).delete(post_commithook_properties=_KEEPING_THE_LOG)


_KEEPING_THE_LOG: Final = PostCommitHookProperties(cleanup_expired_logs=False)
"""Whatever the properties say that the table still has, or has again."""


def ask_files(name: str, table: TableFiles, query: str) -> list[dict[str, Any]]:
    """Return the rows of a query about one table, which it knows by a name."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        create_view(connection, name, table)
        found = connection.execute(query)
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


_LEAST_FILE: Final = 300_000
_NEW_FILE: Final = 16_000_000
_ROWS_OF_A_GROUP: Final = 50_000


def unwritten(name: str) -> TableFiles:
    """Return a table of the contract that no run has written: it has columns and no files."""
    return TableFiles(
        (), tuple((column, type_of_contract(kind)) for column, kind, _ in TABLES[name].columns)
    )


def create_view(connection: duckdb.DuckDBPyConnection, name: str, table: TableFiles) -> None:
    """Make a table's files readable under its name, with the types of the Delta schema."""
    open_files(connection, table).create_view(name)


def open_files(connection: duckdb.DuckDBPyConnection, table: TableFiles) -> duckdb.DuckDBPyRelation:
    """Return the rows of a table's files, with the types of the Delta schema."""
    files = table.readable
    known = [column for column, _ in table.columns] if files else []
    relation = connection.read_parquet(files, union_by_name=table.has_grown) if files else None
    there = relation.columns if relation is not None and table.has_grown else known
    columns = ", ".join(
        f"CAST({quoted(column) if column in there else 'NULL'} AS {kind}) AS {quoted(column)}"
        for column, kind in table.columns
    )
    if relation is not None:
        return relation.project(columns)
    return connection.sql(f"SELECT {columns} WHERE false")


def _may_hold(value: str, least: str | None, most: str | None) -> bool:
    """Whether a value may lie within noted bounds.

    Delta cuts long texts, the greatest one to something greater; so both stay bounds.
    """
    return (least is None or least <= value) and (most is None or value <= most)


def quoted(name: str) -> str:
    """Write a name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'
