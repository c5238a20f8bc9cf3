"""The explain tables before and after a run → which accesses changed, and what caused it. SQL.

A row stands for one principal, or for all principals of a class that no own ACL concerns. Super
users are a class of their own, ``super``. The SQL is spoken by both engines, see
``aclkit.warehouse.readback``; they differ in how an array is unfolded and gathered.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Template
from typing import Final

import pyarrow as pa

from aclkit.model.acl import ANY_OTHER
from aclkit.warehouse.readback import Readback, Versions
from aclkit.warehouse.views import SUPER_RULESET, operations_sql

BY_SETTINGS: Final = "settings"
BY_INVENTORY: Final = "inventory"
BY_ACL: Final = "acl"

_TABLES: Final = (
    "principal",
    "host",
    "explain_pair",
    "explain_class_pair",
    "explain_ruling",
    "ruleset",
    "ruleset_group",
)


def tables_of_changes(before: Mapping[str, int], after: Mapping[str, int]) -> Versions:
    """Return what ``changed_accesses`` asks about: tables as two runs left them, and history."""
    return {
        **{f"was_{name}": (name, before.get(name)) for name in _TABLES},
        **{f"now_{name}": (name, after.get(name)) for name in _TABLES},
        "acl_history": ("acl_history", after.get("acl_history")),
    }


def changed_accesses(
    tables: Readback, *, settings_changed: bool, rules_changed: bool, hosts_changed: bool
) -> pa.Table:
    """Return the rows of ``access_change``, cluster and run aside.

    A pair counts as changed when its ruleset did, or when the ruleset's rulings did; those can
    only where settings, rules or hosts are other ones, for a ruleset's id is a hash of its ACLs.
    What only one of the runs asked about counts when somebody may do something there. Of other
    rules, those of another aclkit, the cause is ``settings`` where no ACL moved.
    """
    altered = _ALTERED if settings_changed or rules_changed or hosts_changed else _NONE_ALTERED
    return tables.arrow(
        _CHANGES.substitute(
            _DIALECT[tables.engine],
            altered=altered,
            super_ruleset=f"'{SUPER_RULESET}'",
            any_other=f"'{ANY_OTHER}'",
            operations=operations_sql(),
            settings_changed=str(settings_changed).lower(),
            rules_changed=str(rules_changed).lower(),
            by_settings=f"'{BY_SETTINGS}'",
            by_inventory=f"'{BY_INVENTORY}'",
            by_acl=f"'{BY_ACL}'",
        )
    )


_DIALECT: Final[dict[str, dict[str, str]]] = {
    "duckdb": {
        "text": "VARCHAR",
        "unfold": "unnest",
        "offsets": "list_sort(list(DISTINCT moved_at) FILTER (moved_at IS NOT NULL))",
        "no_offsets": "CAST([] AS BIGINT[])",
    },
    "spark": {
        "text": "STRING",
        "unfold": "explode",
        "offsets": "sort_array(collect_set(moved_at))",
        "no_offsets": "CAST(array() AS ARRAY<BIGINT>)",
    },
}

_RULING: Final = "ruleset_id, host, operation, decision, rule, deciding_acl_id"
_ALTERED: Final = f"""\
SELECT DISTINCT ruleset_id FROM (
(SELECT {_RULING} FROM was_explain_ruling EXCEPT SELECT {_RULING} FROM now_explain_ruling)
UNION ALL
(SELECT {_RULING} FROM now_explain_ruling EXCEPT SELECT {_RULING} FROM was_explain_ruling)
) AS other
WHERE ruleset_id IN (SELECT ruleset_id FROM was_explain_ruling)
AND ruleset_id IN (SELECT ruleset_id FROM now_explain_ruling)"""  # noqa: S608 -- names of the contract
_NONE_ALTERED: Final = "SELECT ruleset_id FROM now_explain_ruling WHERE false"

_CHANGES: Final = Template("""\
WITH operation AS ($operations),
altered AS ($altered),
was_member AS (
SELECT principal, principal_class, is_super_user,
       CASE WHEN is_super_user THEN $super_ruleset ELSE principal_class END AS peers
FROM was_principal
),
now_member AS (
SELECT principal, principal_class, is_super_user,
       CASE WHEN is_super_user THEN $super_ruleset ELSE principal_class END AS peers
FROM now_principal
),
turned AS (
SELECT n.principal FROM now_member n JOIN was_member w ON w.principal = n.principal
WHERE n.is_super_user <> w.is_super_user
),
affected AS (
SELECT coalesce(n.principal, w.principal) AS principal,
       coalesce(n.resource_type, w.resource_type) AS resource_type,
       coalesce(n.resource_name, w.resource_name) AS resource_name,
       w.ruleset_id AS own_before, n.ruleset_id AS own_after
FROM now_explain_pair n
FULL JOIN was_explain_pair w ON w.principal = n.principal
 AND w.resource_type = n.resource_type AND w.resource_name = n.resource_name
),
candidate AS (
SELECT * FROM affected
WHERE own_before IS DISTINCT FROM own_after
   OR own_after IN (SELECT ruleset_id FROM altered)
   OR principal IN (SELECT principal FROM turned)
),
named AS (
SELECT c.principal, CAST(NULL AS $text) AS principal_class, c.resource_type, c.resource_name,
       CASE WHEN ws.ruleset_id IS NULL THEN NULL
            WHEN wm.is_super_user THEN $super_ruleset
            ELSE coalesce(c.own_before, ws.ruleset_id) END AS ruleset_before,
       CASE WHEN ns.ruleset_id IS NULL THEN NULL
            WHEN nm.is_super_user THEN $super_ruleset
            ELSE coalesce(c.own_after, ns.ruleset_id) END AS ruleset_after
FROM candidate c
LEFT JOIN was_member wm ON wm.principal = c.principal
LEFT JOIN now_member nm ON nm.principal = c.principal
LEFT JOIN was_explain_class_pair ws ON ws.principal_class = wm.principal_class
 AND ws.resource_type = c.resource_type AND ws.resource_name = c.resource_name
LEFT JOIN now_explain_class_pair ns ON ns.principal_class = nm.principal_class
 AND ns.resource_type = c.resource_type AND ns.resource_name = c.resource_name
),
move AS (
SELECT DISTINCT w.peers AS peers_before, n.peers AS peers_after
FROM was_member w FULL JOIN now_member n ON n.principal = w.principal
),
was_shared AS (
SELECT principal_class, resource_type, resource_name, ruleset_id FROM was_explain_class_pair
UNION ALL
SELECT DISTINCT $super_ruleset, resource_type, resource_name, $super_ruleset
FROM was_explain_class_pair
),
now_shared AS (
SELECT principal_class, resource_type, resource_name, ruleset_id FROM now_explain_class_pair
UNION ALL
SELECT DISTINCT $super_ruleset, resource_type, resource_name, $super_ruleset
FROM now_explain_class_pair
),
side AS (
SELECT m.peers_before, m.peers_after, s.resource_type, s.resource_name,
       s.ruleset_id AS ruleset_before, CAST(NULL AS $text) AS ruleset_after
FROM move m JOIN was_shared s ON s.principal_class = m.peers_before
UNION ALL
SELECT m.peers_before, m.peers_after, s.resource_type, s.resource_name,
       CAST(NULL AS $text), s.ruleset_id
FROM move m JOIN now_shared s ON s.principal_class = m.peers_after
),
of_class AS (
SELECT CAST(NULL AS $text) AS principal, coalesce(peers_after, peers_before) AS principal_class,
       resource_type, resource_name,
       max(ruleset_before) AS ruleset_before, max(ruleset_after) AS ruleset_after
FROM side GROUP BY peers_before, peers_after, resource_type, resource_name
),
change AS (
SELECT DISTINCT * FROM (SELECT * FROM named UNION ALL SELECT * FROM of_class) AS every
WHERE ruleset_before IS DISTINCT FROM ruleset_after
   OR ruleset_after IN (SELECT ruleset_id FROM altered)
),
step AS (SELECT DISTINCT ruleset_before, ruleset_after, resource_type FROM change),
swap AS (
SELECT DISTINCT ruleset_before, ruleset_after FROM step
WHERE ruleset_before IS NOT NULL AND ruleset_after IS NOT NULL
),
was_part AS (
SELECT ruleset_id, $unfold(group_ids) AS group_id FROM was_ruleset
WHERE ruleset_id IN (SELECT ruleset_before FROM swap)
),
now_part AS (
SELECT ruleset_id, $unfold(group_ids) AS group_id FROM now_ruleset
WHERE ruleset_id IN (SELECT ruleset_after FROM swap)
),
was_acl AS (SELECT group_id, $unfold(acl_ids) AS acl_id FROM was_ruleset_group),
now_acl AS (SELECT group_id, $unfold(acl_ids) AS acl_id FROM now_ruleset_group),
held AS (
SELECT s.ruleset_before, s.ruleset_after, a.acl_id, 1 AS had
FROM swap s JOIN was_part p ON p.ruleset_id = s.ruleset_before
JOIN was_acl a ON a.group_id = p.group_id
UNION ALL
SELECT s.ruleset_before, s.ruleset_after, a.acl_id, 0
FROM swap s JOIN now_part p ON p.ruleset_id = s.ruleset_after
JOIN now_acl a ON a.group_id = p.group_id
),
moved AS (
SELECT m.ruleset_before, m.ruleset_after,
       CASE WHEN m.had = 1 THEN h.removed_offset ELSE h.effective_offset END AS moved_at
FROM (SELECT ruleset_before, ruleset_after, acl_id, max(had) AS had FROM held
      GROUP BY ruleset_before, ruleset_after, acl_id HAVING min(had) = max(had)) m
JOIN acl_history h ON h.acl_id = m.acl_id
),
cause AS (
SELECT ruleset_before, ruleset_after, $offsets AS cause_offsets
FROM moved GROUP BY ruleset_before, ruleset_after
),
asked AS (SELECT host FROM was_host UNION SELECT host FROM now_host),
cell AS (
SELECT s.ruleset_before, s.ruleset_after, s.resource_type,
       coalesce(coalesce(wn.decision, wo.decision) = 'ALLOWED', false) AS was,
       coalesce(coalesce(nn.decision, other_now.decision) = 'ALLOWED', false) AS now
FROM step s
JOIN operation o ON o.resource_type = s.resource_type
CROSS JOIN asked h
LEFT JOIN was_explain_ruling wn
  ON wn.ruleset_id = s.ruleset_before AND wn.operation = o.operation AND wn.host = h.host
LEFT JOIN was_explain_ruling wo
  ON wo.ruleset_id = s.ruleset_before AND wo.operation = o.operation AND wo.host = $any_other
LEFT JOIN now_explain_ruling nn
  ON nn.ruleset_id = s.ruleset_after AND nn.operation = o.operation AND nn.host = h.host
LEFT JOIN now_explain_ruling other_now
  ON other_now.ruleset_id = s.ruleset_after AND other_now.operation = o.operation
 AND other_now.host = $any_other
),
felt AS (
SELECT ruleset_before, ruleset_after, resource_type,
       sum(CASE WHEN now AND NOT was THEN 1 ELSE 0 END) AS gained,
       sum(CASE WHEN was AND NOT now THEN 1 ELSE 0 END) AS lost
FROM cell GROUP BY ruleset_before, ruleset_after, resource_type
)
SELECT c.principal, c.principal_class, c.resource_type, c.resource_name,
       c.ruleset_before, c.ruleset_after,
       CASE WHEN $settings_changed OR ($rules_changed AND c.ruleset_before = c.ruleset_after)
            THEN $by_settings
            WHEN c.ruleset_before IS NULL OR c.ruleset_after IS NULL
              OR c.ruleset_before = c.ruleset_after THEN $by_inventory
            ELSE $by_acl END AS cause,
       coalesce(m.cause_offsets, $no_offsets) AS cause_offsets,
       CAST(f.gained AS BIGINT) AS gained, CAST(f.lost AS BIGINT) AS lost
FROM change c
JOIN felt f ON f.ruleset_before IS NOT DISTINCT FROM c.ruleset_before
 AND f.ruleset_after IS NOT DISTINCT FROM c.ruleset_after AND f.resource_type = c.resource_type
LEFT JOIN cause m ON m.ruleset_before = c.ruleset_before AND m.ruleset_after = c.ruleset_after
WHERE f.gained > 0 OR f.lost > 0
   OR (c.ruleset_before IS NOT NULL AND c.ruleset_after IS NOT NULL
       AND c.ruleset_before <> c.ruleset_after)""")
