"""Changes of all resources of a plan → what happens to each ACL on the cluster. Pure.

Terraform and OpenTofu order the operations of one resource, and not those of two resources that do
not depend on each other. A broker answers the creation of an ACL that exists, and the deletion of
one that does not, as if all were well. So an operation of another resource can undo what a plan
seems to do, without any error.

Each resource is a sequence of operations on ACLs, and the sequences interleave freely. Whichever
operation on an ACL comes last decides whether the ACL exists, and each resource's last operation
on it can be the last of all. So an ACL can be absent after the plan if, and only if, the last
operation of some resource on it is a deletion; and it can exist if, and only if, the last one of
some resource is a creation. Source: OpenTofu 1.12.6 on Kafka 4.3.1, see the tests.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from aclkit.kafka.desired.model import DesiredAcl, ResourceChange
from aclkit.model.phrases import few

_KEY: Final = re.compile(r'\[(?:"(?:[^"\\]|\\.)*"|-?[0-9]+)\]')
"""The key of an instance in an address."""


@dataclass(frozen=True, slots=True)
class ResourceAction:
    """What one resource does to one ACL.

    Attributes:
        address: of the resource.
        operations: on this ACL, in their order.
        is_all: the resource does nothing else.
    """

    address: str
    operations: tuple[str, ...]
    is_all: bool


def advice_of_twice(creating: Sequence[str]) -> str:
    """Advise on an ACL that several resources create."""
    return (
        f"Merge {_these(creating)} into one resource: all hold this ACL, "
        "and destroying one of them later removes the ACL."
    )


def advice_of_needless(creating: Sequence[str], holding: Sequence[str]) -> str:
    """Advise on an ACL that is created although another resource holds it."""
    return (
        f"{_these(creating)} creates an ACL that {_these(holding)} already holds. Merge them "
        "into one resource, because destroying one of them later removes the ACL."
    )


def advice_of_gap(replaced: Sequence[str]) -> str:
    """Advise on an ACL that is deleted and created again."""
    return (
        f"{_these(replaced)} deletes this ACL and then creates it again. Remove what forces the "
        "replacement (-replace, a tainted state, replace_triggered_by or another attribute), "
        "so that the ACL stays."
    )


def advice_of_kept(deleting: Sequence[str], holding: Sequence[str]) -> str:
    """Advise on an ACL that is deleted although another resource holds it."""
    what = f"{_these(deleting)} removes the ACL that {_these(holding)} also holds."
    if any(_is_deposed(address) for address in deleting):
        return f"{what} Run plan and apply once more afterwards: that creates the ACL again."
    # Here: of all plans, few need it.
    from aclkit.kafka.acls.quoting import shell_word

    commands = few(f"terraform state rm {shell_word(address)}" for address in deleting)
    return (
        f"{what} To remove the ACL, remove {_these(holding)} too. To keep it, take the duplicate "
        f"out of the state instead of destroying it: {commands}"
    )


def advice_of_replacement(replaced: Sequence[str]) -> str:
    """Advise on an ACL that is created and then deleted by one resource."""
    return (
        "Remove create_before_destroy from "
        f"{_these(replaced)} and from all resources that depend on it: the new ACL equals the "
        "old one, so deleting the old one removes both. Or remove what forces the replacement."
    )


def advice_of_order(steps: Sequence[ResourceAction]) -> str:
    """Advise on an ACL that one resource deletes and another creates."""
    deleting = [step for step in steps if step.operations[-1] == "delete"]
    creating = [step for step in steps if step.operations[-1] == "create"]
    old, new = (
        list(dict.fromkeys(each.address for each in those)) for those in (deleting, creating)
    )
    what = f"{_these(old)} deletes this ACL and {_these(new)} creates it, in an undefined order."
    if len(steps) == 2 and all(step.is_all for step in steps) and _can_move(old[0], new[0]):
        return f"{what} Write a moved block from {old[0]} to {new[0]}."
    if any(_is_counted(address) for address in (*old, *new)):
        return (
            f"{what} A change of count shifts all entries that follow it. Use for_each with a "
            "fixed key for each ACL, and write a moved block for each ACL."
        )
    return (
        f"{what} Keep the ACL in one resource, or run two applies: the first one deletes it, the "
        "second one creates it."
    )


def _can_move(old: str, new: str) -> bool:
    """Whether a ``moved`` block can name both: two addresses of one type of resource."""
    is_deposed = _is_deposed(old) or _is_deposed(new)
    return old != new and _type(old) == _type(new) != "" and not is_deposed


def _is_deposed(address: str) -> bool:
    """Whether an address is of an object that waits for its deletion: those end so."""
    return address.endswith(")")


def _type(address: str) -> str:
    """Return the type of resource of an address.

    >>> _type('module.a["x.y"].kafka_acl.b["c.d"]')
    'kafka_acl'
    """
    words = _KEY.sub("", address).split(".")
    return words[-2] if len(words) > 1 else ""


def _is_counted(address: str) -> bool:
    """Whether the key of an instance is a number."""
    return address.endswith("]") and not address.endswith('"]')


def _these(addresses: Sequence[str]) -> str:
    return few(dict.fromkeys(addresses))


Effect = Literal[
    "added",
    "gap",
    "removed",
    "removed-by-its-own-replacement",
    "removed-though-kept-by-another",
    "undefined-order",
]
"""``added`` and ``removed`` are what the plan shows. ``gap``: the ACL is off for a time. The others
are removals that the plan does not show, and ``undefined-order`` is one that perhaps happens."""

ABSENT_AFTER: Final = frozenset(
    (
        "removed",
        "removed-by-its-own-replacement",
        "removed-though-kept-by-another",
        "undefined-order",
    )
)
"""The effects after which an ACL is off, or can be."""

Key = tuple[str, tuple[str, ...]]
"""A cluster and the seven fields."""


@dataclass(frozen=True, slots=True)
class PlanEffect:
    """What a plan does to one ACL.

    Attributes:
        effect: see ``Effect``.
        acl: with the place of the first resource.
        by: the operations on it: ``ADDRESS:operation``, several joined with ``; ``.
        addresses: of these resources, each once.
        advice: what to write instead; empty where the effect is what the plan shows.
    """

    effect: Effect
    acl: DesiredAcl
    by: str
    addresses: tuple[str, ...]
    advice: str


@dataclass(slots=True)
class _Touched:
    """All that the resources of a plan do with one ACL, in the order of the plan.

    Attributes:
        acls: the ACL as each resource writes it.
        steps: of each resource that changes it.
        holders: the resources that hold it or forget it, and their action.
    """

    acls: list[DesiredAcl] = field(default_factory=list)
    steps: list[ResourceAction] = field(default_factory=list)
    holders: list[tuple[str, str]] = field(default_factory=list)


def plan_effects(
    changes: Iterable[ResourceChange], existing: Collection[tuple[str, ...]] | None = None
) -> list[PlanEffect]:
    """Return what all changes together do to each ACL, sorted by effect and ACL.

    An ACL that is created although another resource holds it has no effect if it exists.

    Args:
        changes: those of the plans.
        existing: the ACLs of the cluster, by their seven fields; None takes the plan's word for
            what its resources hold.
    """
    found = [
        _effect(touched, is_there=existing is None or binding in existing)
        for (_, binding), touched in _touched(changes).items()
    ]
    return sorted((effect for effect in found if effect is not None), key=_order)


def absent_after(effects: Iterable[PlanEffect]) -> frozenset[tuple[str, ...]]:
    """Return the seven fields of each ACL that can be off after the plan: the worst case."""
    return frozenset(each.acl.binding for each in effects if each.effect in ABSENT_AFTER)


def plan_notes(changes: Iterable[ResourceChange]) -> list[str]:
    """Return what a reader must know about creations that do nothing."""
    notes = list[str]()
    for touched in filter(_is_needless, _touched(changes).values()):
        creating = [step.address for step in touched.steps]
        others = [address for address, _ in touched.holders if address not in creating]
        notes += [advice_of_needless(creating, others)] if others else []
    return notes


def _touched(changes: Iterable[ResourceChange]) -> dict[Key, _Touched]:
    """Return what is done with each ACL of each cluster.

    Of a resource that left the configuration no file names the cluster: it counts for each one.
    """
    changes = list(changes)
    clusters = sorted({change.cluster for change in changes if change.cluster is not None})
    every: list[str | None] = [*clusters] or [None]
    found: dict[Key, _Touched] = {}
    for change in changes:
        for cluster in every if change.cluster is None else [change.cluster]:
            _touch(found, change, cluster)
    return found


def _touch(found: dict[Key, _Touched], change: ResourceChange, cluster: str | None) -> None:
    """Add what a resource does with its ACLs on one cluster."""
    address = change.place.address or str(change.place)

    def add(acl: DesiredAcl) -> _Touched:
        touched = found.setdefault((cluster or "", acl.binding), _Touched())
        touched.acls.append(acl if acl.cluster == cluster else replace(acl, cluster=cluster))
        return touched

    operations = _operations(change)
    for acl, each in operations:
        add(acl).steps.append(ResourceAction(address, each, is_all=len(operations) == 1))
    for kept, action in ((change.keeps, _kept_by(change)), (change.forgets, "forget")):
        if kept is not None:
            add(kept).holders.append((address, action))


def _kept_by(change: ResourceChange) -> str:
    return change.actions[0] if len(change.actions) == 1 else "no-op"


def _operations(change: ResourceChange) -> list[tuple[DesiredAcl, tuple[str, ...]]]:
    """Return the ACLs that a resource changes, each with its operations in their order."""
    old, new = change.deletes, change.creates
    if old is not None and new is not None and old.binding == new.binding:
        both = ("create", "delete") if change.is_create_first else ("delete", "create")
        return [(_merged([old, new]), both)]
    found = list[tuple[DesiredAcl, tuple[str, ...]]]()
    if old is not None:
        found.append((old, ("delete",)))
    if new is not None:
        found.append((new, ("create",)))
    return found


def _is_needless(touched: _Touched) -> bool:
    """Whether resources create what another holds, and none deletes it."""
    return (
        bool(touched.holders)
        and bool(touched.steps)
        and all(step.operations == ("create",) for step in touched.steps)
    )


def _effect(touched: _Touched, *, is_there: bool) -> PlanEffect | None:
    if not touched.steps or (is_there and _is_needless(touched)):
        return None
    effect = _kind(touched)
    involved = [
        (step.address, operation) for step in touched.steps for operation in step.operations
    ]
    if effect != "added":
        involved += touched.holders
    return PlanEffect(
        effect,
        _merged(touched.acls),
        "; ".join(f"{address}:{operation}" for address, operation in involved),
        tuple(dict.fromkeys(address for address, _ in involved)),
        _advice(effect, touched),
    )


def _kind(touched: _Touched) -> Effect:
    """Return the effect by the last operation of each resource."""
    orders = [step.operations for step in touched.steps]
    last = {operations[-1] for operations in orders}
    if len(last) == 2:
        return "undefined-order"
    if last == {"create"}:
        return "gap" if ("delete", "create") in orders else "added"
    if ("create", "delete") in orders:
        return "removed-by-its-own-replacement"
    return "removed-though-kept-by-another" if touched.holders else "removed"


def _merged(acls: Sequence[DesiredAcl]) -> DesiredAcl:
    """Return the ACL; a field that one resource marks as sensitive is."""
    marked = frozenset[str]().union(*(acl.sensitive for acl in acls))
    return acls[0] if marked == acls[0].sensitive else replace(acls[0], sensitive=marked)


def _advice(effect: Effect, touched: _Touched) -> str:
    ends = [step.address for step in touched.steps]
    if effect == "added":
        return advice_of_twice(ends) if len(ends) > 1 else ""
    if effect == "gap":
        return advice_of_gap(_that(touched, ("delete", "create")))
    if effect == "removed-though-kept-by-another":
        return advice_of_kept(ends, [address for address, _ in touched.holders])
    if effect == "removed-by-its-own-replacement":
        return advice_of_replacement(_that(touched, ("create", "delete")))
    return advice_of_order(touched.steps) if effect == "undefined-order" else ""


def _that(touched: _Touched, operations: tuple[str, ...]) -> list[str]:
    """Return the resources that do these operations."""
    return [step.address for step in touched.steps if step.operations == operations]


def _order(effect: PlanEffect) -> tuple[str, ...]:
    acl = effect.acl.acl
    return (
        effect.effect,
        *acl.pattern,
        acl.principal,
        acl.host,
        acl.operation,
        acl.permission_type,
        effect.acl.cluster or "",
    )
