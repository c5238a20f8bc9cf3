"""The rows of explain tables → the warehouse, and questions about them to what reads them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from aclkit.warehouse.reader import Asks, Reader, Versions, read_versions, read_written
from aclkit.warehouse.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where the tables of one cluster go.

    Attributes:
        store: the warehouse's tables.
        cluster_id: the cluster.
        is_large: pairs and rulings are too many for this process, see ``plan.reads_back_here``:
            what is asked of all of them Spark answers.
    """

    store: Store
    cluster_id: str
    is_large: bool = False

    def write_rows(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Put rows that the driver holds in the place of the cluster's rows of a table."""
        self.store.replace(table, rows, self.cluster_id)

    def ask(self, *tables: str) -> AbstractContextManager[Reader]:
        """Open tables as this run leaves them; see ``reader.read_written``."""
        return read_written(self.store, self.cluster_id, *tables)

    def ask_here(self, tables: Versions) -> AbstractContextManager[Reader]:
        """Open tables at given versions for this process; see ``reader.read_versions``."""
        return read_versions(self.store, self.cluster_id, tables)

    def ask_all(
        self, tables: Versions, *beside: tuple[Store, Versions]
    ) -> AbstractContextManager[Asks]:
        """Open tables at given versions for what reads all rows; see ``reader.read_versions``."""
        if not self.is_large:
            return read_versions(self.store, self.cluster_id, tables, *beside)
        from aclkit.warehouse.frames import read_by_spark

        return read_by_spark(self.store, self.cluster_id, tables, *beside)
