"""The rows of explain tables → the warehouse."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from aclkit.warehouse.reader import Reader, Versions, read_versions, read_written
from aclkit.warehouse.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where the tables of one cluster go.

    Attributes:
        store: the warehouse's tables.
        cluster_id: the cluster.
    """

    store: Store
    cluster_id: str

    def write_rows(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Put rows that the driver holds in the place of the cluster's rows of a table."""
        self.store.replace_rows(table, rows, self.cluster_id)

    def ask(self, *tables: str) -> AbstractContextManager[Reader]:
        """Open tables as this run leaves them; see ``reader.read_written``."""
        return read_written(self.store, self.cluster_id, *tables)

    def ask_versions(
        self, tables: Versions, *beside: tuple[Store, Versions]
    ) -> AbstractContextManager[Reader]:
        """Open tables at given versions; see ``reader.read_versions``."""
        return read_versions(self.store, self.cluster_id, tables, *beside)
