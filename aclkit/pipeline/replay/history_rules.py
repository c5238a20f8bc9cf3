"""Facts × the way through the log → lifetimes of ACLs, topics and users, and rejected facts.

The state of an ACL after a record depends on that record alone: an add leaves it alive, a
removal dead. So a record made sense exactly when it differs from the one before it, and one
window per ACL does what ``tests/pipeline/replay/specification.py`` does step by step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

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
from aclkit.model.groups import grouped
from aclkit.pipeline.replay.asking import Asking, Frame, listed
from aclkit.pipeline.replay.history_plan import HistoryPlan
from aclkit.pipeline.replay.transactions import COMMITTED

ID_EXISTS: Final = "expected a new ACL id, but an ACL with this id exists"
ID_IS_UNKNOWN: Final = "expected the id of an existing ACL, but none has it"
"""Why a record that adds an ACL, or removes one, is rejected: it would change nothing."""


class HistoryRules(Asking[Frame]):
    """What is asked of facts along a way through the log."""

    def history(self, facts: Frame, rejected: Frame, plan: HistoryPlan) -> Mapping[str, Frame]:
        """Return what the tables of a cluster's history hold, by their names.

        Args:
            facts: rows of ``acl_log``.
            rejected: rows of ``acl_reject`` that its sources have.
            plan: the way through the log.
        """
        way = [(x.fact, x.from_offset, x.to_offset) for x in plan.itinerary.stretches]
        stretches = self.frame("fact STRING, from_offset BIGINT, to_offset BIGINT", way)
        spans = self.spans(plan.spans)
        effects = self.keep(self.ask(_EFFECTS, facts=facts, stretches=stretches, spans=spans))

        def folded(table: str, sql: str) -> Frame:
            return self.ask(sql, table=table, effects=effects, stretches=stretches)

        # Transaction records that are invalid at their offset.
        faults = self.rows("acl_reject", [
            (self.cluster_id, "replay", None, None, fault.log_offset, fault.reason, None, None)
            for fault in plan.faults
        ])  # fmt: skip
        return {
            "acl_history": self.keep(folded("acl_history", _ACLS)),
            "resource_lifetime": folded("resource_lifetime", _RESOURCES),
            "principal_lifetime": folded("principal_lifetime", _USERS),
            "acl_reject": self.union(rejected, folded("acl_reject", _REJECTS), faults),
        }

    def contradictions(
        self, facts: Frame, history: Frame, end_offsets: Sequence[int]
    ) -> dict[int, list[str]]:
        """Return, for each snapshot that differs from history, the ACLs on which they differ.

        Args:
            facts: rows of ``acl_log``, entries of these snapshots among them.
            history: the cluster's ``acl_history``.
            end_offsets: of the snapshots; an empty one has no entry.
        """
        checks = self.frame("log_offset BIGINT", [(end_offset,) for end_offset in end_offsets])
        found = self.collect(_CONTRADICTIONS, facts=facts, history=history, checks=checks)
        return grouped((end_offset, acl_id) for end_offset, acl_id in found)


_EFFECTS: Final = f"""\
WITH passed AS (
  SELECT /*+ BROADCAST(s) */ f.* FROM $facts AS f JOIN $stretches AS s
  ON f.log_offset >= s.from_offset AND f.log_offset < s.to_offset
  WHERE f.fact IN {listed(RECORD, LISTING)} AND s.fact = '{RECORD}')
SELECT /*+ BROADCAST(s) */ f.*, coalesce(s.end_offset, f.log_offset) AS effective_offset
FROM passed AS f LEFT JOIN $spans AS s
ON f.log_offset > s.begin_offset AND f.log_offset < s.end_offset
WHERE s.outcome IS NULL OR s.outcome = '{COMMITTED}'
UNION ALL
SELECT /*+ BROADCAST(s) */ f.*, f.log_offset - 1
FROM $facts AS f JOIN $stretches AS s ON f.log_offset = s.to_offset
WHERE f.fact = '{SNAPSHOT}' AND s.fact = '{SNAPSHOT}'"""
"""The facts that history passes, with ``effective_offset``: where each takes effect.

A record of a committed transaction takes effect at its End; one of an aborted or open transaction
not at all. A snapshot's entries take effect at its last offset, and only where history jumps onto
it.
"""

_EVENT: Final = "cluster_id, fact, log_offset, effective_offset, log_time, source"


_ORDER: Final = f"effective_offset, fact = '{SNAPSHOT}', log_offset"
"""Log order: where records take effect, a snapshot after the records that it contains."""


def _happened(
    adds: tuple[str, ...],
    removals: tuple[str, ...],
    key: str,
    more: Sequence[str] = (),
    effects: str = "$effects",
) -> str:
    """Return the CTE ``happened``: events in order, each with whether its subject was alive before.

    An ending is added for whatever a snapshot that history jumps onto no longer lists.

    Args:
        adds: the types of the records that make their subject alive.
        removals: those of the records that end it.
        key: the columns that name the subject.
        more: what else a life has.
        effects: where all these columns are.
    """
    is_same = " AND ".join(f"e.{name} = seen.{name}" for name in key.split(", "))
    columns = "".join(f", {name}" for name in more)
    return f"""\
WITH events AS (
  SELECT {_EVENT}, {key}, record_type IN {listed(*adds)} AS is_add{columns}
  FROM {effects} WHERE record_type IN {listed(*adds, *removals)}),
entries AS (SELECT * FROM events WHERE fact = '{SNAPSHOT}'),
times AS (SELECT log_offset, max(log_time) AS log_time FROM entries GROUP BY log_offset),
seen AS (SELECT {key}, min(effective_offset) AS first_seen FROM events GROUP BY {key}),
vanished AS (
  SELECT /*+ BROADCAST(j) */ NULL, '{SNAPSHOT}', j.to_offset, j.to_offset - 1, t.log_time, NULL,
    {key}, false{", NULL" * len(more)}
  FROM seen JOIN $stretches AS j ON seen.first_seen < j.to_offset - 1
  LEFT JOIN times AS t ON t.log_offset = j.to_offset
  WHERE j.fact = '{SNAPSHOT}' AND NOT EXISTS (
    SELECT 1 FROM entries AS e WHERE e.log_offset = j.to_offset AND {is_same})),
happened AS (
  SELECT *, lag(is_add, 1, false) OVER in_order AS was_alive
  FROM (SELECT * FROM events UNION ALL SELECT * FROM vanished) AS every_event
  WINDOW in_order AS (PARTITION BY {key} ORDER BY {_ORDER}))
"""


def _lives(happened: str, key: str, columns: str) -> str:
    """Return the SELECT that pairs each event that made its subject alive with the next ending."""
    return f"""\
{happened}, lives AS (
  SELECT *, lead(effective_offset) OVER in_order AS removed_offset,
    lead(log_time) OVER in_order AS removed_at
  FROM happened WHERE is_add <> was_alive
  WINDOW in_order AS (PARTITION BY {key} ORDER BY {_ORDER}))
SELECT cluster_id, {columns} FROM lives WHERE is_add"""


_ACL_EVENTS: Final = _happened((ADD_ACL,), (REMOVE_ACL,), "acl_id", BINDING)

_ACLS: Final = _lives(
    _ACL_EVENTS,
    "acl_id",
    f"""\
acl_id, {", ".join(BINDING)},
CASE WHEN fact = '{SNAPSHOT}' THEN effective_offset ELSE log_offset END AS added_offset,
effective_offset, log_time AS added_at, fact AS added_by, removed_offset, removed_at""",
)

_REJECTS: Final = f"""\
{_ACL_EVENTS}
SELECT *, $sha256 AS digest FROM (
  SELECT cluster_id, 'replay' AS stage, source, CAST(NULL AS BIGINT) AS position, log_offset,
    CASE WHEN is_add THEN '{ID_EXISTS}' ELSE '{ID_IS_UNKNOWN}' END AS reason, $json AS raw
  FROM happened WHERE is_add = was_alive AND fact <> '{SNAPSHOT}') AS refused"""
"""Records that add a live id or remove an unknown one."""

_NAMED: Final = f"""(
  SELECT *, CASE WHEN is_topic THEN 'TOPIC' ELSE resource_type END AS kind,
    CASE WHEN is_topic THEN topic_id ELSE resource_name END AS entity
  FROM (
    SELECT *, record_type IN {listed(ADD_TOPIC, REMOVE_TOPIC)} AS is_topic FROM $effects
  ) AS found) AS named"""
"""A topic is known by its id, all else by its type and name."""

_RESOURCES: Final = _lives(
    _happened(
        (ADD_TOPIC, ADD_RESOURCE), (REMOVE_TOPIC, REMOVE_RESOURCE), "kind, entity",
        ("resource_name", "topic_id"), _NAMED,
    ),
    "kind, entity",
    "kind AS resource_type, resource_name, topic_id, "
    "effective_offset AS first_offset, removed_offset AS last_offset",
)  # fmt: skip

_USERS: Final = _lives(
    _happened(
        (ADD_SCRAM, ADD_DELEGATION), (REMOVE_SCRAM, REMOVE_DELEGATION), "principal, mechanism"
    ),
    "principal, mechanism",
    "principal, mechanism, effective_offset AS first_offset, removed_offset AS last_offset",
)

_FIELDS: Final = ", ".join(Acl.__slots__)

_CONTRADICTIONS: Final = f"""\
WITH sides AS (
  SELECT DISTINCT log_offset, acl_id, $digest({_FIELDS}) AS content, 1 AS side FROM $facts
  WHERE fact = '{SNAPSHOT}' AND record_type = '{ADD_ACL}'
    AND log_offset IN (SELECT log_offset FROM $checks)
  UNION ALL
  SELECT /*+ BROADCAST(c) */ c.log_offset, acl_id, $digest({_FIELDS}), -1
  FROM $history AS h JOIN $checks AS c ON h.effective_offset < c.log_offset
    AND coalesce(h.removed_offset, {(1 << 63) - 1}) >= c.log_offset)
SELECT DISTINCT log_offset, acl_id FROM (
  SELECT log_offset, acl_id FROM sides GROUP BY log_offset, acl_id, content HAVING sum(side) <> 0
) AS differing ORDER BY log_offset, acl_id"""
"""The same snapshot may come from two sources."""
