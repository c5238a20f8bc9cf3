"""The principals, or the hosts, that ACLs name → classes that the same ACLs match. Pure.

All members of a class are decided alike, so one name of it stands for all. Where texts name one
principal or host each, and some stand for all, there is a class for each and one for all others.
Where they are globs, a walk finds every set of them that matches a common name. Ranges of addresses
are nested or disjoint, so arithmetic finds the classes of any number of them. Where there are both
globs and ranges, a walk finds the classes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple, cast

from aclkit.model.cidr import Range
from aclkit.rules.names.budget import Budget
from aclkit.rules.names.domain import HOSTS, PRINCIPALS, USERS, Domain
from aclkit.rules.names.question import Question
from aclkit.rules.names.symbols import EVERYTHING, Symbols, is_plain, range_of
from aclkit.rules.names.target import Classifier, Minterms
from aclkit.rules.patterns.ranges import atoms_of, hosts_outside, ranges_holding


class NameClass(NamedTuple):
    """Names that the same patterns match.

    Attributes:
        name: one of them, a shortest one where a walk found it.
        patterns: what matches them, and nothing else does.
        is_all: there is no other class.
    """

    name: str
    patterns: frozenset[Symbols]
    is_all: bool = False

    @property
    def is_single(self) -> bool:
        """Whether the name is the only one."""
        return any(is_plain(each) for each in self.patterns)


class Classes(NamedTuple):
    """All classes of a domain, in the order of their names; some may miss if not complete."""

    members: tuple[NameClass, ...]
    is_complete: bool


def classes_of_principals(patterns: Collection[Symbols], budget: Budget) -> Classes:
    """Return the classes of principals; users stand for a class where one is in it."""
    return _classes(patterns, (USERS, PRINCIPALS), budget)


def classes_of_hosts(patterns: Collection[Symbols], budget: Budget) -> Classes:
    """Return the classes of hosts."""
    ranges = {found: each for each in patterns if (found := range_of(each))}
    rest = set(patterns).difference(ranges.values(), [EVERYTHING])
    if ranges and all(map(is_plain, rest)):
        return _classes_of_ranges(ranges, rest, frozenset({EVERYTHING} & set(patterns)))
    return _classes(patterns, (HOSTS,), budget)


def _classes_of_ranges(
    ranges: Mapping[Range, Symbols], plain: Iterable[Symbols], everywhere: frozenset[Symbols]
) -> Classes:
    """Find the classes of addresses, one for each atom of the ranges and for each address named."""
    named = {"".join(each): each for each in plain}
    masks = {(each.bits, each.mask) for each in ranges}

    def holding(host: str) -> frozenset[Symbols]:
        chain = (ranges.get(each) for each in ranges_holding(host, masks))
        return everywhere.union(each for each in chain if each)

    found = [
        NameClass(name, holding(name) | {symbols})
        for name, symbols in named.items()
        if HOSTS.holds(name)
    ]
    for atom in atoms_of(ranges):
        found += (NameClass(name, holding(atom.name)) for name in islice(atom.hosts(named), 1))
    found += (NameClass(name, everywhere) for name in islice(hosts_outside(ranges, named), 1))
    return _in_order(found, is_complete=True)


def _in_order(found: list[NameClass], *, is_complete: bool) -> Classes:
    if is_complete and len(found) == 1:
        found = [found[0]._replace(is_all=True)]
    return Classes(tuple(sorted(found, key=lambda each: each.name)), is_complete)


_NOT_NAMED: Final = Classifier(1, lambda flags: None if flags else 0)


def _classes(patterns: Collection[Symbols], domains: tuple[Domain, ...], budget: Budget) -> Classes:
    """Find the classes in the last domain, with names of an earlier one where it has some."""
    plain = {"".join(each): each for each in patterns if is_plain(each)}
    globs = sorted(set(patterns) - {*plain.values(), EVERYTHING})
    everywhere = frozenset({EVERYTHING} & set(patterns))
    matching = Question([[each] for each in globs], domains[-1])
    found = [
        NameClass(name, everywhere | {symbols, *_among(globs, matching.flags_of(name))})
        for name, symbols in sorted(plain.items())
        if domains[-1].holds(name)
    ]
    others, is_complete = _others(list(plain.values()), globs, domains, budget)
    found += (
        NameClass(name, everywhere.union(_among(globs, flags))) for flags, name in others.items()
    )
    return _in_order(found, is_complete=is_complete)


def _others(
    plain: list[Symbols], globs: list[Symbols], domains: tuple[Domain, ...], budget: Budget
) -> tuple[dict[int, str], bool]:
    """Return the sets of globs, as bits, that match names of no class of one: each with a name."""
    names: dict[int, str] = {}
    is_complete = True
    for domain in domains:
        if not globs:
            found = budget.find([plain], domain, _NOT_NAMED)
            sets = {cast("int", key): name for key, name in found.names.items()}
        else:
            # The group of all plain names is the last bit.
            found = budget.find([*([each] for each in globs), plain], domain, Minterms())
            sets = {cast("int", key): name for key, name in found.names.items()}
            sets = {flags: name for flags, name in sets.items() if not flags >> len(globs)}
        names = {**sets, **names}
        is_complete = found.is_complete
    return names, is_complete


def _among(globs: list[Symbols], flags: int) -> Iterator[Symbols]:
    return (each for at, each in enumerate(globs) if flags >> at & 1)
