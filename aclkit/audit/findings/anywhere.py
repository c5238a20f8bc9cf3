"""Hosts of ACLs → whether they are as good as any host, and in words what they leave out. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from aclkit.model.cidr import IPV4, IPV6
from aclkit.model.semantics import Semantics
from aclkit.rules.patterns.match import is_any_host, range_of_host

_EVERY: Final = 0


def is_anywhere(host: str, semantics: Semantics) -> bool:
    """Whether an ACL's host is any host, or a range of all addresses of IPv4 or of IPv6."""
    return _bits(host, semantics) is not None


def anywhere_words(hosts: Iterable[str], semantics: Semantics) -> str:
    """Name the addresses of such hosts: IPv4 and IPv6 differ, and 0.0.0.0 is in no range."""
    kinds = {_bits(host, semantics) for host in hosts}
    named = " or ".join(_NAMES[bits] for bits in _NAMES if bits in kinds)
    alone = _LEFT_OUT[kinds.pop()] if len(kinds) == 1 else ""
    return f"{named}{alone}"


def _bits(host: str, semantics: Semantics) -> int | None:
    """Return the length of the addresses that a host has all of, ``_EVERY`` for any host."""
    meant = range_of_host(host, semantics)
    if meant is not None:
        return meant.bits if meant.mask == 0 else None
    return _EVERY if is_any_host(host, semantics) else None


_NAMES: Final[dict[int | None, str]] = {
    _EVERY: "any host",
    IPV4: "any IPv4 address except 0.0.0.0",
    IPV6: "any IPv6 address",
}
_LEFT_OUT: Final[dict[int | None, str]] = {
    _EVERY: "",
    IPV4: " (no IPv6 address)",
    IPV6: " (no IPv4 address)",
}
