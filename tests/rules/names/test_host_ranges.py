"""Ranges among ACL hosts: classes by arithmetic and by a walk, and questions about every name."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest

from aclkit.model.cidr import parse_range
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings, Semantics
from aclkit.rules.decide.confirm import Comparison
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.names import classes
from aclkit.rules.names.classes import Classes, classes_of_hosts, minimal_hosts
from aclkit.rules.names.compare import EQUIVALENT, GAINED, MORE, compare
from aclkit.rules.names.domain import HOSTS
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules, Symbols, of_host, range_of
from aclkit.rules.names.words import host_words, pattern_text, pattern_words
from aclkit.rules.patterns.match import host_matches
from tests.rules.names.world import is_allowed, names_up_to, rules

RANGES = replace(KAFKA, cidr_hosts=True)
BOTH = replace(KIP_1042, cidr_hosts=True)
TEXTS = [
    "*", "10.0.0.0/8", "10.1.2.3/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3/32", "10.1.2.3",
    "10.1.2.4/31", "0.0.0.0/0", "::/0", "0.0.0.0/32", "0.0.0.0", "2001:db8::/32", "2001:db8::/33",
    "2001:db8::1/128", "2001:db8:0:0:0:0:0:1", "0.0.0.0/31", "0.0.0.1", "::/95", "::fffe:0:0/95",
    "fe80:0:0:0:0:0:0:1%eth0", "fe80::/10", "::1/128", "128.0.0.0/1", "10.0.0.0/33", "a/b",
]  # fmt: skip
GLOBS = ["10.*", "*.1", "?.*", "*:*", "10.1.2.?", "*%*", "1??.*"]


def sets_of(found: Classes) -> set[frozenset[Symbols]]:
    """Return what matches each class; no two are the same."""
    sets = {each.patterns for each in found.members}
    assert len(sets) == len(found.members)
    return sets


def check_members(found: Classes, texts: list[str], semantics: Semantics) -> None:
    """Insist that each class's name is an address that its texts match, and no others do."""
    for member in found.members:
        assert HOSTS.holds(member.name)
        matching = (text for text in texts if host_matches(text, member.name, semantics))
        assert member.patterns == {of_host(text, semantics) for text in matching}, member


@pytest.mark.parametrize("seed", range(60))
def test_arithmetic_finds_the_classes_that_a_walk_finds(seed: int) -> None:
    chance = random.Random(seed)
    texts = ["10.0.0.0/8", *chance.sample(TEXTS, chance.randint(1, 5))]
    symbols = {of_host(text, RANGES) for text in texts}
    counted = classes_of_hosts(symbols, Budget())
    walked = classes._classes(symbols, (HOSTS,), Budget())
    assert counted.is_complete
    assert walked.is_complete
    assert sets_of(counted) == sets_of(walked)
    assert [each.is_all for each in counted.members] == [each.is_all for each in walked.members]
    check_members(counted, texts, RANGES)
    check_members(walked, texts, RANGES)


@pytest.mark.parametrize("seed", range(30))
def test_beside_globs_each_address_is_in_a_class(seed: int) -> None:
    chance = random.Random(seed)
    texts = chance.sample(TEXTS, 3) + chance.sample(GLOBS, 2)
    found = classes_of_hosts({of_host(text, BOTH) for text in texts}, Budget())
    assert found.is_complete
    check_members(found, texts, BOTH)
    sets = sets_of(found)
    for octets in itertools.product((0, 1, 2, 10, 128), repeat=4):
        host = ".".join(map(str, octets))
        matching = (text for text in texts if host_matches(text, host, BOTH))
        assert frozenset(of_host(text, BOTH) for text in matching) in sets, host


def test_ranges_that_are_equal_are_one_pattern() -> None:
    one, other = (of_host(text, RANGES) for text in ("10.1.2.3/8", "010.0.0.0/08"))
    assert one == other
    assert range_of(one) == parse_range("10.0.0.0/8")
    assert range_of(of_host("10.0.0.0/33", RANGES)) is None
    assert of_host("10.0.0.0/8", KAFKA) == tuple("10.0.0.0/8")


def test_a_range_is_written_as_people_write_it() -> None:
    symbols = of_host("10.1.2.3/8", RANGES)
    assert (pattern_text(symbols), pattern_words(symbols)) == ("10.0.0.0/8", "10.0.0.0/8")
    found = classes_of_hosts([symbols], Budget())
    assert sorted(map(host_words, found.members)) == [
        "any other host (such as 0.0.0.1)",
        "hosts that 10.0.0.0/8 matches (such as 10.0.0.1)",
    ]


HOSTS_OF_ACLS = ("*", "10.0.0.0/8", "10.0.0.0/9", "10.0.0.0/30", "10.0.0.1", "0.0.0.0/0", "::/0")
ASKED = ["10.0.0.1", "10.0.0.2", "10.9.9.9", "10.200.0.1", "9.9.9.9", "0.0.0.0", "0:0:0:0:0:0:0:1"]


def state(chance: random.Random, semantics: Semantics, *, everyone: bool) -> Rules:
    """Draw a few ACLs of two names."""
    hosts = HOSTS_OF_ACLS + (("10.*",) if semantics.identity_globs else ())
    texts = [
        f"{chance.choice(['ALLOW', 'ALLOW', 'DENY'])} User:x READ "
        f"{chance.choice(['LITERAL a', 'PREFIXED a', 'LITERAL b'])} {chance.choice(hosts)}"
        for _ in range(chance.randint(1, 5))
    ]
    return rules(texts, semantics=semantics, settings=BrokerSettings(allow_everyone=everyone))


@pytest.mark.parametrize("seed", range(60))
def test_a_comparison_is_right_for_every_address(seed: int) -> None:
    """Also where one state reads ranges and the other, of older brokers, does not."""
    chance = random.Random(seed)
    after = state(chance, chance.choice([RANGES, BOTH]), everyone=seed % 5 == 0)
    older = seed % 2
    then = replace(after.semantics, cidr_hosts=False) if older else after.semantics
    before = state(chance, then, everyone=seed % 5 == 0)
    if older:
        before = replace(before, acls=after.acls)
    found = Comparison.of(before, after, Budget()).difference
    assert found.is_known
    indexes = [AclIndex.of(each.acls, each.semantics) for each in (before, after)]
    differ = [
        (host, name)
        for host, name in itertools.product(ASKED, names_up_to(2, "ab"))
        if len({is_allowed(i, after.settings, "User:x", host, "READ", name) for i in indexes}) > 1
    ]
    if differ:
        assert found.verdict != EQUIVALENT, differ
    if found.verdict == EQUIVALENT:
        assert not differ


def test_two_halves_are_the_whole() -> None:
    whole = rules(["ALLOW User:x READ LITERAL a 10.0.0.0/8"], semantics=RANGES)
    halves = ["ALLOW User:x READ LITERAL a 10.0.0.0/9", "ALLOW User:x READ LITERAL a 10.128.0.0/9"]
    assert compare(whole, rules(halves, semantics=RANGES), Budget()).verdict == EQUIVALENT
    assert compare(rules(halves[:1], semantics=RANGES), whole, Budget()).verdict == MORE


def test_what_a_newer_broker_opens_is_shown_by_an_address() -> None:
    texts = ["ALLOW User:x READ LITERAL a 10.0.0.0/8"]
    found = compare(rules(texts, semantics=KAFKA), rules(texts, semantics=RANGES), Budget())
    assert {change.cell.host.name for change in found.of_kind(GAINED)} == {"10.0.0.1"}


def test_many_ranges_cost_what_many_addresses_cost() -> None:
    """Counted in classes and questions, not in seconds."""
    ranges = [f"10.{n // 250}.{n % 250}.0/24" for n in range(2_000)]
    addresses = [text.removesuffix("/24") for text in ranges]
    spent, sizes = [], []
    for texts in (ranges, addresses):
        budget = Budget()
        found = classes_of_hosts({of_host(text, RANGES) for text in texts}, budget)
        spent.append(budget.states)
        sizes.append(len(found.members))
    assert sizes == [2_001, 2_001]
    assert spent[0] <= 2 * spent[1]


@pytest.mark.parametrize("seed", range(40))
def test_the_least_classes_of_a_range_are_those_of_fewest_texts(seed: int) -> None:
    chance = random.Random(seed)
    globs = chance.sample(GLOBS, 2) if seed % 3 == 0 else []
    texts = [*chance.sample(TEXTS, 6), *globs]
    symbols = {of_host(text, BOTH) for text in texts}
    every = classes_of_hosts(symbols, Budget())
    assert every.is_complete
    least = minimal_hosts(symbols, Budget())
    for narrow in symbols:
        if range_of(narrow) is None:
            continue
        inside = [each.patterns for each in every.members if narrow in each.patterns]
        wanted = {each for each in inside if not any(other < each for other in inside)}
        found = least.within(narrow)
        assert found.is_complete
        told = {each.patterns for each in found.members}
        assert told <= set(inside)
        assert all(any(one <= each for one in told) for each in wanted)
        check_members(found, texts, BOTH)
        if not inside:
            continue
        containing, is_known = least.containing(narrow)
        assert is_known
        assert containing == frozenset.intersection(*inside)
        meeting = frozenset[Symbols]().union(*inside)
        assert meeting <= set(least.meeting(narrow))
