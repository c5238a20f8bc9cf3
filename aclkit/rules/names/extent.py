"""Patterns, and the ACLs that answer a request → all their names are allowed, some, none. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple

from aclkit.rules.names.budget import Budget
from aclkit.rules.names.domain import Domain
from aclkit.rules.names.symbols import Symbols
from aclkit.rules.names.target import Classifier

ALL: Final = "all"
SOME: Final = "some"
NONE: Final = "none"
UNKNOWN: Final = "unknown"


class Extent(NamedTuple):
    """How many of some names are allowed, proven for every one of them.

    Attributes:
        word: ``ALL``, ``SOME``, ``NONE``; ``UNKNOWN`` where the budget ended first.
        allowed: the shortest name that is allowed, None where none was found.
        denied: the shortest that is denied, in the same way.
    """

    word: str
    allowed: str | None = None
    denied: str | None = None


def find_extent(
    within: Iterable[Symbols],
    allow: Iterable[Symbols],
    deny: Iterable[Symbols],
    domain: Domain,
    budget: Budget,
    *,
    but: Iterable[Symbols] = (),
    anybody: Iterable[Symbols] | None = None,
) -> Extent:
    """Ask of how many names that match a pattern a request is allowed.

    Args:
        within: a name matches one of these,
        allow: of the ALLOWs that answer the request,
        deny: of the DENYs that do.
        domain: the names there are.
        budget: what may be spent.
        but: a name matches none of these.
        anybody: of all ACLs, where what none of them reaches is allowed.
    """
    groups = [within, but, allow, deny, () if anybody is None else anybody]
    found = budget.find(groups, domain, _sides(is_open=anybody is not None))
    allowed, denied = found.names.get(ALL), found.names.get(NONE)
    if allowed is not None and denied is not None:
        return Extent(SOME, allowed, denied)
    if not found.is_complete:
        return Extent(UNKNOWN, allowed, denied)
    return Extent(NONE if allowed is None else ALL, allowed, denied)


@cache
def _sides(*, is_open: bool) -> Classifier:
    def sort(flags: int) -> str | None:
        is_within, is_out, is_allow, is_deny, is_reached = (bool(flags >> at & 1) for at in _GROUPS)
        if not is_within or is_out:
            return None
        return ALL if not is_deny and (is_allow or (is_open and not is_reached)) else NONE

    return Classifier(len(_GROUPS), sort)


_GROUPS: Final = range(5)
