"""Ranges spelled out: rows of symbols that match what the range holds."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from aclkit.model.cidr import IPV4, IPV6, Address, Range, parse_range
from aclkit.model.semantics import KIP_1042
from aclkit.rules.names.cover import covers
from aclkit.rules.names.domain import HOSTS
from aclkit.rules.names.question import Budget, Question
from aclkit.rules.names.rows import count_rows, of_host, rows_of_range
from aclkit.rules.names.target import Classifier

RANGES = replace(KIP_1042, cidr_hosts=True)
_NEVER = Classifier(2, lambda flags: flags == 0b01 or None)


def draw(chance: random.Random) -> Range:
    """Draw a range, often one near to zero."""
    bits = chance.choice([IPV4, IPV6])
    number = chance.getrandbits(bits) >> chance.choice([0, 0, bits // 2, bits - 8])
    mask = chance.randint(0, bits)
    if bits == IPV6 and mask > 112:
        mask = chance.choice([120, 125, 128])
    return Range(bits, number >> (bits - mask) << (bits - mask), mask)


@pytest.mark.parametrize("seed", range(60))
def test_rows_match_the_addresses_of_the_range_alone(seed: int) -> None:
    chance = random.Random(seed)
    given = draw(chance)
    rows = rows_of_range(given)
    assert len(rows) <= count_rows(given)
    question, held = Question([rows], HOSTS), []
    near = [0, 1, 255, 256, 65_535, 65_536, given.network - 1, given.last + 1]
    inside = [given.network, given.network + 1, given.last, (given.network + given.last) // 2]
    for number in (*near, *inside, chance.getrandbits(given.bits)):
        for bits in (IPV4, IPV6):
            if 0 <= number < 1 << bits and HOSTS.holds(host := str(Address(bits, number))):
                held.append(given.holds(host))
                assert bool(question.flags_of(host)) == given.holds(host), host
                if bits == IPV6:
                    assert bool(question.flags_of(f"{host}%eth0")) == given.holds(host)
    assert held


def test_ranges_and_globs_cover_each_other() -> None:
    def is_covered(wide: list[str], narrow: list[str]) -> bool | None:
        rows = [[of_host(text, RANGES) for text in texts] for texts in (wide, narrow)]
        return covers(*rows, HOSTS, Budget())

    assert is_covered(["10.*"], ["10.0.0.0/8"])
    assert is_covered(["10.0.0.0/8"], ["10.?.*.*"])
    assert is_covered(["0.0.0.0/0", "0.0.0.0", "::/0"], ["*"])
    assert is_covered(["10.0.0.0/9", "10.128.0.0/9"], ["10.0.0.0/8"])
    assert is_covered(["0.0.0.0/0", "::/0"], ["*"]) is False
    assert is_covered(["10.0.0.0/9"], ["10.*"]) is False
    assert is_covered(["10.1*"], ["10.0.0.0/8"]) is False


def test_what_would_take_too_many_rows_is_not_known() -> None:
    wide = parse_range("2001:db8::/113")
    assert wide is not None
    rows = [[of_host("2001:db8::/113", RANGES)], [of_host("2001:*", RANGES)]]
    found = Budget().find(rows, HOSTS, _NEVER)
    assert not found.is_complete
    assert Question(rows, HOSTS).flags_of("2001:db8:0:0:0:0:0:7fff") == 0b11
    assert Question(rows, HOSTS).flags_of("2001:db8:0:0:0:0:0:8000") == 0b10
