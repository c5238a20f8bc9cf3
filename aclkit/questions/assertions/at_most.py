"""``at_most``: classes of principals → a name that more of them may use than may. Pure.

A class of more than one principal stands for any number of them, so one name for it is too many.
The others are parties: a walk looks for a name that ACLs give to more than so many of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from aclkit.model.acl import Request
from aclkit.questions.assertions.assertion_cells import Asked, RuledCell
from aclkit.questions.assertions.search import Search, joined
from aclkit.rules.decide.confirm import DisagreementError
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.domain import PRINCIPALS, domain_of
from aclkit.rules.names.symbols import Symbols
from aclkit.rules.names.target import MoreThan


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
