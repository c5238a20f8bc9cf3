"""Owners, what is carried over, the template, and what a removal says."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given

from aclkit.audit.review.attributes import attributes_of, read_rows
from aclkit.audit.review.carry import carry_over, is_same_access, signed_off
from aclkit.audit.review.choosing import item_of, items_matching, wanted_of
from aclkit.audit.review.decisions import KEEP, REMOVE, in_force
from aclkit.audit.review.document import About, SignedOff
from aclkit.audit.review.known_of_acls import end_words
from aclkit.audit.review.templates import add_months, due_days, gaps, is_still_valid
from aclkit.errors import UsageError
from aclkit.model.semantics import BrokerSettings
from aclkit.questions.query.acl_ends import AclEnd
from tests.audit.review.reviews import ACLS, ADMIN, decided, items_of, one, review_of
from tests.factories import acl
from tests.strategies import acl_sets

OWNERS = (
    {"principal": "User:*", "resource": None, "owner": "platform", "class": "system"},
    {"principal": "", "resource": "topic:pay*", "owner": "payments"},
    {"principal": "User:b*", "resource": "", "owner": "bobs", "purpose": "reports"},
)


def owners(*rows):
    return read_rows(rows or OWNERS, "owners.csv")


def known(item):
    return attributes_of([item], owners())[item.item_id]


def test_each_field_comes_from_the_first_row_that_matches_and_has_it():
    about = known(one(items_of(), "User:bob", "pay"))
    assert (about.owner, about.purpose, about.account) == ("payments", "reports", "")


def test_user_star_is_everyone_and_no_glob():
    assert known(one(items_of(), "User:*")).owner == "platform"
    assert known(one(items_of(), "User:eve")).owner == ""


def test_a_prefix_that_is_wider_than_a_row_is_not_the_rows():
    (item,) = items_of([acl("pa", pattern_type="PREFIXED")], BrokerSettings())
    assert known(item).owner == ""


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"owner": "x"}, "owners.csv, row 1: pass a principal"),
        ({"principal": "a", "class": "robot"}, "unknown class 'robot'. Expected person, "),
        ({"principal": "a"}, "pass at least one of owner"),
    ],
)
def test_a_row_that_says_nothing_is_refused(row, says):
    with pytest.raises(UsageError, match=says):
        owners(row)


def carried(items, earlier, decisions, *, is_valid=True):
    signed = signed_off(earlier, in_force(decisions))
    about = attributes_of(items, ())
    return carry_over(items, about, earlier, signed, lambda *_: is_valid)


def test_what_was_kept_and_did_not_change_is_carried_over_with_who_and_when():
    review = review_of()
    found = carried(review.items, review, decided(review))
    assert {about.carried.by for about in found.values()} == {"bob"}
    again = review_of(about=found, name="q2")
    assert again.asked == ()
    # The next one after that still names the day on which it was decided.
    third = carried(review.items, again, [])
    assert {about.carried.review for about in third.values()} == {"q1"}


def test_what_was_to_be_removed_and_is_still_there_is_asked_again():
    review = review_of()
    found = carried(review.items, review, decided(review, REMOVE))
    assert all(about.carried is None for about in found.values())
    assert {about.again.reason for about in found.values()} == {"needed"}


def test_what_was_not_signed_off_or_not_lately_is_asked_again():
    review = review_of()
    for found in (
        carried(review.items, review, []),
        carried(review.items, review, decided(review), is_valid=False),
    ):
        assert all(about.carried is None and about.again is None for about in found.values())


READ = acl("t", acl_id="read")
DENIED = acl("t", operation="DESCRIBE", host="10.0.0.1", acl_id="deny", permission_type="DENY")


@pytest.mark.parametrize(
    ("then", "now", "is_same"),
    [
        ([READ], [READ], True),
        ([READ], [replace(READ, acl_id="again")], False),
        ([READ], [READ, replace(READ, acl_id="more")], False),
        ([READ, replace(READ, acl_id="more")], [READ], True),
        ([READ], [READ, DENIED], True),
        ([READ, DENIED], [READ], False),
    ],
    ids=["same", "made anew", "one more", "one less", "a DENY more", "a DENY less"],
)
def test_a_sign_off_holds_while_nothing_more_is_granted(then, now, is_same):
    before, after = (items_of(acls, BrokerSettings())[0] for acls in (then, now))
    assert before.identity == after.identity
    assert is_same_access(after, before) is is_same


@given(acl_sets(6), acl_sets(6))
def test_only_items_that_were_decided_with_the_same_acls_are_carried_over(then, now):
    earlier = review_of(then)
    items = items_of(now)
    found = carried(items, earlier, decided(earlier))
    for item in items:
        if found[item.item_id].carried is not None:
            assert set(item.acls) <= set(earlier.by_id[item.item_id].acls)


def test_an_item_is_named_by_the_beginning_of_its_id():
    review = review_of()
    item = review.items[0]
    assert item_of(review, item.item_id[:6]) == item
    for text in (item.item_id[:3], "", "zzzzzz"):
        with pytest.raises(UsageError, match="has no item"):
            item_of(review, text)


def test_a_decision_is_changed_only_if_that_is_asked_for():
    review = review_of()
    item = review.items[0]
    made = in_force(decided(review, KEEP, [item]))
    assert wanted_of([item], KEEP, "x", "ana", made, replaces=False) == []
    with pytest.raises(UsageError, match="has the decision keep by bob"):
        wanted_of([item], REMOVE, "x", "ana", made, replaces=False)
    assert len(wanted_of([item], REMOVE, "x", "ana", made, replaces=True)) == 1


@pytest.mark.parametrize("reason", ["", "  ", "x" * 2_001])
def test_a_decision_needs_a_reason(reason):
    with pytest.raises(UsageError, match="reason"):
        wanted_of(items_of(), KEEP, reason, "ana", {}, replaces=False)


def test_items_are_chosen_by_owner_and_principal():
    review = review_of(about=attributes_of(items_of(), owners()))
    assert {i.principal for i in items_matching(review, "payments", None)} == {"User:bob"}
    assert {i.principal for i in items_matching(review, "", None)} == {"User:eve", ADMIN}
    assert {i.principal for i in items_matching(review, None, "User:*")} == {"User:*"}


def test_six_months_end_on_the_last_day_of_a_shorter_month():
    assert add_months(date(2026, 8, 31), 6) == date(2027, 2, 28)
    assert add_months(date(2027, 9, 30), 6) == date(2028, 3, 30)


def pci(account, **fields):
    items = items_of()
    about = {item.item_id: About(account=account) for item in items}
    return review_of(about=about, template="pci-dss", **fields)


def test_the_template_asks_for_class_frequency_analysis_and_acknowledgement():
    assert [gap.partition(":")[0] for gap in gaps(pci("person"), "cio", is_closing=True)] == []
    (gap,) = gaps(pci("person"), None, is_closing=True)
    assert "7.2.4, 7.2.5.1: the management's acknowledgement is missing" in gap
    (gap,) = gaps(pci(""), "cio", is_closing=True)
    assert "have no class" in gap
    found = list(gaps(pci("system"), "cio", is_closing=True))
    assert ["frequency" in found[0], "risk analysis" in found[1]] == [True, True]
    sound = pci("system", frequency_days=90, risk_analysis="TRA-7")
    assert list(gaps(sound, "cio", is_closing=True)) == []
    assert list(gaps(replace(pci(""), template=""), None, is_closing=True)) == []


def test_the_next_review_is_due_by_requirement():
    assert due_days(pci("third-party")) == {"7.2.4": date(2027, 5, 27)}
    assert due_days(pci("application", frequency_days=30)) == {"7.2.5.1": date(2026, 12, 27)}
    assert due_days(pci("application")) == {"7.2.5.1": None}


def test_a_sign_off_is_carried_over_until_it_is_due():
    sign = SignedOff(review="q1", decision=KEEP, reason="x", by="b", at="2026-05-20T10:00:00+00:00")
    person, system, nobody = (About(account=each) for each in ("person", "system", ""))
    assert is_still_valid(sign, person, date(2026, 11, 19), None)
    assert not is_still_valid(sign, person, date(2026, 11, 20), None)
    assert not is_still_valid(sign, nobody, date(2026, 5, 21), None)
    assert not is_still_valid(sign, system, date(2026, 5, 21), None)
    assert is_still_valid(sign, system, date(2026, 11, 19), 365)


def test_a_carried_item_is_due_earlier_than_one_decided_now():
    items = items_of()
    sign = SignedOff(review="q0", decision=KEEP, reason="x", by="b", at="2026-09-01T00:00:00+00:00")
    about = {item.item_id: About(account="person") for item in items}
    about[items[0].item_id] = replace(about[items[0].item_id], carried=sign)
    assert due_days(review_of(ACLS, about=about)) == {"7.2.4": date(2027, 3, 1)}


DAY = datetime(2026, 11, 21, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ({}, ""),
        ({"a": DAY}, ""),
        ({"a": DAY, "b": DAY + timedelta(days=2)}, "needed until 2026-11-23 10:00 UTC"),
    ],
)
def test_an_item_ends_when_the_last_of_its_acls_does_and_never_if_one_has_no_end(ends, words):
    acls = [acl("t", acl_id="a"), acl("t", acl_id="b", operation="WRITE")]
    (item,) = items_of(acls, BrokerSettings())
    known = {name: AclEnd(until=until, place="leases.toml") for name, until in ends.items()}
    assert end_words(item, known) == words
