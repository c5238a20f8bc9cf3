"""When a change fails, needs approval, or passes; and with which exit code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.questions.assertions.parse import parse_watches
from aclkit.questions.difference.change import Change
from aclkit.questions.difference.compared import preview
from aclkit.questions.difference.verdict import Demands, Verdict, exit_code, judge, kinds_of
from aclkit.questions.difference.watch import touched
from aclkit.questions.state import Applied, Depends, State, names_in
from aclkit.rules.names.compare import compare
from aclkit.rules.names.moments import Doing
from aclkit.rules.names.question import Budget
from tests.factories import acl

OPEN = acl("pay.eu", principal="User:a", acl_id="open")
OTHER = acl("logs", principal="User:b", acl_id="other")
DENY = acl("logs", principal="User:b", permission_type="DENY", acl_id="fail")


def state(*acls):
    return State(acls={each.acl_id: each for each in acls}, settings=BrokerSettings())


def planned(before, after, *doings, depends=()):
    inventory = names_in([*before, *after], KAFKA)
    there = Applied(
        after=state(*after),
        doings=[Doing(steps, is_sure=not depends) for steps in doings],
        depends=depends,
    )
    change = Change(before=state(*before), after=replace(state(*after), applied=there))
    return preview(change, inventory, Budget())


def verdict(found, fail_on=None, **demands):
    return judge(found, Demands(kinds=kinds_of(fail_on), **demands))


def watching(text):
    return parse_watches(f'[[watch]]\nname = "w"\n{text}\n', "watch.toml")


def test_a_change_of_no_access_passes():
    assert verdict(planned([OPEN], [OPEN])).name == "pass"


def test_a_change_of_access_wants_a_review():
    assert verdict(planned([], [OPEN])).name == "needs approval"


@pytest.mark.parametrize(
    ("fail_on", "name"),
    [("gained", "fail"), ("any", "fail"), ("lost", "needs approval"), ("gap", "needs approval")],
)
def test_what_is_gained_fails_where_it_is_asked(fail_on, name):
    assert verdict(planned([], [OPEN]), fail_on=fail_on).name == name


def replaced(one):
    return (False, one), (True, one)


def test_access_that_is_off_for_a_time_wants_a_review_and_fails_on_gap():
    gap = planned([OTHER], [OTHER], replaced(OTHER))
    assert verdict(gap).name == "needs approval"
    denied = verdict(gap, fail_on="gap")
    assert (denied.name, denied.reasons) == ("fail", ["Access is off for a time (--fail-on gap)."])
    assert [*denied.effect] == [
        "For a time: User:b loses READ, DESCRIBE on topic logs from any host."
    ]


def test_an_acl_that_is_off_for_a_time_without_effect_on_access_is_no_gap():
    again = acl("logs", principal="User:*", acl_id="again")
    assert verdict(
        planned([OTHER, again], [OTHER, again], replaced(OTHER)), fail_on="any"
    ).name == ("pass")


def test_access_that_is_open_for_a_time_fails_on_gap_and_not_on_what_the_end_gains():
    opening = planned([OTHER, DENY], [OTHER, DENY], replaced(DENY))
    assert verdict(opening, fail_on="gained").name == "needs approval"
    assert verdict(opening, fail_on="gap").reasons == ["Access is open for a time (--fail-on gap)."]


PERHAPS = [Depends("the weather", {OPEN.binding: OPEN})]


def test_an_end_that_depends_on_something_wants_a_review_though_the_shown_one_changes_nothing():
    found = verdict(planned([OPEN], [OPEN], ((False, OPEN),), depends=PERHAPS))
    assert (found.name, found.reasons) == ("needs approval", ["Access may change."])
    assert [*found.effect] == [
        "User:a may lose READ, DESCRIBE on topic pay.eu from any host; this depends on the weather."
    ]


def test_a_watch_is_touched_by_what_perhaps_changes():
    watches = watching('resources = ["topic:pay.*"]')
    found = verdict(planned([], [], ((True, OPEN),), depends=PERHAPS), watches=watches)
    assert found.name == "fail"
    assert found.reasons[0].startswith("Watched access changes perhaps ('w'): User:a")


@pytest.mark.parametrize(("is_unread", "name"), [(True, "needs approval"), (False, "fail")])
def test_what_cannot_be_judged_never_passes(is_unread, name):
    depends = [Depends("the weather", is_unread=is_unread)]
    found = planned([OPEN], [OPEN], depends=depends)
    assert verdict(found).name == name
    assert found.proof is None


def test_access_beyond_the_reference_is_denied():
    rules = state(OPEN).rules
    beyond = compare(state().rules, rules, Budget())
    within = compare(rules, rules, Budget())
    assert verdict(planned([], [OPEN]), reference=beyond).name == "fail"
    assert verdict(planned([], [OPEN]), reference=within).name == "needs approval"


def test_an_unknown_result_is_denied():
    found = planned([], [OPEN])
    comparison = found.comparison
    hidden = replace(comparison.difference, changes=(), is_complete=False)
    unknown = replace(found, comparison=replace(comparison, difference=hidden))
    denied = verdict(replace(unknown, openings=()))
    assert (denied.name, denied.reasons) == (
        "fail",
        ["More access may change: the search limit was reached."],
    )


@pytest.mark.parametrize(
    ("name", "codes"), [("pass", (0, 0, 0)), ("needs approval", (0, 0, 1)), ("fail", (0, 1, 1))]
)
def test_the_exit_code_follows_the_verdict_and_how_it_was_asked(name, codes):
    asked = Verdict(name, ["It is so."])
    assert tuple(exit_code(asked, form) for form in ("shown", "gate", "strict")) == codes


# Watches


def test_the_example_file_of_watches_is_read():
    path = Path(__file__).parents[3] / "conf" / "watch.toml"
    assert len(parse_watches(path.read_text(encoding="utf-8"), "watch.toml")) == 3


@pytest.mark.parametrize(
    ("watch", "is_touched"),
    [
        ('resources = ["topic:pay.eu"]', True),
        ('resources = ["topic:pay.*"]', True),
        ('resources = [{prefixed = "topic:pay"}]', True),
        ('resources = ["topic:logs"]', False),
        ('resources = ["group:pay.eu"]', False),
        ('principals = ["User:a"]', True),
        ('principals = ["User:*"]', True),
        ('principals = ["User:b"]', False),
        ('resources = ["topic:pay.*"]\noperations = ["WRITE"]', False),
        ('resources = ["topic:*"]\nexcept_resources = ["topic:pay.eu"]', False),
        ('resources = ["topic:*"]\nexcept_principals = ["User:a"]', False),
    ],
)
def test_a_watch_is_touched_by_access_that_it_selects(watch, is_touched):
    (one,) = watching(watch)
    assert bool(touched(one, planned([], [OPEN]), Budget())) is is_touched


def test_a_prefix_that_reaches_a_watched_name_to_come_touches_it():
    wide = acl("p", pattern_type="PREFIXED", principal="User:a")
    (one,) = watching('resources = ["topic:pay.*"]')
    assert touched(one, planned([], [wide]), Budget())


def test_what_every_principal_gains_touches_a_watched_one_that_no_acl_names():
    public = acl("logs", principal="User:*")
    (one,) = watching('principals = ["User:admin"]')
    assert touched(one, planned([], [public]), Budget())


def test_a_principal_that_an_acl_names_is_none_of_the_others():
    named = acl("pay.eu", principal="User:admin", acl_id="named")
    public = acl("pay.eu", principal="User:*", acl_id="public")
    (one,) = watching('principals = ["User:admin"]')
    assert not touched(one, planned([named], [named, public]), Budget())


def test_a_touched_watch_is_denied_with_its_name():
    found = verdict(planned([], [OPEN]), watches=watching('resources = ["topic:pay.*"]'))
    assert found.name == "fail"
    assert found.reasons[0].startswith("Watched access changes ('w'): User:a: READ")
