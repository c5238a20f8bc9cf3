"""What each ACL does that two readings take otherwise: told, and held against the rule."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from itertools import product

import pytest

from aclkit.model.acl import Acl, Request
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings, Semantics
from aclkit.rules.decide.confirm import Comparison
from aclkit.rules.decide.rules import ALLOWED, DEFAULT_ALLOW, Ruling, answers, decide
from aclkit.rules.names.compare import (
    GAINED,
    LOST,
    OTHERWISE,
    SLEEPS,
    WAKES,
    Difference,
    SemanticsChange,
    compare,
)
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules, reads_alike
from aclkit.rules.names.words import semantics_change_words
from aclkit.rules.patterns.match import reaches
from tests.rules.names.world import is_in, names_up_to, rules

RANGES = replace(KAFKA, cidr_hosts=True)
GLOBS_AND_RANGES = replace(KIP_1042, cidr_hosts=True)
EVERYONE = BrokerSettings(allow_everyone=True)
NESTED = ("10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.128/25")
HOSTS = (*NESTED, "10.1.2.3/8", "2001:db8::/32", "10.0.0.0/33", "::ffff:10.0.0.0/104", "0.0.0.0/32",
         "*", "10.1.2.3", "10.1.*")  # fmt: skip
ASKED = ["10.9.9.9", "10.1.9.9", "10.1.2.3", "10.1.2.4", "10.1.2.200", "9.9.9.9", "0.0.0.0",
         "2001:db8:0:0:0:0:0:1"]  # fmt: skip
PEOPLE = ("User:x", "User:q")
NAMES = names_up_to(2, "abc")


def told(
    texts: Iterable[str],
    before: Semantics = KAFKA,
    after: Semantics = RANGES,
    settings: BrokerSettings = EVERYONE,
    budget: Budget | None = None,
) -> list[SemanticsChange]:
    state = rules(texts, semantics=before, settings=settings)
    spent = budget or Budget()
    return Comparison.of(state, replace(state, semantics=after), spent).rereads(spent)


CLOSED = BrokerSettings()


def words(*texts: str, before: Semantics = KAFKA, after: Semantics = RANGES) -> list[str]:
    return [
        f"{each.becomes}: {semantics_change_words(each)}"
        for each in told(texts, before, after, CLOSED)
    ]


def test_an_allow_that_wakes_gives_and_a_deny_takes() -> None:
    allow = "ALLOW User:x READ LITERAL a 10.0.0.0/8"
    (gives,) = words(allow)
    assert gives == (
        "wakes: grants READ, DESCRIBE for User:x from hosts that 10.0.0.0/8 matches "
        "(such as 10.0.0.1), for example on a"
    )
    (takes,) = words("ALLOW User:x READ PREFIXED a", allow.replace("ALLOW", "DENY"))
    assert takes.startswith("wakes: revokes READ for User:x from hosts that 10.0.0.0/8 matches")


def test_the_way_back_puts_to_sleep() -> None:
    (sleeps,) = words("ALLOW User:x READ LITERAL a 10.0.0.0/8", before=RANGES, after=KAFKA)
    assert sleeps.startswith("falls asleep: revokes READ, DESCRIBE for User:x")


def test_what_a_deny_that_wakes_too_takes_no_allow_gives() -> None:
    deny, allow = words(
        "DENY User:* ALL PREFIXED a 10.0.0.0/8", "ALLOW User:x READ LITERAL a 10.1.0.0/16"
    )
    assert (deny, allow) == ("wakes: changes no decision",) * 2


def test_two_that_wake_for_the_same_both_give_it() -> None:
    texts = [f"ALLOW User:x READ LITERAL a {host}" for host in NESTED[:2]]
    assert [len(each.of_kind(GAINED)) for each in told(texts, settings=CLOSED)] == [4, 2]


def test_what_is_read_alike_is_not_told() -> None:
    same = ["10.0.0.0/33", "::ffff:10.0.0.0/104", "*", "10.1.2.3", "10.0.0.0"]
    assert words(*(f"ALLOW User:x READ LITERAL a {host}" for host in same)) == []


def test_a_glob_that_becomes_a_prefix_is_read_otherwise() -> None:
    (text,) = words("ALLOW User:x READ GLOB a*b", before=KIP_1042, after=KAFKA)
    assert text.startswith(f"{OTHERWISE}: revokes READ, DESCRIBE for User:x from any host")


def test_a_pattern_that_reaches_more_takes_what_the_default_allowed() -> None:
    (each,) = told(["ALLOW User:x READ GLOB a?"], KAFKA, KIP_1042)
    lost = [change for change in each.of_kind(LOST) if change.cell.principal.name != "User:x"]
    assert {change.cell.operation for change in lost} == {*OPERATIONS_OF_TYPE["TOPIC"]}
    assert {len(change.name) for change in lost} == {2}


def test_what_the_budget_leaves_open_is_not_known() -> None:
    texts = ["ALLOW User:x READ GLOB *a???????? 10.0.0.0/8", "DENY User:x READ GLOB *b*a????????"]
    how = KIP_1042, GLOBS_AND_RANGES
    (each,) = told(texts, *how, CLOSED, Budget(per_question=50))
    assert not each.is_known
    assert semantics_change_words(each).endswith(
        ("has an unknown effect", "possibly has more effects")
    )
    assert told(texts, *how, CLOSED)[0].is_known


def drawn(chance: random.Random, *, globs: bool) -> list[str]:
    kinds = ["LITERAL a", "PREFIXED a", "LITERAL b", *(["GLOB ?", "GLOB a*"] if globs else [])]
    fields = (
        ["ALLOW", "ALLOW", "DENY"], ["User:x", "User:*"], ["READ", "ALL", "DESCRIBE"], kinds, HOSTS
    )  # fmt: skip
    return [" ".join(map(chance.choice, fields)) for _ in range(chance.randint(2, 7))]


WAYS = [
    (KAFKA, RANGES),
    (RANGES, KAFKA),
    (KIP_1042, GLOBS_AND_RANGES),
    (KIP_1042, RANGES),
    (GLOBS_AND_RANGES, KAFKA),
    (KAFKA, KIP_1042),
    (KAFKA, replace(KAFKA, wildcard_defect=False)),
]


def states(seed: int) -> tuple[Rules, Rules]:
    """Draw ACLs with ranges, read in two ways."""
    chance = random.Random(seed)
    ways = WAYS[seed % len(WAYS)]
    settings = EVERYONE if seed % 4 == 0 else CLOSED
    state = rules(drawn(chance, globs=seed % 3 == 0), semantics=ways[0], settings=settings)
    return state, replace(state, semantics=ways[1])


def decided(before: Rules, after: Rules, asked: Request) -> tuple[Ruling, Ruling]:
    then, now = (decide(s.acls, asked, s.settings, s.semantics) for s in (before, after))
    return then, now


def kind_of(then: Ruling, now: Ruling) -> str | None:
    if then.decision == now.decision:
        return None
    return GAINED if now.decision == ALLOWED else LOST


@pytest.mark.parametrize("seed", range(140))
def test_two_readings_differ_exactly_where_the_rule_says_so(seed: int) -> None:
    before, after = states(seed)
    found = compare(before, after, Budget())
    assert found.is_known
    for principal, host, operation in product(PEOPLE, ASKED, ("READ", "DESCRIBE", "WRITE")):
        shortest: dict[str, int] = {}
        for name in NAMES:
            asked = Request.of(principal, host, operation, Resource("TOPIC", name))
            if kind := kind_of(*decided(before, after, asked)):
                shortest.setdefault(kind, len(name))
        told = {
            kind: its_own
            for kind in (GAINED, LOST)
            if (its_own := shortest_told(found, kind, principal, host, operation))
        }
        # Names of other letters than those tried may differ too, where a default allows.
        assert {kind: told[kind] for kind in shortest} == shortest
        assert all(told[kind] == 1 for kind in told.keys() - shortest.keys())


def shortest_told(
    found: Difference, kind: str, principal: str, host: str, operation: str
) -> int | None:
    """Return the length of the name that is told for the class of a request."""
    alike = [
        change
        for change in found.of_kind(kind)
        if (change.cell.resource_type, change.cell.operation) == ("TOPIC", operation)
        and is_in(change.cell.principal, principal)
        and is_in(change.cell.host, host)
    ]
    own = max(
        alike,
        key=lambda c: len(c.cell.principal.patterns) + len(c.cell.host.patterns),
        default=None,
    )
    return None if own is None else len(own.name)


@pytest.mark.parametrize("seed", range(140))
def test_each_acl_is_told_to_do_what_the_rule_has_it_do(seed: int) -> None:
    """For every short name and an address of each class: who is behind it, and nobody else."""
    before, after = states(seed)
    found = Comparison.of(before, after, Budget()).rereads(Budget())
    assert all(each.is_known for each in found)
    ways = before.semantics, after.semantics
    assert [each.acl for each in found] == [a for a in before.acls if not reads_alike(a, *ways)]
    behind = {(each.acl.acl_id, change.kind) for each in found for change in each.changes}
    for who in product(PEOPLE, ASKED, ("READ", "DESCRIBE", "WRITE")):
        for name in NAMES:
            assert behind >= those_behind(before, after, Request.of(*who, Resource("TOPIC", name)))
    for each in found:
        for change in each.changes:
            asked = change.cell.about(change.name)
            assert (each.acl.acl_id, change.kind) in those_behind(before, after, asked)


def those_behind(before: Rules, after: Rules, asked: Request) -> set[tuple[str, str]]:
    """Return the ACLs behind a change of one request, by the rule alone."""
    rulings = decided(before, after, asked)
    kind = kind_of(*rulings)
    is_default = DEFAULT_ALLOW in (ruling.rule for ruling in rulings)
    return {
        (each.acl_id, kind)
        for each in before.acls
        if kind is not None
        and (
            gives(each, asked, before, after, comes=each.is_allow == (kind == GAINED))
            or (is_default and opens(each, asked, before, after, comes=kind == LOST))
        )
    }


def gives(each: Acl, asked: Request, *states: Rules, comes: bool) -> bool:
    met = [
        reaches(each, *asked.resource, s.semantics) and answers(each, asked, s.semantics)
        for s in states
    ]
    return met == [not comes, comes]


def opens(each: Acl, asked: Request, *states: Rules, comes: bool) -> bool:
    return [reaches(each, *asked.resource, s.semantics) for s in states] == [not comes, comes]


def test_it_wakes_where_only_ranges_give_its_host_a_client() -> None:
    becomes = {each.becomes for each in told(["ALLOW User:x READ LITERAL a 10.0.0.0/8"])}
    assert becomes == {WAKES}
    (back,) = told(["ALLOW User:x READ LITERAL a 10.0.0.0/8"], RANGES, KAFKA)
    assert back.becomes == SLEEPS
    (empty,) = told(["ALLOW User:x READ LITERAL a 0.0.0.0/32"])
    assert (empty.becomes, empty.changes) == (OTHERWISE, [])
