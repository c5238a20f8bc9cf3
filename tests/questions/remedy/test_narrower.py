"""Steps of right-sizing: what was used stays allowed in every state on the way."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.acl import Request
from aclkit.questions.narrow.narrowing import narrow
from aclkit.questions.narrow.proof import Proven, prove_narrowed
from aclkit.questions.remedy.by_use import narrower
from aclkit.questions.remedy.change_set import NARROW, Plan
from aclkit.questions.remedy.prove import make_remedy
from aclkit.questions.usage.use import Use
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules
from aclkit.rules.names.tidy import no_reasons
from tests.questions.remedy.test_plan import allowed, drawn, states, wish
from tests.rules.names.world import rules

PRINCIPAL = "User:x"


def use(operation: str, name: str) -> Use:
    return Use(
        request=Request(
            principal=PRINCIPAL, host="10.0.0.1", operation=operation, resource_type="TOPIC",
            resource_name=name,
        )
    )  # fmt: skip


def narrowed(state: Rules, *uses: Use) -> Proven:
    found = narrow(state, PRINCIPAL, uses)
    return prove_narrowed(state, found, uses, Budget())


def planned(state: Rules, *uses: Use) -> Plan:
    advice = narrower([narrowed(state, *uses)])
    return make_remedy(state, advice, Budget(), reasons_of=lambda _: no_reasons).plan


def test_each_acl_that_goes_is_a_step_with_what_comes_in_its_place() -> None:
    state = rules(["ALLOW User:x ALL PREFIXED a", "ALLOW User:x READ LITERAL b"])
    wide, unused = state.acls
    plan = planned(state, use("READ", "ab"))
    assert {step.proposal.kind for step in plan.steps} == {NARROW}
    assert {step.remove for step in plan.steps} == {(wide,), (unused,)}
    (come,) = (each for step in plan.steps for each in step.add)
    assert (come.operation, come.resource_name) == ("READ", "a")


def test_what_a_finding_revokes_is_not_granted_anew() -> None:
    state = rules(["ALLOW User:x ALL PREFIXED a", "ALLOW User:x ALL LITERAL b"])
    wide, other = state.acls
    advice = [*narrower([narrowed(state, use("READ", "ab"), use("READ", "b"))]), wish(wide)]
    plan = make_remedy(state, advice, Budget()).plan
    first, second = plan.steps
    assert (first.remove, first.add) == ((wide,), ())
    assert [each.kind for each in first.also] == [NARROW]
    assert (second.remove, [each.operation for each in second.add]) == ((other,), ["READ"])


def test_what_comes_is_needed_though_a_wide_acl_covers_it_until_that_goes() -> None:
    texts = ["ALLOW User:x ALL LITERAL a", "ALLOW User:x READ PREFIXED a"]
    for order in (texts, texts[::-1]):
        state = rules(order)
        plan = planned(state, use("READ", "a"))
        assert (PRINCIPAL, "10.0.0.1", "READ", "a") in allowed(plan.final)


def test_a_set_whose_loss_is_not_known_is_no_advice() -> None:
    hard = ["ALLOW User:x ALL GLOB *a????????", "ALLOW User:x READ GLOB *b????????a*"]
    state = rules(hard)
    found = narrow(state, PRINCIPAL, [])
    proven = prove_narrowed(state, found, [], Budget(per_question=5))
    assert not proven.is_known
    assert not list(narrower([proven]))


@given(st.randoms(use_true_random=False))
def test_what_was_used_is_allowed_in_every_state_on_the_way(chance: random.Random) -> None:
    state, _, _ = drawn(chance)
    first = allowed(state)
    mine = sorted(each for each in first if each[0] == PRINCIPAL and each[1] == "10.0.0.1")
    used = chance.sample(mine, min(len(mine), chance.randint(0, 4)))
    plan = planned(state, *(use(operation, name) for _, _, operation, name in used))
    before = first
    for after in map(allowed, states(plan)):
        assert after <= before
        assert after >= set(used)
        before = after
