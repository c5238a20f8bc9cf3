"""A published warehouse → does a cluster follow a log or listings, or was it written here?"""

from __future__ import annotations

import duckdb

from aclkit.model.facts import WRITTEN
from aclkit.pipeline.replay.ranges import Range, is_written_here
from aclkit.warehouse.sql import fetch


def is_replicated(connection: duckdb.DuckDBPyConnection, cluster_id: str) -> bool:
    """Whether a cluster was replayed from somewhere, so that only its source changes it."""
    rows = fetch(connection, _RANGES, [cluster_id])
    ranges = [Range(*row) for row in rows]
    return not is_written_here(
        ranges, lambda: fetch(connection, _WRITTEN, [cluster_id, WRITTEN])[0][0]
    )


_RANGES = "SELECT from_offset, to_offset, epoch, fact FROM log_range WHERE cluster_id = ?"
_WRITTEN = "SELECT count(*) FROM acl_log WHERE cluster_id = ? AND source = ?"
