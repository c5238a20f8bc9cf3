"""Policies held against files, which have no inventory: each example is decided, all is proven."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.model.acl import Request
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, KIP_1042, REDPANDA
from aclkit.questions.assertions import check as checking
from aclkit.questions.assertions.answer import outcome_words, policies_answer, verdict_sentence
from aclkit.questions.assertions.check import check
from aclkit.questions.assertions.model import FAILED, PASSED, UNKNOWN, verdict_of
from aclkit.questions.assertions.parse import parse_assertions
from aclkit.questions.assertions.proof import Proof
from aclkit.questions.state import Applied, Bounds, State
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
BOB, ANN = "ALLOW User:bob READ LITERAL a", "ALLOW User:ann READ LITERAL a"


def holding(*acls: str, semantics=KIP_1042) -> State:
    return State(semantics=semantics).with_only(rules(acls).acls)


STATE = holding(BOB, ANN)


def reading(principal: str, topic: str) -> Request:
    return Request.of(principal, "1.1.1.1", "READ", Resource("TOPIC", topic))


def hold(state=STATE, text=None):
    return check(state, parse_assertions(text, "p.toml") if text else ASSERTIONS, Budget())


@pytest.fixture
def proofs(monkeypatch):
    """Let each assertion come out as a test says, in the place of what proves them."""

    def come_out(*found: Proof) -> None:
        waiting = iter(found)
        monkeypatch.setattr(checking, "prove", lambda *_: next(waiting))

    return come_out


def test_all_have_to_hold(proofs):
    proofs(Proof(PASSED), Proof(PASSED))
    assert verdict_of(hold()) == PASSED
    proofs(Proof(UNKNOWN), Proof(PASSED))
    assert verdict_of(hold()) == UNKNOWN
    proofs(Proof(UNKNOWN), Proof(FAILED, reading("User:ann", "b")))
    assert verdict_of(hold()) == FAILED


def test_an_example_is_decided_and_names_its_acl(proofs):
    proofs(Proof(FAILED, reading("User:bob", "a")), Proof(FAILED, reading("User:ann", "b")))
    (allowed,), (denied,) = (outcome.examples for outcome in hold())
    assert (allowed.ruling.decision, allowed.ruling.acl.acl_id) == ("ALLOWED", "acl-0")
    assert (denied.ruling.decision, denied.ruling.rule) == ("DENIED", "DefaultDeny")


def test_an_example_that_the_rule_decides_otherwise_is_never_shown(proofs):
    proofs(Proof(FAILED, reading("User:bob", "b")))
    with pytest.raises(DisagreementError):
        hold()


def test_where_it_takes_several_requests_all_are_shown(proofs):
    both = reading("User:bob", "a"), reading("User:ann", "a")
    proofs(Proof(FAILED, both[0], both), Proof(PASSED))
    assert [example.request for example in hold()[0].examples] == list(both)


def test_what_fails_comes_first_and_what_holds_last(proofs):
    proofs(Proof(PASSED), Proof(UNKNOWN, hard=((RUN, "a", RUN),), detail="the budget ended"))
    found = hold()
    assert outcome_words(found[1]) == "the budget ended; patterns that make it hard: *a*"
    assert verdict_sentence(found) == (
        "Verdict: unknown, which counts as failed (1 unknown, 1 pass)."
    )
    verdict, items, _ = policies_answer(found, STATE, ()).for_people()
    assert verdict.text == verdict_sentence(found)
    assert [item.text for item in items.items] == [
        "unknown  ann reads",
        "pass     bob reads nothing",
    ]


KNOWN_ONLY = '[[never]]\nname="n"\nprincipals="User:bob"\ninventory_only=true\n'


@pytest.mark.parametrize(
    "text",
    [
        KNOWN_ONLY,
        KNOWN_ONLY.replace("inventory_only=true", 'principal_attributes={team="pay"}'),
        KNOWN_ONLY.replace("inventory_only=true", 'resource_attributes={class="secret"}'),
    ],
    ids=["known-only", "principals", "resources"],
)
def test_what_only_an_inventory_can_tell_is_unknown(text):
    (found,) = hold(text=text)
    assert (found.verdict, found.checked, found.examples) == (UNKNOWN, 0, ())
    assert "known" in found.detail


def test_a_policy_that_another_end_breaks_is_unknown():
    """An order that is open may leave the ACL that breaks it; its name may be anyone's."""
    nothing, grants = holding(), holding(BOB)
    ends = Bounds(most=grants, least=nothing, bare=nothing)
    never = POLICIES.partition("[[always]]")[0]
    (found,) = hold(replace(nothing, applied=Applied(after=nothing, ends=ends)), never)
    assert (found.verdict, "is open" in found.detail) == (UNKNOWN, True)
    assert found.examples
    (fresh,) = hold(replace(holding(ANN), fresh=frozenset({"User:ann"})), never)
    assert fresh.verdict == UNKNOWN
    assert hold(holding(ANN), never)[0].verdict == PASSED


def test_members_of_a_role_can_break_it():
    state = holding("ALLOW RedpandaRole:dev READ LITERAL a", ANN,
                    semantics=replace(KAFKA, authorizer=REDPANDA))  # fmt: skip
    found = hold(state, POLICIES.partition("[[always]]")[0])
    assert [(each.verdict, "members" in each.detail) for each in found] == [(UNKNOWN, True)]
