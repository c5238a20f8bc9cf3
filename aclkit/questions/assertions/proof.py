"""An assertion and ACLs → does it hold for every name there could be? Pure.

Each class of principals is asked about on its own, for the shortest names that it can use, or
cannot; only of ``at_most`` several are asked about together.

Cells with the same DENYs are one question with the ALLOWs of all of them, because host and
operation do not matter: it is enough that a name is allowed. To search for a denied name, ALLOWs
and DENYs change places. The rule decides each name that is found before it is shown.

``at_most`` looks for a name that more principals can use than may. A class of more than one
principal stands for any number of them, so one name for it is too many. The others are parties: a
walk looks for a name that ACLs give to more than so many of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from aclkit.model.acl import Request
from aclkit.model.groups import grouped
from aclkit.questions.assertions.match import Asked, RuledCell, principals_meant, regions_of
from aclkit.questions.assertions.model import (
    FAILED,
    PASSED,
    UNKNOWN,
    Assertion,
    Verdict,
)
from aclkit.rules.decide.agreement import DisagreementError
from aclkit.rules.decide.confirm import Decider
from aclkit.rules.decide.rules import ALLOWED
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.compare import hardest
from aclkit.rules.names.domain import PRINCIPALS, Domain, domain_of
from aclkit.rules.names.question import Budget, Found
from aclkit.rules.names.rows import Rules, Symbols
from aclkit.rules.names.target import Classifier, MoreThan, Target

_BAD: Final = "bad"
_SYMBOLS_OF_A_STATE: Final = 1_000
_MEANT, _BUT, _ALLOW, _DENY, _ANYBODY = (1 << at for at in range(5))
_NONE: Final[frozenset[Symbols]] = frozenset()


def _is_denied(flags: int) -> bool:
    return flags & (_MEANT | _BUT) == _MEANT and (bool(flags & _DENY) or not flags & _ALLOW)


def _aim(is_bad: Callable[[int], bool], size: int = 5) -> Classifier:
    return Classifier(size, lambda flags: _BAD if is_bad(flags) else None)


_ALLOWED: Final = _aim(lambda flags: flags & (_MEANT | _BUT | _ALLOW | _DENY) == _MEANT | _ALLOW, 4)
_DENIED: Final = _aim(_is_denied, 4)
_DENIED_THOUGH_OPEN: Final = _aim(
    lambda flags: _is_denied(flags) and bool(flags & (_DENY | _ANYBODY))
)
_UNREACHED: Final = _aim(lambda flags: flags & (_MEANT | _BUT | _ANYBODY) == _MEANT)


class Hit(NamedTuple):
    """A name, and cells of one class of principals, one of which speaks against an assertion."""

    name: str
    asked: Asked
    cells: Sequence[RuledCell]

    @property
    def rank(self) -> tuple[int, str, str]:
        """The shortest name goes first."""
        return len(self.name), self.name, self.cells[0].cell.principal.name


@dataclass(slots=True)
class Search:
    """Asks about names; equal questions once.

    Attributes:
        wants_allowed: names are looked for that are allowed; otherwise denied ones.
        decider: decides each name that is shown.
        budget: what may be spent.
        hard: the patterns of questions that the budget ended.
        is_open_end: it ended one.
    """

    wants_allowed: bool
    decider: Decider
    budget: Budget
    hard: set[Symbols] = field(default_factory=set)
    is_open_end: bool = False
    known: dict[tuple[object, ...], Found] = field(default_factory=dict)

    def hits(self, asked: Asked, principal: NameClass) -> Iterator[Hit]:
        """Yield a shortest name of each question about a class of principals."""
        cells = list(asked.cells(principal))
        for alike in self.alike(cells):
            for name in self._names(asked, *joined(alike)):
                yield Hit(name, asked, alike)
        if cells and self.wants_allowed:
            yield from (Hit(name, asked, cells) for name in self.unreached(asked))

    def alike(self, cells: Iterable[RuledCell]) -> list[list[RuledCell]]:
        """Put cells together that are one question; none of those that ACLs give nothing."""
        given = (cell for cell in cells if cell.allow or not self.wants_allowed)
        together = grouped((c.deny if self.wants_allowed else c.allow, c) for c in given)
        return list(together.values())

    def unreached(self, asked: Asked) -> Iterator[str]:
        """Yield a shortest name that no ACL reaches, where such names are allowed."""
        if asked.is_open:
            yield from self._ask(asked, (_NONE, _NONE, asked.anybody), _UNREACHED)

    def request(self, hit: Hit) -> Request:
        """Return a request that shows a hit."""
        request = self.shown(hit.name, hit.cells)
        if request is None:
            request = hit.cells[0].cell.about(hit.name)
        self.decider.confirm(request, is_allowed=self.wants_allowed)
        return request

    def shown(self, name: str, cells: Iterable[RuledCell]) -> Request | None:
        """Return the first request about a name that the rule decides as it is looked for."""
        for ruled in cells:
            request = ruled.cell.about(name)
            ruling = self.decider.index.decide(request, self.decider.settings)
            if (ruling.decision == ALLOWED) is self.wants_allowed:
                return request
        return None

    def find(
        self, groups: Sequence[Iterable[Symbols]], domain: Domain, aim: Target
    ) -> Iterator[str]:
        """Yield the name that an aim asks for, if there is one.

        What a state takes grows with the globs that it follows, so it counts as several where
        there are many.
        """
        followed = sum(len(glob) for group in groups for glob in hardest([group]))
        weight = 1 + followed // _SYMBOLS_OF_A_STATE
        found = self.budget.find(groups, domain, aim, weight=weight)
        if not found.is_complete:
            self.leave_open(groups)
        yield from found.names.values()

    def leave_open(self, groups: Iterable[Iterable[Symbols]]) -> None:
        """Note what the budget ended."""
        self.is_open_end = True
        self.hard.update(hardest(groups))

    def _names(
        self, asked: Asked, allow: frozenset[Symbols], deny: frozenset[Symbols]
    ) -> Iterator[str]:
        if self.wants_allowed:
            yield from self._ask(asked, (allow, deny), _ALLOWED)
        elif asked.is_open:
            yield from self._ask(asked, (allow, deny, asked.anybody), _DENIED_THOUGH_OPEN)
        else:
            yield from self._ask(asked, (allow, deny), _DENIED)

    def _ask(
        self, asked: Asked, patterns: tuple[frozenset[Symbols], ...], aim: Classifier
    ) -> Iterator[str]:
        """Ask about the names of a region, the same only once."""
        groups = asked.region.meant, asked.region.but, *patterns
        key = asked.region.resource_type, groups
        if key not in self.known:
            found = self.budget.find(groups, domain_of(asked.region.resource_type), aim)
            self.known[key] = found
            if not found.is_complete:
                self.leave_open(groups)
        yield from self.known[key].names.values()


def joined(cells: Iterable[RuledCell]) -> tuple[frozenset[Symbols], frozenset[Symbols]]:
    """Return the patterns of all ALLOWs and of all DENYs."""
    rows = list(cells)
    return _NONE.union(*(cell.allow for cell in rows)), _NONE.union(*(cell.deny for cell in rows))


class Crowd(NamedTuple):
    """Too many principals for a name.

    Attributes:
        members: a request of each; of any number of them one.
        is_endless: they are any number.
    """

    members: tuple[Request, ...]
    is_endless: bool

    @property
    def rank(self) -> tuple[int, str, bool]:
        """The shortest name goes first."""
        name = self.members[0].resource_name
        return len(name), name, not self.is_endless


_Party = Sequence[RuledCell]
"""What one principal is asked about."""


def crowds(
    search: Search,
    asked: Asked,
    principals: Sequence[NameClass],
    texts: Collection[Symbols],
    limit: int,
) -> Iterator[Crowd]:
    """Yield names with too many principals: a shortest one of each way to find one.

    Args:
        search: what asks.
        asked: the names.
        principals: the classes that are meant.
        texts: what tells classes of principals apart.
        limit: how many may.
    """
    parties: list[_Party] = []
    for principal in principals:
        hits = () if principal.is_single else list(search.hits(asked, principal))
        if principal.is_single or (hits and _is_one(search, principal, texts)):
            parties.append(list(asked.cells(principal)))
        elif hits:
            request = search.request(min(hits, key=lambda hit: hit.rank))
            yield Crowd((request,), is_endless=True)
    parties = [party for party in parties if party]
    if len(parties) > limit:
        for name in (*search.unreached(asked), *_shared(search, asked, parties, limit)):
            yield _crowd(search, asked, name, parties, limit)


def _shared(search: Search, asked: Asked, parties: Sequence[_Party], limit: int) -> Iterator[str]:
    """Yield a shortest name that ACLs give to too many parties."""
    questions: list[list[RuledCell]] = []
    alike: list[int] = []
    for party in parties:
        own = search.alike(party)
        if len(own) > 1:
            alike.append((1 << len(questions) + len(own)) - (1 << len(questions)))
        questions += own
    patterns = [joined(cells) for cells in questions]
    end = len(patterns)
    aim = MoreThan(
        limit,
        [(1 << at, 1 << end + at) for at in range(end)],
        alike=alike,
        within=1 << 2 * end,
        but=1 << 2 * end + 1,
    )
    allows, denies = ([each[side] for each in patterns] for side in (0, 1))
    groups = [*allows, *denies, asked.region.meant, asked.region.but]
    yield from search.find(groups, domain_of(asked.region.resource_type), aim)


def _crowd(search: Search, asked: Asked, name: str, parties: Sequence[_Party], limit: int) -> Crowd:
    """Decide by the rule which principals can use a name."""
    members = tuple(
        request for party in parties if (request := search.shown(name, party)) is not None
    )
    if len(members) <= limit:
        raise DisagreementError(
            f"The search found that more than {limit:,} principals are allowed on "
            f"{asked.region.resource_type} {name!r}, but the rule gives {len(members):,}. "
            "Please report this."
        )
    return Crowd(members, is_endless=False)


def _is_one(search: Search, principal: NameClass, texts: Collection[Symbols]) -> bool:
    """Whether there is no other principal in a class; where the budget ends, it counts as one.

    A wildcard leaves no choice between a few letters: there is one, or there are any number.
    """
    others = {*texts} - principal.patterns | {tuple(principal.name)}
    end = len(principal.patterns)
    aim = MoreThan(end - 1, [(1 << at, 1 << end + at) for at in range(end)], but=1 << 2 * end)
    groups = [*([each] for each in sorted(principal.patterns)), *[()] * end, others]
    return next(search.find(groups, PRINCIPALS, aim), None) is None


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


def prove(
    assertion: Assertion, rules: Rules, budget: Budget, decider: Decider | None = None
) -> Proof:
    """Decide an assertion for every principal, host and name that a broker can be asked about.

    These have no attributes. An assertion about the inventory only is unknown.

    Args:
        assertion: the policy.
        rules: the state.
        budget: what may be spent.
        decider: that of the state, where there is one already.
    """
    if assertion.inventory_only:
        return Proof(UNKNOWN, detail="it is about known names only, not about every name")
    duties = [
        [Asked(what, region, rules, budget) for region in regions_of(what)]
        for what in assertion.duties
    ]
    search = Search(assertion.kind != "always", decider or Decider.of(rules), budget)
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
        return Proof(PASSED)
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
    return None if best is None else Proof(FAILED, search.request(best))


def _best(search: Search, duty: Sequence[Asked], principals: Sequence[NameClass]) -> Hit | None:
    hits = (hit for asked in duty for each in principals for hit in search.hits(asked, each))
    # Of names of one length: super users can do everything, so what an ACL grants explains more.
    supers = search.decider.settings.super_users
    return min(
        hits,
        key=lambda hit: (len(hit.name), hit.cells[0].cell.principal.name in supers, hit.rank),
        default=None,
    )


def _at_most(found: Sequence[Crowd], limit: int) -> Proof | None:
    worst = min(found, key=lambda crowd: crowd.rank, default=None)
    if worst is None:
        return None
    number = "any number of" if worst.is_endless else f"{len(worst.members):,}"
    return Proof(
        FAILED,
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
    return Proof(FAILED, members[0], members, "the same principal has both duties")


def _ended(budget: Budget) -> str:
    """Write which search limit was reached."""
    took = (
        f"all questions together took {budget.total:,} states"
        if budget.is_spent
        else f"one question took {budget.per_question:,} states"
    )
    return f"{took}; to raise the search limit: {budget.to_raise}"
