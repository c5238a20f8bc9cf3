"""Random pairs of an ACL's host and a client's address, most of them at an edge of Kafka's reading.

A range is drawn first and then written in one of the ways there are, right or nearly right; its
addresses are those beside its ends. So what is asked does not depend on what aclkit reads.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from aclkit.model.cidr import IPV4, IPV6, Address
from aclkit.model.host import parse_host

OCTETS = (0, 0, 0, 1, 9, 10, 10, 100, 127, 128, 192, 254, 255, 255)
GROUPS = (0, 0, 0, 0, 1, 0xA, 0x10, 0xDB8, 0x2001, 0x64, 0xFE80, 0xFFFE, 0xFFFF)
MAPPED = 0xFFFF << 32
ZEROS = ("٠", "०", "০", "０", "𝟎")
"""Zeros of some scripts, the digits of which follow; the last one lies beyond 16 bits."""

ZONES = ("%1", "%7", "%0", "%00", "%nope", "%", "%1%2", "%-1", "%+1", "%2147483647", "%2147483648",
         "%4294967297", "%0000000000000001")  # fmt: skip
"""Numbers, and names that no interface has: others depend on the machine."""

SLIPS = (*"0123456789aAfFgGxX:./%[]+-*?_,#\\ \t\n\0\u00a0\u2028é", "::", "//", "٣", "\ud800", "")


def random_pairs(seed: int, addresses: int = 5) -> Iterator[tuple[str, str]]:
    """Yield pairs without end, the same for the same seed: host of an ACL, address as Java's."""
    rng = random.Random(seed)
    while True:
        bits = rng.choice((IPV4, IPV6))
        number = _number(rng, bits)
        mask = rng.choice((0, 1, bits - 1, bits, *[rng.randint(0, bits)] * 4))
        host = _slipped(rng, _written(rng, bits, number, mask))
        near = [_near(rng, bits, number, mask) for _ in range(addresses)]
        yield from ((host, address) for address in near)


def _number(rng: random.Random, bits: int) -> int:
    """Return an address with many zeros and ones, now and then one that stands for IPv4."""
    of_ipv4 = int.from_bytes(bytes(rng.choices(OCTETS, k=4)))
    if bits == IPV4:
        return of_ipv4
    chance = rng.random()
    if chance < 0.1:
        return MAPPED | of_ipv4
    if chance < 0.2:
        return of_ipv4
    return int.from_bytes(b"".join(g.to_bytes(2) for g in rng.choices(GROUPS, k=8)))


def _near(rng: random.Random, bits: int, number: int, mask: int) -> str:
    """Return an address at an end of the range, beyond it, or of the other family."""
    below = bits - mask
    first = number >> below << below
    last = first | (1 << below) - 1
    flipped = number ^ 1 << rng.randrange(bits)
    within = first | rng.getrandbits(bits) & last
    found = rng.choice((first, last, first - 1, last + 1, first + 1, last - 1, number, flipped,
                        within, within, 0, 1, -1))  # fmt: skip
    if rng.random() < 0.06:
        bits = IPV6 if bits == IPV4 else IPV4
    found &= (1 << bits) - 1
    if bits == IPV6 and found >> 32 == 0xFFFF:
        return parse_host(f"::ffff:{Address(IPV4, found & 0xFFFFFFFF)}")
    zone = f"%{rng.randint(1, 9)}" if bits == IPV6 and rng.random() < 0.1 else ""
    return f"{Address(bits, found)}{zone}"


def _written(rng: random.Random, bits: int, number: int, mask: int) -> str:
    """Write a range in one of the ways that there are."""
    if bits == IPV4:
        text = _ipv4(rng, number)
    else:
        text = _ipv6(rng, number)
        if rng.random() < 0.15:
            text += rng.choice(ZONES)
        if rng.random() < 0.15:
            text = f"[{text}]"
    return f"{text}/{_mask(rng, mask)}"


def _ipv4(rng: random.Random, number: int) -> str:
    octets = [str(octet) for octet in number.to_bytes(4)]
    if rng.random() < 0.2:
        octets = [octet.zfill(rng.randint(1, 4 if rng.random() < 0.1 else 3)) for octet in octets]
    return ".".join(octets)


def _ipv6(rng: random.Random, number: int) -> str:
    """Write eight groups, or less of them: a gap for some zeros, an IPv4 address at the end."""
    groups = [f"{number >> place & 0xFFFF:x}" for place in range(112, -1, -16)]
    if rng.random() < 0.2:
        groups = [group.zfill(rng.choice((1, 2, 4, 4, 5, 9))) for group in groups]
    if rng.random() < 0.2:
        groups[6:] = [_ipv4(rng, number & 0xFFFFFFFF)]
    starts = [at for at, group in enumerate(groups) if not group.strip("0")]
    if not starts or rng.random() < 0.2:
        text = ":".join(groups)
    else:
        start = end = rng.choice(starts)
        while end in starts and (end == start or rng.random() < 0.9):
            end += 1
        text = f"{':'.join(groups[:start])}::{':'.join(groups[end:])}"
    return text.upper() if rng.random() < 0.1 else text


def _mask(rng: random.Random, mask: int) -> str:
    chance = rng.random()
    if chance < 0.75:
        return str(mask)
    zero = ord(rng.choice(ZEROS))
    others = (
        f"+{mask}", f"-{mask}", f"0{mask}", f"00{mask}", f" {mask}", f"{mask} ", "", "+", "-0",
        "33", "129", "2147483647", "2147483648", "-2147483648", "4294967296", "9" * 30,
        "0" * 30 + str(mask), f"{mask:x}", f"{mask}.0", f"{mask}/{mask}", f"{mask}%1",
        *["".join(chr(zero + int(digit)) for digit in str(mask))] * 4,
    )  # fmt: skip
    return rng.choice(others)


def _slipped(rng: random.Random, text: str) -> str:
    """Return the text, now and then with a slip or two."""
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(SLIPS) + text[at + rng.randint(0, 2) :]
    return text or "/"
