"""Advice that takes access, and what the log shows of use → steps, or a person's decisions. Pure.

A step that takes access needs evidence that no client used it. Without that, or where a client did,
a person decides: the advice then names who used it, which ACLs these need first, or what is missing
of the log. What can go without effect on any decision is a step whatever its use. A narrower set of
ACLs, found from what was used, is advice for each ACL that goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from aclkit.model.acl import Acl, operations_words
from aclkit.model.findings import fingerprint_of
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.questions.narrow.narrowing import NARROWED, STAYS
from aclkit.questions.narrow.pieces import pieces_of, shared_parts
from aclkit.questions.narrow.proof import Proven
from aclkit.questions.remedy.change_set import NARROW, Advice, ForPerson, Proposal
from aclkit.questions.usage.use import Unknown, Use, Used, UseOfAcls
from aclkit.questions.usage.whole_log import Missing
from aclkit.rules.decide.confirm import Decider
from aclkit.rules.names.rows import operations_of
from aclkit.rules.patterns.match import names_exactly, principal_matches

Keep = Mapping[Acl, str]
"""Accesses that must stay, and why."""

IN_USE: Final = "It is in use."
NOT_KNOWN: Final = "Whether it is in use is not known."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """The ACLs of a proposal: those that may go, and why the others may not."""

    free: tuple[Acl, ...]
    used: Mapping[Acl, Used]
    unknown: Mapping[Acl, Unknown]
    kept: Mapping[Acl, str]

    @property
    def bound(self) -> tuple[Acl, ...]:
        """The ACLs of which a person must decide."""
        return tuple(dict.fromkeys((*self.used, *self.unknown, *self.kept)))


def by_use(advice: Iterable[Advice], use: UseOfAcls, keep: Keep) -> Iterator[Advice]:
    """Yield advice again: what takes access that was used, may be, or must stay is for a person."""
    for each in advice:
        if isinstance(each, ForPerson) or not each.revokes or each.kind == NARROW:
            yield each
        else:
            yield from _divided(each, use, keep)


def _divided(proposal: Proposal, use: UseOfAcls, keep: Keep) -> Iterator[Advice]:
    judged = _judge(proposal, use, keep)
    if not judged.bound:
        yield proposal
        return
    if judged.free:
        places = set(map(_place, judged.free))
        add = (acl for acl in proposal.add if _place(acl) in places)
        yield replace(proposal, remove=judged.free, add=tuple(add))
    derived = fingerprint_of(proposal.kind, f"{proposal.subject} without effect")
    yield replace(
        proposal,
        step_id=derived if judged.free else proposal.step_id,
        remove=judged.bound,
        add=(),
        revokes=False,
        hides=True,
    )
    yield ForPerson(
        step_id=proposal.step_id,
        kind=proposal.kind,
        severity=proposal.severity,
        subject=proposal.subject,
        message=proposal.reason,
        why=_why(judged),
        acls=judged.bound,
        used_by=tuple(_users(judged.used)),
        add_first=_needed_first(judged, use),
        missing=_missing(judged),
    )


def _judge(proposal: Proposal, use: UseOfAcls, keep: Keep) -> _Judged:
    free, used, unknown, kept = list[Acl](), dict[Acl, Used](), dict[Acl, Unknown](), {}
    for acl in proposal.remove:
        found = use.of(acl, _lost(acl, proposal.add)) if acl.is_allow else None
        if isinstance(found, Used):
            used[acl] = found
        elif isinstance(found, Unknown):
            unknown[acl] = found
        reason = _reason_to_keep(acl, use, keep)
        if reason is not None:
            kept[acl] = reason
        if acl not in used and acl not in unknown and acl not in kept:
            free.append(acl)
    return _Judged(free=tuple(free), used=used, unknown=unknown, kept=kept)


def _lost(acl: Acl, add: Iterable[Acl]) -> frozenset[str] | None:
    """Return the operations of an ALLOW that none of those in its place grants; None for all."""
    place = _place(acl)
    left = [operations_of(each) for each in add if _place(each) == place]
    return operations_of(acl).difference(*left) if left else None


def _place(acl: Acl) -> tuple[object, ...]:
    return acl.pattern, acl.principal, acl.host


def _reason_to_keep(acl: Acl, use: UseOfAcls, keep: Keep) -> str | None:
    """Return why an ALLOW must stay: it grants a part of what a user wants to keep."""
    semantics = use.rules.semantics
    for each, why in keep.items() if acl.is_allow else ():
        is_meant = principal_matches(each.principal, acl.principal, semantics) or principal_matches(
            acl.principal, each.principal, semantics
        )
        if is_meant and any(shared_parts(each, acl, semantics)):
            return why
    return None


def _why(judged: _Judged) -> str:
    said = [IN_USE] if judged.used else []
    said += [NOT_KNOWN] if judged.unknown else []
    said += [f"It is to be kept: {why}." for why in dict.fromkeys(judged.kept.values())]
    return " ".join(said)


def _missing(judged: _Judged) -> tuple[Missing, ...]:
    every = (each for found in judged.unknown.values() for each in found.missing)
    return tuple(dict.fromkeys(every))


def _users(used: Mapping[Acl, Used]) -> Iterator[str]:
    """Yield who used ACLs, for what, and when last, on which broker's log."""
    for principal, uses in _by_principal(used).items():
        kind = uses[0].request.resource_type
        known = OPERATIONS_OF_TYPE.get(kind, ())
        asked = {use.request.operation for use in uses}
        words = operations_words([each for each in asked if each in known], kind)
        named = ", ".join(filter(None, [words, *sorted(asked - {*known})]))
        newest = max((u for u in uses if u.last_at), key=lambda u: str(u.last_at), default=None)
        when = "" if newest is None else f", last on {newest.last_at:%Y-%m-%d %H:%M}"
        where = f" (log {newest.broker})" if newest is not None and newest.broker else ""
        yield f"{principal}: {named}{when}{where}"
    for found in used.values():
        if not found.uses and found.last is not None:
            yield f"a line names it, last on {found.last:%Y-%m-%d %H:%M}"


def _by_principal(used: Mapping[Acl, Used]) -> dict[str, list[Use]]:
    uses = dict.fromkeys(use for found in used.values() for use in found.uses)
    return grouped((use.request.principal, use) for use in uses)


def _needed_first(judged: _Judged, use: UseOfAcls) -> tuple[Acl, ...]:
    """Return the ACLs without which users of an ACL would lose what they use; least ones."""
    gone = {acl.binding for acl in judged.bound}
    rules = use.rules
    left = replace(rules, acls=tuple(acl for acl in rules.acls if acl.binding not in gone))
    decider, found = Decider.of(left), dict[tuple[str, ...], Acl]()
    for acl, seen in judged.used.items():
        for principal, uses in _by_principal({acl: seen}).items():
            lost = [each for each in uses if not decider.allows(each.request)]
            if names_exactly(principal, rules.semantics):
                own = replace(acl, acl_id="", principal=principal)
                found |= {each.binding: each for each in _pieces(own, lost)}
    return tuple(each for binding, each in sorted(found.items()) if binding not in gone)


def _pieces(own: Acl, lost: Sequence[Use]) -> Iterator[Acl]:
    known = OPERATIONS_OF_TYPE.get(own.resource_type, ())
    asked = [
        (each.request.operation, None if each.is_of_any else each.request.resource_name)
        for each in lost
        if each.request.operation in known
    ]
    yield from pieces_of(own, asked, "keep") if asked else ()


_UNUSED: Final = "No client used it."
_PARTLY: Final = "Clients used only what the new ACLs grant."


def narrower(proven: Iterable[Proven]) -> Iterator[Proposal]:
    """Yield what narrower sets remove, each ACL with those that come in its place.

    A set whose loss is not known is left out.
    """
    for each in proven:
        for judged in each.narrowed.judged if each.is_known else ():
            if judged.fate != STAYS:
                subject = str(judged.acl)
                yield Proposal(
                    step_id=fingerprint_of(NARROW, subject),
                    kind=NARROW,
                    severity="info",
                    subject=subject,
                    reason=_PARTLY if judged.fate == NARROWED else _UNUSED,
                    remove=(judged.acl,),
                    add=judged.by,
                    revokes=True,
                )
