"""How large a replay is → the engine that does it, and the tables as it reads and writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from aclkit.errors import AclkitError, UsageError
from aclkit.pipeline.plan import DecideWith, replays_here
from aclkit.pipeline.replay.known_tables import KnownTables
from aclkit.pipeline.replay.on_duckdb import OnDuckdb
from aclkit.pipeline.replay.tables import ArrowRows, ReplayTables
from aclkit.pipeline.sources.files import is_packed, size_and_time
from aclkit.pipeline.sources.items import WorkItem


def fits(
    tables: KnownTables,
    asked: DecideWith = "auto",
    items: Iterable[WorkItem] = (),
    rows: int = 0,
) -> bool:
    """Whether this process replays a cluster.

    Args:
        tables: the cluster's.
        asked: what the user asks for.
        items: what is to be read.
        rows: how many source rows there are already, of a listing.
    """
    size, facts = _bytes_of(items), tables.count_facts()
    total = None if size is None else size + rows * _BYTES_OF_ROW
    return replays_here(asked, source_bytes=total, known_facts=facts)


@contextmanager
def replaying(tables: KnownTables, *, is_here: bool) -> Iterator[ReplayTables[Any]]:
    """Open a cluster's tables for a replay: by this process, or by Spark, which starts if needed.

    What is computed on the way is kept for the length of a ``with``.
    """
    place = (tables.store, tables.cluster_id)
    if is_here:
        yield ReplayTables(*place, OnDuckdb(tables.cluster_id), ArrowRows(*place))
        return
    # Imported here, so that what this process does needs neither pyspark nor Java.
    from aclkit.pipeline.replay.on_spark import OnSpark
    from aclkit.pipeline.replay.spark_rows import SparkRows
    from aclkit.runtime.frame import Steps
    from aclkit.warehouse.frames import TableFrames

    with Steps() as steps:
        engine = OnSpark(tables.store.spark, tables.cluster_id, steps)
        yield ReplayTables(*place, engine, SparkRows(TableFrames(tables.store), tables.cluster_id))


def _bytes_of(items: Iterable[WorkItem]) -> int | None:
    """Return the bytes that are to be read; None where some file does not tell its size."""
    total = 0
    for item in items:
        try:
            size, _ = size_and_time(item.path)
        except UsageError:  # gone since it was listed: who reads it tells
            continue
        except AclkitError:
            return None
        total += size * _UNPACKED if is_packed(item.path) else size
    return total


_BYTES_OF_ROW: Final = 64
"""What a record of an ACL takes in a log."""

_UNPACKED: Final = 10
"""So many times its size a packed text may have; one that has more rows than fit is left to Spark
while it is read."""
