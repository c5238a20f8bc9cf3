"""The rows of a cluster as tables of Arrow: this process reads and writes the tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from aclkit.model.facts import RECORD
from aclkit.pipeline.replay.engine import Condition
from aclkit.pipeline.replay.on_duckdb.asking import ask
from aclkit.pipeline.replay.on_duckdb.facts import only
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
        self.store.append_columns(table, rows)

    def replace(self, table: str, rows: pa.Table) -> None:
        """Write a file of them in the place of those that have the cluster's rows."""
        self.store.replace_columns(table, rows, self.cluster_id)

    def delete(self, table: str, *any_of: Condition) -> int:
        """Write the others anew."""
        rows = self.read(table)
        stays = only(rows, any_of, is_not=True)
        if stays.num_rows < rows.num_rows:
            self.replace(table, stays)
        return int(rows.num_rows - stays.num_rows)

    def move(self, moved: pa.Table) -> None:
        """Write all facts anew."""
        if moved.num_rows:
            rows = self.read("acl_log")
            self.replace("acl_log", ask(_MOVED, rows=rows, moved=moved).cast(rows.schema))


_MOVED: Final = f"""\
SELECT rows.* REPLACE (
  CASE WHEN moved.log_offset IS NULL THEN rows.txn_offset ELSE moved.txn_offset END AS txn_offset)
FROM rows LEFT JOIN moved ON rows.fact = '{RECORD}' AND rows.log_offset = moved.log_offset"""
