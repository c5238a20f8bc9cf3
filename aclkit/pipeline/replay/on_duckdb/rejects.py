"""Rejects of sources, known and now read → those that remain, and the offsets that are fixed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import pyarrow as pa

from aclkit.pipeline.replay.engine import Rejects
from aclkit.pipeline.replay.on_duckdb.asking import ask, rows_of
from aclkit.pipeline.replay.on_duckdb.facts import small
from aclkit.warehouse.column_types import arrow_schema


def stand_now(
    known: pa.Table,
    incoming: pa.Table,
    reread: Collection[str],
    covered: Sequence[tuple[int, int]] = (),
) -> Rejects[pa.Table]:
    """See ``Engine``."""
    if not (known.num_rows or incoming.num_rows):
        return Rejects(standing=known, has_changed=False)
    within = small(covered, start=pa.int64(), stop=pa.int64())
    judged = ask(_JUDGED, [sorted(reread)], known=known, incoming=incoming, covered=within)
    standing = ask(_STANDING, known=judged, incoming=incoming).cast(_REJECT)
    changed = rows_of(_CHANGED, known=judged, incoming=incoming)
    gone = {offset for is_gone, offset in changed if is_gone and offset is not None}
    return Rejects(
        standing=standing,
        has_changed=bool(changed),
        gone=tuple(gone),
        left=tuple(offsets(standing)) if any(is_gone for is_gone, _ in changed) else (),
    )


def offsets(rejects: pa.Table) -> list[int]:
    """See ``Engine``."""
    return [offset for (offset,) in rows_of(_OFFSETS, rejects=rejects)]


_REJECT: Final = arrow_schema("acl_reject")
_COLUMNS: Final = ", ".join(_REJECT.names)

_JUDGED: Final = """\
SELECT *, coalesce(list_contains(?::VARCHAR[], source), false) OR (
  EXISTS (SELECT 1 FROM covered WHERE known.log_offset >= start AND known.log_offset < stop)
  AND NOT EXISTS (SELECT 1 FROM incoming WHERE incoming.log_offset = known.log_offset)) AS is_stale
FROM known"""

_STANDING: Final = f"""\
SELECT DISTINCT * FROM (
  SELECT {_COLUMNS} FROM known WHERE NOT is_stale UNION ALL SELECT {_COLUMNS} FROM incoming)"""

_CHANGED: Final = f"""\
WITH sides AS (
  SELECT {_COLUMNS}, is_stale, false AS is_incoming FROM known
  UNION ALL SELECT {_COLUMNS}, false, true FROM incoming),
together AS (
  SELECT log_offset, bool_and(is_incoming) AS is_new,
    bool_or(is_stale) AND NOT bool_or(is_incoming) AS is_gone
  FROM sides GROUP BY {_COLUMNS})
SELECT DISTINCT is_gone, log_offset FROM together WHERE is_new OR is_gone"""

_OFFSETS: Final = "SELECT DISTINCT log_offset FROM rejects WHERE log_offset IS NOT NULL"
