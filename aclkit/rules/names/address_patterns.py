"""A range of addresses → how they are written: rows of symbols that match these alone. Pure.

A walk over names goes letter by letter, so a range next to globs has to be spelled out: the groups
that its addresses share, each value of the group that they share in part, and any run.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from aclkit.model.cidr import IPV4, Address, Range
from aclkit.rules.names.rows import ONE_BUT_COLON, RUN, Symbols, range_of

MOST_ROWS: Final = 20_000
"""A question that needs more rows than that is not asked."""


def count_rows(of: Range) -> int:
    """Return how many rows there are, without making them; or a few more."""
    size = 8 if of.bits == IPV4 else 16
    values = 1 << (-of.mask % size)
    if of.bits == IPV4:
        return values + (4 * 255 if of.network == 0 else 0)
    return 2 * values if of.mask > of.bits - size else 64


def spelled(symbols: Symbols) -> tuple[Symbols, ...]:
    """Write a pattern without ranges."""
    found = range_of(symbols)
    return (symbols,) if found is None else rows_of_range(found)


@lru_cache(maxsize=2_048)
def rows_of_range(of: Range) -> tuple[Symbols, ...]:
    """Write a range as rows of symbols, over addresses as Java writes them."""
    return tuple(_ipv4_rows(of) if of.bits == IPV4 else _ipv6_rows(of))


def _ipv4_rows(of: Range) -> Iterator[Symbols]:
    """Spell IPv4; 0.0.0.0 is in no range, so addresses that begin with 0 get rows of their own."""
    if of.last < of.first:
        return
    whole = -(-of.mask // 8)
    if of.network == 0 and whole < 4:
        for at in range(whole, 4):
            start = "0." * at
            tail = (".", RUN) if at < 3 else ()
            yield from ((*start, *str(value), *tail) for value in range(1, 256))
    step = 1 << (32 - 8 * whole)
    for network in range(of.network, of.last + 1, step):
        text = str(Address(IPV4, network))
        if whole == 4:
            if network:
                yield tuple(text)
        elif network:
            yield (*"".join(f"{octet}." for octet in text.split(".")[:whole]), RUN)


def _ipv6_rows(of: Range) -> Iterator[Symbols]:
    """Spell IPv6; a zone may follow a whole address."""
    whole = of.mask // 16
    shared = str(Address(of.bits, of.network)).split(":")
    start = "".join(f"{group}:" for group in shared[:whole])
    if whole == 8:
        yield from _with_zone(start[:-1])
        return
    if of.mask % 16 == 0:
        yield (*start, RUN) if whole else (RUN, ":", RUN)
        return
    first = int(shared[whole], 16)
    last = first + (1 << (16 - of.mask % 16)) - 1
    if whole == 7:
        for value in range(first, last + 1):
            yield from _with_zone(f"{start}{value:x}")
        return
    yield from ((*start, *group, ":", RUN) for group in _groups(first, last))


def _groups(first: int, last: int) -> Iterator[Symbols]:
    """Spell the values of a group from one to another; after its first digit each may be any."""
    at = first
    while at <= last:
        free = len(f"{at:x}") - 1
        while at % (1 << 4 * free) or at + (1 << 4 * free) - 1 > last:
            free -= 1
        text = f"{at:x}"
        yield (*text[: len(text) - free], *[ONE_BUT_COLON] * free)
        at += 1 << 4 * free


def _with_zone(address: str) -> Iterator[Symbols]:
    yield tuple(address)
    yield (*address, "%", RUN)
