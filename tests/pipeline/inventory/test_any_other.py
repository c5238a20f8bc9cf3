"""Rules of pipeline.inventory.any_other: a witness is reached only by what reaches every name."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from aclkit.model.acl import ANY_OTHER
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.inventory.any_other import (
    atom_witnesses,
    host_witness,
    principal_witness,
    resource_witness,
)
from aclkit.rules.patterns.match import host_matches, pattern_matches, principal_matches

EVERY_START = [("PREFIXED", letter) for letter in "zxqjkvwybfghmpcunlodrtsiea0123456789-_."]
UPPER = [("PREFIXED", letter) for letter in "ZXQJKVWYBFGHMPCUNLODRTSIEA"]


def test_the_plain_name_goes_first():
    assert resource_witness("TOPIC", [("PREFIXED", "b")], (), KIP_1042).name == "any-other"
    assert host_witness(["*"], (), KIP_1042).name == "192.0.2.1"
    assert principal_witness(["User:*"], (), KIP_1042).name == "User:any-other"


def test_a_name_of_the_inventory_is_no_witness():
    assert resource_witness("TOPIC", [], ["any-other"], KIP_1042).name == "z"
    assert host_witness([], ["192.0.2.1"], KIP_1042).name == "192.0.2.2"
    assert principal_witness([], ["User:any-other"], KIP_1042).name == "User:z"


def test_only_a_name_of_one_length_may_be_left():
    patterns = [("GLOB", "?????*"), ("GLOB", "???"), ("GLOB", "??"), ("GLOB", "?")]
    witness = resource_witness("TOPIC", patterns, (), KIP_1042).name
    assert witness is not None
    assert len(witness) == 4


def test_that_there_is_none_is_known():
    witness = resource_witness("TOPIC", [*EVERY_START, *UPPER], (), KIP_1042)
    assert witness == (None, True)
    assert resource_witness("GROUP", [*EVERY_START, *UPPER], (), KIP_1042).name == ""
    assert principal_witness(["User:?*"], (), KIP_1042) == (None, True)


def test_hosts_may_have_no_witness_among_ipv4():
    witness = host_witness(["*.*"], (), KIP_1042).name
    assert witness is not None
    assert ":" in witness


def test_where_the_star_misses_names_none_of_these_is_taken():
    patterns = [("LITERAL", "*"), *EVERY_START, *UPPER]
    witness = resource_witness("GROUP", patterns, [""], KAFKA).name
    assert witness is not None
    assert witness[0] != "*"


@pytest.mark.parametrize("seed", range(40))
def test_a_witness_fares_as_the_symbol_does(seed):
    chance = random.Random(seed)
    semantics = chance.choice([KIP_1042, KAFKA])
    kinds = ["LITERAL", "PREFIXED", "GLOB"]
    patterns = [
        (chance.choice(kinds), "".join(chance.choice("any*?") for _ in range(chance.randint(1, 4))))
        for _ in range(6)
    ]
    name = resource_witness("GROUP", patterns, (), semantics).name
    if name is not None:
        for pattern in patterns:
            assert pattern_matches(*pattern, name, semantics) == pattern_matches(
                *pattern, ANY_OTHER, semantics
            )
    principals = [f"User:{name}" for _, name in patterns]
    user = principal_witness(principals, (), semantics).name
    if user is not None:
        for text in principals:
            assert principal_matches(text, user, semantics) == principal_matches(
                text, f"User:{ANY_OTHER}", semantics
            )
    hosts = ["10.*", "*.1", "1?.*", "192.0.2.*", "*:1"][: seed % 6]
    host = host_witness(hosts, (), semantics).name
    assert host is not None
    assert not any(host_matches(text, host, semantics) for text in hosts)


RANGES = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/30", "192.0.2.0/25", "0.0.0.0/1", "::/0"]
NAMED = ["10.1.2.1", "192.0.2.128", "10.1.0.1"]
GLOBS = ["10.1.*", "*.2", "1?.*", "0.*"]


@pytest.mark.parametrize("seed", range(40))
def test_the_witness_of_an_atom_fares_as_the_atom_does(seed):
    chance = random.Random(seed)
    semantics = replace(chance.choice([KIP_1042, KAFKA]), cidr_hosts=True)
    hosts = [*chance.sample(RANGES, 4), *chance.sample(NAMED, 2), *GLOBS[: seed % 5]]
    found = {
        atom.name: witness.name for atom, witness in atom_witnesses(hosts, ["10.1.2.2"], semantics)
    }
    found[ANY_OTHER] = host_witness(hosts, ["10.1.2.2"], semantics).name
    assert len(found) == 5
    for symbol, witness in found.items():
        if witness is not None:
            assert witness not in {"10.1.2.2", *hosts}
            for text in hosts:
                assert host_matches(text, witness, semantics) == host_matches(
                    text, symbol, semantics
                ), (text, symbol, witness)


def test_outside_ranges_a_witness_is_counted_where_no_plain_one_is_left():
    semantics = replace(KAFKA, cidr_hosts=True)
    assert host_witness(["192.0.2.0/24", "0.0.0.0/1"], (), semantics).name == "128.0.0.0"
    assert host_witness(["0.0.0.0/0", "::/0"], (), semantics).name == "0.0.0.0"
    none = host_witness(["0.0.0.0/0", "::/0", "0.0.0.0"], (), semantics)
    assert none.name is None


def test_globs_may_leave_nothing_of_a_range():
    semantics = replace(KIP_1042, cidr_hosts=True)
    ((_, none),) = atom_witnesses(["10.0.0.0/8", "10.*"], (), semantics)
    assert none == (None, True)
    ((_, far),) = atom_witnesses(["10.0.0.0/8", "10.0.*"], (), semantics)
    assert far.name is not None
    assert host_matches("10.0.0.0/8", far.name, semantics)
    assert not host_matches("10.0.*", far.name, semantics)
