"""Facts × the way through the log → lifetimes of ACLs, topics and users, and rejected facts.

The state of an ACL after a record depends on that record alone: an add leaves it alive, a
removal dead. So a record made sense exactly when it differs from the one before it, and one
window per ACL does what ``tests/pipeline/replay/specification.py`` does step by step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import pyarrow as pa

from aclkit.model.acl import BINDING, Acl
from aclkit.model.facts import (
    ADD_ACL,
    ADD_DELEGATION,
    ADD_RESOURCE,
    ADD_SCRAM,
    ADD_TOPIC,
    LISTING,
    RECORD,
    REMOVE_ACL,
    REMOVE_DELEGATION,
    REMOVE_RESOURCE,
    REMOVE_SCRAM,
    REMOVE_TOPIC,
    SNAPSHOT,
)
from aclkit.pipeline.replay.engine import ID_EXISTS, ID_IS_UNKNOWN
from aclkit.pipeline.replay.history_plan import HistoryPlan
from aclkit.pipeline.replay.on_duckdb.asking import ask, rows_of
from aclkit.pipeline.replay.on_duckdb.facts import small, spans_table
from aclkit.pipeline.replay.transactions import COMMITTED, Fault
from aclkit.runtime.arrow import arrow_table
from aclkit.warehouse.column_types import arrow_schema


def compute_history(
    facts: pa.Table, rejected: pa.Table, plan: HistoryPlan, cluster_id: str
) -> Mapping[str, pa.Table]:
    """See ``Engine.history``."""
    stretches = small(
        [(x.fact, x.from_offset, x.to_offset) for x in plan.itinerary.stretches],
        fact=pa.string(), from_offset=pa.int64(), to_offset=pa.int64(),
    )  # fmt: skip
    effects = ask(_EFFECTS, facts=facts, stretches=stretches, spans=spans_table(plan.spans))

    def folded(table: str, sql: str) -> pa.Table:
        return ask(sql, effects=effects, stretches=stretches).cast(arrow_schema(table))

    of_replay, faults = folded("acl_reject", _REJECTS), _faults(plan.faults, cluster_id)
    return {
        "acl_history": folded("acl_history", _ACLS),
        "resource_lifetime": folded("resource_lifetime", _RESOURCES),
        "principal_lifetime": folded("principal_lifetime", _USERS),
        "acl_reject": pa.concat_tables([rejected, of_replay, faults]),
    }


def _faults(faults: Iterable[Fault], cluster_id: str) -> pa.Table:
    """Make ``acl_reject`` rows of transaction records that are invalid at their offset."""
    rows = [(cluster_id, "replay", None, None, x.log_offset, x.reason, None, None) for x in faults]
    return arrow_table(rows, arrow_schema("acl_reject"))


def contradictions(
    facts: pa.Table, history: pa.Table, end_offsets: Sequence[int]
) -> dict[int, list[str]]:
    """See ``Engine``."""
    checks = small([(end_offset,) for end_offset in end_offsets], log_offset=pa.int64())
    return dict(rows_of(_CONTRADICTIONS, facts=facts, history=history, checks=checks))


_EFFECTS: Final = f"""\
WITH passed AS (
  SELECT f.* FROM facts AS f JOIN stretches AS s
  ON f.log_offset >= s.from_offset AND f.log_offset < s.to_offset
  WHERE f.fact IN ('{RECORD}', '{LISTING}') AND s.fact = '{RECORD}')
SELECT f.*, coalesce(s.end_offset, f.log_offset) AS effective_offset
FROM passed AS f LEFT JOIN spans AS s
ON f.log_offset > s.begin_offset AND f.log_offset < s.end_offset
WHERE s.outcome IS NULL OR s.outcome = '{COMMITTED}'
UNION ALL
SELECT f.*, f.log_offset - 1 FROM facts AS f JOIN stretches AS s ON f.log_offset = s.to_offset
WHERE f.fact = '{SNAPSHOT}' AND s.fact = '{SNAPSHOT}'"""
"""The facts that history passes, with ``effective_offset``: where each takes effect.

A record of a committed transaction takes effect at its End; one of an aborted or open transaction
not at all. A snapshot's entries take effect at its last offset, and only where history jumps onto
it.
"""

_EVENT: Final = "cluster_id, fact, log_offset, effective_offset, log_time, source"


def _happened(events: str, key: str) -> str:
    """Return the CTE ``happened``: events in order, each with whether its subject was alive before.

    An ending is added for whatever a snapshot that history jumps onto no longer lists.

    Args:
        events: a SELECT of ``_EVENT``, the key, ``is_add`` and what a life has more.
        key: the columns of an event that name its subject.
    """
    is_same = " AND ".join(f"e.{name} = seen.{name}" for name in key.split(", "))
    return f"""\
WITH events AS ({events}),
entries AS (SELECT * FROM events WHERE fact = '{SNAPSHOT}'),
times AS (SELECT log_offset, max(log_time) AS log_time FROM entries GROUP BY log_offset),
seen AS (SELECT {key}, min(effective_offset) AS first_seen FROM events GROUP BY {key}),
vanished AS (
  SELECT '{SNAPSHOT}' AS fact, j.to_offset AS log_offset, j.to_offset - 1 AS effective_offset,
    t.log_time, {key}, false AS is_add
  FROM seen JOIN stretches AS j ON seen.first_seen < j.to_offset - 1
  LEFT JOIN times AS t ON t.log_offset = j.to_offset
  WHERE j.fact = '{SNAPSHOT}' AND NOT EXISTS (
    SELECT 1 FROM entries AS e WHERE e.log_offset = j.to_offset AND {is_same})),
happened AS (
  SELECT *, lag(is_add, 1, false) OVER in_order AS was_alive
  FROM (FROM events UNION ALL BY NAME FROM vanished)
  WINDOW in_order AS (PARTITION BY {key} ORDER BY {_ORDER}))
"""


_ORDER: Final = f"effective_offset, fact = '{SNAPSHOT}', log_offset"
"""Log order: where records take effect, a snapshot after the records that it contains."""


def _lives(events: str, key: str, columns: str) -> str:
    """Return the SELECT that pairs each event that made its subject alive with the next ending."""
    return f"""\
{_happened(events, key)}, lives AS (
  SELECT *, lead(effective_offset) OVER in_order AS removed_offset,
    lead(log_time) OVER in_order AS removed_at
  FROM happened WHERE is_add <> was_alive
  WINDOW in_order AS (PARTITION BY {key} ORDER BY {_ORDER}))
SELECT {columns} FROM lives WHERE is_add"""


_ACL_EVENTS: Final = f"""\
SELECT {_EVENT}, acl_id, record_type = '{ADD_ACL}' AS is_add, {", ".join(BINDING)}
FROM effects WHERE record_type IN ('{ADD_ACL}', '{REMOVE_ACL}')"""

_ACLS: Final = _lives(
    _ACL_EVENTS,
    "acl_id",
    f"""\
cluster_id, acl_id, {", ".join(BINDING)},
CASE WHEN fact = '{SNAPSHOT}' THEN effective_offset ELSE log_offset END AS added_offset,
effective_offset, log_time AS added_at, fact AS added_by, removed_offset, removed_at""",
)

_AS_JSON: Final = ", ".join(f"""'"{name}":' || to_json({name})""" for name in ("acl_id", *BINDING))

_REJECTS: Final = f"""\
{_happened(_ACL_EVENTS, "acl_id")}
SELECT *, sha256(raw) AS digest FROM (
  SELECT cluster_id, 'replay' AS stage, source, NULL::BIGINT AS position, log_offset,
    CASE WHEN is_add THEN '{ID_EXISTS}' ELSE '{ID_IS_UNKNOWN}' END AS reason,
    '{{' || concat_ws(',', {_AS_JSON}) || '}}' AS raw
  FROM happened WHERE is_add = was_alive AND fact <> '{SNAPSHOT}')"""
"""Records that add a live id or remove an unknown one."""

_RESOURCES: Final = _lives(
    f"""\
SELECT {_EVENT}, resource_name, topic_id,
  CASE WHEN is_topic THEN 'TOPIC' ELSE resource_type END AS kind,
  CASE WHEN is_topic THEN topic_id ELSE resource_name END AS entity,
  record_type IN ('{ADD_TOPIC}', '{ADD_RESOURCE}') AS is_add
FROM (SELECT *, record_type IN ('{ADD_TOPIC}', '{REMOVE_TOPIC}') AS is_topic FROM effects)
WHERE record_type IN ('{ADD_TOPIC}', '{ADD_RESOURCE}', '{REMOVE_TOPIC}', '{REMOVE_RESOURCE}')""",
    "kind, entity",
    "cluster_id, kind AS resource_type, resource_name, topic_id, "
    "effective_offset AS first_offset, removed_offset AS last_offset",
)
"""A topic is known by its id, all else by its type and name."""

_USERS: Final = _lives(
    f"""\
SELECT {_EVENT}, principal, mechanism,
  record_type IN ('{ADD_SCRAM}', '{ADD_DELEGATION}') AS is_add
FROM effects WHERE record_type IN (
  '{ADD_SCRAM}', '{ADD_DELEGATION}', '{REMOVE_SCRAM}', '{REMOVE_DELEGATION}')""",
    "principal, mechanism",
    "cluster_id, principal, mechanism, "
    "effective_offset AS first_offset, removed_offset AS last_offset",
)

_FIELDS: Final = ", ".join(Acl.__slots__)
_OF_HISTORY: Final = ", ".join(f"h.{name}" for name in Acl.__slots__)

_CONTRADICTIONS: Final = f"""\
WITH sides AS (
  SELECT DISTINCT f.log_offset, {_FIELDS}, 1 AS side
  FROM facts AS f SEMI JOIN checks AS c ON f.log_offset = c.log_offset
  WHERE f.fact = '{SNAPSHOT}' AND f.record_type = '{ADD_ACL}'
  UNION ALL
  SELECT c.log_offset, {_OF_HISTORY}, -1 FROM history AS h JOIN checks AS c
  ON h.effective_offset < c.log_offset
    AND coalesce(h.removed_offset, {(1 << 63) - 1}) >= c.log_offset),
differing AS (
  SELECT log_offset, acl_id FROM sides GROUP BY log_offset, {_FIELDS} HAVING sum(side) <> 0)
SELECT log_offset, list_sort(list(DISTINCT acl_id)) FROM differing
GROUP BY log_offset ORDER BY log_offset"""
"""The same snapshot may come from two sources."""
