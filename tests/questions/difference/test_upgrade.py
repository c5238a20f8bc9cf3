"""The same ACLs under two brokers: what is asked, what is told of each ACL, and the way back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.model.acl import ANY_OTHER
from aclkit.model.semantics import BROKER, KAFKA, KIP_1042
from aclkit.questions.difference.access_change import KINDS
from aclkit.questions.difference.answer import effect_answer
from aclkit.questions.difference.change import Change, with_named
from aclkit.questions.difference.compared import preview
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.question import Budget
from tests import strategies as small
from tests.factories import acl
from tests.questions.difference.world import ASKED, differences, state, topics
from tests.upgrading import ACLS, DOES

RANGES = replace(KAFKA, cidr_hosts=True)


def upgrade(acls, before=KAFKA, after=RANGES, *, allow_everyone=False):
    both = state(acls, allow_everyone=allow_everyone)
    return Change(before=both.read_as(before), after=both.read_as(after))


@settings(max_examples=60)
@given(small.acl_sets(6), st.booleans(), small.semantics, small.semantics)
def test_counts_are_those_of_deciding_everything_twice(acls, allow_everyone, before, after):
    of = upgrade(acls, before, after, allow_everyone=allow_everyone)
    result = preview(of, ASKED)
    differ = differences(of, result.asked)
    ways = {("DENIED", "ALLOWED"): GAINED, ("ALLOWED", "DENIED"): LOST}
    kinds = [ways.get((then[0], now[0]), KINDS[-1]) for then, now in differ.values()]
    assert [result.effect.count(kind) for kind in KINDS] == [kinds.count(k) for k in KINDS]
    gained_or_lost = {kind for kind in kinds if kind in (GAINED, LOST)}
    assert all(result.has(kind) for kind in gained_or_lost if result.is_known)


def test_the_way_back_loses_what_the_way_there_gains():
    asked = topics("payments", principals=("User:alice",))
    ways = upgrade(ACLS), upgrade(ACLS, RANGES, KAFKA)
    there, back = (preview(of, asked) for of in ways)
    for one, other in ((GAINED, LOST), (LOST, GAINED)):
        assert there.effect.count(one) == back.effect.count(other) > 0
        assert len(there.comparison.difference.of_kind(one)) == len(
            back.comparison.difference.of_kind(other)
        )
    assert {each.becomes for each in there.rereads} == {"wakes"}
    assert {each.becomes for each in back.rereads} == {"falls asleep"}


def test_each_acl_that_wakes_is_told_with_what_it_does():
    result = preview(upgrade(ACLS), topics("payments"))
    does = {
        each.acl.acl_id: "high" if each.of_kind(GAINED) else "medium" if each.changes else "info"
        for each in result.rereads
    }
    assert does == DOES
    rereads = [text for text in rereads_of(result) if " takes effect: " in text]
    assert len(rereads) == len(DOES)
    first = next(text for text in rereads if "User:carol" in text)
    assert first == (
        "ALLOW READ on topic free for User:carol from 2001:db9::/32 takes effect: grants READ, "
        "DESCRIBE for User:carol from hosts that 2001:db9::/32 matches (such as "
        "2001:db9:0:0:0:0:0:1), for example on free"
    )


def rereads_of(result):
    """Return what an answer says of each ACL that is read otherwise."""
    items = next(iter(effect_answer(result, "t").for_people())).items
    return [item.text for item in items if item.mark == "~" and "still" not in item.text]


def test_atoms_are_asked_though_the_run_had_ranges_off():
    asked = with_named(topics("payments"), upgrade(ACLS)).hosts
    within = ("10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.128/25", "2001:db8::/32",
              "2001:db8::/33", "2001:db9::/32")  # fmt: skip
    assert asked == ("10.0.0.1", ANY_OTHER, *(f"<any-other in {each}>" for each in within))


def test_what_narrower_ranges_leave_nothing_of_is_not_asked():
    halves = [acl(host=host) for host in ("10.0.0.0/8", "10.0.0.0/9", "10.128.0.0/9")]
    asked = with_named(topics("orders"), upgrade(halves)).hosts
    assert asked[2:] == ("<any-other in 10.0.0.0/9>", "<any-other in 10.128.0.0/9>")


def test_a_range_of_one_address_is_that_address():
    asked = with_named(topics("orders"), upgrade([acl(host="10.1.2.3/32")])).hosts
    assert asked[2:] == ("10.1.2.3",)


def test_acls_that_are_read_alike_change_nothing_and_cost_nothing():
    alike = [acl(host=host) for host in ("*", "10.0.0.1", "10.0.0.0/33", "client.example.org")]
    result = preview(upgrade(alike), topics("orders"))
    assert (result.verdict, result.rereads, result.budget.states) == ("equivalent", (), 0)
    assert result.asked == topics("orders")


def test_another_order_of_deciding_is_told_as_decided_by_another_acl():
    acls = [acl("*"), acl("orders")]
    of = upgrade(acls, KIP_1042, replace(KIP_1042, deciding_acl=BROKER))
    result = preview(of, topics("orders"))
    assert result.verdict == "equivalent"
    assert [result.effect.count(kind) for kind in KINDS] == [0, 0, 4]


@pytest.mark.parametrize("name", ["", "a"])
def test_a_glob_that_becomes_a_prefix_may_rank_otherwise_where_it_still_matches(name):
    """The other ACL's id is the first, so that it decides where both are prefixes of one name."""
    acls = [
        acl(name, pattern_type="PREFIXED", acl_id="2" if name == "" else "1"),
        acl(name, pattern_type="GLOB", acl_id="1" if name == "" else "2"),
    ]
    of = upgrade(acls, KIP_1042, replace(KIP_1042, glob_patterns=False))
    asked = topics("a", principals=("User:a",), hosts=("10.0.0.1",))
    result = preview(of, asked)
    assert differences(of, asked)
    assert result.effect.count(KINDS[-1]) == len(differences(of, asked))


def test_the_wildcard_defect_is_previewed_like_an_upgrade():
    acls = [acl("*", resource_type="GROUP")]
    result = preview(upgrade(acls, KAFKA, replace(KAFKA, wildcard_defect=False)), ASKED)
    assert result.verdict == "more"
    assert {cell.resource_name for cell in result.effect.cells(GAINED)} == {"*a"}
    (text,) = rereads_of(result)
    assert text.endswith("for example on *z")


def test_what_the_budget_leaves_open_is_said_of_the_acl_too():
    hard = [
        acl("*b*a????????", pattern_type="GLOB", host="10.0.0.0/8"),
        acl("*a????????", pattern_type="GLOB"),
    ]
    of = upgrade(hard, KIP_1042, replace(KIP_1042, cidr_hosts=True))
    result = preview(of, topics("x"), Budget(per_question=150))
    assert not result.is_known
    (text,) = rereads_of(result)
    assert text.endswith(": has an unknown effect")
