"""Rules of pipeline.inventory.any_other: a witness is reached only by what reaches every name."""

from __future__ import annotations

import random

import pytest

from aclkit.model.acl import ANY_OTHER
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.inventory.any_other import (
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
