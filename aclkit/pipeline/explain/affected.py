"""The run before and the state now → the pairs that may have another ruleset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from aclkit.model.acl import BINDING, Acl
from aclkit.pipeline.explain.on_driver import Resource
from aclkit.pipeline.explain.scope import Scope
from aclkit.rules.patterns.match import names_exactly
from aclkit.rules.patterns.trie import PatternIndex
from aclkit.warehouse.codecs import ACL_COLUMNS, acl_of, acl_sql, behind_acl
from aclkit.warehouse.reader import Reader, Versions

MOST_CHANGES: Final = 1_000
"""Above so many changed ACLs, principals or resources everything is decided anew."""

MOST_PAIRS: Final = 300_000
"""Above so many affected pairs too: the driver decides them, one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """The pairs to decide again: all others have the ruleset that they had.

    Attributes:
        changed: ACLs that were alive and are not, or the other way round; an id that stands for
            another ACL than before is in both.
        resources: those that a changed ACL reaches, or one that names a new principal, and new
            ones → whether all their pairs are affected, or those alone of ``principals``.
        principals: principals whose pairs with ``resources`` are affected.
        gone_resources: resources that are no longer asked about.
        gone_principals: principals that are no longer asked about.
    """

    changed: Sequence[Acl]
    resources: Mapping[Resource, bool]
    principals: frozenset[str]
    gone_resources: frozenset[Resource]
    gone_principals: frozenset[str]

    @property
    def altered(self) -> frozenset[str]:
        """The ids of ACLs that stand for another ACL than before: what holds them is another."""
        ids = Counter(acl.acl_id for acl in self.changed)
        return frozenset(acl_id for acl_id, number in ids.items() if number > 1)


def tables_of_affected(before: Mapping[str, int], after: Mapping[str, int]) -> Versions:
    """Return what ``find_affected`` asks about: as two runs left it, and as the first did."""
    return {
        "was_history": ("acl_history", before.get("acl_history")),
        "acl_history": ("acl_history", after.get("acl_history")),
        **{name: (name, before.get(name)) for name in ("principal", "host", "resource")},
    }


def find_affected(scope: Scope, read: Reader) -> Affected | None:
    """Return which pairs may have another ruleset than in the previous run; None for all of them.

    All are decided where hosts or the classes of principals differ; where a name below ``*``
    makes the broker's order depend on all ACLs; and where so much changed that deciding everything
    takes no longer. The settings are the same.
    """
    if scope.may_meet_wildcard_last:
        return None
    changed = list(_changed_acls(read))
    hosts = {host for (host,) in read.rows("SELECT host FROM host")}
    was_class = dict(read.rows("SELECT principal, principal_class FROM principal"))
    known = {(kind, name) for kind, name in read.rows(_RESOURCES)}
    class_of = scope.classes.class_of
    added = class_of.keys() - was_class.keys()
    asked = {entry.key for entry in scope.inventory.resources}
    if (
        len(changed) + len(added) + len(asked ^ known) > MOST_CHANGES
        or hosts != set(scope.host_names)
        or any(was_class[name] != class_of[name] for name in was_class.keys() & class_of.keys())
        or not set(class_of.values()) <= set(was_class.values())
    ):
        return None
    read.give("added", pa.table({"principal": pa.array(sorted(added), pa.string())}))
    patterns = [(kind, form, name) for kind, form, name in read.rows(_PATTERNS_OF_ADDED)]
    narrow = {acl.principal for acl in changed if names_exactly(acl.principal, scope.semantics)}
    affected = Affected(
        changed=changed,
        resources=_affected_resources(scope, changed, patterns, known),
        principals=frozenset(narrow | added),
        gone_resources=frozenset(known - asked),
        gone_principals=frozenset(was_class.keys() - class_of.keys()),
    )
    return affected if _pairs_of(affected, len(class_of)) <= MOST_PAIRS else None


def _changed_acls(read: Reader) -> Iterator[Acl]:
    """Yield each ACL of one of two runs alone, and both where an id stands for another one."""
    for row in read.rows(_CHANGED):
        for side in (row, behind_acl(row)):
            if side[0] is not None:
                yield acl_of(side)


def _affected_resources(
    scope: Scope,
    changed: Sequence[Acl],
    patterns_of_added: Sequence[tuple[str, str, str]],
    known: Collection[Resource],
) -> dict[Resource, bool]:
    """Find the resources that changed ACLs, or ACLs of new principals, reach."""
    patterns = [acl.pattern for acl in changed]
    is_wide = [not names_exactly(acl.principal, scope.semantics) for acl in changed]
    is_wide += [False] * len(patterns_of_added)
    index = PatternIndex.build(
        ((n, *pattern) for n, pattern in enumerate([*patterns, *patterns_of_added])),
        scope.semantics,
    )
    resources: dict[Resource, bool] = {}
    for entry in scope.inventory.resources:
        matches = index.matches(entry.resource_type, entry.name)
        is_new = entry.key not in known
        if matches or is_new:
            resources[entry.key] = is_new or any(is_wide[number] for number in matches)
    return resources


def _pairs_of(affected: Affected, principals: int) -> int:
    """Count the pairs to look at, the classes' aside."""
    whole = sum(affected.resources.values())
    narrow = len(affected.resources) - whole
    return whole * principals + narrow * len(affected.principals)


_ALIVE: Final = acl_sql("FROM {} WHERE removed_offset IS NULL")
_SIDES: Final = ", ".join(f"{side}.{name}" for side in "nw" for name in ACL_COLUMNS)
_IS_ANOTHER: Final = " OR ".join(f"n.{name} <> w.{name}" for name in BINDING)
_BOTH: Final = (
    f"FROM ({_ALIVE.format('acl_history')}) n FULL JOIN ({_ALIVE.format('was_history')}) w "
    f"ON w.acl_id = n.acl_id WHERE n.acl_id IS NULL OR w.acl_id IS NULL OR {_IS_ANOTHER}"
)
_CHANGED: Final = f"SELECT {_SIDES} {_BOTH}"
"""An ACL now and before, by all its fields: a log may state another ACL for the same id."""
_RESOURCES: Final = "SELECT resource_type, resource_name FROM resource"
_PATTERNS_OF_ADDED: Final = (
    "SELECT DISTINCT h.resource_type, h.pattern_type, h.resource_name FROM acl_history h "
    "JOIN added a ON a.principal = h.principal WHERE h.removed_offset IS NULL"
)
