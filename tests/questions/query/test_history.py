"""A history says at every offset what deciding as of that offset says, and what began it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.errors import UsageError
from aclkit.model.acl import ANY_OTHER
from aclkit.model.resource import Resource
from aclkit.model.semantics import BROKER, KAFKA, KIP_1042, BrokerSettings
from aclkit.questions.query.history import read_history
from aclkit.questions.query.history_words import history_notes, history_sentence
from aclkit.questions.query.why import explain_why
from aclkit.rules.decide.order import BrokerRescan
from aclkit.rules.decide.rules import decide
from tests import strategies as drawn
from tests.factories import acl, request
from tests.questions.query.in_memory import CLUSTER, Life, open_memory, time_of

HEAD = 12
ALICE = request("payments", principal="User:alice", host=ANY_OTHER)
READ = acl("payments", principal="User:alice", acl_id="read")


def settings_json(semantics, brokers=None):
    brokers = brokers or BrokerSettings()
    return json.dumps(
        {"semantics": asdict(semantics), "super_users": sorted(brokers.super_users),
         "allow_everyone": brokers.allow_everyone}
    )  # fmt: skip


def ask(lives, asked=ALICE, *, semantics=KIP_1042, head=HEAD, tables=None, brokers=None):
    connection, published = open_memory(
        lives,
        head=head,
        settings=settings_json(semantics, brokers),
        tables=tables,
    )
    resource = Resource(asked.resource_type, asked.resource_name)
    host = None if asked.host == ANY_OTHER else asked.host
    with connection:
        return read_history(
            connection, published, CLUSTER, asked.principal, asked.operation, resource, host=host
        )


def at(history, offset):
    """Return the interval that an offset lies in."""
    return [found for found in history.intervals if found.as_of <= offset][-1]


@st.composite
def lifetimes(draw):
    """Lifetimes of ACLs, some added and taken away again in one transaction."""
    found = []
    for one in draw(drawn.acl_sets(7)):
        effective = draw(st.integers(0, HEAD - 1))
        removed = draw(st.none() | st.integers(effective, HEAD - 1))
        added = draw(st.integers(0, effective))
        found.append(Life(one, added, removed, effective=effective))
    return found


SETTINGS_ROWS = st.lists(
    st.builds(
        lambda second, users, everyone: {
            "since_time": time_of(second + 0.5), "super_users": users, "allow_everyone": everyone,
        },
        st.integers(-1, HEAD + 1),
        st.sampled_from(([], ["User:a"])),
        st.booleans(),
    ),
    max_size=3,
    unique_by=lambda row: row["since_time"],
)  # fmt: skip
OPERATIONS = st.sampled_from(("READ", "DESCRIBE", "ALTER_CONFIGS", "DESCRIBE_CONFIGS"))


@given(lifetimes(), drawn.requests(), OPERATIONS, SETTINGS_ROWS, drawn.semantics)
def test_at_every_offset_it_is_as_decided_then(lives, asked, operation, rows, semantics):
    asked = replace(asked, operation=operation)
    history = ask(lives, asked, semantics=semantics, tables={"setting": rows})
    for offset in range(HEAD + 1):
        alive = [
            life.acl
            for life in lives
            if life.effective < offset and (life.removed is None or life.removed >= offset)
        ]
        search = BrokerRescan.of((a.resource_type, a.pattern_type, a.resource_name) for a in alive)
        is_last = search.wildcard_is_last(asked.resource_type, asked.resource_name)
        brokers = settings_then(rows, offset)
        wanted = decide(alive, asked, brokers, semantics, wildcard_is_last=is_last)
        assert at(history, offset).ruling == wanted


def settings_then(rows, offset):
    """Return what a run had seen before the next record; before the first, the first."""
    rows = sorted(rows, key=lambda row: row["since_time"])
    seen = [row for row in rows if offset == HEAD or row["since_time"] < time_of(offset)]
    row = (seen or rows[:1] or [{"super_users": (), "allow_everyone": False}])[-1]
    return BrokerSettings(
        super_users=frozenset(row["super_users"]), allow_everyone=row["allow_everyone"]
    )


@given(lifetimes(), drawn.requests(), OPERATIONS, SETTINGS_ROWS, drawn.semantics)
def test_intervals_differ_from_their_neighbours_and_begin_for_a_reason(
    lives, asked, operation, rows, semantics
):
    asked = replace(asked, operation=operation)
    history = ask(lives, asked, semantics=semantics, tables={"setting": rows})
    for before, after in zip(history.intervals, history.intervals[1:], strict=False):
        assert before.as_of < after.as_of
        assert before.ruling != after.ruling
        if after.cause in ("ACL added", "ACL removed"):
            assert after.acls
            assert after.from_offset == after.as_of - 1
            assert after.from_time == time_of(after.from_offset)
    assert history_sentence(history).endswith(".")


@pytest.mark.parametrize("offset", range(HEAD + 1))
@pytest.mark.parametrize("semantics", [KIP_1042, KAFKA], ids=["kip-1042", "kafka"])
def test_why_as_of_an_offset_says_the_same(offset, semantics):
    lives = [
        Life(READ, 2, 6),
        Life(
            acl("pay", pattern_type="PREFIXED", principal="User:alice", permission_type="DENY"), 4
        ),
        Life(acl("*", principal="User:*", operation="ALL"), 1, effective=8),
    ]
    rows = [
        {"since_time": time_of(-5), "super_users": [], "allow_everyone": True},
        {"since_time": time_of(9.5), "super_users": ["User:alice"], "allow_everyone": True},
    ]
    history = ask(lives, semantics=semantics, tables={"setting": rows})
    connection, published = open_memory(
        lives, head=HEAD, settings=settings_json(semantics), tables={"setting": rows}
    )
    with connection:
        answer = explain_why(
            connection, published, CLUSTER, "User:alice", "READ", Resource("TOPIC", "payments"),
            moment=offset,
        )  # fmt: skip
    assert at(history, offset).ruling == answer.ruling


def causes(history):
    return [
        (found.as_of, found.ruling.rule, found.cause, found.from_offset)
        for found in history.intervals
    ]


def test_an_access_begins_with_the_record_that_added_its_acl():
    history = ask([Life(READ, 3)])
    assert causes(history) == [
        (0, "DefaultDeny", "log start", None),
        (4, "MatchingAcl", "ACL added", 3),
    ]
    assert history_sentence(history) == (
        "User:alice can READ topic:payments from any host, since ALLOW READ on topic payments for "
        "User:alice from any host was added (2026-11-21 12:00:03 UTC, offset 3)."
    )


def test_an_acl_of_a_transaction_begins_at_its_end():
    (_, newest) = ask([Life(READ, 3, effective=7)]).intervals
    assert (newest.from_offset, newest.from_time) == (7, time_of(7))


def test_an_access_ends_with_the_record_that_removed_its_acl():
    history = ask([Life(READ, 3, 7)])
    assert causes(history)[-1] == (8, "DefaultDeny", "ACL removed", 7)
    assert history.intervals[-1].acls == (READ,)


def test_another_ones_first_acl_takes_the_default_away():
    brokers = BrokerSettings(allow_everyone=True)
    history = ask([Life(acl("payments", principal="User:b"), 3, 7)], brokers=brokers)
    assert causes(history) == [
        (0, "DefaultAllow", "log start", None),
        (4, "DefaultDeny", "ACL added", 3),
        (8, "DefaultAllow", "ACL removed", 7),
    ]


def test_a_new_deciding_acl_leaves_the_decision_as_old_as_it_is():
    wide = acl("p", pattern_type="PREFIXED", principal="User:alice")
    history = ask([Life(wide, 3), Life(READ, 8)])
    assert history.since.from_offset == 3
    assert history.intervals[-1].from_offset == 8
    assert "was added (2026-11-21 12:00:03 UTC, offset 3)" in history_sentence(history)
    assert "by the present ACL since ALLOW READ" in history_sentence(history)


def test_what_does_not_matter_begins_nothing():
    others = [Life(acl(principal="User:alice"), 2), Life(acl("payments", operation="WRITE"), 4)]
    assert len(ask(others).intervals) == 1


def test_an_acl_that_reaches_nothing_may_end_a_brokers_search_elsewhere():
    named, wildcard, ends_searches = (
        acl(name, resource_type="GROUP", pattern_type=pattern_type, principal="User:alice")
        for name, pattern_type in [("!late", "LITERAL"), ("*", "LITERAL"), ("*", "PREFIXED")]
    )
    lives = [Life(named, 1), Life(wildcard, 2), Life(ends_searches, 5, 8)]
    asked = replace(ALICE, resource_type="GROUP", resource_name="!late")
    history = ask(lives, asked, semantics=replace(KIP_1042, deciding_acl=BROKER))
    deciding = [(found.as_of, found.ruling.acl, found.cause) for found in history.intervals[1:]]
    assert deciding == [
        (2, named, "ACL added"),
        (6, wildcard, "broker's search"),
        (9, named, "broker's search"),
    ]
    assert "another ACL moved the end of the broker's search" in history_sentence(history)


def test_settings_begin_an_interval_when_a_run_saw_them():
    rows = [
        {"since_time": time_of(-1), "super_users": [], "allow_everyone": False},
        {"since_time": time_of(5.5), "super_users": ["User:alice"], "allow_everyone": False},
    ]
    history = ask([Life(READ, 3)], tables={"setting": rows})
    newest = history.intervals[-1]
    assert (newest.cause, newest.from_offset, newest.from_time) == ("settings", None, time_of(5.5))
    assert "since the brokers' settings changed (2026-11-21 12:00:05 UTC)" in history_sentence(
        history
    )
    assert "known only since 2026-11-21 11:59:59 UTC" in "; ".join(history_notes(history))


SNAPSHOT_START = {
    "log_range": [
        {"from_offset": 0, "to_offset": 5, "epoch": 1, "fact": "snapshot"},
        {"from_offset": 5, "to_offset": HEAD, "epoch": 1, "fact": "record"},
    ]
}


def test_what_a_snapshot_shows_has_no_known_beginning():
    history = ask([Life(READ, 4, added_by="snapshot")], tables=SNAPSHOT_START)
    (only,) = history.intervals
    assert (only.as_of, only.cause, only.is_exact) == (5, "snapshot", False)
    assert "or earlier" in history_sentence(history)
    assert "The state before offset 4 is unknown." in "; ".join(history_notes(history))


def test_what_changes_behind_a_snapshot_is_known_exactly():
    history = ask([Life(READ, 4, 8, added_by="snapshot")], tables=SNAPSHOT_START)
    assert [found.is_exact for found in history.intervals] == [False, True]


def test_what_changed_between_a_log_and_a_snapshot_is_not_exact():
    ranges = [
        {"from_offset": 0, "to_offset": 3, "epoch": 1, "fact": "record"},
        {"from_offset": 0, "to_offset": 8, "epoch": 1, "fact": "snapshot"},
        {"from_offset": 8, "to_offset": HEAD, "epoch": 1, "fact": "record"},
    ]
    history = ask([Life(READ, 1, 7)], tables={"log_range": ranges})
    assert [found.is_exact for found in history.intervals] == [True, True, False]
    assert "Offsets 3 to 7 were not read" in "; ".join(history_notes(history))


def test_a_history_names_offsets_that_a_newer_leader_may_have_overwritten():
    names = ("from_offset", "to_offset", "epoch", "fact", "follows")
    rows = [(0, 4, 1, "record", -1), (0, 6, 2, "snapshot", -1), (5, 6, 2, "committed", -1)]
    ranges = [dict(zip(names, row, strict=True)) for row in rows]
    history = ask([Life(READ, 1, 5)], tables={"log_range": ranges})
    assert "whether offsets 0–3 were committed" in "; ".join(history_notes(history))


def test_an_accepted_hole_is_told():
    ranges = [
        {"from_offset": 0, "to_offset": 3, "epoch": 1, "fact": "record"},
        {"from_offset": 6, "to_offset": HEAD, "epoch": 1, "fact": "record"},
    ]
    history = ask([Life(READ, 8)], tables={"log_range": ranges})
    assert "Offsets 3 to 5 could not be read." in "; ".join(history_notes(history))


def test_hosts_that_may_fare_otherwise_are_told():
    history = ask([Life(replace(READ, host="10.0.0.1"), 3)])
    assert len(history.intervals) == 1
    assert "Pass --host" in "; ".join(history_notes(history))
    there = ask([Life(replace(READ, host="10.0.0.1"), 3)], replace(ALICE, host="10.0.0.1"))
    assert [found.ruling.decision for found in there.intervals] == ["DENIED", "ALLOWED"]
    assert "Pass --host" not in "; ".join(history_notes(there))


def test_a_resource_is_unreached_where_the_last_acl_is_gone():
    assert ask([]).is_unreached
    assert ask([Life(READ, 3, 7)]).is_unreached
    assert ask([Life(replace(READ, resource_name="other"), 3)]).is_unreached
    assert not ask([Life(READ, 3)]).is_unreached
    assert not ask([Life(replace(READ, principal="User:bob"), 3)]).is_unreached
    assert not ask([Life(READ, 3, HEAD)]).is_unreached


def test_bad_requests_are_the_askers_fault():
    with pytest.raises(UsageError, match="has no principal type"):
        ask([], replace(ALICE, principal="alice"))
    with pytest.raises(UsageError, match="Topics have"):
        ask([], replace(ALICE, operation="CLUSTER_ACTION"))
