"""The tables of a cluster that a replay reads and writes: no rule, no transform.

``ArrowRows`` are those that this process reads and writes; for Spark's see ``spark_rows``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Final, Generic, Protocol

import pyarrow as pa

from aclkit.model.facts import RECORD
from aclkit.pipeline.replay.asking import Frame, columns_of
from aclkit.pipeline.replay.conditions import Condition, OfASource
from aclkit.pipeline.replay.engine import Engine
from aclkit.pipeline.replay.known import Known, KnownLog, Replayed
from aclkit.pipeline.replay.known_tables import KnownTables
from aclkit.pipeline.replay.on_duckdb import OnDuckdb
from aclkit.pipeline.replay.spans import Range, rows_of
from aclkit.runtime.fail_points import fail_point
from aclkit.warehouse.codecs import broker_rows
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.store import Store


class Rows(Protocol[Frame]):
    """The rows of one cluster in the tables of a warehouse, as frames of an engine."""

    def read(self, table: str) -> Frame:
        """Return the rows of a table, with the columns of the contract."""

    def append(self, table: str, rows: Frame) -> None:
        """Add rows to a table."""

    def replace(self, table: str, rows: Frame) -> None:
        """Put rows in the place of those of a table."""

    def delete(self, table: str, *any_of: Condition) -> int:
        """Delete the facts or rejects of a table that some condition holds for, and count them."""

    def move(self, moved: Frame) -> None:
        """Correct ``txn_offset`` of records that have moved, see ``Engine.moved_records``."""


@dataclass(frozen=True, slots=True)
class ReplayTables(KnownTables, Generic[Frame]):
    """The tables of one cluster, to be read whole and written by an engine.

    Attributes:
        engine: what computes the frames.
        rows: what reads and writes them.
    """

    engine: Engine[Frame]
    rows: Rows[Frame]

    def whole(self, known: Known) -> KnownLog[Frame]:
        """Read what is large of what is known, too."""
        return KnownLog(
            **{field.name: getattr(known, field.name) for field in fields(known)},
            facts=self.rows.read("acl_log"),
            history=self.rows.read("acl_history"),
            rejects=self.engine.only(self.rows.read("acl_reject"), OfASource()),
        )

    def write(self, replayed: Replayed[Frame]) -> None:
        """Write what a replay came to."""
        if replayed.corrected is not None:
            self.rows.replace("acl_log", replayed.corrected)
        if replayed.removed:
            self.rows.delete("acl_log", *replayed.removed)
        if replayed.moved is not None:
            self.rows.move(replayed.moved)
        if replayed.added is not None:
            self.rows.append("acl_log", replayed.added)
        fail_point("after-facts")
        for table, rows in replayed.tables.items():
            self.rows.replace(table, rows)
        if replayed.brokers is not None:
            registered = broker_rows(replayed.brokers, self.cluster_id)
            self.store.replace("broker", registered, self.cluster_id)
        if replayed.ranges is not None:
            self.write_ranges(replayed.ranges)

    def write_ranges(self, ranges: Iterable[Range]) -> None:
        """Replace what has been read."""
        rows = [(self.cluster_id, *item) for item in rows_of(ranges)]
        self.store.replace("log_range", rows, self.cluster_id)


@dataclass(frozen=True, slots=True)
class ArrowRows(Rows[pa.Table]):
    """The rows of one cluster."""

    store: Store
    cluster_id: str

    def read(self, table: str) -> pa.Table:
        """Read them into memory."""
        schema = arrow_schema(table)
        with read_written(self.store, self.cluster_id, table) as reader:
            return reader.arrow(f"FROM {table}").select(schema.names).cast(schema)

    def append(self, table: str, rows: pa.Table) -> None:
        """Write a file of them."""
        self.store.append(table, rows)

    def replace(self, table: str, rows: pa.Table) -> None:
        """Write a file of them in the place of those that have the cluster's rows."""
        self.store.replace(table, rows, self.cluster_id)

    def delete(self, table: str, *any_of: Condition) -> int:
        """Write the others anew."""
        rows = self.read(table)
        stays = OnDuckdb(self.cluster_id).without(rows, *any_of)
        if stays.num_rows < rows.num_rows:
            self.replace(table, stays)
        return int(rows.num_rows - stays.num_rows)

    def move(self, moved: pa.Table) -> None:
        """Write all facts anew."""
        if moved.num_rows:
            facts, engine = self.read("acl_log"), OnDuckdb(self.cluster_id)
            self.replace("acl_log", engine.ask(_MOVED, table="acl_log", facts=facts, moved=moved))


_TXN_OFFSET: Final = "CASE WHEN m.log_offset IS NULL THEN f.txn_offset ELSE m.txn_offset END"
_MOVED: Final = f"""\
SELECT {columns_of("acl_log", "f", txn_offset=_TXN_OFFSET)} FROM $facts AS f
LEFT JOIN $moved AS m ON f.fact = '{RECORD}' AND f.log_offset = m.log_offset"""
