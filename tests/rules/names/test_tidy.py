"""Fewer ACLs that decide alike: against the rule, asked about every short name."""

from __future__ import annotations

import itertools
import random

import pytest

from aclkit.model.acl import Acl
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.names.compare import EQUIVALENT, compare
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules
from aclkit.rules.names.tidy import COVERED, IDLE, MERGED, NEVER, Tidy, tidy
from tests.rules.names.world import (
    PEOPLE,
    acl,
    decisions,
    is_allowed,
    names_up_to,
    random_texts,
    rules,
    told_apart,
)

EVERYONE = BrokerSettings(allow_everyone=True)


def words(one: Acl) -> str:
    """Write an ACL as ``rules`` reads it."""
    host = "" if one.host == "*" else f" {one.host}"
    return (
        f"{one.permission_type} {one.principal} {one.operation} {one.pattern_type} "
        f"{one.resource_name}{host}"
    )


def went(found: Tidy) -> dict[str, tuple[str, set[str]]]:
    """Return what goes, why, and what decides in its place."""
    return {words(step.acl): (step.why, set(map(words, step.by))) for step in found.steps}


def tidied(*texts: str, settings: BrokerSettings = EVERYONE, **how: bool) -> Tidy:
    return tidy(rules(texts, settings=settings), Budget(), **how)


def every_operation(rest: str, but: str = "") -> list[str]:
    return [rest.format(each) for each in OPERATIONS_OF_TYPE["TOPIC"] if each != but]


def test_what_a_wider_acl_covers_goes_and_names_it() -> None:
    wide = "ALLOW User:* READ PREFIXED a"
    found = tidied("ALLOW User:x DESCRIBE LITERAL ab 10.0.0.1", wide)
    assert went(found) == {"ALLOW User:x DESCRIBE LITERAL ab 10.0.0.1": (COVERED, {wide})}


def test_what_only_several_cover_goes_and_names_them_and_no_others() -> None:
    left, right = "ALLOW User:x READ GLOB ?", "ALLOW User:x READ GLOB ??*"
    found = tidied("ALLOW User:x READ PREFIXED a", left, right, "ALLOW User:x READ GLOB *b")
    assert went(found)["ALLOW User:x READ PREFIXED a"] == (COVERED, {left, right})


def test_an_allow_whose_names_are_denied_anyway_goes() -> None:
    deny = "DENY User:* ALL PREFIXED a"
    found = tidied("ALLOW User:x READ PREFIXED ab", deny)
    assert went(found) == {"ALLOW User:x READ PREFIXED ab": (COVERED, {deny})}


def test_a_deny_is_covered_by_denies_only() -> None:
    assert went(tidied("DENY User:x READ LITERAL a", "ALLOW User:x READ PREFIXED a")) == {}


def test_of_those_that_cover_none_is_named_that_could_be_missing() -> None:
    """The READ alone covers one operation of the two, and comes first."""
    both = "ALLOW User:x READ LITERAL ab"
    found = tidied(both, "ALLOW User:x DESCRIBE PREFIXED a", "ALLOW User:x ALL PREFIXED ab")
    assert went(found)[both] == (COVERED, {"ALLOW User:x ALL PREFIXED ab"})


def test_what_no_request_can_meet_is_covered_by_nothing() -> None:
    texts = ["ALLOW User:x READ GLOB *a", "ALLOW User:x READ LITERAL *"]
    found = tidy(rules(texts, semantics=KAFKA), Budget())
    assert went(found) == {texts[0]: (NEVER, set())}


def test_the_last_acl_of_a_name_stays_where_the_default_allows() -> None:
    texts = ["DENY User:x READ PREFIXED ab", "DENY User:* READ LITERAL *"]
    assert len(tidied(*texts).steps) == 1
    nothing_at_all = "ALLOW alice READ LITERAL ab"
    assert went(tidied(nothing_at_all)) == {}
    closed = tidied(nothing_at_all, settings=BrokerSettings())
    assert went(closed) == {nothing_at_all: (NEVER, set())}


def test_all_operations_together_become_all() -> None:
    found = tidied(*every_operation("ALLOW User:x {} PREFIXED a"))
    assert list(map(words, found.after)) == ["ALLOW User:x ALL PREFIXED a"]
    (whole,) = found.after
    assert {step.by for step in found.steps} == {(whole,)}
    implied = [step.acl.operation for step in found.steps if step.why != MERGED]
    assert implied == ["DESCRIBE", "DESCRIBE_CONFIGS"]
    kept = tidied(*every_operation("ALLOW User:x {} PREFIXED a"), keep_operations=True)
    assert kept.added == ()
    some = tidied(*every_operation("DENY User:x {} PREFIXED a", but="READ"))
    assert some.steps == ()


def test_all_goes_only_where_all_stands_in_for_it() -> None:
    """ALL answers what a later Kafka may ask for too."""
    texts = ["ALLOW User:x ALL LITERAL ab", *every_operation("ALLOW User:x {} PREFIXED a")]
    assert went(tidied(*texts, keep_operations=True)).keys().isdisjoint(texts[:1])
    assert list(map(words, tidied(*texts).after)) == ["ALLOW User:x ALL PREFIXED a"]


def test_a_deny_that_takes_nothing_away_goes_on_request_only() -> None:
    texts = ["DENY User:svc-* READ PREFIXED b", "ALLOW User:x READ LITERAL b"]
    assert went(tidied(*texts)) == {}
    found = tidied(*texts, "ALLOW User:q READ LITERAL bb", "ALLOW User:* DELETE PREFIXED b",
                   idle_denies=True)  # fmt: skip
    assert went(found)[texts[0]] == (IDLE, set())


def test_a_deny_that_takes_away_from_one_of_many_stays() -> None:
    texts = ["DENY User:* ALL PREFIXED b", "ALLOW User:x READ LITERAL b"]
    assert went(tidied(*texts, settings=BrokerSettings(), idle_denies=True)) == {
        texts[1]: (COVERED, {texts[0]}),
        texts[0]: (IDLE, set()),
    }
    wider = [texts[0], "ALLOW User:x READ PREFIXED a", "ALLOW User:x READ GLOB *b"]
    assert went(tidied(*wider, settings=BrokerSettings(), idle_denies=True)) == {}


def test_what_is_not_known_to_kafka_stays() -> None:
    strange = [
        acl("ALLOW User:x UNKNOWN(40) LITERAL a"),
        acl("ALLOW User:x READ LITERAL a", 1, resource_type="UNKNOWN(9)"),
        acl("ALLOW User:x READ LITERAL a", 2, resource_type="UNKNOWN(9)"),
    ]
    state = Rules(acls=strange, settings=BrokerSettings(), semantics=KIP_1042)
    assert tidy(state, Budget()).steps == ()


def test_beyond_the_budget_an_acl_stays_and_is_counted() -> None:
    texts = [
        "ALLOW User:x READ GLOB *b*a????????",
        "ALLOW User:x READ GLOB *a???????b",
        "ALLOW User:x READ GLOB *a????????",
    ]
    state = rules(texts)
    small = tidy(state, Budget(per_question=60))
    assert words(small.unknown[0]) in texts
    assert len(small.after) == 3
    assert list(map(words, tidy(state, Budget()).after)) == texts[2:]


def test_an_acl_that_decides_something_is_not_counted_whatever_else_is_unknown() -> None:
    texts = ["ALLOW User:x READ GLOB *b*a????????", "DENY User:x READ GLOB *a????????"]
    assert tidy(rules(texts), Budget(per_question=1_000)).unknown == ()


@pytest.mark.parametrize(
    "seed", [*range(100), *(pytest.param(n, marks=pytest.mark.slow) for n in range(100, 500))]
)
def test_every_short_name_is_decided_as_before(seed: int) -> None:
    chance = random.Random(seed)
    state = _random_state(chance, seed)
    found = tidy(state, Budget(), idle_denies=seed % 2 == 0, keep_operations=chance.random() < 0.3)
    after = _with_acls(state, found.after)
    assert found.unknown == ()
    names = told_apart(names_up_to(6), state, after)
    assert dict(decisions(state, names)) == dict(decisions(after, names))
    assert compare(state, after, Budget()).verdict == EQUIVALENT


@pytest.mark.parametrize("seed", range(100))
def test_what_is_tidy_stays_as_it_is(seed: int) -> None:
    chance = random.Random(seed)
    state = _random_state(chance, seed)
    idle = seed % 2 == 0
    once = _with_acls(state, tidy(state, Budget(), idle_denies=idle).after)
    again = tidy(once, Budget(), idle_denies=idle)
    assert again.steps == ()
    assert again.after == once.acls


@pytest.mark.parametrize("seed", range(60))
def test_each_step_alone_leaves_all_decisions_as_they_are(seed: int) -> None:
    """So the steps may be taken one after another on a cluster that is at work."""
    chance = random.Random(seed)
    state = _random_state(chance, seed)
    found = tidy(state, Budget(), idle_denies=True)
    alive = [*found.before, *found.added]
    wanted = dict(decisions(state, names_up_to(3)))
    assert dict(decisions(_with_acls(state, alive), names_up_to(3))) == wanted
    for step in found.steps:
        alive.remove(step.acl)
        assert dict(decisions(_with_acls(state, alive), names_up_to(3))) == wanted
    assert sorted(map(words, alive)) == sorted(map(words, found.after))


def _random_state(chance: random.Random, seed: int) -> Rules:
    texts = random_texts(chance, 4, 9)
    if seed % 4 == 0:
        permission, pattern = (
            chance.choice(["ALLOW", "DENY"]),
            chance.choice(["GLOB *b", "LITERAL a"]),
        )
        texts += every_operation(f"{permission} User:x {{}} {pattern}")
    settings = BrokerSettings(
        allow_everyone=seed % 3 == 0,
        super_users=frozenset({"User:zz", "User:svc-x"} if seed % 7 == 0 else ()),
    )
    return rules(texts, settings=settings, semantics=KIP_1042 if seed % 5 else KAFKA)


def _with_acls(state: Rules, acls: object) -> Rules:
    return Rules(acls=acls, settings=state.settings, semantics=state.semantics)  # type: ignore[arg-type]  # any collection


@pytest.mark.parametrize("seed", range(60))
def test_groups_may_have_any_name_and_are_decided_as_before(seed: int) -> None:
    """A group may be called nothing at all, or begin with a star, which LITERAL * may miss."""
    chance = random.Random(seed)
    semantics = KAFKA if seed % 2 else KIP_1042
    settings = BrokerSettings(allow_everyone=seed % 3 == 0)
    texts = [*random_texts(chance, 4, 8), "ALLOW User:x READ LITERAL *", "DENY User:* READ GLOB *?"]
    acls = [acl(text, number, resource_type="GROUP") for number, text in enumerate(texts)]
    state = Rules(acls=acls, settings=settings, semantics=semantics)
    found = tidy(state, Budget(), idle_denies=True)
    before, after = (AclIndex.of(some, semantics) for some in (acls, found.after))
    for name in names_up_to(3, "ab*", least=0):
        for who, operation in itertools.product(PEOPLE, ("READ", "DESCRIBE", "DELETE")):
            asked = settings, who, "10.0.0.1", operation, name, "GROUP"
            assert is_allowed(before, *asked) == is_allowed(after, *asked)
    assert compare(state, _with_acls(state, found.after), Budget()).verdict == EQUIVALENT
