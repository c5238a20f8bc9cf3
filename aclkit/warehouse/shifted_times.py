"""Times that an older aclkit shifted → the log's times, and notes on times that no log holds.

Where the machine's zone was not UTC, an older aclkit read times in that zone and wrote them as UTC,
each time anew. A time that is a function of ``acl_log`` is computed once more and counted. For all
other times a note warns that they may be wrong. No time is shifted back by a guess: an hour that a
zone has twice is ambiguous, and the zone of a run is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import pyarrow as pa
from deltalake import DeltaTable

from aclkit.model import facts
from aclkit.model.phrases import number_of
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.reader import Reader, read_versions
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.store import Store

_READ: Final = ("acl_log", "acl_history", "acl_usage", "broker", "finding", "setting")


def put_times_right(store: Store) -> list[str]:
    """Compute times anew that follow from others; return what was put right, and what may be wrong.

    A run that is killed on the way leaves what the next one finds and does again.
    """
    versions = {name: (name, store.versions.get(name)) for name in _READ}
    runs = (JOB_RUN, store.newest_version(JOB_RUN))
    with read_versions(store, None, {**versions, JOB_RUN: runs}) as read:
        read.give("overwriting", _overwriting(store))
        for name, sql in _COMPUTED.items():
            read.keep(name, sql.format(**vars(facts)))
        mended = {table: _rewrite(read, table) for table in _MENDED}
        shifted = {table: count for table, count in mended.items() if table != "setting" and count}
        notes = [_note_on_mended(table, count) for table, count in shifted.items()]
        notes += _notes_on_findings(read, is_shifted=bool(shifted))
        notes += _notes_on_facts(read)
    return notes


def _overwriting(store: Store) -> pa.Table:
    """Return the runs that wrote facts anew which they had read, ``--forget`` and its like."""
    path = store.place.of_table("acl_log")
    commits = DeltaTable(path).history() if store.has("acl_log") else []
    overwrites = (c for c in commits if c.get("operationParameters", {}).get("mode") == "Overwrite")
    found = {c["userMetadata"] for c in overwrites if c.get("userMetadata")}
    return pa.table({"run_id": pa.array(sorted(found), pa.string())})


def _rewrite(read: Reader, table: str) -> int:
    """Write a table with what ``right TABLE`` has where it differs; return in how many rows."""
    keys, computed = _MENDED[table]
    said = {
        "table": table,
        "same": " AND ".join(f"r.{key} = t.{key}" for key in ("cluster_id", *keys)),
        "differs": " OR ".join(f"r.{name} IS DISTINCT FROM t.{name}" for name in computed),
        "columns": ", ".join(
            (_RIGHT if name in computed else "t.{name}").format(name=name)
            for name in TABLES[table].column_names
        ),
    }
    ((count,),) = read.rows(_DIFFERING.format(**said))
    if count:
        read.rewrite(table, _CORRECTED.format(**said))
    return int(count)


def _note_on_mended(table: str, count: int) -> str:
    return (
        f"Corrected the times in {number_of(count, 'row')} of {table}: an older aclkit had "
        "shifted them by the time zone of its machine."
    )


def _notes_on_findings(read: Reader, *, is_shifted: bool) -> Iterator[str]:
    """Yield how many findings have a ``first_seen`` that no run confirms.

    Where some are borne out and nothing was shifted, the machine's zone was UTC.
    """
    ((unproven, proven),) = read.rows(_PROVEN)
    if unproven and (is_shifted or not proven):
        yield (
            f"first_seen of {number_of(unproven, 'finding')} may be wrong by hours: maintenance "
            "by an older aclkit shifted it where the time zone of its machine was not UTC. No "
            "table holds the right time, so it stays as it is."
        )


def _notes_on_facts(read: Reader) -> Iterator[str]:
    """Yield the clusters whose facts themselves were read and written by an older aclkit."""
    for cluster_id, run_number, count in read.rows(_OVERWRITTEN):
        yield (
            f"Times of up to {number_of(count, 'fact')} of cluster {cluster_id} may be wrong by "
            f"hours: run {run_number} by an older aclkit wrote them again (as --forget does), "
            "shifted where the time zone of its machine was not UTC. The next run that reads "
            "the log from its beginning corrects them. Earlier listings cannot be read again."
        )


_MENDED: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    # acl_usage first: it is found by the lifetimes as they were.
    "acl_usage": (("acl_id",), ("added_at",)),
    "acl_history": (("acl_id", "effective_offset", "added_offset"), ("added_at", "removed_at")),
    "broker": (("broker_id",), ("since_time",)),
    "finding": (("run_id", "fingerprint"), ("first_seen",)),
    # No time of it was shifted: by it the run is found.
    "setting": (("since_time",), ("run_number", "log_offset")),
}
"""Table → what names a row of a cluster, and the columns that follow from other tables."""

_DIFFERING: Final = (
    'SELECT count(*) FROM {table} t JOIN "right {table}" r ON {same} WHERE {differs}'
)
_CORRECTED: Final = 'SELECT {columns} FROM {table} t LEFT JOIN "right {table}" r ON {same}'
_RIGHT: Final = "CASE WHEN r.cluster_id IS NULL THEN t.{name} ELSE r.{name} END AS {name}"

_COMPUTED: Final[Mapping[str, str]] = {
    "event": """\
SELECT f.cluster_id, f.fact, f.log_offset, f.record_type, f.acl_id, f.broker_id, f.min_level,
  f.max_level, f.log_time,
  CASE WHEN f.fact = '{SNAPSHOT}' THEN f.log_offset - 1
    ELSE coalesce(e.end_offset, f.log_offset) END AS effective_offset
FROM acl_log f LEFT JOIN (
  SELECT t.cluster_id, t.txn_offset, min(m.log_offset) AS end_offset
  FROM (SELECT DISTINCT cluster_id, txn_offset FROM acl_log WHERE txn_offset IS NOT NULL) t
  JOIN acl_log m ON m.cluster_id = t.cluster_id AND m.log_offset > t.txn_offset
    AND m.fact = '{RECORD}' AND m.record_type = '{END_TXN}'
  GROUP BY ALL
) e ON e.cluster_id = f.cluster_id AND e.txn_offset = f.txn_offset AND f.fact = '{RECORD}'
WHERE f.record_type IN ('{ADD_ACL}', '{REMOVE_ACL}', '{REGISTER_BROKER}', '{UNREGISTER_BROKER}')""",
    "right acl_history": """\
WITH added AS (
SELECT h.cluster_id, h.acl_id, h.effective_offset, h.added_offset, h.added_by, h.added_at,
  h.removed_offset, h.removed_at, min(e.log_offset) AS at_offset, min(e.log_time) AS at_time,
  count(e.log_offset) AS found
FROM acl_history h LEFT JOIN event e ON e.cluster_id = h.cluster_id AND e.acl_id = h.acl_id
  AND e.record_type = '{ADD_ACL}' AND e.fact = h.added_by
  AND e.log_offset = h.added_offset + CASE WHEN h.added_by = '{SNAPSHOT}' THEN 1 ELSE 0 END
GROUP BY ALL
), removed AS (
SELECT a.cluster_id, a.acl_id, a.effective_offset, a.added_offset,
  min_by(e.log_time, e.log_offset) AS at_time, count(*) AS found
FROM added a JOIN event e ON e.cluster_id = a.cluster_id AND e.acl_id = a.acl_id
  AND e.record_type = '{REMOVE_ACL}' AND e.fact IN ('{RECORD}', '{LISTING}')
  AND e.effective_offset = a.removed_offset
  AND (e.log_offset > a.at_offset OR a.added_by = '{SNAPSHOT}')
GROUP BY ALL
), snapshot AS (
SELECT cluster_id, effective_offset, max(log_time) AS at_time, count(*) AS found
FROM event WHERE fact = '{SNAPSHOT}' AND acl_id IS NOT NULL GROUP BY ALL
)
SELECT a.cluster_id, a.acl_id, a.effective_offset, a.added_offset, a.added_at AS was_added_at,
  a.removed_offset,
  CASE WHEN a.found > 0 THEN a.at_time ELSE a.added_at END AS added_at,
  CASE WHEN r.found > 0 THEN r.at_time WHEN s.found > 0 THEN s.at_time
    ELSE a.removed_at END AS removed_at
FROM added a
LEFT JOIN removed r ON r.cluster_id = a.cluster_id AND r.acl_id = a.acl_id
  AND r.effective_offset = a.effective_offset AND r.added_offset = a.added_offset
LEFT JOIN snapshot s ON s.cluster_id = a.cluster_id AND s.effective_offset = a.removed_offset""",
    "right acl_usage": """\
SELECT u.cluster_id, u.acl_id, min(h.added_at) AS added_at
FROM acl_usage u JOIN "right acl_history" h ON h.cluster_id = u.cluster_id
  AND h.acl_id = u.acl_id AND h.was_added_at = u.added_at
GROUP BY ALL HAVING count(DISTINCT h.added_at) = 1""",
    "right broker": """\
SELECT b.cluster_id, b.broker_id, coalesce(
    min_by(e.log_time, e.log_offset) FILTER (WHERE e.broker_id = b.broker_id
      AND (e.record_type = '{REGISTER_BROKER}') = b.is_registered
      AND (NOT b.is_registered OR (e.min_level IS NOT DISTINCT FROM b.min_level
        AND e.max_level IS NOT DISTINCT FROM b.max_level))),
    max(e.log_time) FILTER (WHERE e.fact = '{SNAPSHOT}')) AS since_time
FROM broker b JOIN event e ON e.cluster_id = b.cluster_id AND e.broker_id IS NOT NULL
  AND e.effective_offset = b.since_offset
GROUP BY ALL HAVING since_time IS NOT NULL""",
    # Holds while maintenance has removed no run: then all runs know when they showed a finding.
    "right finding": """\
SELECT t.cluster_id, t.run_id, t.fingerprint, s.started_at AS first_seen
FROM (SELECT DISTINCT cluster_id, run_id, fingerprint FROM finding WHERE first_seen IS NOT NULL) t
JOIN (
  SELECT f.cluster_id, f.fingerprint, min(r.started_at) AS started_at FROM finding f
  JOIN job_run r ON r.cluster_id = f.cluster_id AND r.run_id = f.run_id GROUP BY ALL
) s ON s.cluster_id = t.cluster_id AND s.fingerprint = t.fingerprint
WHERE (SELECT count(*) = max(run_number) + 1 FROM job_run)""",
    "right setting": """\
SELECT s.cluster_id, s.since_time, min(r.run_number) AS run_number,
  min_by(r.head_offset, r.run_number) AS log_offset
FROM setting s JOIN job_run r ON r.cluster_id = s.cluster_id AND r.started_at = s.since_time
GROUP BY ALL""",
}
"""What is computed on the way, in this order; names in braces are those of ``model.facts``."""

_PROVEN: Final = """\
SELECT count(*) FILTER (WHERE NOT is_proven), count(*) FILTER (WHERE is_proven) FROM (
  SELECT f.cluster_id, f.fingerprint, bool_or(r.run_id IS NOT NULL) AS is_proven FROM finding f
  LEFT JOIN finding o ON o.cluster_id = f.cluster_id AND o.fingerprint = f.fingerprint
  LEFT JOIN job_run r ON r.cluster_id = o.cluster_id AND r.run_id = o.run_id
    AND r.started_at = f.first_seen
  WHERE f.first_seen IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM "right finding" k
    WHERE k.cluster_id = f.cluster_id AND k.fingerprint = f.fingerprint)
  GROUP BY ALL)"""
"""What maintenance noted is the start of a run that showed the finding; some runs are known."""

_OVERWRITTEN: Final = """\
SELECT f.cluster_id, max(r.run_number), count(*) FROM acl_log f JOIN (
  SELECT cluster_id, max(run_number) AS run_number, max(head_offset) AS head_offset FROM job_run
  WHERE counts['facts_forgotten'] > 0 OR run_id IN (SELECT run_id FROM overwriting)
  GROUP BY cluster_id
) r ON r.cluster_id = f.cluster_id AND f.log_offset < r.head_offset
WHERE f.log_time IS NOT NULL GROUP BY f.cluster_id ORDER BY f.cluster_id"""
