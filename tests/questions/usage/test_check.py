"""A line and the past: agree, mismatch or undetermined."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.kafka.authorizer.audit import Wording, rule_text
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.questions.usage.check import AGREE, MISMATCH, UNDETERMINED, check
from aclkit.questions.usage.clock import Clock, parse_zone, to_micros
from aclkit.questions.usage.entry import read_entries
from aclkit.questions.usage.line import Statement
from aclkit.questions.usage.past import note_on_ranges, rulings_of
from aclkit.rules.decide.rules import Ruling, decide
from tests.factories import acl, request
from tests.questions.usage.pasts import LOG, Step, past_of, secure_past

SECOND = 1_000_000
READ = acl("orders", acl_id="read")
DENY = acl("ord", pattern_type="PREFIXED", permission_type="DENY", acl_id="deny")
WIDE = acl("*", acl_id="wide")
DENIED = Ruling("DENIED", "DefaultDeny")
PAST = past_of([Step(1, 100 * SECOND, came=READ), Step(5, 200 * SECOND, went="read")])


def said(ruling=DENIED, wording=Wording.SINCE_4_2, **fields):
    return Statement(
        request=fields.pop("request", request()),
        pattern_type=fields.pop("pattern_type", "LITERAL"),
        request_name="Fetch",
        resource_ref_count=1,
        decision=ruling.decision,
        rule=ruling.rule,
        rule_text=rule_text(ruling, wording, knows_globs=False),
    )


def verdict(statement, time, past=PAST, skew=SECOND):
    span = time if isinstance(time, tuple) else (int(time * SECOND),) * 2
    rulings = rulings_of(past, past.representative(statement.request))
    return check(statement, span, past, rulings, skew)


ALLOWED = Ruling("ALLOWED", "MatchingAcl", READ)


@pytest.mark.parametrize("wording", Wording)
def test_every_line_of_a_real_broker_follows_from_its_acls(wording):
    """The real lines are of 4.1; those of 4.2 differ in the brackets of the ACL only."""
    past = secure_past()
    old, new = (f"StandardAcl{each}" for each in ("(", wording.value[0]))
    data = LOG.read_text(encoding="utf-8").replace(old, new)
    if wording is Wording.SINCE_4_2:
        data = data.replace("ALLOW))", "ALLOW])").replace("DENY))", "DENY])")
    found = [
        check(e.statement, e.span, past, rulings_of(past, e.statement.request), SECOND)
        for e in read_entries(data.encode().splitlines(), Clock(parse_zone("UTC")))
    ]
    assert [each.verdict for each in found] == [AGREE] * 369
    assert {each.acl_id is None for each in found} == {True, False}


def test_a_viewer_s_local_time_in_front_of_the_broker_s_own_changes_nothing():
    """Docker Desktop wrote 13:00, the broker 10:00; the ACL came at 11:00 UTC."""
    eleven = to_micros(datetime(2026, 11, 20, 11, tzinfo=UTC))
    came = acl("ledger", principal="User:clerk", acl_id="clerk")
    past = past_of([Step(1, eleven - 7200 * SECOND), Step(2, eleven, came=came)])
    data = (LOG.parents[1] / "log-layouts" / "docker-read.log").read_bytes()
    (entry,) = read_entries([data], Clock(parse_zone("UTC")))
    assert verdict(entry.statement, entry.span, past).verdict == AGREE


def test_of_a_line_that_names_no_rule_the_decision_is_compared():
    def old(ruling):
        return replace(said(ruling), rule=None, rule_text=None)

    found = [verdict(old(one), at) for one, at in ((DENIED, 50), (ALLOWED, 150))]
    assert [(each.verdict, each.acl_id) for each in found] == [(AGREE, None)] * 2
    assert [verdict(old(one), at).verdict for one, at in ((DENIED, 150), (ALLOWED, 50))] == [
        MISMATCH, MISMATCH,
    ]  # fmt: skip
    assert verdict(old(DENIED), 100).verdict == UNDETERMINED
    past = past_of([Step(1, 100 * SECOND, came=READ), Step(2, 200 * SECOND, came=DENY)])
    denied = past_of([Step(1, 100 * SECOND), Step(2, 200 * SECOND, came=DENY)])
    assert verdict(old(DENIED), 200, past).verdict == UNDETERMINED
    assert verdict(old(DENIED), 200, denied).verdict == AGREE


def test_the_fixture_in_a_wrong_time_zone_does_not_agree():
    past = secure_past()
    entries = read_entries(LOG.read_bytes().splitlines(), Clock(parse_zone("+01:00")))
    found = [
        check(e.statement, e.span, past, rulings_of(past, e.statement.request), SECOND).verdict
        for e in entries
    ]
    assert MISMATCH in found


def test_a_line_agrees_with_the_acls_of_its_time():
    assert verdict(said(), 50).verdict == AGREE
    assert verdict(said(ALLOWED), 150).verdict == AGREE
    assert verdict(said(ALLOWED), 150).acl_id == "read"
    assert verdict(said(), 250).verdict == AGREE


@pytest.mark.parametrize("time", [50, 250])
def test_a_line_that_allows_without_an_acl_is_a_mismatch(time):
    found = verdict(said(ALLOWED), time)
    assert (found.verdict, found.acl_id) == (MISMATCH, "read")
    assert found.reason == "the ACLs decide DENIED by DefaultDeny"


def test_a_wrong_rule_is_a_mismatch_though_the_decision_is_right():
    assert verdict(said(Ruling("ALLOWED", "SuperUser")), 150).verdict == MISMATCH
    assert verdict(said(Ruling("DENIED", "MatchingAcl", DENY)), 50).verdict == MISMATCH


def test_another_acl_is_a_mismatch_and_what_was_in_force_is_named():
    other = Ruling("ALLOWED", "MatchingAcl", replace(READ, operation="ALL"))
    found = verdict(said(other), 150)
    assert (found.verdict, found.acl_id) == (MISMATCH, None)
    assert "resourceName=orders" in found.reason


@pytest.mark.parametrize("time", [99, 100, 101, 199.5, 201])
@pytest.mark.parametrize("ruling", [DENIED, ALLOWED])
def test_a_line_within_the_skew_of_a_change_is_undetermined(time, ruling):
    found = verdict(said(ruling), time)
    assert found.verdict == UNDETERMINED
    assert "too close to the change" in found.reason


def test_a_change_that_leaves_this_decision_alone_does_not_matter():
    others = request("other", principal="User:b")
    assert verdict(said(request=others), 100).verdict == AGREE


def test_without_skew_a_line_is_judged_up_to_the_change():
    assert verdict(said(), 99.999, skew=0).verdict == AGREE
    assert verdict(said(ALLOWED), 99.999, skew=0).verdict == MISMATCH
    assert verdict(said(ALLOWED), 100.001, skew=0).verdict == AGREE


def test_where_only_the_deciding_acl_changes_either_may_be_named():
    past = past_of([Step(1, 100 * SECOND, came=READ), Step(2, 200 * SECOND, came=WIDE)])
    wide = said(Ruling("ALLOWED", "MatchingAcl", WIDE))
    assert [verdict(each, 200, past).verdict for each in (said(ALLOWED), wide)] == [AGREE] * 2
    assert [verdict(each, 250, past).verdict for each in (said(ALLOWED), wide)] == [MISMATCH, AGREE]


def test_an_hour_that_comes_twice_is_undetermined_where_the_two_differ():
    assert verdict(said(), (50 * SECOND, 150 * SECOND)).verdict == UNDETERMINED
    assert verdict(said(), (50 * SECOND, 60 * SECOND)).verdict == AGREE


acls = st.builds(
    acl,
    st.sampled_from(["a", "ab", "*", "#a", ""]),
    pattern_type=st.sampled_from(["LITERAL", "PREFIXED"]),
    principal=st.sampled_from(["User:a", "User:b", "User:*"]),
    host=st.sampled_from(["*", "10.0.0.1", "10.0.0.2"]),
    operation=st.sampled_from(["READ", "DESCRIBE", "ALL"]),
    permission_type=st.sampled_from(["ALLOW", "DENY"]),
)
requests = st.builds(
    request,
    st.sampled_from(["a", "ab", "abc", "b"]),
    principal=st.sampled_from(["User:a", "User:c"]),
    host=st.sampled_from(["10.0.0.1", "10.9.9.9"]),
    operation=st.sampled_from(["READ", "DESCRIBE"]),
)


EVERYBODY = BrokerSettings(allow_everyone=True)
ADMIN = BrokerSettings(super_users=frozenset({"User:a"}))
ALLOW, BOSS = Ruling("ALLOWED", "DefaultAllow"), Ruling("ALLOWED", "SuperUser")


def test_settings_are_those_that_a_run_saw():
    past = past_of(
        [Step(1, 100 * SECOND)], (150 * SECOND, EVERYBODY), (300 * SECOND, ADMIN, 290 * SECOND)
    )
    assert [verdict(said(ALLOW), at, past).verdict for at in (50, 200, 280)] == [AGREE] * 3
    assert [verdict(said(BOSS), at, past).verdict for at in (50, 200, 280)] == [MISMATCH] * 3
    assert [verdict(said(BOSS), at, past).verdict for at in (302, 400)] == [AGREE, AGREE]
    assert verdict(said(ALLOW), 302, past).verdict == MISMATCH


@pytest.mark.parametrize("ruling", [ALLOW, BOSS, DENIED])
@pytest.mark.parametrize(("time", "before"), [(160, ()), (299, ()), (250, (240 * SECOND,))])
def test_between_runs_that_saw_other_settings_a_line_is_undetermined(ruling, time, before):
    """The brokers may have had either; that a line says what both deny proves nothing too."""
    past = past_of(
        [Step(1, 100 * SECOND)], (150 * SECOND, EVERYBODY), (300 * SECOND, ADMIN, *before)
    )
    found = verdict(said(ruling), time, past)
    assert found.verdict == UNDETERMINED
    first = "1970-01-01T00:04:00Z" if before else "1970-01-01T00:02:30Z"
    assert found.reason == (
        "the broker settings changed at an unknown time between the runs of "
        f"{first} and 1970-01-01T00:05:00Z"
    )


def test_settings_that_change_nothing_for_a_request_leave_its_lines_alone():
    other = BrokerSettings(super_users=frozenset({"User:b"}))
    past = past_of(
        [Step(1, 100 * SECOND, came=READ)], (10 * SECOND, BrokerSettings()), (300 * SECOND, other)
    )
    assert verdict(said(ALLOWED), 200, past).verdict == AGREE
    assert verdict(said(), 200, past).verdict == MISMATCH


moments = st.integers(0, 9)


@given(
    st.lists(st.tuples(moments, acls), max_size=4),
    st.lists(
        st.tuples(moments, st.sampled_from([BrokerSettings(), EVERYBODY, ADMIN])), min_size=1,
        max_size=3, unique_by=lambda drawn: drawn[0],
    ),
    st.integers(0, 9),
    requests,
    moments,
)  # fmt: skip
def test_whenever_settings_changed_between_two_runs_no_right_line_is_a_mismatch(
    drawn, seen, late, asked, asked_at
):
    """Against a world in which the settings changed at some moment that no run saw."""
    drawn, seen = sorted(drawn, key=lambda each: each[0]), sorted(seen, key=lambda each: each[0])
    steps = [
        Step(number, (at * 10 + 1) * SECOND, came=replace(one, acl_id=str(number)))
        for number, (at, one) in enumerate(drawn)
    ]
    told = [(at * 10 * SECOND, broker) for at, broker in seen]
    past = past_of(steps or [Step(0, SECOND)], *told)
    time, true = asked_at * 10 + 5, seen[0][1]
    for (old, _), (new, broker) in pairwise(seen):
        if time >= old * 10 + (new - old) * late:
            true = broker
    there = [step.came for step in steps if step.came and step.time <= time * SECOND]
    ruling = decide(there, asked, true, KAFKA)
    assert verdict(said(ruling, request=asked), time, past).verdict in (AGREE, UNDETERMINED)


def test_a_time_of_which_nothing_was_read_is_undetermined():
    steps = [Step(9, 100 * SECOND, came=READ), Step(20, 200 * SECOND)]
    past = past_of(steps, jumps=((0, 10),))
    assert verdict(said(), 50, past).verdict == UNDETERMINED
    assert verdict(said(ALLOWED), 150, past).verdict == AGREE


def test_beyond_what_is_committed_nothing_is_known():
    past = past_of([Step(1, 100 * SECOND, came=READ)], newest=9)
    assert verdict(said(ALLOWED), 150, past).verdict == UNDETERMINED


def test_a_line_newer_than_the_run_that_read_the_acls_is_undetermined():
    past = replace(PAST, read_at=300 * SECOND)
    assert verdict(said(ALLOWED), 300, past).verdict == MISMATCH
    newer = verdict(said(ALLOWED), 300.001, past)
    assert newer.verdict == UNDETERMINED
    assert "first run" in newer.reason
    assert "1970-01-01T00:05:00Z" in newer.reason
    assert verdict(said(), 301, past).verdict == UNDETERMINED


def test_between_two_listings_a_line_agrees_with_what_either_says():
    steps = [Step(0, 100 * SECOND, came=READ), Step(1, 200 * SECOND, came=DENY),
             Step(2, 300 * SECOND, came=acl("x"))]  # fmt: skip
    past = past_of(steps, is_listed=True)
    denied = said(Ruling("DENIED", "MatchingAcl", DENY))
    asked = ((said(), 50), (denied, 150), (denied, 250), (denied, 350))
    found = [verdict(each, at, past).verdict for each, at in asked]
    assert found == [UNDETERMINED, AGREE, AGREE, AGREE]
    assert verdict(said(ALLOWED), 150, past).verdict == AGREE
    assert verdict(said(ALLOWED), 250, past).verdict == MISMATCH
    neither = verdict(said(), 150, past)
    assert neither.verdict == UNDETERMINED
    assert "between the listings of 1970-01-01T00:01:40Z and 1970-01-01T00:03:20Z" in neither.reason


def test_a_pattern_that_kafka_never_decides_about_is_undetermined():
    assert verdict(said(pattern_type="PREFIXED"), 50).verdict == UNDETERMINED


def test_times_that_go_back_count_as_of_the_first_later_record():
    """A new controller's clock may be behind: the state as of a time has no gap."""
    past = past_of([Step(1, 200 * SECOND), Step(2, 100 * SECOND, came=READ)])
    assert verdict(said(), 150, past).verdict == AGREE
    assert verdict(said(ALLOWED), 250, past).verdict == AGREE


@given(st.lists(st.tuples(acls, st.booleans()), max_size=8), requests, st.booleans())
def test_what_is_in_force_is_what_the_rule_says_of_the_acls_alive(drawn, asked, everyone):
    """Against the specification, which looks at every ACL at every time."""
    steps, alive, states = [], {}, {0: []}
    for number, (one, goes) in enumerate(drawn):
        at = 10 * (len(steps) + 1)
        steps.append(Step(len(steps), at * SECOND, came=one))
        alive[one.acl_id] = one
        states[at] = list(alive.values())
        if goes and number % 2:
            at = 10 * (len(steps) + 1)
            gone = next(iter(alive))
            steps.append(Step(len(steps), at * SECOND, went=gone))
            del alive[gone]
            states[at] = list(alive.values())
    settings = BrokerSettings(allow_everyone=everyone)
    past = past_of(steps or [Step(0, 10 * SECOND)], (None, settings))
    for start, there in states.items():
        ruling = decide(there, asked, settings, KAFKA)
        assert verdict(said(ruling, request=asked), start + 5, past).verdict == AGREE
        wrong = Ruling(
            "DENIED" if ruling.decision == "ALLOWED" else "ALLOWED", ruling.rule, ruling.acl
        )
        assert verdict(said(wrong, request=asked), start + 5, past).verdict == MISMATCH


def test_an_address_is_judged_by_the_ranges_that_hold_it():
    wide = acl("orders", host="10.0.0.0/8", acl_id="wide-range")
    narrow = acl("orders", host="10.1.0.0/16", permission_type="DENY", acl_id="narrow-range")
    steps = [Step(1, 100 * SECOND, came=wide), Step(2, 100 * SECOND, came=narrow)]
    newer = replace(KAFKA, cidr_hosts=True)
    past = past_of(steps, semantics=newer)
    seen = {}
    for host in ("10.9.9.9", "10.200.1.1", "10.1.2.3", "9.9.9.9", "0.0.0.0"):
        asked = request(host=host)
        stands_for = past.representative(asked)
        seen[host] = stands_for.host
        ruling = decide([wide, narrow], asked, BrokerSettings(), newer)
        assert decide([wide, narrow], stands_for, BrokerSettings(), newer) == ruling
        assert verdict(said(ruling, request=asked), 150, past=past).verdict == AGREE
    assert seen == {
        "10.9.9.9": "<any-other in 10.0.0.0/8>",
        "10.200.1.1": "<any-other in 10.0.0.0/8>",
        "10.1.2.3": "<any-other in 10.1.0.0/16>",
        "9.9.9.9": "<any-other>",
        "0.0.0.0": "<any-other>",
    }
    assert past_of(steps).representative(request(host="10.9.9.9")).host == "<any-other>"


@pytest.mark.parametrize(
    ("cidr_hosts", "read", "others"),
    [(True, "read as ranges", "older than Kafka 4.4"), (False, "read as text", "of Kafka 4.4")],
)
def test_how_ranges_are_judged_through_the_past_is_said_where_an_acl_names_one(
    cidr_hosts, read, others
):
    newer = replace(KAFKA, cidr_hosts=cidr_hosts)
    hosts = ("10.0.0.0/8", "::/0", "10.0.0.0/33", "10.0.0.1", "*")
    steps = [
        Step(at, 100 * SECOND, came=acl(host=host, acl_id=host)) for at, host in enumerate(hosts)
    ]
    said = note_on_ranges(past_of(steps, semantics=newer))
    assert said.startswith("2 hosts that are ranges: ")
    assert (read in said, others in said) == (True, True)
    assert "One host of ACLs that is a range" in note_on_ranges(past_of(steps[:1]))
    assert note_on_ranges(past_of(steps[2:], semantics=newer)) is None


@pytest.mark.parametrize(
    "asked",
    [request(principal="User:<any-other>"), request("<any-other>", resource_type="GROUP")],
    ids=lambda asked: asked.principal,
)
def test_a_client_named_as_a_symbol_is_never_a_mismatch(asked):
    found = verdict(said(ALLOWED, request=asked), 150)
    assert (found.verdict, "stands for any other name" in found.reason) == (UNDETERMINED, True)
