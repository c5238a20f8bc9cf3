"""Desired state and a state → the state that the files lead to, at the end and on the way. Pure.

What files remove is never guessed: a plan says it, KafkaUsers own principals, a listing is the
whole. Of every other form the user says it with ``--scope``.

The worst case counts. An ACL that one resource of a plan deletes and another creates may be gone
at the end, because Terraform runs both at once: here it is gone. What is deleted and created again
is off for a time, see ``Applied.moment``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from aclkit.answer.masked import Hidden
from aclkit.errors import UsageError
from aclkit.kafka.desired.answer import hidden_in
from aclkit.kafka.desired.model import DesiredAcl, Part, Place, ResourceChange
from aclkit.kafka.desired.plan_effect import (
    PlanEffect,
    absent_after,
    plan_effects,
)
from aclkit.kafka.desired.read import Desired
from aclkit.kafka.desired.replacement import off_between
from aclkit.kafka.desired.user_operator import operator_cannot_read, operator_removes
from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words
from aclkit.model.groups import grouped
from aclkit.model.phrases import few, number_of
from aclkit.questions.preview.scopes import SCOPES, Scope
from aclkit.questions.preview.state import State

Binding = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Applied:
    """What files come to on top of a state.

    Attributes:
        after: the state at the end, in the worst case.
        moment: two states that differ in what is off for a time only: with it, and without it.
        effects: of plans, what they do to each ACL.
        notes: what has no effect, where plan and cluster disagree, and what was left alone.
        places: where files hold an ACL, by its seven fields.
        hidden: sensitive values, which people must not see.
        fresh: principals that a plan creates: their names are not known yet.
    """

    after: State
    moment: tuple[State, State] | None
    effects: Sequence[PlanEffect]
    notes: Sequence[str]
    places: Mapping[Binding, Sequence[Place]]
    hidden: Sequence[Hidden] = ()
    fresh: frozenset[str] = frozenset()


def apply_desired(
    desired: Desired, before: State, scope: Scope | None = None, *, with_operator: bool = False
) -> Applied:
    """Return what files lead to.

    Args:
        desired: what the files hold.
        before: the state of the cluster.
        scope: what files without a scope of their own remove.
        with_operator: Strimzi's User Operator runs, see ``operator_removes``.

    Raises:
        UsageError: there are such files, and no scope; the message shows what each would remove.
    """
    parts = desired.parts
    if scope is None and any(part.reach == "asked" for part in parts):
        raise UsageError(_scopes_sentence(parts, before))
    wanted = {acl.binding: acl.acl for part in parts if part.reach != "change" for acl in part.acls}
    gone = [acl for acl in before.acls.values() if _is_removed(acl, wanted, parts, scope)]
    if with_operator:
        owners = [owner for part in parts for owner in (*part.owners, *part.untouched)]
        besides = operator_removes(owners, before.acls.values())
        gone += [acl for acl in besides if acl.binding not in wanted]
    changes = [change for part in parts for change in part.changes]
    effects = plan_effects(changes)
    existing = {acl.binding for acl in before.acls.values()}
    lost, made = _worst(effects, existing)
    wanted |= {each.acl.binding: each.acl.acl for each in effects if each.acl.binding in made}
    after = _state(before, {acl.binding for acl in gone} | lost, wanted)
    return Applied(
        after=after,
        moment=_moment(after, changes, existing),
        effects=effects,
        notes=[
            *desired.notes,
            *_disagreements(desired, existing),
            *(_operator_notes(before) if any(part.owners for part in parts) else ()),
        ],
        places=grouped(dict.fromkeys((acl.binding, acl.place) for acl in _held(parts))),
        hidden=hidden_in(parts),
        fresh=frozenset(acl.acl.principal for acl in _held(parts) if acl.is_fresh),
    )


def _worst(
    effects: Sequence[PlanEffect], existing: set[Binding]
) -> tuple[set[Binding], set[Binding]]:
    """Return the ACLs that may be gone at the end, and those that are there in the worst case.

    Of an undefined order the end counts that changes something: an ACL that exists is lost, another
    one comes.
    """
    absent = {binding for binding in absent_after(effects) if binding in existing}
    undefined = {each.acl.binding for each in effects if each.effect == "undefined-order"}
    created = {each.acl.binding for each in effects if each.effect in ("added", "gap")}
    return absent, created | (undefined - existing)


def _moment(
    after: State, changes: Sequence[ResourceChange], existing: set[Binding]
) -> tuple[State, State] | None:
    """Return the end without the ACLs that are created late, with and without what is shared.

    What is shared by an old ACL and the new one in its place is allowed or denied before and at the
    end, and not in between.
    """
    there = {acl.binding for acl in after.acls.values()}
    old = {change.creates.binding: change.deletes for change in changes if change.creates}
    late = {
        new.binding: shared
        for new, shared in off_between(changes)
        if new.binding in there and (was := old[new.binding]) and was.binding in existing
    }
    if not late:
        return None
    without = _state(after, set(late), {})
    return _state(without, set(), {shared.binding: shared for shared in late.values()}), without


def _state(before: State, removed: set[Binding], wanted: Mapping[Binding, Acl]) -> State:
    """Return a state without some ACLs, and with others; ACLs that stay keep their ids."""
    acls = {name: acl for name, acl in before.acls.items() if acl.binding not in removed}
    existing = {acl.binding for acl in acls.values()}
    new = (acl for binding, acl in wanted.items() if binding not in existing)
    names = (f"desired-{number:04}" for number in count(1))
    free = (name for name in names if name not in acls)
    for name, acl in zip(free, [*new], strict=False):
        acls[name] = Acl(acl_id=name, **dict(zip(Acl.__slots__[1:], acl.binding, strict=True)))
    return State(acls=acls, settings=before.settings)


def _is_removed(
    acl: Acl, wanted: Mapping[Binding, Acl], parts: Sequence[Part], scope: Scope | None
) -> bool:
    """Whether no file holds an ACL, and one says that it goes then."""
    return acl.binding not in wanted and any(_replaces(part, acl, scope) for part in parts)


def _replaces(part: Part, acl: Acl, scope: Scope | None) -> bool:
    if part.reach == "all":
        return True
    if part.reach == "owners":
        return any(acl.principal in owner.principals for owner in part.owners)
    if part.reach == "asked" and scope == "principals":
        return any(acl.principal == each.acl.principal for each in part.acls)
    return part.reach == "asked" and scope == "all"


def _scopes_sentence(parts: Sequence[Part], before: State) -> str:
    """Write what each scope would remove."""
    names = few(dict.fromkeys(part.document for part in parts if part.reach == "asked"))
    lines = [f"{names}: ACLs that the files do not hold may stay or go. Pass --scope:"]
    wanted = {acl.binding: acl.acl for part in parts if part.reach != "change" for acl in part.acls}
    for scope in SCOPES:
        gone = [acl for acl in before.acls.values() if _is_removed(acl, wanted, parts, scope)]
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
