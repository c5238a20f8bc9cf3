"""Hosts that are ranges (KIP-1276): CIDR text ↔ range of addresses, as Kafka 4.4.0 reads it. Pure.

No library reads ranges this way, so this follows Kafka's code exactly: ``CidrUtils``, which uses
Commons Net's ``SubnetUtils`` for IPv4 and Java's ``InetAddress`` for IPv6. A text that does not
parse matches nothing and raises nothing.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import Final, NamedTuple

from aclkit.model.acl import ANY_OTHER

IPV4, IPV6 = 32, 128
"""How many bits an address has."""

_OCTETS: Final = r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})"
_IPV4: Final = re.compile(_OCTETS)
_IPV4_RANGE: Final = re.compile(_OCTETS + "/([0-9]{1,2})")
_IPV4_TAIL: Final = re.compile(r"(?=.{,15}\Z)([0-9]+)\.([0-9]+)\.([0-9]+)\.([0-9]+)")
"""Where an IPv6 address ends so, Java looks at the length of it all and not at each octet's."""

_HEX: Final = frozenset("0123456789abcdefABCDEF")
_INTERFACE: Final = re.compile(r"([0-9]+)|(lo)|eth[0-9]+")
"""The zones that a range may have: see ``parse_range``."""
_ZONE: Final = re.compile(r"%[^/\]]+(?=\]?/)")

_LINK_LOCAL, _SITE_LOCAL = 0xFE80 >> 6, 0xFEC0 >> 6
"""The first ten bits of addresses to which an interface has to have one that is alike."""

_MAPPED: Final = 0xFFFF
_TOO_LARGE: Final = 1 << 31
_START: Final = f"{ANY_OTHER[:-1]} in "
_KNOWN: Final = 65_536


class Address(NamedTuple):
    """An address: how many bits it has, and its number."""

    bits: int
    number: int

    def __str__(self) -> str:
        """Write it as Java does."""
        if self.bits == IPV4:
            return str(ipaddress.IPv4Address(self.number))
        return ":".join(f"{self.number >> place & 0xFFFF:x}" for place in range(112, -1, -16))


class Range(NamedTuple):
    """The addresses that share their first bits.

    Attributes:
        bits: how many an address has.
        network: the number of the first address; the bits below the mask are zero.
        mask: how many bits are shared.
    """

    bits: int
    network: int
    mask: int

    @property
    def first(self) -> int:
        """Return the first address in it: 0.0.0.0 is in no range (``SubnetUtils``)."""
        return 1 if self.bits == IPV4 and self.network == 0 else self.network

    @property
    def last(self) -> int:
        """Return the last address, below the first one where there is none (0.0.0.0/32)."""
        return self.network | ((1 << (self.bits - self.mask)) - 1)

    @property
    def is_single(self) -> bool:
        """Whether it shares all bits: a way of writing one address."""
        return self.mask == self.bits

    def holds(self, text: str) -> bool:
        """Whether a client's address is in the range; a zone of the address does not matter."""
        address = parse_address(text)
        if address is None or address.bits != self.bits:
            return False
        return self.first <= address.number <= self.last

    def contains(self, other: Range) -> bool:
        """Whether another range is the same or lies within; ranges never overlap otherwise."""
        return (
            self.bits == other.bits
            and self.mask <= other.mask
            and self.network <= other.network <= self.last
        )

    def __str__(self) -> str:
        """Write it in its one usual way, which ``parse_range`` reads."""
        if self.bits == IPV4:
            return f"{Address(IPV4, self.network)}/{self.mask}"
        return f"{ipaddress.IPv6Address(self.network)}/{self.mask}"


@lru_cache(maxsize=_KNOWN)
def parse_range(text: str) -> Range | None:
    """Return the range that an ACL's host means to a broker of 4.4, None where it means none.

    Bits below the mask are ignored. A zone has to exist on the broker's machine, and no other
    machine can check that. A number is assumed to exist, as in Java, and so are ``lo`` and ``eth``
    with a number. Java also wants an address of the same kind there, and ``lo`` has no local one.

    >>> str(parse_range("10.1.2.3/08")), parse_range("10.0.0.0/008"), parse_range("10.0.0.1")
    ('10.0.0.0/8', None, None)
    """
    found = _read_range(text)
    return found if isinstance(found, Range) else None


def why_no_range(text: str) -> str | None:
    """Return why a text is no range, in the words of Kafka's controller; None where it is one.

    >>> why_no_range("10.0.0.0/33"), why_no_range("10.0.0.0/8")
    ('Value [33] not in range [0,32]', None)
    """
    found = _read_range(text)
    return found if isinstance(found, str) else None


def has_unknown_zone(text: str) -> bool:
    """Whether a text is a range only where the broker's machine has the interface that it names.

    >>> has_unknown_zone("fe80::%bond0/10"), has_unknown_zone("fe80::%eth0/10")
    (True, False)
    """
    without = _ZONE.sub("", text)
    return without != text and parse_range(text) is None and parse_range(without) is not None


@lru_cache(maxsize=_KNOWN)
def parse_address(text: str) -> Address | None:
    """Return a client's address, None where the text is none."""
    address = _ipv6(text.partition("%")[0]) if ":" in text else _ipv4(text)
    return None if address is not None and _is_mapped(address) else address


def any_other_in(within: Range) -> str:
    """Return the name of what a range holds and no ACL names more narrowly.

    It is no address, and no ACL's host means it, whatever its text.
    """
    return f"{_START}{within}>"


@lru_cache(maxsize=_KNOWN)
def range_of_any_other(host: str) -> Range | None:
    """Return the range of a name that ``any_other_in`` made, None for any other host."""
    if not host.startswith(_START) or not host.endswith(">"):
        return None
    found = parse_range(host[len(_START) : -1])
    return found if found is not None and any_other_in(found) == host else None


def is_any_other(host: str) -> bool:
    """Whether a host of the inventory stands for addresses that no ACL names."""
    return host == ANY_OTHER or host.startswith(_START)


def _read_range(text: str) -> Range | str:
    """Return a range, or why a text is none, by the first check of Kafka's that it fails."""
    return _read_ipv6_range(text) if ":" in text else _read_ipv4_range(text)


def _read_ipv4_range(text: str) -> Range | str:
    found = _IPV4_RANGE.fullmatch(text)
    if found is None:
        return f"Could not parse [{text}]"
    *octets, mask = map(int, found.groups())
    for value, most in (*((octet, 255) for octet in octets), (mask, IPV4)):
        if value > most:
            return f"Value [{value}] not in range [0,{most}]"
    return _range_of(Address(IPV4, int.from_bytes(bytes(octets))), mask)


def _read_ipv6_range(text: str) -> Range | str:
    written, slash, mask_text = text.partition("/")
    if not slash:
        return f"Could not parse [{text}] - missing prefix length"
    mask = _parse_int(mask_text)
    if mask is None:
        return f"Could not parse [{text}] - invalid prefix length"
    if not 0 <= mask <= IPV6:
        return f"Could not parse [{text}] - prefix length must be between 0 and {IPV6}"
    address = _ipv6_of_range(written)
    if address is None:
        return f"Could not parse [{written}]"
    if _is_mapped(address):
        return f"Could not parse [{written}] - not an IPv6 address"
    return _range_of(address, mask)


def _range_of(address: Address, mask: int) -> Range:
    below = address.bits - mask
    return Range(address.bits, address.number >> below << below, mask)


def _is_mapped(address: Address) -> bool:
    """Whether an IPv6 address stands for an IPv4 address: Java writes it so."""
    return address.bits == IPV6 and address.number >> 32 == _MAPPED


def _ipv4(text: str, form: re.Pattern[str] = _IPV4) -> Address | None:
    """Read four decimal octets; leading zeros make nothing octal."""
    found = form.fullmatch(text)
    octets = [int(octet) for octet in found.groups()] if found else []
    if not octets or max(octets) > 255:
        return None
    return Address(IPV4, int.from_bytes(bytes(octets)))


def _ipv6_of_range(text: str) -> Address | None:
    if text.startswith("["):
        if not text.endswith("]"):
            return None
        text = text[1:-1]
    text, percent, zone = text.partition("%")
    address = _ipv6(text)
    if address is None or not percent:
        return address
    # Java takes what stands for an IPv4 address with a zone for no address at all.
    return None if _is_mapped(address) or not _has_zone(address, zone) else address


def _has_zone(address: Address, zone: str) -> bool:
    """Whether Java finds a zone for an address, on a machine as most are."""
    found = _INTERFACE.fullmatch(zone)
    if found is None:
        return False
    number, loopback = found.groups()
    if number:
        return _parse_int(number) is not None
    kind = address.number >> 118
    return kind != _SITE_LOCAL and not (loopback and kind == _LINK_LOCAL)


def _ipv6(text: str) -> Address | None:
    """Read an IPv6 address as Java does."""
    before, gap, after = text.partition("::")
    groups = _groups(before, is_last=not gap)
    rest = _groups(after, is_last=True) if gap else []
    if groups is None or rest is None:
        return None
    missing = 8 - len(groups) - len(rest)
    if missing < 0 or (missing > 0) != bool(gap):
        return None
    number = 0
    for group in (*groups, *[0] * missing, *rest):
        number = number << 16 | group
    return Address(IPV6, number)


def _groups(text: str, *, is_last: bool) -> list[int] | None:
    """Read groups of hexadecimal digits; the last two may be an IPv4 address."""
    if not text:
        return []
    *parts, last = text.split(":")
    tail: list[int] = []
    if is_last and "." in last:
        address = _ipv4(last, _IPV4_TAIL)
        if address is None:
            return None
        tail = [address.number >> 16, address.number & 0xFFFF]
    else:
        parts.append(last)
    groups = [_group(part) for part in parts]
    return None if None in groups else [*(g for g in groups if g is not None), *tail]


def _group(text: str) -> int | None:
    """Read one group; leading zeros may be many."""
    digits = text.lstrip("0")
    if not text or len(digits) > 4 or not _HEX.issuperset(digits):
        return None
    return int(digits or "0", 16)


def _parse_int(text: str) -> int | None:
    """Read a mask as Java's ``Integer.parseInt``: a sign, 32 bits, and the digits of any script."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits or not digits.isdecimal() or max(digits) > "\uffff":
        return None
    number = 0
    for digit in digits:
        number = min(number * 10 + int(digit), 2 * _TOO_LARGE)
    number = -number if text[0] == "-" else number
    return number if -_TOO_LARGE <= number < _TOO_LARGE else None
