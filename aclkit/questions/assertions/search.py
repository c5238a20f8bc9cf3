"""A class of principals → the shortest names that it can use, or cannot. Pure.

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
from aclkit.questions.assertions.match import Asked, RuledCell
from aclkit.rules.decide.confirm import Decider, DisagreementError
from aclkit.rules.decide.rules import ALLOWED
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.compare import hardest
from aclkit.rules.names.domain import PRINCIPALS, Domain, domain_of
from aclkit.rules.names.question import Budget, Found
from aclkit.rules.names.rows import Symbols
from aclkit.rules.names.target import Classifier, MoreThan, Target

_BAD: Final = "bad"
_SYMBOLS_OF_A_STATE: Final = 1_000
_MEANT, _BUT, _ALLOW, _DENY, _ANYBODY = (1 << at for at in range(5))
_NONE: Final[frozenset[Symbols]] = frozenset()


def _is_allowed(flags: int) -> bool:
    return flags & (_MEANT | _BUT | _ALLOW | _DENY) == _MEANT | _ALLOW


def _is_denied(flags: int) -> bool:
    return flags & (_MEANT | _BUT) == _MEANT and (bool(flags & _DENY) or not flags & _ALLOW)


def _is_denied_though_open(flags: int) -> bool:
    return _is_denied(flags) and bool(flags & (_DENY | _ANYBODY))


def _is_unreached(flags: int) -> bool:
    return flags & (_MEANT | _BUT | _ANYBODY) == _MEANT


def _aim(is_bad: Callable[[int], bool], size: int = 5) -> Classifier:
    return Classifier(size, lambda flags: _BAD if is_bad(flags) else None)


_ALLOWED: Final = _aim(_is_allowed, 4)
_DENIED: Final = _aim(_is_denied, 4)
_DENIED_THOUGH_OPEN: Final = _aim(_is_denied_though_open)
_UNREACHED: Final = _aim(_is_unreached)


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
