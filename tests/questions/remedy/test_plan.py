"""Change sets: no state on the way allows more, and only what findings name is lost."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.acl import Acl
from aclkit.model.broker_settings import ALLOW_EVERYONE
from aclkit.model.findings import fingerprint_of
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.questions.remedy import prove
from aclkit.questions.remedy.change_set import TIDY, Held, Plan, Proposal, Step, dropped_with
from aclkit.questions.remedy.plan import _Planner, make_plan
from aclkit.questions.remedy.prove import make_remedy
from aclkit.rules.decide.agreement import DisagreementError
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules
from aclkit.rules.names.tidy import no_reasons
from tests.rules.names.world import acl, decisions, names_up_to, random_texts, rules

NAMES = names_up_to(3, "ab")
EVERYBODY = BrokerSettings(allow_everyone=True)


def wish(*remove: Acl, **fields: Any) -> Proposal:
    """Advise to revoke ACLs; ``revokes=False`` is for those without effect."""
    subject = " ".join(map(str, remove))
    kind = fields.get("kind", "public-access")
    return Proposal(**{
        "step_id": fingerprint_of(kind, subject), "kind": kind, "severity": "high",
        "subject": subject, "reason": "so", "remove": remove, "revokes": True,
    } | fields)  # fmt: skip


def planned(state: Rules, *proposals: Proposal, held: Held | None = None) -> Plan:
    """Put advice into a plan, without what tidy finds."""
    return make_plan(state, proposals, lambda _: (), held or {}, Budget())


def removed(plan: Plan) -> list[list[Acl]]:
    return [list(step.remove) for step in plan.steps]


def states(plan: Plan) -> Iterator[Rules]:
    """Yield every state on the way: kafka-acls changes one ACL after another."""
    now = {each.binding: each for each in plan.start.acls}
    for step in plan.steps:
        for each in step.add:
            now[each.binding] = each
            yield replace(plan.start, acls=tuple(now.values()))
        for each in step.remove:
            del now[each.binding]
            yield replace(plan.start, acls=tuple(now.values()))


def allowed(state: Rules) -> set[tuple[str, str, str, str]]:
    decided = decisions(state, NAMES, ("READ", "DESCRIBE", "DELETE"))
    return {request for request, is_allowed in decided if is_allowed}


def test_a_deny_goes_only_after_the_allow_that_it_restrains() -> None:
    state = rules(["DENY User:x READ LITERAL a", "ALLOW User:* READ PREFIXED a"])
    deny, allow = state.acls
    plan = planned(state, wish(deny), wish(allow))
    assert removed(plan) == [[allow], [deny]]
    assert plan.steps[1].needs == (plan.steps[0].step_id,)


def test_a_deny_stays_where_the_allow_that_it_restrains_does() -> None:
    state = rules(["DENY User:x READ LITERAL a", "ALLOW User:* READ PREFIXED a"])
    deny, allow = state.acls
    plan = planned(state, wish(deny), wish(allow), held={allow.binding: "It is accepted."})
    assert not plan.steps
    why = {left.remove[0]: left.why for left in plan.left_out}
    assert why[allow] == "It is accepted."
    assert why[deny].startswith("It would grant READ on topic a to User:x")


def test_what_needs_a_step_that_is_left_out_is_named() -> None:
    state = rules(["DENY User:x READ LITERAL a", "ALLOW User:* READ PREFIXED a"])
    deny, allow = state.acls
    first = planned(state, wish(deny), wish(allow))
    then = planned(state, wish(deny), wish(allow), held={allow.binding: "kept"})
    (dropped,) = dropped_with(first, then, first.steps[:1])
    assert dropped.remove == (deny,)
    assert "would grant READ" in dropped.why


def test_the_denies_of_one_proposal_follow_its_allows() -> None:
    state = rules(["DENY User:x READ LITERAL a", "ALLOW User:x ALL LITERAL a"])
    deny, allow = state.acls
    plan = planned(state, wish(deny, allow))
    assert removed(plan) == [[allow], [deny]]
    assert plan.steps[0].step_id != plan.steps[1].step_id


def test_an_acl_stays_that_only_an_acl_that_goes_covers() -> None:
    state = rules(["ALLOW User:x READ LITERAL a", "ALLOW User:* READ PREFIXED a"])
    own, public = state.acls
    plan = planned(state, wish(public), wish(own, revokes=False, by=(public,)))
    assert removed(plan) == [[public]]
    (left,) = plan.left_out
    step_id = plan.steps[0].step_id[:8]
    assert left.why.startswith(f"Step {step_id} removes what covers it: ALLOW READ on topic a*")
    assert "would revoke READ on topic a from User:x" in left.why


def test_the_last_acl_of_a_resource_stays_where_that_opens_it() -> None:
    state = rules(["ALLOW User:x READ LITERAL a"], settings=EVERYBODY)
    (only,) = state.acls
    plan = planned(state, wish(only))
    assert not plan.steps
    assert "It would grant" in plan.left_out[0].why
    assert removed(planned(replace(state, settings=BrokerSettings()), wish(only))) == [[only]]


def test_what_is_unknown_of_the_default_counts_as_the_worst() -> None:
    unknown = BrokerSettings(unknown=frozenset({ALLOW_EVERYONE}))
    state = rules(["ALLOW User:x READ LITERAL a"], settings=unknown)
    (only,) = state.acls
    found = make_remedy(state, [wish(only)], Budget())
    assert not found.plan.steps
    assert found.plan.left_out[0].why.endswith(" if allow.everyone.if.no.acl.found is true.")
    two = rules(["ALLOW User:x READ LITERAL a", "ALLOW User:zz READ LITERAL a"], settings=unknown)
    assert len(make_remedy(two, [wish(two.acls[0])], Budget()).plan.steps) == 1


def test_where_resources_without_acls_are_open_each_acl_is_a_step() -> None:
    texts = ["ALLOW User:* ALL LITERAL a", "ALLOW User:x READ LITERAL a"]
    state = rules(texts, settings=EVERYBODY)
    plan = planned(state, wish(*state.acls))
    assert [len(acls) for acls in removed(plan)] == [1]
    assert all(after <= allowed(state) for after in map(allowed, states(plan)))
    closed = replace(state, settings=BrokerSettings())
    assert removed(planned(closed, wish(*state.acls))) == [list(state.acls)]


def test_an_acl_goes_where_another_one_still_closes_the_resource() -> None:
    texts = ["ALLOW User:x READ LITERAL a", "ALLOW User:zz READ LITERAL a"]
    state = rules(texts, settings=EVERYBODY)
    one, other = state.acls
    plan = planned(state, wish(one), wish(other))
    assert len(plan.steps) == len(plan.left_out) == 1


def test_what_is_left_of_an_acl_comes_before_it_goes() -> None:
    state = rules(["ALLOW User:x ALL LITERAL a"])
    (everything,) = state.acls
    read = replace(everything, operation="READ", acl_id="new")
    plan = planned(state, wish(everything, add=(read,)))
    assert [(step.add, step.remove) for step in plan.steps] == [((read,), (everything,))]
    lost = allowed(state) - allowed(plan.final)
    assert {operation for _, _, operation, _ in lost} == {"DELETE"}


def test_what_others_grant_anyway_is_not_added() -> None:
    state = rules(["ALLOW User:x ALL LITERAL a", "ALLOW User:x READ PREFIXED a"])
    everything, _ = state.acls
    read = replace(everything, operation="READ", acl_id="new")
    describe = replace(everything, operation="DESCRIBE", acl_id="newer")
    (step,) = planned(state, wish(everything, add=(read, describe))).steps
    assert step.add == ()


def test_what_would_grant_more_is_never_added() -> None:
    state = rules(["ALLOW User:x READ LITERAL a"])
    (read,) = state.acls
    write = replace(read, operation="WRITE", acl_id="new")
    plan = planned(state, wish(read, add=(write,)))
    assert not plan.steps
    assert "would grant WRITE" in plan.left_out[0].why


def test_one_acl_of_two_findings_goes_once_and_both_are_named() -> None:
    state = rules(["ALLOW User:* ALL PREFIXED a"])
    (wide,) = state.acls
    narrow = replace(wide, operation="READ", acl_id="new")
    replaced = wish(wide, add=(narrow,), kind="escalation")
    plan = planned(state, replaced, wish(wide, severity="low"))
    (step,) = plan.steps
    assert (step.proposal.kind, [each.kind for each in step.also]) == (
        "public-access", ["escalation"],
    )  # fmt: skip
    assert step.add == ()


def test_what_is_redundant_is_looked_for_once_all_else_is_gone() -> None:
    state = rules(["ALLOW User:x READ LITERAL a", "ALLOW User:x READ PREFIXED a",
                   "ALLOW User:x ALL PREFIXED a"])  # fmt: skip
    narrow, wide, wider = state.acls
    found = make_remedy(state, [wish(wider)], Budget(), reasons_of=lambda _: no_reasons)
    assert removed(found.plan) == [[wider], [narrow]]
    assert found.plan.steps[1].proposal.kind == TIDY
    assert found.plan.steps[1].proposal.by == (wide,)


def test_a_copy_of_an_acl_stays_because_kafka_acls_removes_both() -> None:
    (one,) = rules(["ALLOW User:x READ LITERAL a"]).acls
    state = Rules(acls=(one, replace(one, acl_id="copy")), settings=BrokerSettings(),
                  semantics=KIP_1042)  # fmt: skip
    plan = planned(state, wish(one))
    assert not plan.steps
    assert "several times" in plan.left_out[0].why


def test_of_several_acls_those_that_must_stay_are_told() -> None:
    state = rules(["ALLOW User:x READ LITERAL a", "ALLOW User:x READ LITERAL b"])
    one, other = state.acls
    plan = planned(state, wish(one, other), held={one.binding: "kept"})
    assert removed(plan) == [[other]]
    assert plan.left_out[0].remove == (one,)


def test_beyond_the_search_limit_nothing_is_claimed() -> None:
    hard = ["ALLOW User:x READ GLOB *a????????", "ALLOW User:x READ GLOB *b????????a*"]
    state = rules(hard)
    gone = wish(state.acls[0], revokes=False)
    found = make_remedy(state, [gone], Budget(per_question=20))
    assert [left.is_unknown for left in found.plan.left_out] == [True]
    spent = make_remedy(state, [wish(state.acls[0])], Budget(total=1))
    assert not spent.plan.steps or not spent.is_known


def test_a_change_set_that_does_more_than_its_steps_is_a_defect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = rules(["ALLOW User:x READ LITERAL a", "ALLOW User:zz READ LITERAL b"])
    one, other = state.acls
    plan = planned(state, wish(one))
    wrong = replace(plan.steps[0], proposal=wish(other, revokes=False), remove=(other,))
    broken = replace(plan, steps=(*plan.steps, wrong))
    monkeypatch.setattr(prove, "make_plan", lambda *_: broken)
    with pytest.raises(DisagreementError, match="lose only what findings name"):
        make_remedy(state, [], Budget())


def drawn(chance: random.Random) -> tuple[Rules, Sequence[Proposal], Held]:
    """Draw ACLs, and wishes about them that make little sense."""
    settings = BrokerSettings(allow_everyone=chance.random() < 0.3)
    semantics = chance.choice((KIP_1042, KAFKA))
    state = rules(random_texts(chance, 3, 9), settings=settings, semantics=semantics)
    acls = list(dict(zip([each.binding for each in state.acls], state.acls, strict=True)).values())
    proposals = []
    for number in range(chance.randint(1, 6)):
        some = tuple(chance.sample(acls, min(chance.choice((1, 1, 1, 2, 3)), len(acls))))
        add = tuple(_narrowed(chance, each) for each in some if chance.random() < 0.4)
        proposals.append(
            wish(
                *some, kind=f"kind-{number}", revokes=chance.random() < 0.6, add=add,
                severity=chance.choice(("high", "low")),
            )
        )  # fmt: skip
    held = {each.binding: "kept" for each in acls if chance.random() < 0.1}
    return state, [each if each.revokes else replace(each, add=()) for each in proposals], held


def _narrowed(chance: random.Random, wide: Acl) -> Acl:
    """Return some ALLOW instead of an ACL: often it grants less, but not always."""
    changes = {"resource_name": "ab", "pattern_type": "LITERAL"}, {"operation": "DESCRIBE"}
    picked = chance.choice(changes)
    return replace(wide, permission_type="ALLOW", acl_id=f"new-{chance.random()}", **picked)


@given(st.randoms(use_true_random=False))
def test_no_state_on_the_way_allows_more_and_only_what_findings_name_is_lost(
    chance: random.Random,
) -> None:
    state, proposals, held = drawn(chance)
    found = make_remedy(state, proposals, Budget(), held=held, reasons_of=lambda _: no_reasons)
    _check(state, found.plan, held)
    assert found.is_known


def _check(state: Rules, plan: Plan, held: Held) -> None:
    """Decide all requests of a small world in each state, by the rule."""
    first = before = allowed(state)
    for after in map(allowed, states(plan)):
        assert after <= before
        before = after
    revoking = [step for step in plan.steps if step.proposal.revokes]
    gone = {each.binding for step in revoking for each in step.remove}
    come = [each for step in revoking for each in step.add]
    kept = [each for each in state.acls if each.binding not in gone]
    named = replace(state, acls=(*kept, *come))
    assert before == first & allowed(named)
    assert all(each.is_allow for step in revoking for each in step.remove)
    assert not {each.binding for step in plan.steps for each in step.remove} & held.keys()


@pytest.mark.parametrize("seed", range(60))
def test_each_step_needs_the_steps_that_it_names(seed: int) -> None:
    state, proposals, held = drawn(random.Random(seed))
    plan = planned(state, *proposals, held=held)
    for step in plan.steps:
        for needed in step.needs:
            other = next(each for each in plan.steps if each.step_id == needed)
            stays = {each.binding: "left out" for each in other.remove}
            then = planned(state, *proposals, held={**held, **stays})
            _check(state, then, {**held, **stays})


@pytest.mark.parametrize("seed", range(80))
def test_steps_looked_at_together_are_those_looked_at_one_by_one(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, proposals, held = drawn(random.Random(seed))
    state = replace(state, settings=BrokerSettings())
    together = make_remedy(state, proposals, Budget(), held=held, reasons_of=lambda _: no_reasons)
    at_once = _Planner._remove

    def one_by_one(self: _Planner, steps: Sequence[Step], kinds: Sequence[str]) -> None:
        for step in steps:
            at_once(self, [step], kinds)

    monkeypatch.setattr(_Planner, "_remove", one_by_one)
    alone = make_remedy(state, proposals, Budget(), held=held, reasons_of=lambda _: no_reasons)
    assert together.plan == alone.plan


def test_enough_random_steps_are_looked_at() -> None:
    """The tests above prove nothing where nothing is planned."""
    counts = {"revoked": 0, "dropped": 0, "added": 0, "left": 0, "needs": 0, "denies": 0}
    for seed in range(250):
        state, proposals, held = drawn(random.Random(seed))
        plan = planned(state, *proposals, held=held)
        counts["left"] += len(plan.left_out)
        for step in plan.steps:
            counts["revoked" if step.proposal.revokes else "dropped"] += 1
            counts["added"] += len(step.add)
            counts["needs"] += bool(step.needs)
            counts["denies"] += any(not each.is_allow for each in step.remove)
    assert min(counts.values()) > 10, counts


def test_a_step_has_the_same_id_in_every_run() -> None:
    one = acl("ALLOW User:x READ LITERAL a", 1)
    again = replace(one, acl_id="another")
    assert wish(one).step_id == wish(again).step_id
