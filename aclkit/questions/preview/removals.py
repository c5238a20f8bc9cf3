"""Files of a team and a state → which ACLs go, and who removes them. Pure.

Scopes leave alone what any file holds. The User Operator knows KafkaUsers alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from aclkit.errors import UsageError
from aclkit.kafka.desired.model import Part
from aclkit.kafka.desired.user_operator import operator_removes
from aclkit.model.acl import Acl
from aclkit.questions.preview.scopes import Scope
from aclkit.questions.state import Binding, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What files remove besides plans.

    Attributes:
        gone: the ACLs that go for a scope or a KafkaUser, by their seven fields.
        owned: those that KafkaUsers remove, whatever else holds or makes them.
        unowned: those that the User Operator removes for want of a KafkaUser, if it runs.
        has_operator: it runs.
    """

    gone: frozenset[Binding]
    owned: Mapping[Binding, Acl]
    unowned: Mapping[Binding, Acl]
    has_operator: bool

    @property
    def by_operator(self) -> set[Binding]:
        """What the User Operator removes for sure."""
        return {*self.owned, *(self.unowned if self.has_operator else ())}


def taken_by(
    parts: Sequence[Part],
    before: State,
    wanted: Iterable[Acl],
    scope: Scope | None,
    *,
    with_operator: bool | None,
) -> Taken:
    """Return what files remove.

    The User Operator knows KafkaUsers alone: it removes what a plan or another file holds or makes.
    """
    if with_operator:
        _require_owners(parts)
    held = {acl.binding for part in parts for acl in part.acls}
    ever = {acl.binding: acl for acl in (*before.acls.values(), *wanted, *created_in(parts))}
    listed = {acl.binding for part in parts if part.reach == "owners" for acl in part.acls}
    users = {name for part in parts for owner in part.owners for name in owner.principals}
    owned = {b: acl for b, acl in ever.items() if b not in listed and acl.principal in users}
    owners = [owner for part in parts for owner in (*part.owners, *part.untouched)]
    is_told = with_operator is not False and bool(owners)
    unowned = {acl.binding: acl for acl in operator_removes(owners, ever.values()) if is_told}
    gone = {acl.binding for acl in before.acls.values() if is_removed(acl, held, parts, scope)}
    return Taken(
        gone=frozenset(gone),
        owned=owned,
        unowned=unowned,
        has_operator=with_operator is True,
    )


def created_in(parts: Iterable[Part]) -> Iterator[Acl]:
    """Yield the ACLs that plans create, now or later."""
    for change in (change for part in parts for change in part.changes):
        if change.creates is not None:
            yield change.creates.acl


def _require_owners(parts: Sequence[Part]) -> None:
    if not any(part.owners or part.untouched for part in parts):
        raise UsageError("--operator needs KafkaUsers, and the files have none.")


def is_removed(
    acl: Acl, held: Collection[Binding], parts: Sequence[Part], scope: Scope | None
) -> bool:
    """Whether no file holds an ACL, and one says that it goes then."""
    return acl.binding not in held and any(_replaces(part, acl, scope) for part in parts)


def _replaces(part: Part, acl: Acl, scope: Scope | None) -> bool:
    if part.reach == "all":
        return True
    if part.reach == "owners":
        return any(acl.principal in owner.principals for owner in part.owners)
    if part.reach == "asked" and scope == "principals":
        return any(acl.principal == each.acl.principal for each in part.acls)
    return part.reach == "asked" and scope == "all"
