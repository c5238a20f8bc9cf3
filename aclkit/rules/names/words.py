"""Patterns, classes and regions → English. Pure.

Names come from strangers: who prints these words makes them visible first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.openings import Opening, Party
from aclkit.rules.names.region import Region
from aclkit.rules.names.symbols import (
    EVERYTHING,
    ONE,
    ONE_BUT_COLON,
    ONE_BUT_STAR,
    RUN,
    RUN_BUT_COLON,
    Symbols,
    is_plain,
    start_of,
)

_WILDCARDS: Final = {ONE: "?", ONE_BUT_COLON: "?", ONE_BUT_STAR: "?", RUN: "*", RUN_BUT_COLON: "*"}
_NOUNS: Final = {
    "TOPIC": ("topic", "topics"),
    "GROUP": ("group", "groups"),
    "TRANSACTIONAL_ID": ("transactional id", "transactional ids"),
    "DELEGATION_TOKEN": ("delegation token", "delegation tokens"),
    "USER": ("user", "users"),
}
_FEW: Final = 3
"""So many of a list are shown, the rest is counted."""


def pattern_text(symbols: Symbols) -> str:
    """Write a pattern as people write globs."""
    return "".join(_WILDCARDS.get(symbol, symbol) for symbol in symbols)


def region_words(region: Region, resource_type: str) -> str:
    """Tell which names a region is, and the shortest of them.

    "Any" is said only where nothing is left out.
    """
    if resource_type == "CLUSTER":
        return "the cluster"
    if not region.is_exact:
        some = _some(region.pattern, resource_type)
        return f"some of the {some}; the shortest: `{region.shortest}`"
    parts = [_names(region, resource_type)]
    if region.within:
        parts.append(f"that {_listed(region.within, 'or')} reaches too")
    if region.but:
        verb = "reaches" if len(region.but) == 1 else "reach"
        parts.append(f"but not those that {_listed(region.but, 'and')} {verb}")
    words = ", ".join(parts)
    return words if is_plain(region.pattern) else f"{words}; the shortest: `{region.shortest}`"


def opening_words(opening: Opening) -> str:
    """Tell who gains or loses what on which names."""
    who = "; ".join(party_words(party, opening.resource_type) for party in opening.parties[:_FEW])
    if len(opening.parties) > _FEW:
        who += f" and {len(opening.parties) - _FEW:,} more such sets of operations"
    return f"{who}, on {names_words(opening)}"


def names_words(opening: Opening) -> str:
    """Tell which names an opening is about."""
    regions = opening.regions
    if not regions:
        return f"names of which the shortest is `{opening.change.name}`"
    words = ", and ".join(region_words(region, opening.resource_type) for region in regions[:_FEW])
    rest = len(regions) - _FEW
    return words if rest <= 0 else f"{words}, and {rest:,} more regions"


def party_words(party: Party, resource_type: str) -> str:
    """Tell for whom, from where, which operations."""
    every = len(party.operations) == len(OPERATIONS_OF_TYPE[resource_type])
    operations = "every operation" if every else ", ".join(party.operations)
    who = _few([principal_words(each) for each in party.principals])
    return f"{operations} for {who} from {_few([host_words(each) for each in party.hosts])}"


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
        verb = "matches" if len(globs) == 1 else "match"
        return f"{noun}s that {_listed(globs, 'and')} {verb} (such as {of.name})"
    return f"any {noun}" if of.is_all else f"any other {noun} (such as {of.name})"


def _names(region: Region, resource_type: str) -> str:
    one, several = _NOUNS[resource_type]
    if is_plain(region.pattern):
        return f"the {one} `{region.shortest}`"
    if region.pattern == EVERYTHING:
        return f"all {several}" if region.but or region.within else f"any {one}"
    return _some(region.pattern, resource_type)


def _some(pattern: Symbols, resource_type: str) -> str:
    several = _NOUNS[resource_type][1]
    if pattern == EVERYTHING:
        return several
    if pattern[-1] == RUN and is_plain(pattern[:-1]):
        return f"{several} that start with `{start_of(pattern)}`"
    return f"{several} like `{pattern_text(pattern)}`"


def _listed(patterns: Sequence[Symbols], word: str) -> str:
    """Write patterns as a list: a few of them, the rest counted."""
    shown = [f"`{pattern_text(each)}`" for each in patterns[:_FEW]]
    if len(patterns) > _FEW:
        shown.append(f"{len(patterns) - _FEW:,} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {word} {shown[-1]}"


def _few(words: Iterable[str]) -> str:
    listed = list(words)
    shown = ", ".join(listed[:_FEW])
    return shown if len(listed) <= _FEW else f"{shown} and {len(listed) - _FEW:,} more"
