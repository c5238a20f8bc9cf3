"""Hosts: an address as Java's ``InetAddress.getHostAddress()`` writes it.

The broker compares an ACL's host with that text, so ``::1`` in an ACL never matches anything:
Java writes ``0:0:0:0:0:0:0:1``.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final

from aclkit.errors import UsageError

_ZONE: Final = re.compile(r"[!-$&-+\-.0-~]+")
"""The name of a network interface: visible ASCII, without what separates hosts here."""


def canonical_host(text: str) -> str | None:
    """Return an address as Java writes it, or None when the text is no IP address.

    IPv6 is lower case, eight groups, no ``::`` and no leading zeros; an IPv4-mapped address is
    IPv4; a zone is kept.

    >>> canonical_host("::1"), canonical_host("::ffff:10.0.0.1"), canonical_host("localhost")
    ('0:0:0:0:0:0:0:1', '10.0.0.1', None)
    """
    address_text, percent, zone = text.partition("%")
    try:
        address = ipaddress.ip_address(address_text)
    except ValueError:
        return None
    if percent and not _ZONE.fullmatch(zone):
        return None
    if isinstance(address, ipaddress.IPv4Address):
        return None if percent else str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    groups = (f"{int(group, 16):x}" for group in address.exploded.split(":"))
    return ":".join(groups) + percent + zone


def parse_host(text: str) -> str:
    """Return the canonical text of a host that a person wrote.

    Raises:
        UsageError: the text is no IP address; brokers never see host names.
    """
    host = canonical_host(text)
    if host is None:
        raise UsageError(
            f"Invalid host {text!r}: expected an IP address such as 10.0.0.1 or ::1. Brokers "
            "compare addresses, never host names."
        )
    return host
