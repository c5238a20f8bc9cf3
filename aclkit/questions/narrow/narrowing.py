"""The ACLs of one principal, and what it used → a narrower set that keeps what was used. Pure.

Only the principal's own ALLOWs change: those whose text names this principal and no other one. An
ACL for others too (``User:*``, globs) stays, and so does every DENY. A used access is kept by the
own ALLOW that decides it today, or would without the ACLs for others. So what ``User:*`` allows as
well is no reason to take an own ALLOW away.

Every ACL of the narrow set lies within the ALLOW that it replaces, so nothing is gained. Who prints
what comes of it has it proven first (``proof``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final, Literal

from aclkit.kafka.acls.exports import owner_of
from aclkit.model.acl import Acl, Request
from aclkit.model.groups import grouped
from aclkit.model.operation import IMPLIED_BY_ALLOW, OPERATIONS_OF_TYPE
from aclkit.questions.narrow.pieces import Names, is_within, pieces_of, shared_parts
from aclkit.questions.usage.use import Use
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.decide.order import Order
from aclkit.rules.names.cover import covers
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules, Symbols, of_pattern
from aclkit.rules.patterns.match import names_exactly, principal_matches

Fate = Literal["stays", "goes", "narrowed"]
STAYS: Final = "stays"
GOES: Final = "goes"
NARROWED: Final = "narrowed"

USED: Final = "used"
UNUSED: Final = "unused"
DENIES: Final = "deny"
SHARED: Final = "for-others-too"
SUPER: Final = "super-user"
OPENS: Final = "would-open-to-all"
NO_NARROWER: Final = "no-narrower-acl"
"""Why an ACL stays, goes or is narrowed; a caller's own reasons stand beside these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An ACL that applies to a principal, and what becomes of it.

    Attributes:
        acl: it.
        fate: ``STAYS``, ``GOES`` or ``NARROWED``.
        why: ``USED`` and so on, or the caller's reason.
        by: what stands in its place, where it is narrowed.
        uses: what it decides of what was used.
    """

    acl: Acl
    fate: Fate
    why: str
    by: tuple[Acl, ...] = ()
    uses: tuple[Use, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """A narrower set for one principal.

    Attributes:
        principal: whose.
        judged: every ACL that applies to it.
        added: the ACLs that come, none of them in force before.
    """

    principal: str
    judged: tuple[Judged, ...]
    added: tuple[Acl, ...]

    @property
    def removed(self) -> tuple[Acl, ...]:
        """The ACLs that go, those that are narrowed too."""
        return tuple(each.acl for each in self.judged if each.fate != STAYS)

    @property
    def own(self) -> tuple[Acl, ...]:
        """The principal's whole set afterwards, without the ACLs that are for others too."""
        stay = (e.acl for e in self.judged if e.fate == STAYS and e.why != SHARED)
        return (*stay, *self.added)

    def after(self, acls: Iterable[Acl]) -> tuple[Acl, ...]:
        """Return the ACLs of a cluster afterwards: ``acls`` are those before, of all principals."""
        gone = {acl.binding for acl in self.removed}
        return (*(acl for acl in acls if acl.binding not in gone), *self.added)


def narrow(
    rules: Rules,
    principal: str,
    uses: Sequence[Use],
    *,
    stays: Mapping[tuple[str, ...], str] | None = None,
    keep: Mapping[Acl, str] | None = None,
    names: Names = "keep",
    budget: Budget | None = None,
) -> Narrowed:
    """Return a narrower set of ACLs for a principal that decides each use as before.

    An own ALLOW that decides no use goes. One that decides some is replaced by the operations that
    were used, on its own pattern, or on the used names (see ``Names``). An operation that another
    used one implies is not written out (READ covers DESCRIBE). The ACLs of a super user decide
    nothing, so its log tells nothing about them, and they stay. If ``allow.everyone`` is set, an
    ACL stays where its removal would leave names to which no ACL applies.

    Args:
        rules: what decides: the ACLs of all principals, settings and semantics.
        principal: as in the log, ``User:svc``.
        uses: what it asked for; all of it, because what is missing goes.
        stays: ACLs that cannot be judged, by binding, and why.
        keep: what must stay allowed as far as it is, whatever its use, and why; ALLOWs of any
            principal text that matches.
        names: what becomes of patterns.
        budget: what may be spent where ``allow.everyone`` is set.
    """
    work = _Narrower(rules, principal, stays or {}, keep or {}, names)
    judged = work.judge(uses)
    if rules.settings.allow_everyone:
        judged = _without_opening(judged, rules, budget or Budget())
    there = {acl.binding for acl in rules.acls}
    come = {acl.binding: acl for each in judged for acl in each.by}
    added = tuple(acl for binding, acl in sorted(come.items()) if binding not in there)
    return Narrowed(principal=principal, judged=tuple(judged), added=added)


class _Narrower:
    """Narrows one principal."""

    def __init__(
        self,
        rules: Rules,
        principal: str,
        stays: Mapping[tuple[str, ...], str],
        keep: Mapping[Acl, str],
        names: Names,
    ) -> None:
        self._semantics, self._names, self._stays = rules.semantics, names, stays
        self._is_super = rules.settings.makes_super(principal)
        self._principal = principal
        self._applying = {acl.binding: acl for acl in rules.acls if self._is_meant(acl)}
        self._index = AclIndex.of(self._applying.values(), self._semantics)
        self._keep = {acl: why for acl, why in keep.items() if acl.is_allow and self._is_meant(acl)}

    def judge(self, uses: Iterable[Use]) -> list[Judged]:
        """Return what becomes of each ACL that applies."""
        by_acl = grouped((acl.binding, use) for use in uses if (acl := self._decider(use.request)))
        return [
            self._judge(acl, by_acl.get(binding, ()))
            for binding, acl in sorted(self._applying.items())
        ]

    def _decider(self, request: Request) -> Acl | None:
        """Return the own ALLOW that keeps a request allowed; None where a DENY decides, or none."""
        _, hits = self._index.find(request)
        if not all(acl.is_allow for acl in hits):
            return None
        last = self._index.rescan.wildcard_last(*request.resource)
        order = Order(request.operation, self._semantics, last)
        return order.first(acl for acl in hits if self._is_own(acl))

    def _is_meant(self, acl: Acl) -> bool:
        return principal_matches(acl.principal, self._principal, self._semantics)

    def _is_own(self, acl: Acl) -> bool:
        return names_exactly(acl.principal, self._semantics)

    def _judge(self, acl: Acl, uses: Sequence[Use]) -> Judged:
        told = self._reason_to_stay(acl, uses)
        if told is not None:
            return Judged(acl=acl, fate=STAYS, why=told, uses=tuple(uses))
        asked = {
            part: why
            for each, why in self._keep.items()
            for part in shared_parts(each, acl, self._semantics)
        }
        parts = [*pieces_of(acl, _names_used(uses), self._names), *asked]
        left = tuple(map(_named, _fewest(parts, self)))
        if not left:
            return Judged(acl=acl, fate=GOES, why=UNUSED)
        why = USED if uses else next(iter(asked.values()))
        if any(part.binding == acl.binding for part in left):
            return Judged(acl=acl, fate=STAYS, why=why, uses=tuple(uses))
        return Judged(acl=acl, fate=NARROWED, why=why, by=left, uses=tuple(uses))

    def _reason_to_stay(self, acl: Acl, uses: Iterable[Use]) -> str | None:
        """Return why an ACL stays as it is, whatever was used."""
        if not self._is_own(acl):
            return SHARED
        if not acl.is_allow:
            return DENIES
        if self._is_super:
            return SUPER
        known = OPERATIONS_OF_TYPE.get(acl.resource_type, ())
        if any(use.request.operation not in known for use in uses):
            # An ACL of ALL covers operations that no ACL may name, such as DELETE on the cluster.
            return NO_NARROWER
        return self._stays.get(acl.binding)

    def covers(self, wide: Acl, narrow: Acl) -> bool:
        """Whether one part of an ALLOW covers another."""
        is_same = wide.operation == narrow.operation or wide.operation == "ALL"
        implied = IMPLIED_BY_ALLOW.get(wide.operation) == narrow.operation
        return (is_same or implied) and is_within(narrow, wide, self._semantics)


def _names_used(uses: Iterable[Use]) -> list[tuple[str, str | None]]:
    """Return operations and names; none where Kafka asked about any resource of the type."""
    return [
        (use.request.operation, None if use.is_of_any else use.request.resource_name)
        for use in uses
    ]


def _fewest(parts: Iterable[Acl], of: _Narrower) -> list[Acl]:
    """Leave out what others cover."""
    distinct = list({part.binding: part for part in parts}.values())
    return [
        part
        for part in distinct
        if not any(other is not part and of.covers(other, part) for other in distinct)
    ]


def _named(part: Acl) -> Acl:
    """Give an ACL that is new an id that follows from its content, the same in every run."""
    digest = sha256("\0".join(part.binding).encode(errors="surrogatepass")).hexdigest()
    return replace(part, acl_id=f"narrow-{digest[:16]}")


def _without_opening(judged: Iterable[Judged], rules: Rules, budget: Budget) -> list[Judged]:
    """Let ACLs stay where, without them, no ACL would apply to some names: these open to all."""
    judged = list(judged)
    gone = {each.acl.binding for each in judged if each.fate != STAYS}
    left = [acl for acl in rules.acls if acl.binding not in gone]
    left += [acl for each in judged for acl in each.by]
    found = []
    for each in judged:
        if each.fate == STAYS or _applies_elsewhere(each.acl, left, rules, budget):
            found.append(each)
        else:
            left.append(each.acl)
            found.append(Judged(acl=each.acl, fate=STAYS, why=OPENS, uses=each.uses))
    return found


def _applies_elsewhere(acl: Acl, others: Iterable[Acl], rules: Rules, budget: Budget) -> bool:
    """Whether other ACLs apply to every name to which an ACL does."""
    domain = domain_of(acl.resource_type)
    wide = {
        row
        for other in others
        if other.resource_type == acl.resource_type
        for row in _rows(other, rules)
    }
    return covers(wide, _rows(acl, rules), domain, budget) is True


def _rows(acl: Acl, rules: Rules) -> tuple[Symbols, ...]:
    return of_pattern(acl.resource_type, acl.pattern_type, acl.resource_name, rules.semantics)


def shared_owners(narrowed: Iterable[Narrowed], rules: Rules) -> dict[str, list[str]]:
    """Return the KafkaUsers that own several principals with ACLs: name → these, in order.

    The operator removes every ACL of ``User:NAME`` and of ``User:CN=NAME`` that the KafkaUser does
    not hold, and a KafkaUser holds those of one of them. Only owners of narrowed principals count.
    """
    after = {each.principal: each.own for each in narrowed}
    others = {acl.principal for acl in rules.acls} - after.keys()
    having = sorted({principal for principal, own in after.items() if own} | others)
    by_owner = grouped((owner, each) for each in having if (owner := owner_of(each)) is not None)
    return {
        owner: some
        for owner, some in by_owner.items()
        if len(some) > 1 and not after.keys().isdisjoint(some)
    }
