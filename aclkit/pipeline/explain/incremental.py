"""The pairs that a change affects, decided again and put in the place of what was.

The result equals a full rebuild row by row, because ids are hashes of the ids of ACLs: a pair that
no changed ACL, principal or resource affects has the same ruleset, and a ruleset the same rulings,
unless an id in it stands for another ACL than before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pyarrow as pa

from aclkit.model.acl import ANY_OTHER, Acl
from aclkit.model.groups import grouped
from aclkit.pipeline.explain.affected import Affected
from aclkit.pipeline.explain.default_rulesets import NONE, OTHER
from aclkit.pipeline.explain.near import patterns_near
from aclkit.pipeline.explain.on_driver import (
    AclGroup,
    DecidedPairs,
    Key,
    Resource,
    Ruler,
    Subjects,
    group_acls,
    pair_on_driver,
)
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.inventory.identity import match_hosts
from aclkit.rules.patterns.match import names_exactly
from aclkit.rules.patterns.trie import PatternIndex
from aclkit.runtime.arrow import arrow_table
from aclkit.warehouse.codecs import acl_of
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.reader import Reader
from aclkit.warehouse.schemas import TABLES

_PAIR: Final = ("principal", "resource_type", "resource_name")
_CLASS_PAIR: Final = ("principal_class", "resource_type", "resource_name")
_GROUP: Final = ("resource_type", "pattern_type", "resource_name", "principal")


AMENDED: Final = (
    "explain_pair",
    "explain_class_pair",
    "ruleset",
    "ruleset_group",
    "explain_ruling",
)
"""The tables that are amended; ``acl_history`` is read too."""


class Amendment(NamedTuple):
    """What becomes of a table: the rows of some keys are gone, and others are fresh."""

    table: str
    key: Sequence[str]
    gone: Sequence[Sequence[str]]
    fresh: Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class _Difference:
    """Rows of pairs that are gone, and rows that are fresh; a changed row is in both."""

    gone: dict[Key, str]
    fresh: dict[Key, str]

    @classmethod
    def between(cls, was: Mapping[Key, str], now: Mapping[Key, str]) -> _Difference:
        return cls(
            {key: ruleset for key, ruleset in was.items() if now.get(key) != ruleset},
            {key: ruleset for key, ruleset in now.items() if was.get(key) != ruleset},
        )

    def rows(self, cluster_id: str) -> list[tuple[str, ...]]:
        """Return the fresh rows as they are written."""
        return [(cluster_id, *key, ruleset) for key, ruleset in self.fresh.items()]


MOST_REACHED: Final = 10_000_000
"""So many times the driver looks at a group of ACLs for a resource that its pattern matches, or at
a text of a class for a resource, a few seconds."""

MOST_STEPS: Final = 10_000_000
"""So many times the driver looks at an ACL, for an operation of a ruleset and a host: some
seconds."""


def decide_affected(scope: Scope, affected: Affected, read: Reader) -> list[Amendment] | None:
    """Decide again what is affected; return what differs from the rows that stand.

    None where too many ACLs reach the resources, or the rulesets hold too many, for one process.

    Args:
        scope: what is asked about.
        affected: the pairs.
        read: the tables as they are now, and not as the cluster's run before left them: the rows
            of other clusters, which may have been decided since, are written along.
    """
    cluster = scope.cluster_id
    found = _decide_pairs(scope, affected, read)
    if found is None:
        return None
    pairs = _Difference.between(_pairs_before(affected, read), found.pairs)
    class_pairs = _Difference.between(_class_pairs_before(scope, read), found.class_pairs)
    gone_groups, fresh_groups = _groups(cluster, affected, read)

    anew = _holding(affected.altered, found)
    used = {*pairs.fresh.values(), *class_pairs.fresh.values()} & found.rulesets.keys() | anew
    _give(read, "used", ("ruleset_id",), [(ruleset,) for ruleset in sorted(used)])
    known = {row[0] for row in read.rows(_KNOWN)} - anew
    fresh = {ruleset: found.rulesets[ruleset] for ruleset in sorted(used - known)}
    ruler = Ruler(_named_hosts(scope), scope.semantics)
    if sum(map(ruler.steps, fresh.values())) > MOST_STEPS:
        return None
    left = _left_behind(read, pairs, class_pairs)
    gone = [(ruleset,) for ruleset in sorted(anew.union(left))]
    rulings = [
        (cluster, ruleset, *ruling)
        for ruleset, held in fresh.items()
        for ruling in ruler.rule(held)
    ]
    rulesets = [(cluster, r, held.resource[0], held.group_ids, None) for r, held in fresh.items()]
    class_rows = class_pairs.rows(cluster)
    return [
        Amendment("explain_pair", _PAIR, list(pairs.gone), pairs.rows(cluster)),
        Amendment("explain_class_pair", _CLASS_PAIR, list(class_pairs.gone), class_rows),
        Amendment("ruleset_group", ("group_id",), gone_groups, fresh_groups),
        Amendment("ruleset", ("ruleset_id",), gone, rulesets),
        Amendment("explain_ruling", ("ruleset_id",), gone, rulings),
    ]


def amend(read: Reader, changes: Iterable[Amendment]) -> None:
    """Put tables without the rows that are gone, and with the fresh ones, in their own place.

    The rows that stay keep their order, and with it the bounds by which files are found.
    """
    for table, key, gone, fresh in changes:
        if not gone and not fresh:
            continue
        columns = TABLES[table].column_names
        _give(read, f"gone_{table}", key, gone)
        read.give(f"fresh_{table}", arrow_table(fresh, arrow_schema(table)))
        same = " AND ".join(f"g.{name} = t.{name}" for name in key)
        read.rewrite(
            table,
            f"SELECT {', '.join(f't.{name}' for name in columns)} FROM {table} t "  # noqa: S608 -- names of the contract
            f"LEFT JOIN gone_{table} g ON {same} WHERE g.{key[0]} IS NULL "
            f"UNION ALL SELECT {', '.join(columns)} FROM fresh_{table}",
        )


def _holding(altered: Collection[str], found: DecidedPairs) -> set[str]:
    """Return the rulesets that hold an id which stands for another ACL than before."""
    return {
        ruleset
        for ruleset, held in (found.rulesets.items() if altered else ())
        if any(acl.acl_id in altered for group in held.groups for acl in group.acls)
    }


def _decide_pairs(scope: Scope, affected: Affected, read: Reader) -> DecidedPairs | None:
    """Find the rulesets of what is affected; None where too much reaches it."""
    near = _groups_near(scope, affected.resources, read)
    if near is None:
        return None
    own = frozenset(
        entry.name
        for entry in scope.inventory.principals
        if not entry.is_any_other and names_exactly(entry.name, scope.semantics)
    )
    return pair_on_driver(
        near,
        {r: None if whole else affected.principals for r, whole in affected.resources.items()},
        Subjects(
            own=own - scope.super_users,
            class_of=scope.classes.class_of,
            texts_of=scope.classes.texts_of,
        ),
    )


def _groups_near(
    scope: Scope, resources: Collection[Resource], read: Reader
) -> dict[Resource, list[AclGroup]] | None:
    """Read the ACLs alive that reach each resource, in groups; None where those are too many."""
    patterns = patterns_near(scope.texts.patterns, resources, scope.semantics)
    index = PatternIndex.build(((n, *p) for n, p in enumerate(patterns)), scope.semantics)
    matching = {resource: index.matches(*resource) for resource in resources}
    wanted = sorted({number for numbers in matching.values() for number in numbers})
    _give(read, "wanted", _GROUP[:3], [patterns[number] for number in wanted])
    acls = grouped((acl.pattern, acl) for acl in map(acl_of, read.rows(_ACLS_OF_PATTERNS)))
    groups = {number: group_acls(acls.get(patterns[number], ())) for number in wanted}
    reached = sum(len(groups[n]) for numbers in matching.values() for n in numbers)
    if reached + len(resources) * sum(map(len, scope.classes.texts_of.values())) > MOST_REACHED:
        return None
    return {r: [g for n in numbers for g in groups[n]] for r, numbers in matching.items()}


def _pairs_before(affected: Affected, read: Reader) -> dict[Key, str]:
    """Read the old pairs that were decided again, or whose principal or resource is gone."""
    looked_at = [*affected.resources.items(), *((r, True) for r in affected.gone_resources)]
    _give(read, "looked_at", ("resource_type", "resource_name"), [r for r, _ in looked_at])
    _give(read, "whole", ("resource_type", "resource_name"), [r for r, whole in looked_at if whole])
    _give(read, "affected", ("principal",), [(p,) for p in sorted(affected.principals)])
    _give(read, "gone", ("principal",), [(p,) for p in sorted(affected.gone_principals)])
    return {(row[0], row[1], row[2]): row[3] for row in read.rows(_PAIRS)}


def _class_pairs_before(scope: Scope, read: Reader) -> dict[Key, str]:
    """Read the class pairs that stood of resources affected or gone, and of empty classes."""
    classes = sorted(set(scope.classes.class_of.values()))
    _give(read, "class_now", ("principal_class",), [(name,) for name in classes])
    return {(row[0], row[1], row[2]): row[3] for row in read.rows(_CLASS_PAIRS)}


def _groups(
    cluster: str, affected: Affected, read: Reader
) -> tuple[list[tuple[str]], list[tuple[Any, ...]]]:
    """Compare the groups that a changed ACL was or is in: ids that are gone, and fresh rows.

    A group of the same ids that has another pattern or principal is in both.
    """
    keys = {(*acl.pattern, acl.principal) for acl in affected.changed}
    _give(read, "group_key", _GROUP, sorted(keys))
    was = {row[0]: tuple(row[1:]) for row in read.rows(_GROUPS_BEFORE)}
    groups = group_acls(map(acl_of, read.rows(_ACLS_OF_GROUPS)))
    now = {group.group_id: (*group.acls[0].pattern, group.principal) for group in groups}
    ids = {group.group_id: sorted(acl.acl_id for acl in group.acls) for group in groups}
    fresh = [
        (cluster, g, resource_type, name, pattern_type, principal, ids[g])
        for g, key in sorted(now.items())
        for resource_type, pattern_type, name, principal in [key]
        if was.get(g) != key
    ]
    return [(g,) for g, key in sorted(was.items()) if now.get(g) != key], fresh


def _left_behind(read: Reader, pairs: _Difference, class_pairs: _Difference) -> list[str]:
    """Return the rulesets that pairs had, and that none has any more."""
    fixed = (f"{NONE}:", f"{OTHER}:")
    leaving = {*pairs.gone.values(), *class_pairs.gone.values()}
    leaving = {r for r in leaving if not r.startswith(fixed)}
    leaving -= {*pairs.fresh.values(), *class_pairs.fresh.values()}
    _give(read, "leaving", ("ruleset_id",), [(ruleset,) for ruleset in sorted(leaving)])
    _give(read, "gone_pair", _PAIR, list(pairs.gone))
    _give(read, "gone_class_pair", _CLASS_PAIR, list(class_pairs.gone))
    return sorted(leaving - {row[0] for row in read.rows(_STILL_USED)})


def _named_hosts(scope: Scope) -> dict[str, list[str] | None]:
    """Return which hosts asked about each ACL host names: None where it is every host."""
    named: dict[str, list[str] | None] = {text: [] for text in scope.texts.hosts}
    for text, host in match_hosts(scope.texts.hosts, scope.host_names, scope.semantics):
        if host == ANY_OTHER:
            named[text] = None
        elif (hosts := named[text]) is not None:
            hosts.append(host)
    return named


def _give(read: Reader, name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Make rows of texts known to SQL."""
    read.give(name, arrow_table(rows, pa.schema(dict.fromkeys(columns, pa.string()))))


_FIELDS: Final = ", ".join(f"h.{name}" for name in Acl.__slots__)
_SAME_PATTERN: Final = " AND ".join(f"w.{name} = h.{name}" for name in _GROUP[:3])
_SAME_GROUP: Final = " AND ".join(f"w.{name} = h.{name}" for name in _GROUP)
_SAME_RESOURCE: Final = (
    "{0}.resource_type = p.resource_type AND {0}.resource_name = p.resource_name"
)
_ACLS_OF_PATTERNS: Final = (
    f"SELECT {_FIELDS} FROM acl_history h JOIN wanted w ON {_SAME_PATTERN} "  # noqa: S608 -- contract
    "WHERE h.removed_offset IS NULL"
)
_ACLS_OF_GROUPS: Final = (
    f"SELECT {_FIELDS} FROM acl_history h JOIN group_key w ON {_SAME_GROUP} "  # noqa: S608 -- contract
    "WHERE h.removed_offset IS NULL"
)
_GROUPS_BEFORE: Final = (
    f"SELECT h.group_id, {', '.join(f'h.{name}' for name in _GROUP)} FROM ruleset_group h "  # noqa: S608 -- contract
    f"JOIN group_key w ON {_SAME_GROUP}"
)
_PAIRS: Final = (
    "SELECT p.principal, p.resource_type, p.resource_name, p.ruleset_id FROM explain_pair p "  # noqa: S608 -- contract
    f"JOIN looked_at l ON {_SAME_RESOURCE.format('l')} "
    f"LEFT JOIN whole w ON {_SAME_RESOURCE.format('w')} "
    "LEFT JOIN affected t ON t.principal = p.principal "
    "WHERE w.resource_name IS NOT NULL OR t.principal IS NOT NULL "
    "UNION "
    "SELECT p.principal, p.resource_type, p.resource_name, p.ruleset_id FROM explain_pair p "
    "JOIN gone g ON g.principal = p.principal"
)
_CLASS_PAIRS: Final = (
    "SELECT p.principal_class, p.resource_type, p.resource_name, p.ruleset_id "  # noqa: S608 -- contract
    f"FROM explain_class_pair p LEFT JOIN looked_at l ON {_SAME_RESOURCE.format('l')} "
    "LEFT JOIN class_now c ON c.principal_class = p.principal_class "
    "WHERE l.resource_name IS NOT NULL OR c.principal_class IS NULL"
)
_KNOWN: Final = "SELECT u.ruleset_id FROM used u JOIN ruleset r ON r.ruleset_id = u.ruleset_id"
_STILL_USED: Final = (
    "SELECT DISTINCT p.ruleset_id FROM explain_pair p "  # noqa: S608 -- contract
    "JOIN leaving l ON l.ruleset_id = p.ruleset_id LEFT JOIN gone_pair g "
    f"ON g.principal = p.principal AND {_SAME_RESOURCE.format('g')} WHERE g.principal IS NULL "
    "UNION SELECT DISTINCT p.ruleset_id FROM explain_class_pair p "
    "JOIN leaving l ON l.ruleset_id = p.ruleset_id LEFT JOIN gone_class_pair g "
    f"ON g.principal_class = p.principal_class AND {_SAME_RESOURCE.format('g')} "
    "WHERE g.principal_class IS NULL"
)
