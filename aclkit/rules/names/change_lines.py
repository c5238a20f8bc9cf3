"""What differs between two states, for every name → lines of who gains or loses what, where. Pure.

A line is about the names of one region, so that it reads like the ACL that came or went.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import product
from typing import Final, NamedTuple

from aclkit.model.acl import operations_words, power_of
from aclkit.model.groups import grouped
from aclkit.model.phrases import few, listed
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.question import Question
from aclkit.rules.names.region import Party, Region, RegionChange, parties
from aclkit.rules.names.rows import EVERYTHING, is_plain
from aclkit.rules.names.words import host_words, principal_words, region_words

MARKS: Final = {GAINED: "+", LOST: "-"}
"""What stands before a line."""

_MOST_HOSTS: Final = 2
"""So many hosts a line names."""


class ChangeLine(NamedTuple):
    """Operations on the names of one region that some principals gain or lose.

    Attributes:
        kind: gained or lost.
        resource_type: of the names.
        region: which names; None where the search limit ended before it was known.
        shortest: one of the shortest of the names.
        party: who, from where, which operations.
    """

    kind: str
    resource_type: str
    region: Region | None
    shortest: str
    party: Party


def change_lines(openings: Iterable[RegionChange]) -> list[ChangeLine]:
    """Return what is gained, then what is lost, the most powerful access first."""
    cells = grouped(
        ((opening.kind, opening.resource_type, region, _shortest(opening, region)), cell)
        for opening in openings
        for region in opening.regions or [None]
        for party in opening.parties
        for cell in product(party.principals, party.hosts, party.operations)
    )
    lines = [
        ChangeLine(*place, party)
        for place, which in cells.items()
        for party in parties(dict.fromkeys(which))
    ]
    return sorted(lines, key=_order)


def _shortest(opening: RegionChange, region: Region | None) -> str:
    return opening.change.name if region is None else region.shortest


def _order(line: ChangeLine) -> tuple[object, ...]:
    return (
        line.kind != GAINED,
        power_of(line.party.operations, line.resource_type),
        [each.name for each in line.party.principals],
        line.shortest,
    )


def line_words(line: ChangeLine, known: Collection[str] | None = None) -> str:
    """Write a line: who, which operations, on which names, from where.

    Args:
        line: the line.
        known: the names of the resource type that exist; they are counted if given.
    """
    who = few(map(principal_words, line.party.principals))
    return f"{who}: {access_words(line, known)}"


def access_words(line: ChangeLine, known: Collection[str] | None = None) -> str:
    """Write which operations, on which names, from where; arguments as in ``line_words``."""
    operations = operations_words(line.party.operations, line.resource_type)
    return f"{operations} on {where_words(line, known)} from {hosts_words(line.party.hosts)}"


def where_words(line: ChangeLine, known: Collection[str] | None) -> str:
    """Write on which names; ``known`` as in ``line_words``."""
    region = line.region
    if region is None:
        return f"some names, for example {line.shortest!r}"
    words = region_words(region, line.resource_type)
    if known is None or is_plain(region.pattern) or line.resource_type == "CLUSTER":
        return words
    return f"{words} ({len(list(names_in(region, line.resource_type, known))):,} today)"


def names_in(region: Region, resource_type: str, names: Iterable[str]) -> Iterator[str]:
    """Yield those of some names that a region has."""
    groups = [[region.pattern], region.within, region.but]
    question = Question(groups, domain_of(resource_type))
    for name in names:
        flags = question.flags_of(name)
        if flags & _PATTERN and (flags & _WITHIN or not region.within) and not flags & _BUT:
            yield name


_PATTERN, _WITHIN, _BUT = 1, 2, 4


def hosts_words(hosts: Sequence[NameClass]) -> str:
    """Write hosts: those that ACLs name, and whether any other one is among them.

    >>> one = NameClass("10.0.0.1", frozenset({("1", "0")}))
    >>> hosts_words([one, NameClass("1.1.1.1", frozenset())])
    '10.0.0.1 and any other host'
    """
    if any(each.is_all for each in hosts):
        return "any host"
    named = [each.name for each in hosts if each.is_single]
    others = [each for each in hosts if not each.is_single]
    matched = [host_words(each) for each in others if each.patterns - {EVERYTHING}]
    if len(others) == len(hosts) and not matched:
        return "any host that no ACL names"
    parts = [*named, *matched]
    shown = parts[: _MOST_HOSTS + (len(matched) == len(others))]
    more = len(parts) - len(shown)
    shown += [f"{more:,} more"] if more else []
    shown += ["any other host"] if len(matched) < len(others) else []
    return listed(shown)
