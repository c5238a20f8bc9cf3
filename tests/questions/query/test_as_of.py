"""The state as of an offset or a time, and the settings of then, as why asks for them."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import pytest

from aclkit.errors import UsageError
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS
from aclkit.model.moment import parse_moment
from aclkit.model.resource import Resource
from aclkit.model.semantics import KIP_1042
from aclkit.questions.query.why import explain_why
from aclkit.questions.query.words import why_notes
from tests.questions.query.in_memory import CLUSTER, Life, open_memory, time_of
from tests.questions.query.small_warehouse import acl

PAYMENTS = Resource("TOPIC", "payments")
SETTINGS = json.dumps({"semantics": asdict(KIP_1042), "super_users": [], "allow_everyone": False})
LIVES = (Life(acl(1), 3, 7), Life(acl(2, principal="User:b"), 5), Life(acl(3), 6, effective=9))


@pytest.fixture
def then():
    def ask(moment, tables=None, began=None):
        connection, published = open_memory(
            LIVES, head=12, settings=SETTINGS, tables=tables, began=began
        )
        with connection:
            return explain_why(
                connection, published, CLUSTER, "User:alice", "READ", PAYMENTS, moment=moment
            )

    return ask


@pytest.mark.parametrize(
    ("offset", "acl_id"),
    [(3, None), (4, "acl-01"), (7, "acl-01"), (8, None), (9, None), (10, "acl-03"), (12, "acl-03")],
)
def test_as_of_an_offset_is_before_its_record(then, offset, acl_id):
    answer = then(offset)
    assert (answer.ruling.acl.acl_id if answer.ruling.acl else None) == acl_id
    assert answer.moment.is_past


@pytest.mark.parametrize(("seconds", "offset"), [(-1, 0), (0, 1), (3, 4), (3.5, 4), (99, 12)])
def test_as_of_a_time_is_before_the_first_later_record(then, seconds, offset):
    assert then(time_of(seconds).replace(tzinfo=UTC)).moment.offset == offset


@pytest.fixture
def in_tokyo(monkeypatch):
    """The zone of this machine is nine hours ahead of UTC."""
    with monkeypatch.context() as of_the_test:
        of_the_test.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("in_tokyo")
def test_a_time_without_a_zone_is_utc_whatever_the_zone_of_the_machine(then):
    assert datetime.now().astimezone().utcoffset() == timedelta(hours=9)
    time_of_3 = time_of(3)
    assert time_of_3.tzinfo is None
    assert then(time_of_3).moment.offset == 4
    assert then(time_of_3.replace(tzinfo=UTC).astimezone()).moment.offset == 4
    for zone in ("", "Z", "+00:00"):
        assert then(parse_moment(f"{time_of_3.isoformat()}{zone}")).moment.offset == 4


def test_a_past_answer_is_under_the_settings_of_then(then):
    tables = {
        "setting": [
            {"since_time": time_of(4.5), "super_users": ["User:alice"], "allow_everyone": False},
            {"since_time": time_of(8.5), "super_users": [], "allow_everyone": True},
        ]
    }
    assert then(6, tables).ruling.rule == "SuperUser"
    assert then(6, tables).moment.note is None
    assert then(9, tables).ruling.rule == "DefaultDeny"
    assert then(time_of(8.6).replace(tzinfo=UTC), tables).moment.settings.allow_everyone
    assert not then(time_of(8.4).replace(tzinfo=UTC), tables).moment.settings.allow_everyone
    assert "known only since 2026-11-21 12:00:04 UTC" in then(2, tables).moment.note
    assert "as of offset 2" in "; ".join(why_notes(then(2, tables)))


def seen(run_number, second, user, log_offset):
    since = {"since_time": time_of(second), "run_number": run_number, "log_offset": log_offset}
    return since | {"super_users": [user], "allow_everyone": False}


AHEAD = [seen(1, 1.5, "User:a", 2), seen(2, 9_000_000, "User:b", 5), seen(3, 8.5, "User:c", 9)]
BEHIND = [seen(1, 1.5, "User:a", 2), seen(2, -9_000_000, "User:b", 5), seen(3, 8.5, "User:c", 9)]


@pytest.mark.parametrize("rows", [AHEAD, BEHIND], ids=["ahead", "behind"])
def test_settings_are_in_the_order_of_their_runs_whatever_the_clock_said(then, rows):
    tables = {"setting": rows[::-1]}

    def users(moment):
        return then(moment, tables, began=time_of(20)).moment.settings.super_users

    by_offset = {offset: [*users(offset)] for offset in (2, 4, 5, 8, 9, 12)}
    a, b, c = ["User:a"], ["User:b"], ["User:c"]
    assert by_offset == {2: a, 4: a, 5: b, 8: b, 9: c, 12: c}
    times = {second: [*users(time_of(second).replace(tzinfo=UTC))] for second in (2, 8.4, 8.6, 30)}
    assert times == {2: a, 8.4: b, 8.6: c, 30: c}


def test_settings_that_the_newest_run_saw_hold_although_a_clock_was_ahead(then):
    rows = [seen(1, 1.5, "User:a", 2), seen(2, 9_000_000, "User:b", 12)]
    answer = then(time_of(30).replace(tzinfo=UTC), {"setting": rows}, began=time_of(25))
    assert answer.moment.settings.super_users == {"User:b"}


@pytest.mark.parametrize("fact", ["listing", "record"])
def test_as_of_a_time_listings_are_in_their_order_whatever_the_clock_said(then, fact):
    source = "listing" if fact == "listing" else "aclkit acls"
    facts = [
        {"fact": fact, "source": source, "log_offset": offset, "log_time": time_of(second)}
        for offset, second in enumerate((0, 10, 9_000_000, 30, 40))
    ]
    tables = {"acl_log": facts, "log_range": [{"from_offset": 0, "to_offset": 5, "fact": fact}]}

    def offset(second):
        return then(time_of(second).replace(tzinfo=UTC), tables, time_of(50)).moment.offset

    assert [offset(second) for second in (5, 15, 35, 45)] == [1, 2, 4, 12]


@pytest.mark.parametrize(
    ("users", "everyone", "unknown"),
    [
        (None, None, {SUPER_USERS, ALLOW_EVERYONE}),
        # The warehouse is of an aclkit that wrote down defaults where nobody had said anything.
        ([], False, {SUPER_USERS, ALLOW_EVERYONE}),
        (["User:x"], False, set()),
        ([], True, set()),
    ],
)
def test_settings_of_then_are_unknown_where_nobody_knew_them(then, users, everyone, unknown):
    row = {"since_time": time_of(4.5), "super_users": users, "allow_everyone": everyone}
    assert then(6, {"setting": [row]}).moment.settings.unknown == unknown


def test_where_history_jumps_onto_a_snapshot_the_state_before_is_not_known(then):
    tables = {
        "log_range": [
            {"from_offset": 0, "to_offset": 4, "epoch": 1, "fact": "record"},
            {"from_offset": 0, "to_offset": 8, "epoch": 1, "fact": "snapshot"},
            {"from_offset": 8, "to_offset": 12, "epoch": 1, "fact": "record"},
        ]
    }
    for known in (0, 4, 8, 12):
        assert then(known, tables).moment.offset == known
    for unknown in (5, 7):
        with pytest.raises(UsageError, match="offsets 4 to 7 were not read"):
            then(unknown, tables)


def test_the_state_of_offsets_that_a_newer_leader_may_have_overwritten_is_said_to_be_doubtful(then):
    ranges = [
        (0, 4, 1, "record"),
        (0, 6, 2, "snapshot"),
        (5, 6, 2, "committed"),
        (6, 12, 2, "record"),
    ]
    names = ("from_offset", "to_offset", "epoch", "fact")
    tables = {"log_range": [{**dict(zip(names, r, strict=True)), "follows": -1} for r in ranges]}
    unknown = "It is unknown whether offsets {} were committed"
    assert unknown.format("0–1") in "; ".join(why_notes(then(2, tables)))
    assert unknown.format("0–3") in "; ".join(why_notes(then(4, tables)))
    for known in (0, 6, 12):
        assert "It is unknown" not in "; ".join(why_notes(then(known, tables)))


def test_before_the_first_snapshot_nothing_is_known(then):
    tables = {
        "log_range": [
            {"from_offset": 0, "to_offset": 8, "epoch": 1, "fact": "snapshot"},
            {"from_offset": 8, "to_offset": 12, "epoch": 1, "fact": "record"},
        ]
    }
    for unknown in (0, 7):
        with pytest.raises(UsageError, match="Expected one of 8 to 12"):
            then(unknown, tables)


def test_a_log_without_times_answers_offsets_only(then):
    tables = {"acl_log": [{"fact": "record", "log_offset": 3}]}
    assert then(4, tables).ruling.acl is not None
    with pytest.raises(UsageError, match="The log has no times"):
        then(time_of(1).replace(tzinfo=UTC), tables)
