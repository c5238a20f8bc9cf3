"""Hosts that are decided alike → a few words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from aclkit.model.acl import ANY_OTHER

ANY_HOST: Final = "any"
_FEW: Final = 3


def few_hosts(hosts: Sequence[str], asked: Sequence[str]) -> str:
    """Write hosts that are decided alike: the others where they are few, or where any other is one.

    >>> few_hosts(["a", "b", "d", "e"], ["a", "b", "c", "d", "e"]), few_hosts("abcde", "abcdefghij")
    ('any but c', 'a, b, c and 2 more')
    >>> few_hosts(["<any-other>"], ["<any-other>", "a", "b"])
    'any but a, b'
    """
    if len(hosts) == len(asked):
        return ANY_HOST
    others = sorted(set(asked).difference(hosts))
    if others and (ANY_OTHER in hosts or (len(hosts) > _FEW and len(others) <= _FEW)):
        return f"any but {_listed(others)}"
    return _listed(hosts)


def _listed(hosts: Sequence[str]) -> str:
    more = len(hosts) - _FEW
    if more < 2:
        return ", ".join(hosts)
    return f"{', '.join(hosts[:_FEW])} and {more:,} more"


def hosts_words(hosts: str, known: Collection[str]) -> str:
    """Write the hosts of a row: ``*`` or names with commas between them."""
    if hosts == "*":
        return ANY_HOST
    return hosts if len(known) == 1 else few_hosts(hosts.split(","), sorted(known))
