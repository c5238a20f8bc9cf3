"""Names of published tables → the SQL of each view, in DuckDB's words: see ``spark_tables``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from string import Template
from typing import Final

from aclkit.model.acl import ANY_OTHER
from aclkit.model.findings import OF_THE_NIGHT
from aclkit.model.operation import OPERATIONS_OF_TYPE, every_cover
from aclkit.warehouse.schemas import TABLES

SUPER_RULESET: Final = "super"
"""The ruleset of every super user."""

ASKED: Final = "asked"
"""What ``access_change`` has in place of a ruleset, for a name that one run alone asked about: on
the side of that run. Null on the other side means that the name is new, or gone."""

HOST: Final = "HOST"
"""The type of such a name there that is a host."""

USAGE: Final = "usage"
"""The job that reads authorizer logs: what it found stays in force until it runs again."""

NIGHT: Final = "run"
"""The job that compares the ACLs with the files in which a team keeps them."""

ACCESS: Final = (
    "cluster_id", "log_day", "principal", "host", "operation", "resource_type", "resource_name",
    "request_name", "decision", "rule", "deciding_acl_id", "verdict",
)  # fmt: skip
"""What is counted together in ``access_by_day``."""

PAST_TABLES: Final = (
    "principal", "host", "explain_pair", "explain_class_pair", "explain_ruling",
)  # fmt: skip
"""Tables that ``access_change_cell`` reads as they were before the run that decided last."""

EXPLAIN_TABLES: Final = (*PAST_TABLES, "resource")
"""The tables that the view ``explain`` is made of."""

PAST: Final = "before"
"""The schema in which those stand: ``before.explain_ruling``."""

SAME_NAMES: Final[Mapping[str, str]] = {}
"""No table goes by another name."""


def view_sql(published: Collection[str]) -> dict[str, str]:
    """Return each view that the published tables allow, by name, in an order to create them.

    A physical table takes the place of the view of its name.

    Args:
        published: names of the tables of the published run.

    >>> list(view_sql(["acl_history", "explain"]))
    ['acl_current']
    """
    known = set(published)
    views: dict[str, str] = {}
    for name, (needs, _) in _VIEWS.items():
        if name not in known and known.issuperset(needs):
            views[name] = sql_of(name)
            known.add(name)
    return views


def tables_below(names: Iterable[str]) -> frozenset[str] | None:
    """Return the tables that tables and views are made of; None where one is of the past.

    >>> sorted(tables_below(["acl_current", "host"])), tables_below(["access_change_cell"])
    (['acl_history', 'host'], None)
    """
    found, todo = set[str](), [*names]
    while todo:
        name = todo.pop()
        needs, text = _VIEWS.get(name, ((), None))
        if text is not None and "$was_" in text.template:
            return None
        todo += needs
        found |= {name} & TABLES.keys()
    return frozenset(found)


def sql_of(view: str, tables: Mapping[str, str] = SAME_NAMES) -> str:
    """Return the SQL of a view over tables that may go by other names, ``before.host`` too."""
    words = {**_names(tables), **_words(), "pair_ruleset": pair_ruleset_sql(tables)}
    return _VIEWS[view][1].substitute(words)


def explain_sql(tables: Mapping[str, str] = SAME_NAMES) -> str:
    """Return the SQL of ``explain``: principal × host × operation × resource, decided."""
    return sql_of("explain", tables)


def pair_ruleset_sql(tables: Mapping[str, str] = SAME_NAMES) -> str:
    """Return the SQL of every (principal, resource) with the ruleset that decides it.

    The ruleset of super users goes first, then that of the pair, then that of the class.
    """
    return _PAIR_RULESET.substitute({**_names(tables), **_words()})


def operations_sql() -> str:
    """Return the SQL of the operations of each resource type."""
    rows = _values((kind, op) for kind, known in OPERATIONS_OF_TYPE.items() for op in known)
    return f"SELECT * FROM (VALUES {rows}) AS o(resource_type, operation)"  # noqa: S608 -- names of the contract


# The ACLs alive.
_ACL_CURRENT: Final = Template("SELECT $acl_columns FROM $acl_history WHERE removed_offset IS NULL")

# Resource by resource, because there most principals have the ruleset of their class. This finds
# rulings in two thirds of the time of a search principal by principal.
_PAIR_RULESET: Final = Template("""\
SELECT p.cluster_id, p.principal, p.principal_type, p.principal_name,
       r.resource_type, r.resource_name,
       CASE WHEN p.is_super_user THEN $super_ruleset
            ELSE coalesce(own.ruleset_id, shared.ruleset_id) END AS ruleset_id
FROM $resource r
JOIN $principal p ON p.cluster_id = r.cluster_id
LEFT JOIN $explain_pair own
  ON own.cluster_id = p.cluster_id AND own.principal = p.principal
 AND own.resource_type = r.resource_type AND own.resource_name = r.resource_name
LEFT JOIN $explain_class_pair shared
  ON shared.cluster_id = p.cluster_id AND shared.principal_class = p.principal_class
 AND shared.resource_type = r.resource_type AND shared.resource_name = r.resource_name""")

# A host without a ruling of its own has that of any other host. What has no ruling at all has a
# null decision, so that a gap in the tables shows.
_EXPLAIN: Final = Template("""\
WITH pair AS ($pair_ruleset),
known_operation AS ($operations),
cell AS (
SELECT pair.*, h.host, o.operation,
       named.decision AS named_decision, named.rule AS named_rule,
       named.deciding_acl_id AS named_acl_id,
       other.decision AS other_decision, other.rule AS other_rule,
       other.deciding_acl_id AS other_acl_id
FROM pair
JOIN known_operation o ON o.resource_type = pair.resource_type
JOIN $host h ON h.cluster_id = pair.cluster_id
LEFT JOIN $explain_ruling named
  ON named.cluster_id = pair.cluster_id AND named.ruleset_id = pair.ruleset_id
 AND named.operation = o.operation AND named.host = h.host
LEFT JOIN $explain_ruling other
  ON other.cluster_id = pair.cluster_id AND other.ruleset_id = pair.ruleset_id
 AND other.operation = o.operation AND other.host = $any_other
),
decided AS (
SELECT cell.*,
       coalesce(named_decision, other_decision) AS decision,
       coalesce(named_rule, other_rule) AS rule,
       CASE WHEN named_decision IS NULL THEN other_acl_id ELSE named_acl_id END AS deciding_acl_id
FROM cell
)
SELECT $explain_columns FROM decided""")

# Every ACL that matches a cell, deciding or not.
_EXPLAIN_ACL: Final = Template("""\
WITH pair AS ($pair_ruleset),
covers AS (
SELECT * FROM (VALUES $covers) AS v(resource_type, acl_operation, is_allow, operation)
),
part AS (SELECT cluster_id, ruleset_id, unnest(group_ids) AS group_id FROM $ruleset),
member AS (SELECT cluster_id, group_id, unnest(acl_ids) AS acl_id FROM $ruleset_group)
SELECT pair.cluster_id, pair.principal, m.host, v.operation,
       pair.resource_type, pair.resource_name, a.acl_id,
       a.resource_name AS acl_resource_name, a.pattern_type AS acl_pattern_type,
       a.principal AS acl_principal, a.host AS acl_host,
       a.operation AS acl_operation, a.permission_type AS acl_permission_type
FROM pair
JOIN part ON part.cluster_id = pair.cluster_id AND part.ruleset_id = pair.ruleset_id
JOIN member ON member.cluster_id = part.cluster_id AND member.group_id = part.group_id
JOIN $acl_current a ON a.cluster_id = member.cluster_id AND a.acl_id = member.acl_id
JOIN $host_match m ON m.cluster_id = a.cluster_id AND m.acl_host = a.host
JOIN covers v
  ON v.resource_type = pair.resource_type AND v.acl_operation = a.operation
 AND v.is_allow = (a.permission_type = 'ALLOW')""")

# What was found by the run that decided last, by the newest, and by the last one that read
# authorizer logs: the latter as long as the ACLs that it is about are alive. Drift from the team's
# files is what the newest nightly run found: a later one may have read other files.
_FINDING_CURRENT: Final = Template("""\
WITH standing AS (
SELECT cluster_id, max(run_number) AS newest, max(counts['decided_in_run']) AS decided,
       max(CASE WHEN job = $usage THEN run_number END) AS usage,
       max(CASE WHEN job = $night THEN run_number END) AS night
FROM $job_run GROUP BY cluster_id
),
said AS (
SELECT f.cluster_id, f.run_id, f.fingerprint,
       max(r.run_number) OVER (PARTITION BY f.cluster_id, f.fingerprint) = r.run_number AS is_last
FROM (SELECT DISTINCT cluster_id, run_id, fingerprint, finding IN $drift AS is_drift
      FROM $finding) f
JOIN $job_run r ON r.cluster_id = f.cluster_id AND r.run_id = f.run_id
JOIN standing s ON s.cluster_id = r.cluster_id
 AND CASE WHEN is_drift THEN r.run_number = s.night
     ELSE r.run_number IN (s.newest, s.decided, s.usage) END
),
about AS (
SELECT f.cluster_id, f.run_id, f.fingerprint, unnest(f.acl_ids) AS acl_id
FROM $finding f
JOIN $job_run r ON r.cluster_id = f.cluster_id AND r.run_id = f.run_id AND r.job = $usage
),
past AS (
SELECT DISTINCT a.cluster_id, a.run_id, a.fingerprint
FROM about a
LEFT JOIN $acl_history h
  ON h.cluster_id = a.cluster_id AND h.acl_id = a.acl_id AND h.removed_offset IS NULL
WHERE h.acl_id IS NULL
)
SELECT $finding_columns
FROM $finding f
JOIN said ON said.cluster_id = f.cluster_id AND said.run_id = f.run_id
 AND said.fingerprint = f.fingerprint AND said.is_last
LEFT JOIN past ON past.cluster_id = f.cluster_id AND past.run_id = f.run_id
 AND past.fingerprint = f.fingerprint
WHERE past.run_id IS NULL""")

# What the last deciding run gained or lost, of all that it and the previous one asked about. A
# row of access_change stands for its principal, or for the principals asked about twice that were
# and are of its class and that no own ACL concerned or concerns. The past is read from the tables
# of PAST; of a cluster whose past is not kept there are no rows. Two rulesets are compared once,
# however many principals and resources have them.
_ACCESS_CHANGE_CELL: Final = Template("""\
WITH known_operation AS ($operations),
standing AS (
SELECT r.cluster_id, r.run_id
FROM $job_run r
JOIN (SELECT cluster_id, max(counts['decided_in_run']) AS decided
      FROM $job_run GROUP BY cluster_id) d
  ON d.cluster_id = r.cluster_id AND d.decided = r.run_number
WHERE r.cluster_id IN (SELECT cluster_id FROM $was_explain_ruling)
),
change AS (
SELECT a.*
FROM $access_change a
JOIN standing s ON s.cluster_id = a.cluster_id AND s.run_id = a.run_id
WHERE a.ruleset_before IS NOT NULL AND a.ruleset_after IS NOT NULL
),
own AS (
SELECT cluster_id, principal, resource_type, resource_name FROM $explain_pair
UNION
SELECT cluster_id, principal, resource_type, resource_name FROM $was_explain_pair
),
member AS (
SELECT c.*, p.principal AS who
FROM change c
JOIN $principal p ON p.cluster_id = c.cluster_id
 AND CASE WHEN p.is_super_user THEN $super_ruleset ELSE p.principal_class END = c.principal_class
JOIN $was_principal w ON w.cluster_id = p.cluster_id AND w.principal = p.principal
JOIN $was_explain_class_pair s
  ON s.cluster_id = w.cluster_id AND s.principal_class = w.principal_class
 AND s.resource_type = c.resource_type AND s.resource_name = c.resource_name
LEFT JOIN own
  ON own.cluster_id = p.cluster_id AND own.principal = p.principal
 AND own.resource_type = c.resource_type AND own.resource_name = c.resource_name
WHERE c.principal IS NULL AND own.principal IS NULL
  AND c.ruleset_before = CASE WHEN w.is_super_user THEN $super_ruleset ELSE s.ruleset_id END
),
pair AS (
SELECT DISTINCT cluster_id, run_id, who, resource_type, resource_name,
       ruleset_before, ruleset_after, cause, cause_offsets
FROM (SELECT change.*, change.principal AS who FROM change WHERE change.principal IS NOT NULL
      UNION ALL SELECT * FROM member) AS every
),
asked AS (
SELECT cluster_id, host FROM $host INTERSECT SELECT cluster_id, host FROM $was_host
),
replaced AS (
SELECT DISTINCT cluster_id, resource_type, ruleset_before, ruleset_after FROM change
),
cell AS (
SELECT replaced.cluster_id, replaced.resource_type, replaced.ruleset_before, replaced.ruleset_after,
       h.host, o.operation,
       coalesce(wn.decision, wo.decision, 'DENIED') AS decision_before,
       CASE WHEN wn.decision IS NULL THEN wo.deciding_acl_id ELSE wn.deciding_acl_id END
       AS acl_id_before,
       coalesce(nn.decision, other.decision, 'DENIED') AS decision_after,
       CASE WHEN nn.decision IS NULL THEN other.deciding_acl_id ELSE nn.deciding_acl_id END
       AS acl_id_after
FROM replaced
JOIN known_operation o ON o.resource_type = replaced.resource_type
JOIN asked h ON h.cluster_id = replaced.cluster_id
LEFT JOIN $was_explain_ruling wn
  ON wn.cluster_id = replaced.cluster_id AND wn.ruleset_id = replaced.ruleset_before
 AND wn.operation = o.operation AND wn.host = h.host
LEFT JOIN $was_explain_ruling wo
  ON wo.cluster_id = replaced.cluster_id AND wo.ruleset_id = replaced.ruleset_before
 AND wo.operation = o.operation AND wo.host = $any_other
LEFT JOIN $explain_ruling nn
  ON nn.cluster_id = replaced.cluster_id AND nn.ruleset_id = replaced.ruleset_after
 AND nn.operation = o.operation AND nn.host = h.host
LEFT JOIN $explain_ruling other
  ON other.cluster_id = replaced.cluster_id AND other.ruleset_id = replaced.ruleset_after
 AND other.operation = o.operation AND other.host = $any_other
)
SELECT pair.cluster_id, pair.run_id, pair.who AS principal, cell.host, cell.operation,
       pair.resource_type, pair.resource_name,
       CASE WHEN decision_after = 'ALLOWED' THEN 'gained' ELSE 'lost' END AS change,
       decision_before, acl_id_before, decision_after, acl_id_after, cause, cause_offsets
FROM pair
JOIN cell ON cell.cluster_id = pair.cluster_id AND cell.resource_type = pair.resource_type
 AND cell.ruleset_before = pair.ruleset_before AND cell.ruleset_after = pair.ruleset_after
WHERE decision_before <> decision_after""")


# What was asked on a day, of all files and runs together.
_ACCESS_BY_DAY: Final = Template("""\
SELECT $access_columns, min(first_at) AS first_at, max(last_at) AS last_at,
       CAST(sum(lines) AS BIGINT) AS lines
FROM $access_day WHERE principal IS NOT NULL
GROUP BY $access_columns""")


_VIEWS: Final = {
    "acl_current": (("acl_history",), _ACL_CURRENT),
    "explain": (EXPLAIN_TABLES, _EXPLAIN),
    "explain_acl": (
        (*EXPLAIN_TABLES, "ruleset", "ruleset_group", "acl_current", "host_match"), _EXPLAIN_ACL
    ),
    "finding_current": (("finding", "job_run", "acl_history"), _FINDING_CURRENT),
    "access_by_day": (("access_day",), _ACCESS_BY_DAY),
    "access_change_cell": (("access_change", "job_run", *PAST_TABLES), _ACCESS_CHANGE_CELL),
}  # fmt: skip
"""View → the tables or views below it, and its SQL."""

RELATIONS: Final = frozenset((*TABLES, *_VIEWS))
"""The names of all tables and views."""


def _names(tables: Mapping[str, str]) -> dict[str, str]:
    """Return the names of all tables for a template; ``was_X`` is table X of the past."""
    past = {f"was_{name}": tables.get(f"{PAST}.{name}", f"{PAST}.{name}") for name in PAST_TABLES}
    return {name: tables.get(name, name) for name in (*TABLES, "acl_current")} | past


@cache
def _words() -> dict[str, str]:
    """Return the other words that templates use."""
    current = (n for n in TABLES["acl_history"].column_names if not n.startswith("removed_"))
    return {
        "acl_columns": ", ".join(current),
        "access_columns": ", ".join(ACCESS),
        "explain_columns": ", ".join(TABLES["explain"].column_names),
        "finding_columns": ", ".join(f"f.{name}" for name in TABLES["finding"].column_names),
        "super_ruleset": repr(SUPER_RULESET),
        "any_other": repr(ANY_OTHER),
        "usage": repr(USAGE),
        "night": repr(NIGHT),
        "drift": repr(OF_THE_NIGHT),
        "operations": operations_sql(),
        "covers": _values(
            (c.resource_type, c.operation, c.permission_type == "ALLOW", c.asked)
            for c in every_cover()
        ),
    }


def _values(rows: Iterable[tuple[str | bool, ...]]) -> str:
    """Write rows of this package's words as the inside of VALUES: Python's are those of SQL."""
    return ", ".join(map(repr, rows))
