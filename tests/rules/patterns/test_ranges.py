"""Ranges: which hold a host, and the atoms that they cut out."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER
from aclkit.model.cidr import IPV4, Address, Range, parse_range
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.rules.names.classes import classes_of_hosts
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import of_host
from aclkit.rules.patterns.identity import (
    atoms_of,
    hosts_outside,
    index_hosts,
    outermost,
    ranges_holding,
)
from aclkit.rules.patterns.match import (
    NAME_RANGE,
    host_can_match,
    host_matches,
    host_specificity,
    is_any_host,
    is_malformed_range,
)

RANGES = replace(KAFKA, cidr_hosts=True)
BOTH = replace(KIP_1042, cidr_hosts=True)


def ranges(*texts: str) -> list[Range]:
    """Read ranges."""
    return [found for text in texts if (found := parse_range(text))]


def small(chance: random.Random) -> Range:
    """Draw a range of few addresses: some of 0.0.0.0/26 in IPv4."""
    mask = chance.randint(26, 32)
    below = 32 - mask
    return Range(IPV4, chance.randint(0, 63) >> below << below, mask)


@pytest.mark.parametrize("seed", range(40))
def test_atoms_cut_addresses_as_ranges_do(seed: int) -> None:
    """Each address is in the atom of the narrowest range that holds it, and in no other one."""
    chance = random.Random(seed)
    given = [small(chance) for _ in range(chance.randint(1, 12))]
    atoms = atoms_of(given)
    assert len(atoms) == len(set(given))
    in_atom = {host: atom.range for atom in atoms for host in atom.hosts()}
    assert sum(1 for atom in atoms for _ in atom.hosts()) == len(in_atom)
    for number in range(64):
        host = str(Address(IPV4, number))
        holding = [each for each in given if each.holds(host)]
        narrowest = max(holding, key=lambda each: each.mask, default=None)
        assert in_atom.get(host) == narrowest, host
        masks = {(each.bits, each.mask) for each in given}
        assert set(ranges_holding(host, masks)) & set(given) == set(holding)


def test_an_atom_says_what_it_leaves_out() -> None:
    inner = [f"10.{number}.0.0/16" for number in range(5)]
    wide, *_ = atoms_of(ranges("10.0.0.0/8", *inner, "10.1.2.0/24"))
    assert str(wide) == "10.0.0.0/8 without 10.0.0.0/16, 10.1.0.0/16, 10.2.0.0/16 and 2 more"
    assert wide.name == "<any-other in 10.0.0.0/8>"


def test_named_addresses_are_in_no_atom() -> None:
    (atom,) = atoms_of(ranges("10.0.0.0/30"))
    assert list(atom.hosts({"10.0.0.2"})) == ["10.0.0.1", "10.0.0.3", "10.0.0.0"]


def test_an_ipv6_address_has_another_for_each_zone() -> None:
    (atom,) = atoms_of(ranges("::1/128"))
    first, named = "0:0:0:0:0:0:0:1", {"0:0:0:0:0:0:0:1", "0:0:0:0:0:0:0:1%1"}
    assert next(atom.hosts()) == first
    assert next(atom.hosts(named)) == f"{first}%2"


def test_what_java_writes_as_ipv4_is_in_no_ipv6_range() -> None:
    (atom,) = atoms_of(ranges("::fffe:0:0/95"))
    below, above = 0xFFFE << 32, 0xFFFF << 32
    hosts = list(islice(atom.hosts(), 3))
    assert hosts[0] == str(Address(128, below + 1))
    assert not list(atoms_of([Range(128, above, 127)])[0].hosts())


def test_outside_of_all_ranges_are_other_addresses() -> None:
    half = ranges("0.0.0.0/1", "128.0.0.0/2", "10.0.0.0/8")
    assert list(map(str, outermost(half))) == ["0.0.0.0/1", "128.0.0.0/2"]
    assert next(hosts_outside(half, ())) == "192.0.0.0"
    assert next(hosts_outside(half, {"192.0.0.0"})) == "192.0.0.1"
    assert next(hosts_outside(ranges("0.0.0.0/0"), ())) == "0:0:0:0:0:0:0:0"
    assert list(hosts_outside(ranges("0.0.0.0/0", "::/0"), ())) == ["0.0.0.0"]
    assert list(hosts_outside(ranges("0.0.0.0/0", "::/0"), ["0.0.0.0"])) == []


def test_without_the_setting_a_range_is_a_text() -> None:
    assert not host_matches("10.0.0.0/8", "10.1.1.1", KAFKA)
    assert not host_can_match("10.0.0.0/8", KAFKA)
    assert host_matches("10.0.0.0/8", "10.1.1.1", RANGES)
    assert host_can_match("10.0.0.0/8", RANGES)
    assert not host_can_match("0.0.0.0/32", RANGES)
    assert not host_can_match("10.0.0.0/33", RANGES)


def test_no_range_is_every_host() -> None:
    for text in ("0.0.0.0/0", "::/0"):
        assert not is_any_host(text, BOTH)
        assert not host_matches(text, ANY_OTHER, BOTH)


def test_an_atom_is_in_its_range_and_those_around_it() -> None:
    inside = "<any-other in 10.1.0.0/16>"
    for text in ("10.1.0.0/16", "10.9.9.9/8", "*"):
        assert host_matches(text, inside, RANGES)
    for text in ("10.1.1.0/24", "10.2.0.0/16", "::/0", inside, "10.1.0.0", "10.1.*"):
        assert not host_matches(text, inside, RANGES)
    assert host_matches("**", inside, BOTH)
    assert not host_matches("<*", inside, BOTH)
    assert not host_matches("10.1.*", inside, BOTH)


def test_a_narrower_range_is_more_specific_between_addresses_and_globs() -> None:
    ranking = ["10.1.1.1", "10.1.1.0/24", "10.1.0.0/16", "0.0.0.0/0", "10.1.1.?", "*"]
    keys = [host_specificity(text, BOTH) for text in ranking]
    assert keys == sorted(keys)
    assert host_specificity("10.1.2.3/8", BOTH) == host_specificity("10.0.0.0/8", BOTH)
    assert keys[1][0] == NAME_RANGE


@pytest.mark.parametrize("text", ["10.0.*/8", "10.0.0.?/8", "*/8", "*/*", "?/*", "10.0.0.0/*", "/"])
def test_a_text_with_a_slash_is_a_range_or_matches_nothing(text):
    """No address holds a slash: beside ranges a glob with one is a glob of nothing."""
    for read in (RANGES, BOTH):
        assert parse_range(text) is None
        assert is_malformed_range(text, read)
        assert not host_can_match(text, read)
        for host in ("10.0.0.1", "fe80:0:0:0:0:0:0:1%eth0", "<any-other in 10.0.0.0/8>", ANY_OTHER):
            assert not host_matches(text, host, read)
            assert index_hosts([text, "10.0.0.0/8"], read).matching(host) == [
                each for each in ["10.0.0.0/8"] if host_matches(each, host, read)
            ]
        (only,) = classes_of_hosts([of_host(text, read)], Budget()).members
        assert not only.patterns


def test_no_range_has_a_wildcard_and_a_glob_without_a_slash_stays_one_beside_ranges():
    for text in ("10.*", "10.0.0.?", "10.0.0.0/8", "10.0.0.0/33", ""):
        assert is_malformed_range(text, KAFKA) is False
    assert host_matches("10.*", "10.0.0.1", BOTH)
    assert not host_matches("10.*", "10.0.0.1", RANGES)
    assert not is_malformed_range("10.*", BOTH)
    assert is_malformed_range("10.0.0.0/33", BOTH)


@given(st.text("10./:*?%[]af", max_size=12))
def test_what_parses_as_a_range_holds_no_wildcard(text):
    assert parse_range(text) is None or not {"*", "?"} & set(text)
