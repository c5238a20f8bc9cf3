"""The rows of a cluster as tables of Arrow: this process reads and writes the tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from aclkit.model.facts import RECORD
from aclkit.pipeline.replay.asking import columns_of
from aclkit.pipeline.replay.conditions import Condition
from aclkit.pipeline.replay.on_duckdb.engine import OnDuckdb
from aclkit.pipeline.replay.tables import Rows
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.store import Store


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
