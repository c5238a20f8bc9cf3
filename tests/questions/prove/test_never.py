"""Assertions that are proven against a state: each example is decided, unknown is a failure."""

from __future__ import annotations

import pytest

from aclkit.model.acl import Request
from aclkit.model.resource import Resource
from aclkit.questions.assertions.parse import parse_assertions
from aclkit.questions.assertions.proof import Proof
from aclkit.questions.prove import never
from aclkit.questions.prove.claim import FAILS, HOLDS, UNKNOWN
from aclkit.questions.prove.never import hold_assertions
from aclkit.questions.prove.words import answer_words, answers_verdict
from aclkit.rules.decide.agreement import DisagreementError
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import RUN
from tests.rules.names.world import rules

POLICIES = """
[[never]]
name = "bob reads nothing"
principals = ["User:bob"]
operations = ["READ"]
resources = ["topic:*"]

[[always]]
name = "ann reads"
principals = ["User:ann"]
operations = ["READ"]
resources = ["topic:a"]
"""
ASSERTIONS = parse_assertions(POLICIES, "policies.toml")
STATE = rules(["ALLOW User:bob READ LITERAL a", "ALLOW User:ann READ LITERAL a"])


def reading(principal: str, topic: str) -> Request:
    return Request.of(principal, "1.1.1.1", "READ", Resource("TOPIC", topic))


@pytest.fixture
def proofs(monkeypatch):
    """Let each assertion come out as a test says, in the place of what proves them."""

    def come_out(*found: Proof) -> None:
        waiting = iter(found)
        monkeypatch.setattr(never, "prove", lambda *_: next(waiting))

    return come_out


def test_all_have_to_hold(proofs):
    proofs(Proof("holds"), Proof("holds"))
    assert hold_assertions(ASSERTIONS, STATE, Budget()).outcome == HOLDS
    proofs(Proof("unknown"), Proof("holds"))
    assert hold_assertions(ASSERTIONS, STATE, Budget()).outcome == UNKNOWN
    proofs(Proof("unknown"), Proof("fails", reading("User:ann", "b")))
    assert hold_assertions(ASSERTIONS, STATE, Budget()).outcome == FAILS


def test_an_example_is_decided_and_names_its_acl(proofs):
    proofs(Proof("fails", reading("User:bob", "a")), Proof("fails", reading("User:ann", "b")))
    found = hold_assertions(ASSERTIONS, STATE, Budget())
    (allowed,), (denied,) = (answer.examples for answer in found.answers)
    assert (allowed.ruling.decision, allowed.ruling.acl.acl_id) == ("ALLOWED", "acl-0")
    assert (denied.ruling.decision, denied.ruling.rule) == ("DENIED", "DefaultDeny")


def test_an_example_that_the_rule_decides_otherwise_is_never_shown(proofs):
    proofs(Proof("fails", reading("User:bob", "b")))
    with pytest.raises(DisagreementError):
        hold_assertions(ASSERTIONS, STATE, Budget())


def test_where_it_takes_several_requests_all_are_shown(proofs):
    both = reading("User:bob", "a"), reading("User:ann", "a")
    proofs(Proof("fails", both[0], both), Proof("holds"))
    found = hold_assertions(ASSERTIONS, STATE, Budget())
    assert [example.request for example in found.answers[0].examples] == list(both)


def test_what_fails_comes_first_and_what_holds_last(proofs):
    proofs(Proof("holds"), Proof("unknown", hard=((RUN, "a", RUN),), detail="the budget ended"))
    found = hold_assertions(ASSERTIONS, STATE, Budget())
    assert [answer.outcome for answer in found.worst_first] == [UNKNOWN, HOLDS]
    assert answer_words(found.worst_first[0]) == "the budget ended; patterns that make it hard: *a*"
    assert answers_verdict(found) == "1 proven for every name, 0 failed, 1 unknown."
