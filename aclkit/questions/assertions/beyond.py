"""An assertion and ACLs → principals, hosts and resources of no inventory that it means. Pure.

They are what the assertion or an ACL names letter by letter, and for each pattern of the assertion
names that stand for those to come, see ``stand_ins``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.questions.assertions.match import (
    means_host,
    means_principal,
    means_resource,
    symbols_of,
)
from aclkit.questions.assertions.model import Assertion, Pattern, ResourcePattern, What, Who
from aclkit.questions.assertions.stand_ins import Dimension, Ground, StandIn
from aclkit.questions.preview.overlap import Symbols, overlap
from aclkit.rules.patterns.cover import ANY_RUN
from aclkit.rules.patterns.match import GLOB, LITERAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Beyond:
    """Names of no inventory.

    Attributes:
        principals: who.
        hosts: from where.
        resources: on what.
        endless: those of the principals that stand for any number of them.
    """

    principals: tuple[str, ...]
    hosts: tuple[str, ...]
    resources: tuple[Resource, ...]
    endless: frozenset[str]


def find_beyond(assertion: Assertion, ground: Ground) -> Beyond:
    """Find the names beyond an inventory that an assertion is about.

    Of one that is about the inventory only, they are those that it says letter by letter.
    """
    who, is_narrow = assertion.who, assertion.inventory_only
    principals = dict(_principals(who, ground.principals, is_narrow=is_narrow))
    hosts: dict[str, None] = {}
    resources: dict[Resource, None] = {}
    for what in assertion.duties:
        hosts |= dict.fromkeys(_hosts(what, ground.hosts, is_narrow=is_narrow))
        resources |= dict.fromkeys(_resources(what, ground, is_narrow=is_narrow))
    return Beyond(
        principals=tuple(principals),
        hosts=tuple(hosts),
        resources=tuple(resources),
        endless=frozenset(name for name, is_endless in principals.items() if is_endless),
    )


_EVERYTHING: Final = Pattern(GLOB, "*")
_ALL_RESOURCES: Final = tuple(ResourcePattern(kind, _EVERYTHING) for kind in OPERATIONS_OF_TYPE)
_WITH_COLON: Final = (ANY_RUN, ":", ANY_RUN)


def _principals(who: Who, known: Dimension, *, is_narrow: bool) -> Iterator[StandIn]:
    # ``only`` is about everybody else, and about those who are taken from its exceptions.
    patterns = (_EVERYTHING, *who.but) if who.is_inverted else who.names or (_EVERYTHING,)
    return _names(
        patterns,
        known,
        partial(means_principal, who, is_super_user=False),
        is_narrow=is_narrow,
        symbols=_principal_symbols,
    )


def _principal_symbols(pattern: Pattern) -> Symbols | None:
    """Leave only principals of what a pattern means: they have a colon."""
    mine = symbols_of(pattern)
    return mine if ":" in mine else overlap(mine, _WITH_COLON)


def _hosts(what: What, known: Dimension, *, is_narrow: bool) -> Iterator[str]:
    found = _names(
        what.hosts or (_EVERYTHING,), known, partial(means_host, what), is_narrow=is_narrow
    )
    return (host for host, _ in found)


def _resources(what: What, ground: Ground, *, is_narrow: bool) -> Iterator[Resource]:
    for pattern in what.names or _ALL_RESOURCES:
        of_type = partial(Resource, pattern.resource_type)
        found = _names(
            [pattern.name],
            ground.resources[pattern.resource_type],
            partial(_is_meant, what, of_type),
            is_narrow=is_narrow,
        )
        yield from (of_type(name) for name, _ in found)


def _is_meant(what: What, of_type: Callable[[str], Resource], name: str) -> bool:
    return means_resource(what, of_type(name))


def _names(
    patterns: Iterable[Pattern],
    known: Dimension,
    is_meant: Callable[[str], bool],
    *,
    is_narrow: bool,
    symbols: Callable[[Pattern], Symbols | None] = symbols_of,
) -> Iterator[StandIn]:
    for pattern in patterns:
        if pattern.pattern_type == LITERAL:
            if pattern.text not in known.taken and is_meant(pattern.text):
                yield StandIn(pattern.text, is_endless=False)
        elif not is_narrow and (mine := symbols(pattern)):
            yield from known.within(mine, is_meant)
