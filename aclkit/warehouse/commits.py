"""A Delta table, without Spark: what is committed to it.

This works the same on a local disk and on an object store. A commit that names the version it
follows fails once that version is not the newest: deltalake never overwrites a version.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

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
from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions

from aclkit.errors import SurroundingsError, first_line
from aclkit.runtime.environment import is_of_system, write_error
from aclkit.runtime.uri import is_uri
from aclkit.warehouse.column_types import (
    columns_of_new,
    description_of,
    metadata_with_comments,
    stored_schema,
    without_nulls,
)
from aclkit.warehouse.location import Location
from aclkit.warehouse.storage import DIGITS, LOG
from aclkit.warehouse.storage import commit as commit_actions
from aclkit.warehouse.table_files import active_files

_FOR_EVER: Final = "interval 36500 days"
AT_ONCE: Final = "interval 0 seconds"
KEEPING: Final = {
    # So Spark does anyway; deltalake would write a tenth of them, and readers read more commits.
    "delta.checkpointInterval": "10",
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

_DENSE: Final = "explain"
"""Its rows lie by resource, and a file has all principals, hosts and operations of each."""


def properties_of_new(table: str) -> dict[str, str]:
    """Return the properties of a table that is made now; it is known by its name, or by its URI.

    Bounds are half the cost of writing large tables. Where no reader can use them, only the first
    column has bounds, the cluster; of the dense table the resource too.
    """
    name = table.rpartition("/")[2]
    if name == _DENSE:
        bounded = "cluster_id,resource_type,resource_name"
        return {**PROPERTIES, "delta.dataSkippingStatsColumns": bounded}
    return {**PROPERTIES, **({"delta.dataSkippingNumIndexedCols": "1"} if name in _HASHED else {})}


def indexed_columns(table: str) -> int:
    """Return how many of a table's first columns have bounds; 32 are Delta's default."""
    return 1 if table in _HASHED else 32


_LEAST_FILE: Final = 300_000
_NEW_FILE: Final = 16_000_000
ROWS_OF_A_GROUP: Final = 50_000

NEW: Final = -1
"""The version that a commit follows where it makes the table."""


@dataclass(frozen=True, slots=True)
class Commit:
    """The metadata of a commit.

    Attributes:
        run_id: noted as ``userMetadata``.
        application: with ``version`` it marks a write that must not happen twice (``txnAppId``).
        version: which write of the application it is (``txnVersion``).
        on: the version that it must follow, or it fails.
    """

    run_id: str
    application: str
    version: int
    on: int = NEW

    def properties(self) -> CommitProperties:
        """Return it as ``deltalake`` takes it; with no retry it follows no other version."""
        return CommitProperties(
            custom_metadata={"userMetadata": self.run_id},
            app_transactions=[Transaction(self.application, self.version)],
            max_commit_retries=0,
        )


def append_files(uri: str, rows: pa.Table | pa.RecordBatchReader, commit: Commit) -> None:
    """Append rows to a table; a new one gets their columns, see ``columns_of_new``.

    Raises:
        DataError: see ``without_nulls``.
        SurroundingsError: see ``_committing``.
    """
    _require_zones(rows.schema)
    table = None if commit.on == NEW else DeltaTable(uri, version=commit.on)
    columns = rows.schema if table else columns_of_new(uri, rows.schema)
    found = without_nulls(uri, rows.to_batches() if isinstance(rows, pa.Table) else rows)
    passing = _Passing(batch.cast(columns) for batch in found)
    with _committing(uri, commit, passing):
        write_deltalake(
            table or uri,
            pa.RecordBatchReader.from_batches(columns, passing),
            mode="append" if table else "error",
            description=None if table else description_of(uri),
            configuration=properties_of_new(uri),
            commit_properties=commit.properties(),
        )


def replace_files(
    uri: str, rows: pa.RecordBatchReader, commit: Commit, whose: str | None = None
) -> None:
    """Put rows in the place of all rows of a table, in their order, in one commit.

    Files stay about as large as they are, and a row group is at most 50,000 rows: what is
    found by the bounds of its files stays so.

    Args:
        uri: the table; a new one gets the columns of the rows.
        rows: names are those of the table's columns.
        commit: the metadata of the commit.
        whose: a predicate: only its rows are replaced, and only such rows come.

    Raises:
        DataError: see ``without_nulls``.
        SurroundingsError: see ``_committing``.
    """
    sizes, schema = [], columns_of_new(uri, rows.schema)
    table = None if commit.on == NEW else DeltaTable(uri, version=commit.on)
    if table:
        schema = pa.schema(table.schema().to_arrow())
        if unknown := set(rows.schema.names) - set(schema.names):
            raise SurroundingsError(f"Expected {uri} to have the columns {sorted(unknown)}")
        sizes = [file["size_bytes"] for file in active_files(table)]
    _require_zones(schema)
    found = without_nulls(uri, rows)
    passing = _Passing(batch.select(schema.names).cast(schema) for batch in found)
    write = partial(
        write_deltalake,
        data=pa.RecordBatchReader.from_batches(schema, passing),
        configuration=properties_of_new(uri),
        target_file_size=max([_LEAST_FILE, *sizes]) if sizes else _NEW_FILE,
        writer_properties=WriterProperties(
            max_row_group_size=ROWS_OF_A_GROUP, compression="SNAPPY"
        ),
        commit_properties=commit.properties(),
    )
    with _committing(uri, commit, passing):
        if table:
            write(table, mode="overwrite", predicate=whose if sizes else None)
        else:
            write(uri, mode="error", description=description_of(uri))


class _Passing:
    """Batches on their way to deltalake, for which their failure is one of its own, and a text.

    Attributes:
        failure: what went wrong before they came here.
    """

    def __init__(self, batches: Iterable[pa.RecordBatch]) -> None:
        self.failure: BaseException | None = None
        self._batches = batches

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        try:
            yield from self._batches
        except BaseException as error:
            self.failure = error
            raise


def make_table(uri: str, table: str) -> None:
    """Make a table of the contract without rows, where there is none."""
    write_deltalake(
        uri,
        stored_schema(table).empty_table(),
        mode="ignore",
        description=description_of(table),
        configuration=properties_of_new(table),
    )


def note_checksum_of_new(place: Location, folder: str) -> None:
    """Write Delta's checksum of the version that made a table, which has no file.

    Delta's protocol knows it. Spark reads the state of the table there; without it some jobs find
    it out before each first write, and after.

    Args:
        place: the warehouse.
        folder: of the table, within it.
    """
    log = f"{folder}/{LOG}/{0:0{DIGITS}}"
    actions = [json.loads(line) for line in place.files.read(f"{log}.json").splitlines()]
    said = {_STATE[key]: action[key] for action in actions for key in _STATE.keys() & action.keys()}
    content = json.dumps({**_WITHOUT_FILES, **said}, ensure_ascii=False)
    place.files.create(f"{log}.crc", content.encode())


_STATE: Final = {"protocol": "protocol", "metaData": "metadata"}
"""Kind of an action in the log → its name in a checksum."""
_WITHOUT_FILES: Final = {
    **{"tableSizeBytes": 0, "numFiles": 0, "numMetadata": 1, "numProtocol": 1},
    **{"setTransactions": [], "domainMetadata": [], "allFiles": []},
}


def take_over_files(
    place: Location, name: str, written: Sequence[AddAction], removed: Sequence[str], commit: Commit
) -> None:
    """Let a table be read from files that lie in its folder already.

    Args:
        place: the warehouse.
        name: a table of the contract.
        written: the files that come; they hold no null where the contract has none.
        removed: paths of those that go.
        commit: the metadata of the commit.

    Raises:
        SurroundingsError: see ``_committing``.
    """
    uri = place.of_table(name)
    table = None if commit.on == NEW else DeltaTable(uri, version=commit.on)
    with _committing(uri, commit):
        if table is None:
            create_table_with_add_actions(
                uri,
                Schema.from_arrow(stored_schema(name)),
                list(written),
                mode="error",
                partition_by=[],
                description=description_of(name),
                configuration=properties_of_new(uri),
                commit_properties=commit.properties(),
            )
            return
        now = int(time.time() * 1000)
        gone = [RemoveAction(path, data_change=True, deletion_timestamp=now) for path in removed]
        table.create_write_transaction(
            [*gone, *written], "append", table.schema(), commit_properties=commit.properties()
        )


def describe_table(place: Location, name: str, commit: Commit) -> bool:
    """Describe a table of an older aclkit in one commit; False where it is described.

    Raises:
        SurroundingsError: another writer has written.
    """
    uri = place.of_table(name)
    said = metadata_with_comments(DeltaTable(uri, version=commit.on), name)
    if said is None:
        return False
    about = {"timestamp": int(time.time() * 1000), "operation": "DESCRIBE"}
    info = {**about, "operationParameters": {}, "userMetadata": commit.run_id}
    actions = [{"commitInfo": info}, {"metaData": said}]
    if not commit_actions(place.files, name, commit.on + 1, actions):
        raise _another_writer(uri)
    return True


def _holds(table: DeltaTable, commit: Commit) -> bool:
    """Whether a table has this very write already: deltalake notes what it is, and does not ask."""
    last = table.transaction_version(commit.application)
    return last is not None and last >= commit.version


def _require_zones(schema: pa.Schema) -> None:
    """Insist that times have a zone: of others deltalake makes a kind of table that few can read.

    Raises:
        ValueError: one has none.
    """
    naive = [f.name for f in schema if pa.types.is_timestamp(f.type) and f.type.tz is None]
    if naive:
        raise ValueError(f"Expected times with a time zone, found none in {', '.join(naive)}")


@contextmanager
def _committing(uri: str, commit: Commit, passing: _Passing | None = None) -> Iterator[None]:
    """Explain why a table was not written; a commit whose answer was lost has been made.

    An error of the rows that were passing is raised unchanged.

    Raises:
        SurroundingsError: the disk is full or not writable, or another writer has written.
    """
    try:
        yield
    except (DeltaError, OSError) as error:
        if passing is not None and passing.failure is not None:
            raise passing.failure from None
        plain = write_error(uri, str(error))
        if plain is not None:
            raise plain from error
        if is_uri(uri) and _is_done_all_the_same(uri, commit, error):
            return
        if is_uri(uri) or is_of_system(str(error)):
            raise SurroundingsError(f"Cannot write {uri}: {first_line(error)}") from error
        _refuse_another_writer(uri, commit, error)
        raise


def _is_done_all_the_same(uri: str, commit: Commit, error: Exception) -> bool:
    """Whether a commit to an object store was made, though its answer was lost.

    Raises:
        SurroundingsError: another writer has written, or the store does not report it.
    """
    try:
        if DeltaTable.is_deltatable(uri) and _holds(DeltaTable(uri), commit):
            return True
        _refuse_another_writer(uri, commit, error)
    except (DeltaError, OSError) as second:
        raise SurroundingsError(
            f"Cannot write {uri}, nor find out whether it was written: {first_line(second)}"
        ) from error
    return False


def _refuse_another_writer(uri: str, commit: Commit, error: Exception) -> None:
    newest = DeltaTable(uri).version() if DeltaTable.is_deltatable(uri) else NEW
    if newest != commit.on:
        raise _another_writer(uri) from error


def _another_writer(uri: str) -> SurroundingsError:
    return SurroundingsError(
        f"Another program wrote {uri} while this run held the lease. Nothing of this run is "
        "published."
    )


def properties_of(uri: str) -> dict[str, str]:
    """Return the properties of a table at its newest version."""
    said = DeltaTable(uri).metadata().configuration
    return {key: value for key, value in said.items() if value is not None}


def with_properties(properties: Mapping[str, str]) -> Callable[..., object]:
    """Return the change that sets properties of a table, also where it has them already."""
    said = dict(properties)
    return lambda found, **how: found.alter.set_table_properties(said, **how)


def change_table(uri: str, commit: Commit, change: Callable[..., object]) -> None:
    """Change a table that is there in one commit, which keeps the log whatever is set.

    Args:
        uri: the table.
        commit: the metadata of the commit.
        change: takes the table, and how deltalake is to commit.

    Raises:
        DeltaError: its log cannot be read.
        SurroundingsError: see ``_committing``.
    """
    keeping = PostCommitHookProperties(cleanup_expired_logs=False)
    found = DeltaTable(uri, version=commit.on)
    with _committing(uri, commit):
        change(found, commit_properties=commit.properties(), post_commithook_properties=keeping)
