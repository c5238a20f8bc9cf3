"""Hosts that are decided alike → a few words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

ANY_HOST: Final = "any"
_FEW: Final = 3


def few_hosts(hosts: Sequence[str], asked: Sequence[str]) -> str:
    """Write hosts that are decided alike: the few others where they are most of those asked about.

    >>> few_hosts(["a", "b", "d", "e"], ["a", "b", "c", "d", "e"]), few_hosts("abcde", "abcdefghij")
    ('any but c', 'a, b, c and 2 more')
    """
    if len(hosts) == len(asked):
        return ANY_HOST
    if len(hosts) > _FEW and 0 < len(asked) - len(hosts) <= _FEW:
        return f"any but {', '.join(sorted(set(asked).difference(hosts)))}"
    more = len(hosts) - _FEW
    if more < 2:
        return ", ".join(hosts)
    return f"{', '.join(hosts[:_FEW])} and {more:,} more"


def hosts_words(hosts: str, known: Collection[str]) -> str:
    """Write the hosts of a row: ``*`` or names with commas between them."""
    if hosts == "*":
        return ANY_HOST
    return hosts if len(known) == 1 else few_hosts(hosts.split(","), sorted(known))
