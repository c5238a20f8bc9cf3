"""Patterns, classes and regions → English. Pure.

Names come from strangers: who prints these words makes them visible first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from aclkit.model.acl import quoted, type_words
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.phrases import few, listed, number_of
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.compare import GAINED, LOST, Difference, SemanticsChange
from aclkit.rules.names.question import Budget
from aclkit.rules.names.region import Party, Region, RegionChange, fold
from aclkit.rules.names.rows import (
    EVERYTHING,
    ONE,
    ONE_BUT_COLON,
    ONE_BUT_STAR,
    RUN,
    RUN_BUT_COLON,
    Symbols,
    is_plain,
    range_of,
)

_WILDCARDS: Final = {ONE: "?", ONE_BUT_COLON: "?", ONE_BUT_STAR: "?", RUN: "*", RUN_BUT_COLON: "*"}
_FEW: Final = 3
_MOST_HARD: Final = 5
"""So many of a list are shown, the rest is counted."""


def pattern_text(symbols: Symbols) -> str:
    """Write a pattern as people write globs, a range as they write ranges."""
    if found := range_of(symbols):
        return str(found)
    return "".join(_WILDCARDS.get(symbol, symbol) for symbol in symbols)


def region_words(region: Region, resource_type: str) -> str:
    """Write which names a region has; "any" only where it is all there are.

    >>> region_words(Region(("a", RUN), (), (("a", "b"),), "a", is_exact=True), "TOPIC")
    'topics that start with a, but not ab'
    """
    if resource_type == "CLUSTER":
        return "the cluster"
    text = _names_of(region, type_words(resource_type))
    if region.within and region.pattern != EVERYTHING:
        text += f", which {_reached_by(region.within)} too"
    if region.but:
        text += f", but not {_left_out(region.but)}"
    if region.shortest and not region.is_exact and not is_plain(region.pattern):
        text += f", for example {quoted(region.shortest)}"
    return text


def pattern_words(symbols: Symbols) -> str:
    """Write a pattern as a glob, a name as it is.

    A star or a question mark that stands for itself is marked: it could be mistaken.
    """
    if symbols[:1] == (ONE_BUT_STAR,):
        return "what does not start with *"
    if found := range_of(symbols):
        return quoted(str(found))
    text = "".join(_WILDCARDS.get(symbol, symbol) for symbol in symbols)
    is_literal = any(symbol in "*?" for symbol in symbols)
    return f"{quoted(text)}{f' (with its own {_own(symbols)})' if is_literal else ''}"


def unknown_sentences(found: Difference, budget: Budget) -> Iterator[str]:
    """Yield which cells the budget left open, what makes them hard, and what would help."""
    for cell in (each.cell for each in found.unknown[:_FEW]):
        party = Party((cell.principal,), (cell.host,), (cell.operation,))
        kind = cell.resource_type
        yield f"{party_words(party, kind)} on {type_words(kind)}s"
    if len(found.unknown) > _FEW:
        yield f"… and {number_of(len(found.unknown) - _FEW, 'cell')} more"
    if found.unknown:
        yield hard_words(tuple(dict.fromkeys(p for u in found.unknown for p in u.patterns)))
    if not found.is_complete:
        yield "not every class of principals and hosts that ACLs tell apart was found"
    if not found.is_known:
        yield way_out(budget)


def hard_words(patterns: Sequence[Symbols]) -> str:
    """Write which patterns make a question hard."""
    if not patterns:
        return "no single pattern makes the question hard"
    shown = few((quoted(pattern_text(each)) for each in patterns), _MOST_HARD)
    return f"patterns that make it hard: {shown}"


def way_out(budget: Budget) -> str:
    """Name the option that gives a proof more states."""
    return f"to raise the search limit: {budget.to_raise}"


def opening_words(opening: RegionChange) -> str:
    """Tell who gains or loses what on which names."""
    return f"{_parties_words(opening)}, on {names_words(opening)}"


def semantics_change_words(reread: SemanticsChange) -> str:
    """Write what an ACL does that is read otherwise, of each kind the most cells."""
    told = []
    for verb, kind in (("grants", GAINED), ("revokes", LOST)):
        if sets := fold(reread.of_kind(kind)):
            more = f" (and {number_of(len(sets) - 1, 'more set')} of requests)" if sets[1:] else ""
            name = f"for example on {quoted(sets[0].change.name)}"
            told.append(f"{verb} {_parties_words(sets[0])}, {name}{more}")
    if not told:
        return "changes no decision" if reread.is_known else "has an unknown effect"
    return " and ".join(told if reread.is_known else [*told, "possibly has more effects"])


def _parties_words(opening: RegionChange) -> str:
    who = "; ".join(party_words(party, opening.resource_type) for party in opening.parties[:_FEW])
    more = len(opening.parties) - _FEW
    return who if more <= 0 else f"{who} and {more:,} more such sets of operations"


def names_words(opening: RegionChange) -> str:
    """Tell which names an opening is about."""
    regions = opening.regions
    if not regions:
        return f"names of which the shortest is {quoted(opening.change.name)}"
    words = ", and ".join(region_words(region, opening.resource_type) for region in regions[:_FEW])
    rest = len(regions) - _FEW
    return words if rest <= 0 else f"{words}, and {number_of(rest, 'more region')}"


def party_words(party: Party, resource_type: str) -> str:
    """Tell for whom, from where, which operations."""
    every = len(party.operations) == len(OPERATIONS_OF_TYPE[resource_type])
    operations = "every operation" if every else ", ".join(party.operations)
    who = few([principal_words(each) for each in party.principals])
    return f"{operations} for {who} from {few([host_words(each) for each in party.hosts])}"


def principal_words(principal: NameClass) -> str:
    """Tell which principals a class is."""
    return _class_words(principal, "principal")


def host_words(host: NameClass) -> str:
    """Tell which hosts a class is."""
    return _class_words(host, "host")


def _class_words(of: NameClass, noun: str) -> str:
    if of.is_single:
        return of.name
    globs = sorted(of.patterns - {EVERYTHING})
    if globs:
        shown, more = _first_of(globs)
        also = f" and {more:,} more" if more else ""
        verb = "matches" if len(globs) == 1 else "match"
        return f"{noun}s that {shown.replace(' or ', ' and ')}{also} {verb} (such as {of.name})"
    return f"any {noun}" if of.is_all else f"any other {noun} (such as {of.name})"


def _own(symbols: Symbols) -> str:
    return " and ".join(mark for mark in "*?" if mark in symbols)


def _names_of(region: Region, word: str) -> str:
    """Write the pattern of a region, without what it leaves out."""
    pattern = region.pattern
    some = "" if region.is_exact else "some of the "
    if is_plain(pattern):
        return f"{word} {quoted(''.join(pattern))}"
    if pattern == EVERYTHING:
        if region.within:
            return f"{some}{word}s that {_reached_by(region.within)}"
        every = some or "all "
        return f"{every}{word}s" if not region.is_exact or region.but else f"any {word}"
    body = pattern[:-1]
    if pattern[0] == ONE_BUT_STAR:
        return f"{some}{word}s that do not start with *"
    if pattern[-1] == RUN and is_plain(body):
        return f"{some}{word}s that start with {quoted(''.join(body))}"
    return f"{some}{word}s like {pattern_words(pattern)}"


def _reached_by(patterns: Sequence[Symbols]) -> str:
    shown, more = _first_of(patterns)
    return (
        f"{shown} {'matches' if len(patterns) == 1 else 'match'}"
        if not more
        else (f"{shown} or {more:,} more match")
    )


def _left_out(patterns: Sequence[Symbols]) -> str:
    """Write what is left out: a name by itself, other patterns by what they reach."""
    if all(map(is_plain, patterns)):
        shown, more = _first_of(patterns)
        return f"{shown} or {more:,} more" if more else shown
    return f"those that {_reached_by(patterns)}"


def _first_of(patterns: Sequence[Symbols]) -> tuple[str, int]:
    """Write the first few of some patterns, and count the rest."""
    shown = list(map(pattern_words, patterns[:_FEW]))
    more = max(len(patterns) - _FEW, 0)
    if more:
        return ", ".join(shown), more
    return listed(shown, "or"), more
