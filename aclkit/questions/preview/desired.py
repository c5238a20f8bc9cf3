"""Desired state and a state → the state that the files lead to, at the end and on the way. Pure.

What files remove is never guessed: a plan says it, KafkaUsers own principals, a listing is the
whole. Of every other form the user says it with ``--scope``.

The worst case counts. An ACL that one resource of a plan deletes and another creates may be gone
at the end, because Terraform runs both at once: here it is gone. ``Applied.doings`` is all that is
done, in whose order, and what of it is sure; ``Applied.depends`` says on what the end depends.
``Applied.ends`` and ``Applied.moments`` bound what holds at any end and on the way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, Literal, get_args

from aclkit.errors import UsageError
from aclkit.kafka.desired.answer import hidden_in
from aclkit.kafka.desired.model import DesiredAcl, Part, ResourceChange
from aclkit.kafka.desired.plan_effect import absent_after, plan_effects
from aclkit.kafka.desired.read import Desired
from aclkit.kafka.desired.user_operator import operator_cannot_read, operator_removes
from aclkit.model.acl import Acl, acl_words
from aclkit.model.groups import grouped
from aclkit.model.phrases import few, number_of
from aclkit.questions.state import Applied, Binding, Bounds, Depends, State
from aclkit.rules.names.moments import Doing, nearest_end

Scope = Literal["add", "principals", "all"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
"""What files without a scope of their own replace: nothing, the ACLs of principals in them, or all.

Scopes leave alone what any file holds. The User Operator knows KafkaUsers alone.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
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


def _taken_by(
    parts: Sequence[Part],
    before: State,
    wanted: Iterable[Acl],
    scope: Scope | None,
    *,
    with_operator: bool | None,
) -> _Taken:
    """Return what files remove.

    The User Operator knows KafkaUsers alone: it removes what a plan or another file holds or makes.
    """
    if with_operator:
        _require_owners(parts)
    held = {acl.binding for part in parts for acl in part.acls}
    ever = {acl.binding: acl for acl in (*before.acls.values(), *wanted, *_created_in(parts))}
    listed = {acl.binding for part in parts if part.reach == "owners" for acl in part.acls}
    users = {name for part in parts for owner in part.owners for name in owner.principals}
    owned = {b: acl for b, acl in ever.items() if b not in listed and acl.principal in users}
    owners = [owner for part in parts for owner in (*part.owners, *part.untouched)]
    is_told = with_operator is not False and bool(owners)
    unowned = {acl.binding: acl for acl in operator_removes(owners, ever.values()) if is_told}
    gone = {acl.binding for acl in before.acls.values() if _is_removed(acl, held, parts, scope)}
    return _Taken(
        gone=frozenset(gone),
        owned=owned,
        unowned=unowned,
        has_operator=with_operator is True,
    )


def _created_in(parts: Iterable[Part]) -> Iterator[Acl]:
    """Yield the ACLs that plans create, now or later."""
    for change in (change for part in parts for change in part.changes):
        if change.creates is not None:
            yield change.creates.acl


def _require_owners(parts: Sequence[Part]) -> None:
    if not any(part.owners or part.untouched for part in parts):
        raise UsageError("--operator needs KafkaUsers, and the files have none.")


def _is_removed(
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


def apply_desired(
    desired: Desired,
    before: State,
    scope: Scope | None = None,
    *,
    with_operator: bool | None = False,
) -> Applied:
    """Return what files lead to.

    Args:
        desired: what the files hold.
        before: the state of the cluster.
        scope: what files without a scope of their own remove.
        with_operator: Strimzi's User Operator runs, see ``operator_removes``; None where that is
            unknown: then the end depends on it.

    Raises:
        UsageError: there are such files, and no scope; the message shows what each would remove.
    """
    parts = desired.parts
    if scope is None and any(part.reach == "asked" for part in parts):
        raise UsageError(_scopes_sentence(parts, before))
    wanted = {acl.binding: acl.acl for part in parts if part.reach != "change" for acl in part.acls}
    taken = _taken_by(parts, before, wanted.values(), scope, with_operator=with_operator)
    existing = {acl.binding for acl in before.acls.values()}
    effects = plan_effects(_sure(parts), existing)
    unsure = {each.acl.binding for each in effects if each.effect == _UNDEFINED}
    contested = absent_after(effects) & wanted.keys()
    contested |= taken.by_operator & {*wanted, *(acl.binding for acl in _created_in(parts))}
    others = _of_files(parts, wanted, existing, taken)
    orders = [*map(_doing, _sure(parts)), *(each for each in others if each.is_sure)]
    sought = {each: each not in existing and each not in contested for each in unsure | contested}
    there = {each for each, is_there in nearest_end(orders, sought).items() if is_there}
    lost = absent_after(effects) | contested | taken.gone | taken.by_operator
    made = {each.acl.binding for each in effects if each.effect in ("added", "gap")}
    made |= unsure & there
    kept = wanted | {each.acl.binding: each.acl.acl for each in effects if each.acl.binding in made}
    kept = {b: acl for b, acl in kept.items() if b in there or b not in contested}
    after = _state(before, {*lost} - there, kept)
    known = {acl.binding: acl.acl for acl in _held(parts)}
    doings = [each for part in parts for each in map(_doing, part.changes) if each.steps]
    doings += others
    depends = [
        *_of_order({binding: known[binding] for binding in unsure}, _OPEN),
        *_of_order({binding: known[binding] for binding in contested - unsure}, _LAST),
        *_of_operator(taken.unowned, with_operator=with_operator),
        *_of_plans(parts),
    ]
    in_question = {b: acl for each in depends for b, acl in (each.acls or {}).items()}
    fresh = frozenset(each.acl.principal for each in _held(parts) if each.is_fresh)
    return Applied(
        after=replace(after, fresh=fresh, hidden=hidden_in(parts)),
        ends=_bounds(after, in_question),
        moments=_bounds(after, _passing(doings, existing)),
        effects=effects,
        notes=[
            *desired.notes,
            *_disagreements(desired, existing),
            *_conflict_notes({each: known[each] for each in contested}, taken.by_operator),
            *(_operator_notes(before) if any(part.owners for part in parts) else ()),
        ],
        places=grouped(dict.fromkeys((acl.binding, acl.place) for acl in _held(parts))),
        doings=doings,
        depends=depends,
    )


_UNDEFINED: Final = "undefined-order"
_OPEN: Final = "the order of operations, which the plan leaves open"
_LAST: Final = "whether plan, file or User Operator comes last"


def _conflict_notes(
    conflicts: Mapping[Binding, Acl], by_operator: Collection[Binding]
) -> Iterator[str]:
    for binding, acl in sorted(conflicts.items()):
        who = (
            "The User Operator removes what a plan or another file makes"
            if binding in by_operator
            else "A plan deletes what a file holds"
        )
        yield f"{who}, so it may be gone: {acl_words(acl)}."


def _sure(parts: Iterable[Part]) -> list[ResourceChange]:
    """Return the changes of plans that are made now."""
    return [change for part in parts for change in part.changes if not change.is_deferred]


def _of_order(acls: Mapping[Binding, Acl], words: str) -> Iterator[Depends]:
    if acls:
        yield Depends(words, acls)


def _of_operator(acls: Mapping[Binding, Acl], *, with_operator: bool | None) -> Iterator[Depends]:
    """Yield that nothing says whether users without a KafkaUser in the files lose their ACLs."""
    if acls and with_operator is None:
        users = dict.fromkeys(acl.principal for acl in acls.values())
        yield Depends(
            f"whether Strimzi's User Operator removes {number_of(len(acls), 'ACL')} of "
            f"{few(users)}, who {'has' if len(users) == 1 else 'have'} no KafkaUser in these "
            "files (pass --operator or --no-operator)",
            acls,
        )


def _of_plans(parts: Sequence[Part]) -> Iterator[Depends]:
    """Yield what plans leave open."""
    changes = [change for part in parts for change in part.changes]
    deferred = [change for change in changes if change.is_deferred]
    if deferred:
        what = number_of(len(deferred), "change")
        yield Depends(
            f"whether {what} that the plan defers will be made ({few(_addresses(deferred))})",
            _touched_by(deferred),
        )
    unnamed = [change for change in changes if change.is_elsewhere_perhaps]
    if unnamed:
        yield Depends(
            f"which cluster {number_of(len(unnamed), 'resource')} "
            f"{'is' if len(unnamed) == 1 else 'are'} for ({few(_addresses(unnamed))})",
            _touched_by(unnamed),
        )
    for part in parts:
        yield from (Depends(words) for words in part.unknown)
        yield from (Depends(words, is_unread=True) for words in part.unjudged)
        if part.unread and part.reach != "change":
            kinds = few(f"{number} {kind}" for kind, number in sorted(part.unread.items()))
            yield Depends(f"{kinds}, which aclkit does not read", is_unread=True)


def _addresses(changes: Iterable[ResourceChange]) -> list[str]:
    return [*dict.fromkeys(change.place.address or str(change.place) for change in changes)]


def _touched_by(changes: Iterable[ResourceChange]) -> dict[Binding, Acl]:
    return {
        each.binding: each.acl
        for change in changes
        for each in filter(None, (change.deletes, change.creates))
    }


def _of_files(
    parts: Sequence[Part],
    wanted: Mapping[Binding, Acl],
    existing: Collection[Binding],
    taken: _Taken,
) -> list[Doing]:
    """Return what others do than plans, step by step.

    Strimzi adds and removes the ACLs of a user at once. Whoever applies the file that holds what a
    plan or the User Operator deletes creates it at any time.
    """
    new = {
        acl.binding
        for part in parts
        if part.reach == "owners"
        for acl in part.acls
        if acl.binding not in existing
    }
    changes = (change for part in parts for change in part.changes)
    deleted = {change.deletes.binding for change in changes if change.deletes is not None}
    again = (deleted | taken.by_operator) & wanted.keys()
    return [
        *(Doing(((True, wanted[each]),)) for each in sorted(new | again)),
        *(Doing(((False, acl),)) for acl in taken.owned.values()),
        *(_of_operator_doing(acl, taken) for acl in taken.unowned.values()),
    ]


def _of_operator_doing(acl: Acl, taken: _Taken) -> Doing:
    """Return the removal of an ACL by the User Operator, which runs or does not."""
    condition = "" if taken.has_operator else "operator"
    return Doing(((False, acl),), taken.has_operator, condition)


def _doing(change: ResourceChange) -> Doing:
    steps = [
        (is_creation, each.acl)
        for is_creation, each in ((False, change.deletes), (True, change.creates))
        if each is not None
    ]
    if change.is_create_first:
        steps.reverse()
    return Doing(tuple(steps), not (change.is_deferred or change.is_elsewhere_perhaps))


def _passing(doings: Iterable[Doing], existing: Collection[Binding]) -> dict[Binding, Acl]:
    """Return the ACLs that come or go on the way."""
    return {
        acl.binding: acl
        for each in doings
        for is_creation, acl in each.steps
        if not is_creation or acl.binding not in existing
    }


def _bounds(end: State, in_question: Mapping[Binding, Acl]) -> Bounds | None:
    """Return the bounds of all states that differ from one in some ACLs only."""
    if not in_question:
        return None
    allows = {binding: acl for binding, acl in in_question.items() if acl.is_allow}
    denies = {binding: acl for binding, acl in in_question.items() if not acl.is_allow}
    closing = _closing(in_question.values()) if end.settings.allow_everyone else {}
    return Bounds(
        most=_state(end, {*denies}, allows),
        least=_state(end, {*allows}, {**denies, **closing}),
        bare=_state(end, {*in_question}, {}),
    )


def _closing(acls: Iterable[Acl]) -> dict[Binding, Acl]:
    """Return ACLs that reach what some others reach and give nothing to anyone.

    Where no ACL is left, a default can allow; but the ACL of another principal may be there, and
    then it does not.
    """
    unmatched = (replace(acl, principal="nobody", permission_type="ALLOW") for acl in acls)
    return {acl.binding: acl for acl in unmatched}


def _state(before: State, removed: Collection[Binding], wanted: Mapping[Binding, Acl]) -> State:
    """Return a state without some ACLs, and with others; ACLs that stay keep their ids."""
    acls = {name: acl for name, acl in before.acls.items() if acl.binding not in removed}
    existing = {acl.binding for acl in acls.values()}
    new = (acl for binding, acl in wanted.items() if binding not in existing)
    names = (f"desired-{number:04}" for number in count(1))
    free = (name for name in names if name not in acls)
    for name, acl in zip(free, [*new], strict=False):
        acls[name] = Acl(acl_id=name, **dict(zip(Acl.__slots__[1:], acl.binding, strict=True)))
    return before.with_only(acls.values())


def _scopes_sentence(parts: Sequence[Part], before: State) -> str:
    """Write what each scope would remove."""
    names = few(dict.fromkeys(part.document for part in parts if part.reach == "asked"))
    lines = [f"{names}: ACLs that the files do not hold may stay or go. Pass --scope:"]
    held = {acl.binding for part in parts for acl in part.acls}
    for scope in SCOPES:
        gone = [acl for acl in before.acls.values() if _is_removed(acl, held, parts, scope)]
        some = f": {few([acl_words(acl) for acl in gone], 2)}" if gone else ""
        lines.append(f"  {scope:<10}  removes {number_of(len(gone), 'ACL')}{some}")
    return "\n".join(lines)


def _held(parts: Iterable[Part]) -> Iterator[DesiredAcl]:
    for part in parts:
        yield from part.acls
        for change in part.changes:
            yield from filter(None, (change.deletes, change.creates))


def _operator_notes(state: State) -> Iterator[str]:
    """Yield that Strimzi's operator applies no file while the cluster has ACLs it cannot read."""
    unread = operator_cannot_read(state.acls.values())
    if unread:
        some = few([acl_words(acl) for acl in unread], 2)
        yield (
            f"The User Operator cannot read {number_of(len(unread), 'ACL')} of the cluster, and "
            f"applies no KafkaUser while they exist: {some}."
        )


def _disagreements(desired: Desired, existing: set[Binding]) -> Iterator[str]:
    """Yield where plans and the cluster disagree."""
    for change in (change for part in desired.parts for change in part.changes):
        created, deleted, kept = change.creates, change.deletes, change.keeps
        is_same = created and deleted and created.binding == deleted.binding
        if created and created.binding in existing and not is_same:
            yield f"{change.place} creates an ACL that already exists: {acl_words(created.acl)}."
        if deleted and deleted.binding not in existing:
            yield f"{change.place} deletes an ACL that does not exist: {acl_words(deleted.acl)}."
        if kept and kept.binding not in existing:
            yield f"{change.place} keeps an ACL that does not exist: {acl_words(kept.acl)}."
