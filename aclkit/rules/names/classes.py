"""The principals, or the hosts, that ACLs name → classes that the same ACLs match. Pure.

All members of a class are decided alike, so one name of it stands for all. Where texts name one
principal or host each, and some stand for all, there is a class for each and one for all others.
Where they are globs, a walk finds every set of them that matches a common name. Ranges of addresses
are nested or disjoint, so arithmetic finds the classes of any number of them. Where there are both
globs and ranges, a walk finds the classes.

The least classes within an ACL's principal or host are those that the fewest other texts match.
What answers an ACL's requests in its place for one name that only texts match which contain the
ACL's own does so for all its names: others have more texts on their side, never fewer. Usually
there is such a name, and one question finds it. Where other texts cover the ACL's own together,
there are several least classes, and each has to be asked about.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Final, NamedTuple, cast

from aclkit.model.cidr import IPV4, Address, Range, any_other_in
from aclkit.rules.names.cover import LEFT, covers, find_shared, find_witness_outside, near_to
from aclkit.rules.names.domain import HOSTS, PRINCIPALS, USERS, Domain
from aclkit.rules.names.question import Budget, Question
from aclkit.rules.names.rows import EVERYTHING, Symbols, is_plain, range_of, start_of
from aclkit.rules.names.target import Classifier, Minterms
from aclkit.rules.patterns.identity import atoms_of, hosts_outside, ranges_holding


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


class MinimalClasses:
    """All texts of one kind that count; each is asked about once."""

    def __init__(
        self,
        texts: Iterable[Symbols],
        domains: tuple[Domain, ...],
        classes: Callable[[Collection[Symbols], Budget], Classes],
        budget: Budget,
        without: Iterable[str] = (),
    ) -> None:
        """Take texts.

        Args:
            texts: principals, or hosts, of ACLs.
            domains: where to look for names, those first that are easier to read.
            classes: finds all classes of texts.
            budget: what may be spent.
            without: names to skip, except where an ACL names them.
        """
        self._texts = sorted(set(texts))
        self._ranges = {found: each for each in self._texts if (found := range_of(each))}
        self._masks = {(each.bits, each.mask) for each in self._ranges}
        self._ordered = sorted(self._ranges)
        self._atoms = {atom.range: atom for atom in atoms_of(self._ranges)}
        of_ranges = set(self._ranges.values())
        self._wild = [e for e in self._texts if not is_plain(e) and e not in of_ranges]
        self._plain = set(self._texts).difference(self._wild, of_ranges)
        self._named = {"".join(each) for each in self._plain} if self._ranges else set[str]()
        self._globs = set(self._wild).difference([EVERYTHING])
        self._matching = Question([[each] for each in self._wild], domains[-1])
        self._domains, self._classes, self._budget = domains, classes, budget
        self._without = {tuple(name) for name in without}
        self.within = cache(self._within)
        self.containing = cache(self._containing)
        self.meeting = cache(self._meeting)
        self.of_name = cache(self._of_name)

    def _of_name(self, name: str) -> NameClass:
        """Return the class of one name."""
        flags = self._matching.flags_of(name)
        found = {each for at, each in enumerate(self._wild) if flags >> at & 1}
        holding = self._holding(name)
        return NameClass(name, frozenset(found | holding | ({tuple(name)} & self._plain)))

    def _holding(self, host: str) -> set[Symbols]:
        """Return the ranges that hold a host."""
        chain = ranges_holding(host, self._masks)
        return {self._ranges[each] for each in chain if each in self._ranges}

    def _containing(self, narrow: Symbols) -> tuple[frozenset[Symbols], bool]:
        """Return the texts that match all that one matches, and whether these are all."""
        if is_plain(narrow):
            return self.of_name("".join(narrow)).patterns, True
        within = range_of(narrow)
        if within and within.bits == IPV4 and within.first == within.last:
            return self.of_name(str(Address(IPV4, within.first))).patterns, True
        around = self._holding(any_other_in(within)) if within else set[Symbols]()
        # One range in another is handled above, and none is everything.
        ranges = () if within or narrow == EVERYTHING else self._ranges.values()
        near = near_to([start_of(narrow)])
        domain, budget = self._domains[-1], self._budget
        known = {
            each: covers([each], [narrow], domain, budget)
            for each in (*self._wild, *ranges)
            if near(start_of(each))
        }
        containing = {each for each in known if known[each]}
        return frozenset(containing | around), None not in known.values()

    def _meeting(self, text: Symbols) -> tuple[Symbols, ...]:
        """Return the texts that share a name with one, in order; in doubt they do."""
        if is_plain(text):
            return tuple(sorted(self.of_name("".join(text)).patterns))
        if within := range_of(text):
            return tuple(sorted(self._meeting_range(text, within)))
        near = near_to([start_of(text)])
        asked = Question([[text]], self._domains[-1])
        return tuple(
            each
            for each in self._texts
            if near(start_of(each))
            and (asked.flags_of("".join(each)) if is_plain(each) else self._may_share(text, each))
        )

    def _meeting_range(self, text: Symbols, within: Range) -> set[Symbols]:
        """Return what shares an address with a range: ranges around it and in it, and others."""
        end = Range(within.bits, within.last, within.bits)
        inside = slice(bisect_left(self._ordered, within), bisect_right(self._ordered, end))
        found = self._holding(any_other_in(within))
        found |= {self._ranges[each] for each in self._ordered[inside]}
        found |= {tuple(name) for name in self._named if within.holds(name)}
        return found | {each for each in self._wild if self._may_share(text, each)}

    def _may_share(self, one: Symbols, other: Symbols) -> bool:
        """Whether two texts share a name; in doubt they do."""
        is_wide = EVERYTHING in (one, other) and (range_of(one) or range_of(other))
        if one == other or is_wide:
            return True
        found = find_shared([one], [other], self._domains[-1], self._budget)
        return bool(found.names) or not found.is_complete

    def _within(self, *narrow: Symbols) -> Classes:
        """Return the least classes of the names that all of some texts match."""
        named = next((each for each in narrow if is_plain(each)), None)
        if named is not None:
            return self._of_one("".join(named), narrow)
        alone = self._alone(narrow)
        if alone is not None:
            return Classes((self.of_name(alone),), is_complete=True)
        near = near_to({start_of(each) for each in narrow})
        wide = frozenset[Symbols]().union(*(self.containing(each)[0] for each in narrow))
        ranges = () if self._globs else filter(range_of, narrow)
        among = next(map(self.meeting, ranges), self._texts)
        beside = {each for each in among if each not in wide and near(start_of(each))}
        within = [[each] for each in narrow]
        for domain in self._domains:
            found = find_witness_outside(within, beside | self._without, domain, self._budget)
            if found.names:
                return Classes((self.of_name(found.names[LEFT]),), is_complete=True)
        return self._several(narrow, beside)

    def _alone(self, narrow: Iterable[Symbols]) -> str | None:
        """Return an address that a range has alone, where nothing is asked about but ranges."""
        ranges = [range_of(each) for each in narrow if each != EVERYTHING]
        known = [each for each in ranges if each in self._atoms]
        if not known or len(known) < len(ranges) or self._globs:
            return None
        inmost = max(known, key=lambda each: each.mask)
        if not all(each.contains(inmost) for each in known):
            return None
        return next(self._atoms[inmost].hosts(self._named), None)

    def _of_one(self, name: str, narrow: Iterable[Symbols]) -> Classes:
        is_there = self._domains[-1].holds(name)
        is_within = Question([[each] for each in narrow], self._domains[-1]).flags_of(name)
        is_there = is_there and is_within == (1 << len(list(narrow))) - 1
        return Classes((self.of_name(name),) if is_there else (), is_complete=True)

    def _several(self, narrow: tuple[Symbols, ...], beside: set[Symbols]) -> Classes:
        """Return the least of all classes."""
        found = self._classes({*narrow, *beside, *self._without}, self._budget)
        within = [
            self.of_name(each.name)
            for each in found.members
            if each.patterns.issuperset(narrow) and tuple(each.name) not in self._without
        ]
        least = (
            each for each in within if not any(other.patterns < each.patterns for other in within)
        )
        return Classes(tuple(least), found.is_complete)


def minimal_principals(
    texts: Iterable[Symbols], budget: Budget, without: Iterable[str] = ()
) -> MinimalClasses:
    """Return the least classes of principals; users stand for one where one is in it."""
    return MinimalClasses(texts, (USERS, PRINCIPALS), classes_of_principals, budget, without)


def minimal_hosts(texts: Iterable[Symbols], budget: Budget) -> MinimalClasses:
    """Return the least classes of hosts."""
    return MinimalClasses(texts, (HOSTS,), classes_of_hosts, budget)
