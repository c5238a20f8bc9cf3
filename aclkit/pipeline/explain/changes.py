"""The explain tables before and after a run → which accesses changed, and what caused it. SQL.

A row stands for one principal, or for all principals of a class that no own ACL concerns. Super
users are a class of their own, ``super``. Only names that both runs asked about are compared. A
principal, host or resource that only one of them asked about is a row of its own without gains and
losses: a new name had no access before, and a name that is gone changes no other access.

The steps are named SELECTs, each based on others: ``was_X`` is table X of the previous run,
``now_X`` that of this run. A step with such a prefix is the same query on one side.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from aclkit.model.acl import ANY_OTHER, BINDING
from aclkit.pipeline.explain.differing import of_sides, own_pairs_sql
from aclkit.pipeline.explain.output import Output
from aclkit.runtime.progress import step
from aclkit.warehouse.codecs import ACL_COLUMNS
from aclkit.warehouse.job_run import PublishedRun, RunSettings
from aclkit.warehouse.reader import Asks, Versions
from aclkit.warehouse.views import ASKED, HOST, PAST_TABLES, SUPER_RULESET, operations_sql

BY_SETTINGS: Final = "settings"
BY_INVENTORY: Final = "inventory"
BY_ACL: Final = "acl"

_TABLES: Final = (*PAST_TABLES, "resource", "ruleset", "ruleset_group", "acl_history")


def tables_of_changes(before: Mapping[str, int], after: Mapping[str, int]) -> Versions:
    """Return what ``changed_accesses`` asks about: tables as two runs left them."""
    return {
        **{f"was_{name}": (name, before.get(name)) for name in _TABLES},
        **{f"now_{name}": (name, after.get(name)) for name in _TABLES},
    }


def changed_accesses(tables: Asks, **differing: bool) -> pa.RecordBatchReader:
    """Yield the rows of ``access_change``, cluster and run aside; see ``keep_changes``."""
    keep_changes(tables, **differing)
    return tables.stream("FROM access_change")


def keep_changes(tables: Asks, **differing: bool) -> None:
    """Compute the rows of ``access_change``, which ``tables`` then knows under that name.

    A pair counts as changed when its ruleset did, or when the ruleset's rulings did. Of other
    rules, those of another aclkit, the cause is ``settings`` where no ACL moved. There may be as
    many rows as pairs.

    Args:
        tables: those of ``tables_of_changes``.
        differing: what the two runs differ in; see ``change_steps``.
    """
    # One at a time: in one statement DuckDB asks some of them again and again.
    for name, sql in change_steps(**differing).items():
        tables.keep(name, sql)


def change_steps(
    *, settings_changed: bool, rules_changed: bool, hosts_changed: bool
) -> dict[str, str]:
    """Return the SELECT of each step, in their order; the last one gives ``access_change``.

    Args:
        settings_changed: the two runs decided under other settings.
        rules_changed: the two runs decided by other rules.
        hosts_changed: the two runs may have asked about other hosts.
    """
    words = {
        **_WORDS,
        "operations": operations_sql(),
        "may_rule_anew": str(settings_changed or rules_changed or hosts_changed).lower(),
        "settings_changed": str(settings_changed).lower(),
        "rules_changed": str(rules_changed).lower(),
    }
    return of_sides(_STEPS, _SIDES, words)


_SIDES: Final = {"was": {"run": "before"}, "now": {"run": "after"}}
_WORDS: Final = {
    "super_ruleset": f"'{SUPER_RULESET}'",
    "any_other": f"'{ANY_OTHER}'",
    "by_settings": f"'{BY_SETTINGS}'",
    "by_inventory": f"'{BY_INVENTORY}'",
    "by_acl": f"'{BY_ACL}'",
    "asked": f"'{ASKED}'",
    "of_host": f"'{HOST}'",
    "ruling": "ruleset_id, host, operation, decision, rule, deciding_acl_id",
    "acl_of_h": ", ".join(f"h.{name}" for name in ACL_COLUMNS),
    "same_acl": " AND ".join(f"h.{name} = g.{name}" for name in ACL_COLUMNS),
    "another_acl": " OR ".join(f"n.{name} <> w.{name}" for name in BINDING),
}
_STEPS: Final[dict[str, str]] = {}

_STEPS["operation"] = "$operations"

# Ids that stand for another ACL than before: facts of a log were forgotten and read again.
_STEPS["altered_acl"] = """\
SELECT n.acl_id FROM now_acl_history n JOIN was_acl_history w ON w.acl_id = n.acl_id
WHERE n.removed_offset IS NULL AND w.removed_offset IS NULL AND ($another_acl)"""

# Rulesets that may decide otherwise under the same id, which is a hash of the ids of its ACLs.
_STEPS["ruled_anew"] = """\
SELECT DISTINCT ruleset_id FROM now_explain_ruling WHERE $may_rule_anew
UNION
SELECT r.ruleset_id
FROM (SELECT ruleset_id, unnest(group_ids) AS group_id FROM now_ruleset) r
JOIN (SELECT group_id, unnest(acl_ids) AS acl_id FROM now_ruleset_group) g
  ON g.group_id = r.group_id
JOIN altered_acl a ON a.acl_id = g.acl_id"""

_STEPS["SIDE_ruled"] = """\
SELECT $ruling FROM ${side}_explain_ruling
WHERE ruleset_id IN (SELECT ruleset_id FROM ruled_anew)"""

# Rulesets of both runs that decide something otherwise.
_STEPS["altered_ruleset"] = """\
SELECT DISTINCT ruleset_id FROM (
(SELECT * FROM was_ruled EXCEPT SELECT * FROM now_ruled)
UNION ALL
(SELECT * FROM now_ruled EXCEPT SELECT * FROM was_ruled)
) AS differing
WHERE ruleset_id IN (SELECT ruleset_id FROM was_ruled)
AND ruleset_id IN (SELECT ruleset_id FROM now_ruled)"""

# Principals with their peers: those who share their rulesets, all super users or a class.
_STEPS["SIDE_member"] = """\
SELECT principal, principal_class, is_super_user,
       CASE WHEN is_super_user THEN $super_ruleset ELSE principal_class END AS peers
FROM ${side}_principal"""

# Principals that became a super user, or are one no longer.
_STEPS["promoted_or_demoted"] = """\
SELECT n.principal FROM now_member n JOIN was_member w ON w.principal = n.principal
WHERE n.is_super_user <> w.is_super_user"""

# The pairs with a ruleset of their own in one of the runs.
_STEPS["own_pair"] = own_pairs_sql("was", "now", "own_before", "own_after")

# Those of them that may have changed.
_STEPS["changed_own_pair"] = """\
SELECT * FROM own_pair
WHERE own_before IS DISTINCT FROM own_after
   OR own_after IN (SELECT ruleset_id FROM altered_ruleset)
   OR principal IN (SELECT principal FROM promoted_or_demoted)"""

# What decided them, where both runs asked about the principal and the resource: the super users'
# ruleset, their own or their class's.
_STEPS["ruleset_of_principal"] = """\
SELECT c.principal, CAST(NULL AS VARCHAR) AS principal_class, c.resource_type, c.resource_name,
       CASE WHEN wm.is_super_user THEN $super_ruleset
            ELSE coalesce(c.own_before, ws.ruleset_id) END AS ruleset_before,
       CASE WHEN nm.is_super_user THEN $super_ruleset
            ELSE coalesce(c.own_after, ns.ruleset_id) END AS ruleset_after
FROM changed_own_pair c
JOIN was_member wm ON wm.principal = c.principal
JOIN now_member nm ON nm.principal = c.principal
JOIN was_explain_class_pair ws ON ws.principal_class = wm.principal_class
 AND ws.resource_type = c.resource_type AND ws.resource_name = c.resource_name
JOIN now_explain_class_pair ns ON ns.principal_class = nm.principal_class
 AND ns.resource_type = c.resource_type AND ns.resource_name = c.resource_name"""

# Between which peers those moved whom both runs asked about.
_STEPS["move_between_peers"] = """\
SELECT DISTINCT w.peers AS peers_before, n.peers AS peers_after
FROM was_member w JOIN now_member n ON n.principal = w.principal"""

# The rulesets that peers share.
_STEPS["SIDE_shared"] = """\
SELECT principal_class AS peers, resource_type, resource_name, ruleset_id
FROM ${side}_explain_class_pair
UNION ALL
SELECT DISTINCT $super_ruleset, resource_type, resource_name, $super_ruleset
FROM ${side}_explain_class_pair"""

_STEPS["ruleset_of_peers"] = """\
SELECT CAST(NULL AS VARCHAR) AS principal, m.peers_after AS principal_class,
       w.resource_type, w.resource_name,
       w.ruleset_id AS ruleset_before, n.ruleset_id AS ruleset_after
FROM move_between_peers m
JOIN was_shared w ON w.peers = m.peers_before
JOIN now_shared n ON n.peers = m.peers_after
 AND n.resource_type = w.resource_type AND n.resource_name = w.resource_name"""

_STEPS["change"] = """\
SELECT DISTINCT * FROM (
SELECT * FROM ruleset_of_principal UNION ALL SELECT * FROM ruleset_of_peers
) AS decided
WHERE ruleset_before <> ruleset_after
   OR ruleset_after IN (SELECT ruleset_id FROM altered_ruleset)"""

# What all changes of one kind have in common: gains and losses are counted once for them.
_STEPS["ruleset_change"] = (
    "SELECT DISTINCT ruleset_before, ruleset_after, resource_type FROM change"
)

_STEPS["replaced_ruleset"] = "SELECT DISTINCT ruleset_before, ruleset_after FROM ruleset_change"

# The ACLs of the rulesets that were replaced, or that took their place, as they were then.
_STEPS["SIDE_acl"] = """\
SELECT r.ruleset_before, r.ruleset_after, $acl_of_h
FROM replaced_ruleset r
JOIN (SELECT ruleset_id, unnest(group_ids) AS group_id FROM ${side}_ruleset
      WHERE ruleset_id IN (SELECT ruleset_$run FROM replaced_ruleset)) g
  ON g.ruleset_id = r.ruleset_$run
JOIN (SELECT group_id, unnest(acl_ids) AS acl_id FROM ${side}_ruleset_group) a
  ON a.group_id = g.group_id
JOIN ${side}_acl_history h ON h.acl_id = a.acl_id AND h.removed_offset IS NULL"""

# The offsets at which ACLs left one and came into the other; null where the log has none any more.
_STEPS["moved_acl"] = """\
SELECT g.ruleset_before, g.ruleset_after, max(h.removed_offset) AS moved_at
FROM (SELECT * FROM was_acl EXCEPT SELECT * FROM now_acl) AS g
LEFT JOIN now_acl_history h ON $same_acl
GROUP BY g.ruleset_before, g.ruleset_after, g.acl_id
UNION ALL
SELECT c.ruleset_before, c.ruleset_after, h.effective_offset
FROM (SELECT * FROM now_acl EXCEPT SELECT * FROM was_acl) AS c
JOIN now_acl_history h ON h.acl_id = c.acl_id AND h.removed_offset IS NULL"""

_STEPS["cause"] = """\
SELECT ruleset_before, ruleset_after,
       list_sort(list(DISTINCT moved_at) FILTER (WHERE moved_at IS NOT NULL)) AS cause_offsets
FROM moved_acl GROUP BY ruleset_before, ruleset_after"""

_STEPS["host_of_both"] = "SELECT host FROM was_host INTERSECT SELECT host FROM now_host"

# Whether each host can do each operation, before and after.
_STEPS["cell"] = """\
SELECT c.ruleset_before, c.ruleset_after, c.resource_type, h.host, o.operation,
       coalesce(was_named.decision, was_other.decision, 'DENIED') = 'ALLOWED' AS was,
       coalesce(now_named.decision, now_other.decision, 'DENIED') = 'ALLOWED' AS now
FROM ruleset_change c
JOIN operation o ON o.resource_type = c.resource_type
CROSS JOIN host_of_both h
LEFT JOIN was_explain_ruling was_named ON was_named.ruleset_id = c.ruleset_before
 AND was_named.operation = o.operation AND was_named.host = h.host
LEFT JOIN was_explain_ruling was_other ON was_other.ruleset_id = c.ruleset_before
 AND was_other.operation = o.operation AND was_other.host = $any_other
LEFT JOIN now_explain_ruling now_named ON now_named.ruleset_id = c.ruleset_after
 AND now_named.operation = o.operation AND now_named.host = h.host
LEFT JOIN now_explain_ruling now_other ON now_other.ruleset_id = c.ruleset_after
 AND now_other.operation = o.operation AND now_other.host = $any_other"""

_STEPS["gain_and_loss"] = """\
SELECT ruleset_before, ruleset_after, resource_type,
       CAST(sum(CASE WHEN now AND NOT was THEN 1 ELSE 0 END) AS BIGINT) AS gained,
       CAST(sum(CASE WHEN was AND NOT now THEN 1 ELSE 0 END) AS BIGINT) AS lost
FROM cell GROUP BY ruleset_before, ruleset_after, resource_type"""

# Names that one of the runs asked about alone.
_STEPS["asked_once"] = """\
SELECT coalesce(w.principal, n.principal) AS principal, CAST(NULL AS VARCHAR) AS resource_type,
       CAST(NULL AS VARCHAR) AS resource_name, w.principal IS NOT NULL AS was_asked
FROM was_principal w FULL JOIN now_principal n ON n.principal = w.principal
WHERE w.principal IS NULL OR n.principal IS NULL
UNION ALL
SELECT NULL, $of_host, coalesce(w.host, n.host), w.host IS NOT NULL
FROM was_host w FULL JOIN now_host n ON n.host = w.host
WHERE w.host IS NULL OR n.host IS NULL
UNION ALL
SELECT NULL, coalesce(w.resource_type, n.resource_type),
       coalesce(w.resource_name, n.resource_name), w.resource_name IS NOT NULL
FROM was_resource w
FULL JOIN now_resource n ON n.resource_type = w.resource_type AND n.resource_name = w.resource_name
WHERE w.resource_name IS NULL OR n.resource_name IS NULL"""

_STEPS["access_change"] = """\
SELECT c.principal, c.principal_class, c.resource_type, c.resource_name,
       c.ruleset_before, c.ruleset_after,
       CASE WHEN $settings_changed THEN $by_settings
            WHEN c.ruleset_before <> c.ruleset_after OR m.ruleset_before IS NOT NULL THEN $by_acl
            WHEN $rules_changed THEN $by_settings
            ELSE $by_inventory END AS cause,
       coalesce(m.cause_offsets, CAST([] AS BIGINT[])) AS cause_offsets, g.gained, g.lost
FROM change c
JOIN gain_and_loss g ON g.ruleset_before = c.ruleset_before
 AND g.ruleset_after = c.ruleset_after AND g.resource_type = c.resource_type
LEFT JOIN cause m ON m.ruleset_before = c.ruleset_before AND m.ruleset_after = c.ruleset_after
WHERE g.gained > 0 OR g.lost > 0 OR c.ruleset_before <> c.ruleset_after
UNION ALL
SELECT principal, NULL, resource_type, resource_name,
       CASE WHEN was_asked THEN $asked END, CASE WHEN NOT was_asked THEN $asked END,
       $by_inventory, CAST([] AS BIGINT[]), CAST(0 AS BIGINT), CAST(0 AS BIGINT)
FROM asked_once"""


def write_changes(output: Output, run_id: str, before: PublishedRun, now: RunSettings) -> int:
    """Write what changed against the materialize before; return how many accesses did.

    A name that only one run asked about has a row, but changes no access.
    """
    then, whose = before.settings, {"cluster_id": output.cluster_id, "run_id": run_id}
    tables_of = tables_of_changes(before.table_versions, output.store.versions)
    with step("Comparing with the previous run"), output.ask_all(tables_of) as read:
        keep_changes(
            read,
            settings_changed=(then.semantics, then.broker) != (now.semantics, now.broker),
            rules_changed=then.rules_digest != now.rules_digest,
            hosts_changed=then.inventory_digest != now.inventory_digest,
        )
        ((rows, changes),) = read.rows(_COUNTS)
        if rows:
            read.append(output.store, "access_change", "SELECT * FROM access_change", whose)
    return int(changes)


_COUNTS: Final = """\
SELECT count(*), count(CASE WHEN ruleset_before IS NOT NULL THEN ruleset_after END)
FROM access_change"""
