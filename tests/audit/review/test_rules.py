"""Owners, choices, the template, and what is known of an item."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from aclkit.audit.review.attributes import attributes_of, read_rows
from aclkit.audit.review.choosing import item_of, items_matching, wanted_of
from aclkit.audit.review.decisions import KEEP, REMOVE, in_force
from aclkit.audit.review.document import About, SignedOff
from aclkit.audit.review.starting import end_words
from aclkit.audit.review.templates import add_months, due_days, gaps, is_still_valid
from aclkit.errors import UsageError
from aclkit.model.semantics import BrokerSettings
from aclkit.questions.query.lifetimes import AclEnd
from tests.audit.review.reviews import ACLS, ADMIN, decided, items_of, one, review_of
from tests.factories import acl

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


def test_logins_decide_alone_and_without_any_all_users_do():
    rows = owners({"principal": "User:bob", "logins": "pia  pat@b.example"})
    item = one(items_of(), "User:bob", "pay")
    about = attributes_of([item], rows)[item.item_id]
    assert [about.may_decide(login) for login in ("pia", "pat@b.example", "pi", "")] == [
        True, True, False, False,
    ]  # fmt: skip
    assert known(item).may_decide("anyone")


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


def test_an_item_is_named_by_the_beginning_of_its_id():
    review = review_of()
    item = review.items[0]
    assert item_of(review, item.item_id[:6]) == item
    assert item_of(review, item.key[:6]) == item
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
