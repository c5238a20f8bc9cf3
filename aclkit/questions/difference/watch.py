"""Resources and principals that are watched, and a difference → which changes touch them. Pure.

A watch selects accesses as a policy does, see ``assertions.parse``. It is touched by any access
that is gained or lost, of known names and of names to come. Where it is not known whether the
names overlap, it is touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from aclkit.questions.assertions.match import symbols_of
from aclkit.questions.assertions.model import Assertion, Pattern, ResourcePattern
from aclkit.questions.difference.compared import Compared
from aclkit.questions.difference.passing import Passing
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.cover import find_witness_outside
from aclkit.rules.names.domain import PRINCIPALS, Domain, domain_of
from aclkit.rules.names.question import Budget
from aclkit.rules.names.region import Party, Region, RegionChange
from aclkit.rules.names.rows import EVERYTHING, Symbols

_EVERY_NAME: Final[tuple[Symbols, ...]] = (EVERYTHING,)


def touched(
    watch: Assertion,
    compared: Compared | Passing,
    budget: Budget,
    fresh: frozenset[str] = frozenset(),
) -> list[RegionChange]:
    """Return the changes that touch what is watched.

    Args:
        watch: who and what is watched.
        compared: what changes, or is otherwise for a time, for every name.
        budget: the search limit for finding out whether names overlap.
        fresh: principals that a plan creates: each may be any that is watched.
    """
    named = frozenset(
        acl.principal
        for state in (compared.change.before, compared.change.after)
        for acl in state.acls.values()
    )
    who = _Who(named, fresh)
    return [opening for opening in compared.openings if _touches(watch, opening, who, budget)]


class _Who(NamedTuple):
    """Principals that ACLs spell out, and those of them whose names are not known yet."""

    named: frozenset[str]
    fresh: frozenset[str]


def _touches(watch: Assertion, opening: RegionChange, who: _Who, budget: Budget) -> bool:
    (what,) = watch.duties
    operations = what.operations
    is_reached = any(
        (operations is None or not operations.isdisjoint(party.operations))
        and _has_principal(watch, party, who, budget)
        for party in opening.parties
    )
    return is_reached and _has_resource(watch, opening, budget)


def _has_principal(watch: Assertion, party: Party, who: _Who, budget: Budget) -> bool:
    names = watch.who.names
    if names is None and not watch.who.but:
        return True
    wanted = _every(names)
    but = [symbols_of(each) for each in watch.who.but]
    return any(_is_meant(each, wanted, but, who, budget) for each in party.principals)


def _is_meant(
    each: NameClass,
    wanted: Sequence[Symbols],
    but: Sequence[Symbols],
    who: _Who,
    budget: Budget,
) -> bool:
    """Whether a class of principals has a name that is watched.

    A name that an ACL spells out is a class of its own, so it is in no class of others.
    """
    if each.is_single and each.name in who.fresh:
        return True
    if each.is_single:
        return _shares([[tuple(each.name)], wanted], but, PRINCIPALS, budget)
    taken = [tuple(name) for name in who.named]
    inside = [[pattern] for pattern in each.patterns]
    return _shares([*inside, wanted], [*but, *taken], PRINCIPALS, budget)


def _has_resource(watch: Assertion, opening: RegionChange, budget: Budget) -> bool:
    (what,) = watch.duties
    kind = opening.resource_type
    if what.names is None:
        wanted: Sequence[Symbols] = _EVERY_NAME
    else:
        wanted = [symbols_of(each.name) for each in _of_type(what.names, kind)]
    if not wanted:
        return False
    but = [symbols_of(each.name) for each in _of_type(what.but, kind)]
    if not opening.regions:  # it was not computed which names these are
        return True
    domain = domain_of(kind)
    return any(_overlaps(region, wanted, but, domain, budget) for region in opening.regions)


def _overlaps(
    region: Region,
    wanted: Sequence[Symbols],
    but: Sequence[Symbols],
    domain: Domain,
    budget: Budget,
) -> bool:
    groups: list[Sequence[Symbols]] = [[region.pattern], wanted]
    if region.within:
        groups.append(region.within)
    return _shares(groups, [*region.but, *but], domain, budget)


def _shares(
    groups: Sequence[Iterable[Symbols]], but: Iterable[Symbols], domain: Domain, budget: Budget
) -> bool:
    """Whether a name matches a pattern of each group and none of ``but``; so too if unknown."""
    found = find_witness_outside(groups, but, domain, budget)
    return bool(found.names) or not found.is_complete


def _every(names: Sequence[Pattern] | None) -> Sequence[Symbols]:
    return _EVERY_NAME if names is None else [*map(symbols_of, names)]


def _of_type(names: Iterable[ResourcePattern], kind: str) -> Iterator[ResourcePattern]:
    return (each for each in names if each.resource_type == kind)
