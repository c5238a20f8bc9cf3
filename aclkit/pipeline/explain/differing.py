"""The explain tables of two readings → where they decide differently, counted. SQL.

No decision is looked at by itself: what two rulesets decide differently is found once, and counts
for every (principal, resource) of which one reading takes the first and the other the second. The
steps to it are named SELECTs, each on the others: ``ours_X`` and ``theirs_X`` are table X of each
reading, or the same question asked of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Template
from typing import Final

from aclkit.model.acl import ANY_OTHER
from aclkit.warehouse.views import operations_sql


def of_sides(
    steps: Mapping[str, str], sides: Mapping[str, Mapping[str, str]], words: Mapping[str, str]
) -> dict[str, str]:
    """Return steps with their words put in; one with ``SIDE`` in its name once for each side.

    Args:
        steps: name → SELECT, with ``$word`` in it.
        sides: name of a side, which is ``$side`` in its steps → words of these alone.
        words: of all steps.

    >>> of_sides({"SIDE_one": "SELECT $n FROM ${side}_x"}, {"was": {}, "now": {}}, {"n": "1"})
    {'was_one': 'SELECT 1 FROM was_x', 'now_one': 'SELECT 1 FROM now_x'}
    """
    return {
        name.replace("SIDE", side): Template(sql).substitute(words, side=side, **own)
        for name, sql in steps.items()
        for side, own in (sides.items() if "SIDE" in name else [("", {})])
    }


def own_pairs_sql(one: str, other: str, own_of_one: str, own_of_other: str) -> str:
    """Return the SELECT of the pairs with a ruleset of their own on one of two sides.

    Args:
        one: a side, whose table is ``{one}_explain_pair``.
        other: another.
        own_of_one: how the column with the first's ruleset is called.
        own_of_other: and that with the other's.
    """
    return f"""\
SELECT coalesce(a.principal, b.principal) AS principal,
       coalesce(a.resource_type, b.resource_type) AS resource_type,
       coalesce(a.resource_name, b.resource_name) AS resource_name,
       a.ruleset_id AS {own_of_one}, b.ruleset_id AS {own_of_other}
FROM {one}_explain_pair a
FULL JOIN {other}_explain_pair b ON b.principal = a.principal
 AND b.resource_type = a.resource_type AND b.resource_name = a.resource_name"""  # noqa: S608 -- names of this package


INVENTORY_TABLES: Final = ("principal", "host")
DECIDED_TABLES: Final = ("explain_pair", "explain_class_pair", "explain_ruling")
"""What is read of each reading; of theirs may be fewer principals and resources."""

DIFFERING: Final = "differing"
SUSPECT: Final = "suspect"
"""A table too: the ``acl_id`` of each ACL that the two read differently."""


def differing_steps() -> dict[str, str]:
    """Return the SELECT of each step, in their order; the last one gives what differs.

    A row of it stands for a resource and the suspects that decided on it: ``resource_type``,
    ``resource_name``, ``ours_acl_id`` and ``theirs_acl_id`` (null unless a suspect decided),
    ``is_default`` (whether in both readings no ACL did), ``decisions`` (how many differ) and
    ``example``, the first of them: principal, operation, host, and what each reading decides.
    """
    words = {"operations": operations_sql(), "any_other": f"'{ANY_OTHER}'"}
    return of_sides(_STEPS, _SIDES, words)


_SIDES: Final[dict[str, dict[str, str]]] = {"ours": {}, "theirs": {}}
_STEPS: Final[dict[str, str]] = {}

_STEPS["operation"] = "$operations"

# Who is asked about in both, numbered among those of the same classes. Super users aside: they are
# allowed in both.
_STEPS["member"] = """\
SELECT t.principal, o.principal_class AS ours_class, t.principal_class AS theirs_class,
       row_number() OVER (
           PARTITION BY o.principal_class, t.principal_class ORDER BY t.principal) AS place
FROM ours_principal o JOIN theirs_principal t ON t.principal = o.principal
WHERE NOT t.is_super_user"""

# The rulesets that classes share.
_STEPS["shared"] = """\
SELECT m.ours_class, m.theirs_class, m.principals, t.resource_type, t.resource_name,
       o.ruleset_id AS ours_ruleset, t.ruleset_id AS theirs_ruleset
FROM theirs_explain_class_pair t
JOIN (SELECT ours_class, theirs_class, count(*) AS principals
      FROM member GROUP BY ours_class, theirs_class) m ON m.theirs_class = t.principal_class
JOIN ours_explain_class_pair o ON o.principal_class = m.ours_class
 AND o.resource_type = t.resource_type AND o.resource_name = t.resource_name"""

# The pairs with a ruleset of their own in one of the readings.
_STEPS["own_pair"] = own_pairs_sql("ours", "theirs", "ours_own", "theirs_own")

# Those that were asked about in both, numbered among those of their class.
_STEPS["own"] = """\
SELECT m.ours_class, m.theirs_class, m.principal, m.place, p.resource_type, p.resource_name,
       coalesce(p.ours_own, s.ours_ruleset) AS ours_ruleset,
       coalesce(p.theirs_own, s.theirs_ruleset) AS theirs_ruleset,
       row_number() OVER (
           PARTITION BY p.resource_type, p.resource_name, m.ours_class, m.theirs_class
           ORDER BY m.place) AS nth
FROM own_pair p
JOIN member m ON m.principal = p.principal
JOIN shared s ON s.ours_class = m.ours_class AND s.theirs_class = m.theirs_class
 AND s.resource_type = p.resource_type AND s.resource_name = p.resource_name"""

# All pairs of a resource that have the same two rulesets, with the first of their principals. The
# first of a class without a ruleset of its own has the first place that is none of ``own``.
_STEPS["ruleset_pair"] = """\
SELECT resource_type, resource_name, ours_ruleset, theirs_ruleset,
       CAST(sum(principals) AS BIGINT) AS principals, min(principal) AS principal
FROM (
SELECT resource_type, resource_name, ours_ruleset, theirs_ruleset, 1 AS principals, principal
FROM own
UNION ALL
SELECT s.resource_type, s.resource_name, s.ours_ruleset, s.theirs_ruleset,
       s.principals - coalesce(o.principals, 0), m.principal
FROM shared s
LEFT JOIN (
SELECT resource_type, resource_name, ours_class, theirs_class, count(*) AS principals,
       coalesce(min(CASE WHEN place <> nth THEN nth END), count(*) + 1) AS place
FROM own GROUP BY resource_type, resource_name, ours_class, theirs_class
) o ON o.resource_type = s.resource_type AND o.resource_name = s.resource_name
 AND o.ours_class = s.ours_class AND o.theirs_class = s.theirs_class
JOIN member m ON m.ours_class = s.ours_class AND m.theirs_class = s.theirs_class
 AND m.place = coalesce(o.place, 1)
) AS of_one_kind
GROUP BY resource_type, resource_name, ours_ruleset, theirs_ruleset"""

_STEPS["compared"] = "SELECT DISTINCT resource_type, ours_ruleset, theirs_ruleset FROM ruleset_pair"

# What each ruleset decides for each host and operation.
_STEPS["SIDE_cell"] = """\
SELECT r.resource_type, r.ruleset_id, o.operation, h.host,
       coalesce(named.decision, other.decision) AS decision,
       CASE WHEN named.decision IS NULL THEN other.deciding_acl_id
            ELSE named.deciding_acl_id END AS acl_id
FROM (SELECT DISTINCT resource_type, ${side}_ruleset AS ruleset_id FROM compared) r
JOIN operation o ON o.resource_type = r.resource_type
CROSS JOIN theirs_host h
LEFT JOIN ${side}_explain_ruling named ON named.ruleset_id = r.ruleset_id
 AND named.operation = o.operation AND named.host = h.host
LEFT JOIN ${side}_explain_ruling other ON other.ruleset_id = r.ruleset_id
 AND other.operation = o.operation AND other.host = $any_other"""

# Among the ACLs that decided only suspects are distinguished.
_STEPS["differing_ruling"] = """\
SELECT c.resource_type, c.ours_ruleset, c.theirs_ruleset,
       os.acl_id AS ours_acl_id, ts.acl_id AS theirs_acl_id,
       o.acl_id IS NULL AND t.acl_id IS NULL AS is_default,
       count(*) AS decisions, min([o.operation, o.host, o.decision, t.decision]) AS example
FROM compared c
JOIN ours_cell o ON o.resource_type = c.resource_type AND o.ruleset_id = c.ours_ruleset
JOIN theirs_cell t ON t.resource_type = c.resource_type AND t.ruleset_id = c.theirs_ruleset
 AND t.operation = o.operation AND t.host = o.host
LEFT JOIN suspect os ON os.acl_id = o.acl_id
LEFT JOIN suspect ts ON ts.acl_id = t.acl_id
WHERE o.decision <> t.decision
GROUP BY ALL"""

_STEPS[DIFFERING] = """\
SELECT p.resource_type, p.resource_name, d.ours_acl_id, d.theirs_acl_id, d.is_default,
       CAST(sum(p.principals * d.decisions) AS BIGINT) AS decisions,
       min(list_concat([p.principal], d.example)) AS example
FROM ruleset_pair p
JOIN differing_ruling d ON d.resource_type = p.resource_type
 AND d.ours_ruleset = p.ours_ruleset AND d.theirs_ruleset = p.theirs_ruleset
GROUP BY p.resource_type, p.resource_name, d.ours_acl_id, d.theirs_acl_id, d.is_default"""
