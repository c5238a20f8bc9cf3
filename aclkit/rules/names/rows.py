"""ACLs → rows of symbols, each with what it answers. Pure.

A resource pattern, a principal and a host all become rows of symbols (letters, any one letter, any
run of letters), and from there on only these count: which type a pattern was of and how its text
was read is settled here. ``aclkit.rules.patterns.match`` is the specification.

A walk over names goes letter by letter, so a range of addresses next to globs has to be spelled
out: the groups that its addresses share, each value of the group that they share in part, and any
run.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache, lru_cache
from typing import Final, NamedTuple

from aclkit.model.acl import Acl
from aclkit.model.cidr import IPV4, Address, Range, parse_range
from aclkit.model.operation import OPERATIONS_OF_TYPE, coverage
from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.model.values import dataclass
from aclkit.rules.patterns.match import (
    GLOB,
    LITERAL,
    PREFIXED,
    effective_pattern_type,
    has_wildcard,
    is_any_host,
    range_of_host,
)

Symbols = tuple[str, ...]
"""A pattern: a symbol of one character is that letter, a longer one a wildcard or a range."""

RUN: Final = "any run"
ONE: Final = "any one"
RUN_BUT_COLON: Final = "any run without a colon"
ONE_BUT_COLON: Final = "any one but a colon"
ONE_BUT_STAR: Final = "any one but a star"
_ADDRESS_IN: Final = "any address in "

EVERYTHING: Final[Symbols] = (RUN,)

_STARS: Final = re.compile(r"\*+")
_WILDCARD: Final = re.compile(r"[*?]")
_ALL_BUT_LONG_STARS: Final[tuple[Symbols, ...]] = ((), ("*",), (ONE_BUT_STAR, RUN))


def is_one_name(pattern: Symbols) -> bool:
    """Whether a pattern matches one name only.

    >>> is_one_name(("a", "b")), is_one_name(("a", RUN))
    (True, False)
    """
    return all(len(symbol) == 1 for symbol in pattern)


def may_share(one: Symbols, other: Symbols) -> bool:
    """Whether two patterns may share a name, as far as their first letters tell.

    >>> may_share(("a", RUN), ("a", "b")), may_share(("a", "b"), ("a", "b", "c"))
    (True, False)
    >>> may_share(("a", RUN), ("b", ONE)), may_share((ONE,), ("b", "c"))
    (False, True)
    """
    for letter, its in zip(one, other, strict=False):
        if len(letter) > 1 or len(its) > 1:
            return True
        if letter != its:
            return False
    rest = one[len(other) :] or other[len(one) :]
    return all(symbol in (RUN, RUN_BUT_COLON) for symbol in rest)


def of_pattern(
    resource_type: str, pattern_type: str, name: str, semantics: Semantics
) -> tuple[Symbols, ...]:
    """Write a resource pattern as symbols; it matches what one of the rows matches.

    There is one row, but under ``wildcard_defect``: LITERAL ``*`` misses longer names that begin
    with ``*`` there. No topic begins so.
    """
    kind = effective_pattern_type(pattern_type, semantics)
    if kind == PREFIXED:
        return ((*name, RUN),)
    if kind == LITERAL and name == "*":
        misses = semantics.wildcard_defect and resource_type != "TOPIC"
        return _ALL_BUT_LONG_STARS if misses else (EVERYTHING,)
    return (_of_glob(name, ONE, RUN) if kind == GLOB else tuple(name),)


def of_principal(text: str, semantics: Semantics) -> Symbols | None:
    """Write an ACL's principal as symbols, or None where it matches no principal.

    Type and name are globs of their own under ``identity_globs``, and a type holds no colon.
    """
    if text == WILDCARD_PRINCIPAL:
        return EVERYTHING
    parts = split_principal(text)
    if parts is None:
        return None
    kind, name = parts
    if not semantics.identity_globs:
        return tuple(text)
    if not kind.strip("*") and not name.strip("*"):
        return EVERYTHING
    return (*_of_part(kind, ONE_BUT_COLON, RUN_BUT_COLON), ":", *_of_part(name, ONE, RUN))


def of_host(text: str, semantics: Semantics) -> Symbols:
    """Write an ACL's host as symbols; a range is one symbol, the same for all its texts."""
    if is_any_host(text, semantics):
        return EVERYTHING
    meant = range_of_host(text, semantics)
    if meant is not None:
        return (f"{_ADDRESS_IN}{meant}",)
    return _of_part(text, ONE, RUN) if semantics.identity_globs else tuple(text)


def range_of(symbols: Symbols) -> Range | None:
    """Return the range that a host's symbols are, None where they are none."""
    is_range = len(symbols) == 1 and symbols[0].startswith(_ADDRESS_IN)
    return parse_range(symbols[0].removeprefix(_ADDRESS_IN)) if is_range else None


def is_plain(symbols: Symbols) -> bool:
    """Whether a pattern matches one name only, which is then its letters."""
    return all(len(symbol) == 1 for symbol in symbols)


def start_of(symbols: Symbols) -> str:
    """Return the letters with which all names begin that a pattern matches."""
    end = next((n for n, symbol in enumerate(symbols) if len(symbol) > 1), len(symbols))
    return "".join(symbols[:end])


def start_of_pattern(pattern_type: str, name: str, semantics: Semantics) -> str:
    """Return the letters with which all names begin that a resource pattern matches.

    The same as ``start_of`` its symbols, without making these.
    """
    kind = effective_pattern_type(pattern_type, semantics)
    if kind == GLOB:
        return _WILDCARD.split(name, maxsplit=1)[0]
    return "" if kind == LITERAL and name == "*" else name


def _of_part(text: str, one: str, run: str) -> Symbols:
    return _of_glob(text, one, run) if has_wildcard(text) else tuple(text)


def _of_glob(glob: str, one: str, run: str) -> Symbols:
    """Write a glob as symbols: the empty one is ``*``, and a run of stars is one star."""
    wildcards = {"*": run, "?": one}
    return tuple(wildcards.get(letter, letter) for letter in _STARS.sub("*", glob or "*"))


LATER: Final = "(an operation to come)"
"""What a later Kafka may ask for: ALL answers it too, so that only ALL stands in for ALL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """All that decides: the ACLs, the brokers' settings, and how ACLs are read."""

    acls: Collection[Acl]
    settings: BrokerSettings
    semantics: Semantics


class Row(NamedTuple):
    """One ACL as symbols.

    Attributes:
        patterns: it reaches what one of them matches.
        principal: None where the ACL matches no principal.
        host: from where.
        acl: the ACL.
    """

    patterns: tuple[Symbols, ...]
    principal: Symbols | None
    host: Symbols
    acl: Acl

    def answers(self, operation: str) -> bool:
        """Whether the ACL's operation covers a request's."""
        acl = self.acl
        return coverage(acl.operation, acl.permission_type, operation) is not None


def rows_of(acls: Iterable[Acl], semantics: Semantics) -> Iterator[Row]:
    """Write ACLs as symbols."""
    for acl in acls:
        yield Row(
            of_pattern(*acl.pattern, semantics),
            of_principal(acl.principal, semantics),
            of_host(acl.host, semantics),
            acl,
        )


def reads_alike(acl: Acl, *ways: Semantics) -> bool:
    """Whether all ways of reading ACLs take one for the same: what it meets, and how it ranks."""
    kinds = {effective_pattern_type(acl.pattern_type, way) for way in ways}
    return len(kinds) == 1 and len({row for way in ways for row in rows_of((acl,), way)}) == 1


def operations_of(acl: Acl) -> frozenset[str]:
    """Return the operations of its resource type that an ACL answers."""
    return _answered(acl.resource_type, acl.operation, acl.permission_type)


def operations_to_come(acl: Acl) -> frozenset[str]:
    """Return the same, and ``LATER`` where it answers that."""
    return _answered(acl.resource_type, acl.operation, acl.permission_type, LATER)


@cache
def _answered(
    resource_type: str, operation: str, permission_type: str, *more: str
) -> frozenset[str]:
    asked = (*OPERATIONS_OF_TYPE.get(resource_type, ()), *more)
    return frozenset(o for o in asked if coverage(operation, permission_type, o) is not None)


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
