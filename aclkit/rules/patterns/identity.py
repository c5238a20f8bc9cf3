"""The principals, hosts and ranges that ACLs name, indexed once → which match one that asks. Pure.

``principal_matches`` and ``host_matches`` are the specification: the index finds a few texts that
may match, and these functions decide which of them do.

Two ranges are nested or apart. So what holds a host is a chain, one range for each length of mask
at most, and a range less those within it is one atom: there are never more atoms than ranges.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import count
from typing import Final

from aclkit.model.cidr import (
    IPV4,
    IPV6,
    Address,
    Range,
    any_other_in,
    parse_address,
    range_of_any_other,
)
from aclkit.model.glob import is_universal
from aclkit.model.groups import grouped
from aclkit.model.host import canonical_host
from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.model.semantics import KIP_1042, Semantics
from aclkit.model.values import dataclass
from aclkit.rules.patterns.match import (
    GLOB,
    LITERAL,
    has_wildcard,
    host_matches,
    is_any_host,
    names_exactly,
    principal_matches,
    range_of_host,
)
from aclkit.rules.patterns.trie import PatternTrie

_MAPPED: Final = Range(IPV6, 0xFFFF << 32, 96)
"""What Java writes as IPv4: no client comes from there."""
_FEW: Final = 3


def asked_host(acl_host: str, semantics: Semantics) -> str | None:
    """Return the host to ask about where an ACL names one: an address, or what a range has alone.

    None where it names none: globs, texts that no client's address equals, an empty range.
    """
    meant = range_of_host(acl_host, semantics)
    if meant is None:
        return acl_host if canonical_host(acl_host) == acl_host else None
    if meant.first > meant.last:
        return None
    return str(Address(meant.bits, meant.network)) if meant.is_single else any_other_in(meant)


def ranges_holding(host: str, masks: Iterable[tuple[int, int]]) -> Iterator[Range]:
    """Yield the ranges that hold an address, or all that an atom stands for, one for each mask.

    Args:
        host: an address, or a name that ``any_other_in`` made; anything else is in no range.
        masks: (bits of an address, bits of the mask) of the ranges that there are.
    """
    atom = range_of_any_other(host)
    if atom is not None:
        bits, number, most = atom.bits, atom.network, atom.mask
    else:
        address = parse_address(host)
        if address is None or address == (IPV4, 0):
            return
        (bits, number), most = address, address.bits
    for of_bits, mask in masks:
        if of_bits == bits and mask <= most:
            yield Range(bits, number >> (bits - mask) << (bits - mask), mask)


@dataclass(frozen=True, slots=True)
class Atom:
    """What a range holds and no narrower one does.

    Attributes:
        range: the range.
        inner: the widest ranges within it, in order.
    """

    range: Range
    inner: tuple[Range, ...]

    @property
    def name(self) -> str:
        """Return the name by which it is asked about."""
        return any_other_in(self.range)

    def __str__(self) -> str:
        """Tell which addresses it has."""
        if not self.inner:
            return str(self.range)
        without = ", ".join(map(str, self.inner[:_FEW]))
        more = len(self.inner) - _FEW
        return f"{self.range} without {without}{f' and {more:,} more' if more > 0 else ''}"

    def hosts(self, named: Collection[str] = ()) -> Iterator[str]:
        """Yield its addresses except those named; the network's own comes late: no client has it.

        An IPv6 address has another for each zone.
        """
        bits, first, last = self.range.bits, self.range.first, self.range.last
        left = list(_gaps(first, last, bits, self.inner))
        if left and left[0][0] == self.range.network < left[0][1]:
            (start, end), *others = left
            left = [(start + 1, end), *others, (start, start)]
        yield from _written(left, bits, named)
        for start, _ in left[: bits == IPV6]:
            zones = (f"{Address(bits, start)}%{number}" for number in count(1))
            yield from (host for host in zones if host not in named)


def atoms_of(ranges: Iterable[Range]) -> list[Atom]:
    """Cut ranges into atoms, each range once; in order, a wider one before those within it."""
    inner: dict[Range, list[Range]] = {}
    around: list[Range] = []
    for each in sorted(set(ranges), key=lambda r: (r.bits, r.network, r.mask)):
        while around and not around[-1].contains(each):
            around.pop()
        if around:
            inner[around[-1]].append(each)
        inner[each] = []
        around.append(each)
    return [Atom(each, tuple(within)) for each, within in inner.items()]


def outermost(ranges: Iterable[Range]) -> list[Range]:
    """Return the ranges that lie in no other one, in order."""
    atoms = atoms_of(ranges)
    within = {each for atom in atoms for each in atom.inner}
    return [atom.range for atom in atoms if atom.range not in within]


def hosts_outside(ranges: Iterable[Range], named: Collection[str]) -> Iterator[str]:
    """Yield the addresses that no range holds, but those named."""
    wide = outermost(ranges)
    for bits, first in ((IPV4, 1), (IPV6, 0)):
        yield from _written(_gaps(first, (1 << bits) - 1, bits, wide), bits, named)
    yield from _written([(0, 0)], IPV4, named)


def _written(gaps: Iterable[tuple[int, int]], bits: int, named: Collection[str]) -> Iterator[str]:
    for start, end in gaps:
        hosts = (str(Address(bits, number)) for number in range(start, end + 1))
        yield from (host for host in hosts if host not in named)


def _gaps(first: int, last: int, bits: int, without: Iterable[Range]) -> Iterator[tuple[int, int]]:
    """Yield the first and last numbers of what some ranges, apart and in order, leave over."""
    left = list(without)
    if bits == IPV6:
        left.insert(bisect_left(left, _MAPPED), _MAPPED)
    for each in left:
        if each.bits == bits and each.last >= first:
            if first < each.first and first <= last:
                yield first, min(each.first - 1, last)
            first = max(first, each.last + 1)
    if first <= last:
        yield first, last


@dataclass(frozen=True, slots=True)
class IdentityIndex:
    """Texts of one kind; made by ``index_principals`` and ``index_hosts``.

    Attributes:
        texts: all of them, in order.
        trie: finds by its place what may match a name as a text or a glob.
        matches: the specification.
        semantics: how they are read.
        ranges: the places of the hosts that are a range.
        masks: of these ranges, see ``ranges_holding``.
    """

    texts: list[str]
    trie: PatternTrie
    matches: Callable[[str, str, Semantics], bool]
    semantics: Semantics
    ranges: Mapping[Range, Sequence[int]] = field(default_factory=dict)
    masks: frozenset[tuple[int, int]] = frozenset()

    def matching(self, name: str) -> list[str]:
        """Return the texts that match a principal or host, in code-point order."""
        places: Iterable[int] = self.trie.matches(name)
        if self.masks:
            holding = ranges_holding(name, self.masks)
            places = sorted({*places, *(n for each in holding for n in self.ranges.get(each, ()))})
        candidates = (self.texts[number] for number in places)
        return [text for text in candidates if self.matches(text, name, self.semantics)]


def index_principals(texts: Iterable[str], semantics: Semantics) -> IdentityIndex:
    """Index ACL principals.

    >>> index_principals(["User:*", "User:a", "U*:b?"], KIP_1042).matching("User:a")
    ['User:*', 'User:a']
    """
    return _index(texts, principal_pattern, principal_matches, semantics)


def index_hosts(texts: Iterable[str], semantics: Semantics) -> IdentityIndex:
    """Index ACL hosts.

    >>> index_hosts(["*", "10.*", "10.0.0.1"], KIP_1042).matching("10.0.0.2")
    ['*', '10.*']
    """
    index = _index(texts, host_pattern, host_matches, semantics)
    meant = ((range_of_host(text, semantics), at) for at, text in enumerate(index.texts))
    ranges = grouped((found, number) for found, number in meant if found)
    masks = frozenset((each.bits, each.mask) for each in ranges)
    return replace(index, ranges=ranges, masks=masks)


def principal_pattern(principal: str, semantics: Semantics) -> tuple[str, str]:
    """Return pattern type and pattern of all the texts that an ACL's principal may match."""
    parts = split_principal(principal)
    if principal == WILDCARD_PRINCIPAL or (
        semantics.identity_globs and parts and all(map(is_universal, parts))
    ):
        return GLOB, "*"
    if parts is None or names_exactly(principal, semantics):
        return LITERAL, principal
    return GLOB, f"{parts[0] or '*'}:{parts[1] or '*'}"


def host_pattern(host: str, semantics: Semantics) -> tuple[str, str]:
    """Return pattern type and pattern of all that an ACL's host may match but by a range."""
    is_glob = semantics.identity_globs and has_wildcard(host)
    return (GLOB, host) if is_glob or is_any_host(host, semantics) else (LITERAL, host)


def _index(
    texts: Iterable[str],
    pattern_of: Callable[[str, Semantics], tuple[str, str]],
    matches: Callable[[str, str, Semantics], bool],
    semantics: Semantics,
) -> IdentityIndex:
    rows = sorted(set(texts))
    patterns = ((number, *pattern_of(text, semantics)) for number, text in enumerate(rows))
    return IdentityIndex(rows, PatternTrie.build(patterns, KIP_1042), matches, semantics)
