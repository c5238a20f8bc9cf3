"""Ranges of addresses → which of them hold a host, and the atoms that they cut out. Pure.

Two ranges are nested or apart. So what holds a host is a chain, one range for each length of mask
at most, and a range less those within it is one atom: there are never more atoms than ranges.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
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
from aclkit.model.host import canonical_host
from aclkit.model.semantics import Semantics
from aclkit.rules.patterns.match import range_of_host

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
