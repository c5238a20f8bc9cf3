"""What cannot be judged stays; what a proof finds otherwise is an error, never an answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from aclkit.answer.document import Items
from aclkit.model.acl import Acl
from aclkit.questions.narrow.answer import Result, narrow_answer
from aclkit.questions.narrow.narrowing import GOES, NARROWED, STAYS, Judged, Narrowed, narrow
from aclkit.questions.narrow.proof import prove_narrowed
from aclkit.questions.narrow.propose import NOT_COVERED, Asked, notes_on, propose_narrow
from aclkit.questions.usage.use import TOO_NEW, Use, UseOfAcls
from aclkit.questions.usage.whole_log import CONTROLLERS, DAYS, Judgeable, Missing
from aclkit.rules.decide.agreement import DisagreementError
from aclkit.rules.names.question import Budget
from tests.factories import acl
from tests.questions.narrow.test_narrowing import ASKED, ME, fates, mine, rules, use

NOW = datetime.fromisoformat("2026-11-26T12:00:00")
WHOLE = Judgeable(
    window_from=NOW - timedelta(days=90),
    window_to=NOW,
    missing=(),
    controllers=None,
    covered=1.0,
)
MISSING = Missing(DAYS, "The log is too short.", "wait")


def asked(*acls: Acl, uses: tuple[Use, ...] = (), **other: object) -> Asked:
    fields = {
        "rules": rules(*acls),
        "log": WHOLE,
        "added_at": dict.fromkeys((each.acl_id for each in acls), NOW - timedelta(days=100)),
        "uses": uses,
    }
    keep = other.pop("keep", {})
    return Asked(use=UseOfAcls(**(fields | other)), keep=keep)


def one(of: Asked) -> Narrowed:
    (found,) = propose_narrow(of, [ME], Budget())
    return found.narrowed


def test_where_the_log_does_not_cover_the_window_every_acl_stays() -> None:
    own = mine("orders")
    found = one(asked(own, log=replace(WHOLE, missing=(MISSING,))))
    assert fates(found) == {own.acl_id: (STAYS, NOT_COVERED)}


def test_an_acl_that_came_within_the_window_or_at_an_unknown_time_stays() -> None:
    old, new, unknown = mine("a"), mine("b"), mine("c")
    added = {old.acl_id: NOW - timedelta(days=91), new.acl_id: NOW - timedelta(days=89)}
    assert fates(one(asked(old, new, unknown, added_at=added))) == {
        old.acl_id: (GOES, "unused"),
        new.acl_id: (STAYS, TOO_NEW),
        unknown.acl_id: (STAYS, TOO_NEW),
    }


def test_without_the_controllers_log_what_only_they_check_stays() -> None:
    wide, create = mine("o", "ALL", pattern_type="PREFIXED"), mine("bills", "CREATE")
    cluster = mine("kafka-cluster", "ALL", resource_type="CLUSTER")
    missing = Missing(CONTROLLERS, "", "")
    of = asked(wide, create, cluster, log=replace(WHOLE, controllers=missing))
    found = one(of)
    assert fates(found) == {
        wide.acl_id: (NARROWED, CONTROLLERS),
        create.acl_id: (STAYS, CONTROLLERS),
        cluster.acl_id: (STAYS, CONTROLLERS),
    }
    assert {each.operation for each in found.added} == {
        "CREATE", "DELETE", "ALTER", "ALTER_CONFIGS",
    }  # fmt: skip


def test_a_reader_is_told_who_was_silent_who_is_unknown_and_what_cannot_be_kept() -> None:
    own, uses = mine("orders"), (use("READ", "orders"),)
    of = asked(own, acl("x", principal="User:idle"), uses=uses, keep={mine("elsewhere"): ASKED})
    assert list(notes_on(of, ["User:idle", "User:new", ME])) == [
        "User:new has no ALLOW of its own.",
        "No request in the window: User:idle.",
        "Nothing to keep, because no own ALLOW allows it today: ALLOW READ on topic elsewhere for "
        "User:me from any host.",
    ]


def test_one_principal_after_another_never_opens_a_name_that_no_acl_applies_to_then() -> None:
    """Under allow.everyone each ALLOW alone may go, because the other one applies to the name."""
    acls = [acl("orders", principal=f"User:{name}", operation="ALL") for name in "ab"]
    of = asked(*acls, rules=rules(*acls, allow_everyone=True))
    found = propose_narrow(of, ["User:a", "User:b"], Budget())
    assert [len(each.narrowed.removed) for each in found] == [1, 0]


def test_the_answer_says_how_old_the_log_is_and_what_of_it_is_missing() -> None:
    own = mine("bills", "CREATE")
    partly = Missing(CONTROLLERS, "The controllers' log is missing.", "read it")
    judgeable = replace(WHOLE, controllers=partly, age=timedelta(days=3), covered=0.9995)
    proven = propose_narrow(asked(own, log=judgeable), [ME], Budget())
    answer = narrow_answer(Result(cluster_id="c", judgeable=judgeable, proven=proven, days=90))
    assert list(answer.notes) == [
        "Judged by 90 days of the log, 2026-08-28 to 2026-11-26, of which 99.9% are covered. "
        "Use that is rarer does not show: --keep FILE.",
        "The log ends 3 days before the ACLs were read. Use since then does not show.",
        "The controllers' log is missing. What only controllers decide stays. Next: read it",
    ]
    (item,) = (
        item for part in answer.for_people() if isinstance(part, Items) for item in part.items
    )
    assert item.text == "User:me: ALLOW CREATE on topic bills from any host"
    assert item.under == ["stays: only controllers decide it, and their log is missing"]


@pytest.mark.parametrize(
    ("judged", "added", "told"),
    [
        (lambda own: Judged(acl=own, fate="goes", why="x"), (), "no longer has the used"),
        (lambda own: Judged(acl=own, fate="stays", why="x"), (mine("b"),), "gains"),
        (
            lambda own: Judged(acl=own, fate="stays", why="x"),
            (acl("b", principal="User:other"),),
            "is not its own",
        ),
    ],
)
def test_a_set_that_is_wrong_is_refused_by_the_proof(judged, added, told) -> None:
    own = mine("orders")
    wrong = Narrowed(principal=ME, judged=(judged(own),), added=added)
    with pytest.raises(DisagreementError, match=told):
        prove_narrowed(rules(own), wrong, [use("READ", "orders")], Budget())


def test_a_check_of_any_topic_is_answered_as_before_though_its_name_is_not() -> None:
    wide = mine("*", "WRITE")
    uses = [
        Use(request=use("WRITE", "hardcode").request, apis=("InitProducerId",)),
        use("WRITE", "orders"),
    ]
    found = narrow(rules(wide), ME, uses, names="literal")
    assert prove_narrowed(rules(wide), found, uses, Budget()).uses == 2
