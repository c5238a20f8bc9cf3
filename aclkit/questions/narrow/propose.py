"""Use, coverage and ACLs → a narrower set for each principal, proven, or why none. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from aclkit.model.acl import Acl, acl_words
from aclkit.model.groups import grouped
from aclkit.model.phrases import few
from aclkit.model.redpanda import MEMBERS_UNKNOWN, has_unknown_members
from aclkit.questions.narrow.narrowing import Narrowed, narrow
from aclkit.questions.narrow.pieces import Names, shared_parts
from aclkit.questions.narrow.proof import Proven, prove_narrowed
from aclkit.questions.usage.use import OF_CONTROLLERS, TOO_NEW, Unknown, UseOfAcls, judge_use
from aclkit.questions.usage.whole_log import CONTROLLERS, Judgeable
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules
from aclkit.rules.patterns.match import LITERAL, names_exactly, names_one, principal_matches

NOT_COVERED: Final = "not-covered"
"""Why an ACL stays: the log is not whole. Other reasons are ``TOO_NEW`` and ``CONTROLLERS``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is known, and how it is to be narrowed.

    Attributes:
        use: what decides, and what the log shows of its use.
        keep: what must stay, and why.
        names: what becomes of patterns.
        limit: at most this many losses of a principal are listed, None for all.
    """

    use: UseOfAcls
    keep: Mapping[Acl, str] = field(default_factory=dict)
    names: Names = "keep"
    limit: int | None = None

    @property
    def rules(self) -> Rules:
        """What decides."""
        return self.use.rules

    @property
    def judgeable(self) -> Judgeable:
        """What the log can show."""
        return self.use.log

    @property
    def chosen(self) -> list[str]:
        """The principals that are narrowed if none is named: those of the log with own ALLOWs."""
        return sorted(own_principals(self.rules) & self.use.within().keys())


def own_principals(rules: Rules) -> set[str]:
    """Return the principals that have ALLOWs of their own, but for those of unknown members."""
    return {
        acl.principal
        for acl in rules.acls
        if acl.is_allow
        and names_one(acl.principal, rules.semantics)
        and not has_unknown_members(acl.principal, rules.semantics)
    }


def propose_narrow(asked: Asked, principals: Sequence[str], budget: Budget) -> list[Proven]:
    """Narrow some principals one after another; each stands on what the one before left.

    Each of the sets can be applied alone too, unless ``allow.everyone`` is set.

    Raises:
        DisagreementError: a proof finds that something else changes, a defect of aclkit.
    """
    found: list[Proven] = []
    stays = _stays(asked)
    keep = {**asked.keep, **_of_controllers(asked)}
    parts, within = _Parts(asked.rules), asked.use.within()
    for principal in principals:
        rules, uses = parts.of(principal), within.get(principal, ())
        narrowed = narrow(
            rules, principal, uses, stays=stays, keep=keep, names=asked.names, budget=budget
        )
        proven = prove_narrowed(rules, narrowed, uses, budget, asked.limit)
        found.append(proven)
        if proven.is_known:
            parts.apply(narrowed)
    return found


class _Parts:
    """The rules, principal by principal: other ones' ACLs matter only under ``allow.everyone``."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        exact = [names_exactly(acl.principal, rules.semantics) for acl in rules.acls]
        both = list(zip(rules.acls, exact, strict=True))
        self._own = grouped((acl.principal, acl) for acl, is_exact in both if is_exact)
        self._shared = [acl for acl, is_exact in both if not is_exact]

    def of(self, principal: str) -> Rules:
        """Return what decides for a principal."""
        if self._rules.settings.allow_everyone:
            return self._rules
        return replace(self._rules, acls=(*self._own.get(principal, ()), *self._shared))

    def apply(self, narrowed: Narrowed) -> None:
        """Go on from a narrower set."""
        if self._rules.settings.allow_everyone:
            self._rules = replace(self._rules, acls=narrowed.after(self._rules.acls))


def _stays(asked: Asked) -> dict[tuple[str, ...], str]:
    """Return which ACLs cannot be judged, whatever their operations, by binding."""
    found = {}
    for acl in asked.rules.acls:
        added_at = asked.use.added_at.get(acl.acl_id)
        judged = judge_use(acl, asked.judgeable, added_at=added_at, operations=())
        if isinstance(judged, Unknown):
            is_new = judged.missing[0].kind == TOO_NEW
            found[acl.binding] = TOO_NEW if is_new else NOT_COVERED
    return found


def _of_controllers(asked: Asked) -> dict[Acl, str]:
    """Return what cannot be judged without the controllers' log: what they alone decide."""
    if asked.judgeable.controllers is None:
        return {}
    return {
        Acl(
            acl_id="",
            resource_type=kind,
            resource_name="*",
            pattern_type=LITERAL,
            principal="User:*",
            host="*",
            operation=operation,
            permission_type="ALLOW",
        ): CONTROLLERS
        for operation, kind in sorted(OF_CONTROLLERS)
    }


def notes_on(asked: Asked, principals: Sequence[str]) -> Iterator[str]:
    """Yield what a reader must know about those who are narrowed, or are not."""
    rules = asked.rules
    own = own_principals(rules)
    others = [each for each in principals if has_unknown_members(each, rules.semantics)]
    if others:
        yield f"{few(others)}: {MEMBERS_UNKNOWN} It stays."
    if strangers := [each for each in principals if each not in own and each not in others]:
        yield (
            f"{few(strangers)} has no ALLOW of its own."
            if len(strangers) == 1
            else (f"These have no ALLOW of their own: {few(strangers)}.")
        )
    if ANONYMOUS in principals:
        yield f"{ANONYMOUS} stands for every client that does not authenticate."
    silent = own - asked.use.within().keys() - rules.settings.super_users
    idle = [each for each in principals if each in silent]
    if idle and not asked.judgeable.missing:
        yield f"No request in the window: {few(idle)}."
    for kept in _without_effect(asked):
        yield f"Nothing to keep, because no own ALLOW allows it today: {acl_words(kept)}."


def _without_effect(asked: Asked) -> list[Acl]:
    """Return what is to be kept, and is not allowed by any ALLOW of a principal's own."""
    semantics = asked.rules.semantics
    own = [a for a in asked.rules.acls if a.is_allow and names_exactly(a.principal, semantics)]
    return [
        kept
        for kept in asked.keep
        if not any(
            principal_matches(kept.principal, acl.principal, semantics)
            and any(shared_parts(kept, acl, semantics))
            for acl in own
        )
    ]


ANONYMOUS: Final = "User:ANONYMOUS"
