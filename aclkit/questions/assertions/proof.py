"""An assertion and ACLs → does it hold for every name there could be? Pure.

Each class of principals is asked about on its own, see ``search``; only of ``at_most`` several are
asked about together.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from aclkit.model.acl import Request
from aclkit.questions.assertions.match import Asked, principals_meant, regions_of
from aclkit.questions.assertions.model import FAILS, HOLDS, UNKNOWN, Assertion, Verdict
from aclkit.questions.assertions.search import Crowd, Hit, Search, crowds
from aclkit.rules.decide.confirm import Decider
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules, Symbols

_Duties = Sequence[Sequence[Asked]]


class Proof(NamedTuple):
    """Whether an assertion holds for every name.

    Attributes:
        verdict: of all names.
        request: a counterexample; no other one has a shorter resource name, unless a question
            reached the search limit.
        members: where it takes several requests to show it, all of these.
        detail: what the requests do not show, in words.
        hard: the patterns that made it unknown.
    """

    verdict: Verdict
    request: Request | None = None
    members: tuple[Request, ...] = ()
    detail: str | None = None
    hard: tuple[Symbols, ...] = ()


def prove(assertion: Assertion, rules: Rules, budget: Budget) -> Proof:
    """Decide an assertion for every principal, host and name that a broker can be asked about.

    These have no attributes. An assertion about the inventory only is unknown.
    """
    if assertion.inventory_only:
        return Proof(UNKNOWN, detail="it is about known names only, not about every name")
    duties = [
        [Asked.of(what, region, rules, budget) for region in regions_of(what)]
        for what in assertion.duties
    ]
    search = Search(assertion.kind != "always", Decider.of(rules), budget)
    every = [asked for duty in duties for asked in duty]
    supers = rules.settings.super_users
    principals, texts = principals_meant(assertion.who, every, supers, budget)
    failed = _prove(assertion, search, duties, principals.members, texts)
    if failed is not None:
        return failed
    if not principals.is_complete:
        search.leave_open([texts])
    for hosts, found in (item for asked in every for item in asked.hosts.items()):
        if not found.is_complete:
            search.leave_open([hosts])
    if not search.is_open_end:
        return Proof(HOLDS)
    hard = sorted(search.hard, key=lambda each: (-len(each), each))
    return Proof(UNKNOWN, detail=_ended(budget), hard=tuple(hard))


def _prove(
    assertion: Assertion,
    search: Search,
    duties: _Duties,
    principals: Sequence[NameClass],
    texts: Collection[Symbols],
) -> Proof | None:
    if assertion.kind == "separate":
        return _separate(search, duties, principals)
    (duty,) = duties
    if assertion.kind == "at_most":
        limit = assertion.limit
        return _at_most(
            [c for asked in duty for c in crowds(search, asked, principals, texts, limit)], limit
        )
    best = _best(search, duty, principals)
    return None if best is None else Proof(FAILS, search.request(best))


def _best(search: Search, duty: Sequence[Asked], principals: Sequence[NameClass]) -> Hit | None:
    hits = (hit for asked in duty for each in principals for hit in search.hits(asked, each))
    return min(hits, key=lambda hit: hit.rank, default=None)


def _at_most(found: Sequence[Crowd], limit: int) -> Proof | None:
    worst = min(found, key=lambda crowd: crowd.rank, default=None)
    if worst is None:
        return None
    number = "any number of" if worst.is_endless else f"{len(worst.members):,}"
    return Proof(
        FAILS,
        worst.members[0],
        () if worst.is_endless else worst.members,
        f"{number} principals, expected at most {limit:,}",
    )


def _separate(search: Search, duties: _Duties, principals: Sequence[NameClass]) -> Proof | None:
    """Look for a class of principals with names of two duties, the two shortest."""
    pairs: list[list[Hit]] = []
    for each in principals:
        found = [_best(search, duty, [each]) for duty in duties]
        hits = [hit for hit in found if hit is not None]
        if len(hits) >= 2:
            two = sorted(range(len(hits)), key=lambda at: hits[at].rank)[:2]
            pairs.append([hits[at] for at in sorted(two)])
    if not pairs:
        return None
    best = min(pairs, key=lambda pair: (sum(len(hit.name) for hit in pair), [h.rank for h in pair]))
    members = tuple(map(search.request, best))
    return Proof(FAILS, members[0], members, "the same principal has both duties")


def _ended(budget: Budget) -> str:
    """Write which search limit was reached."""
    took = (
        f"all questions together took {budget.total:,} states"
        if budget.is_spent
        else f"one question took {budget.per_question:,} states"
    )
    return f"{took}; to raise the search limit: {budget.to_raise}"
