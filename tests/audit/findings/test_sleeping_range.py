"""Ranges that sleep until brokers are upgraded, and brokers that disagree while they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.audit.findings.ranges import find_brokers_disagree, find_sleeping_ranges
from aclkit.audit.findings.registry import find_all
from aclkit.audit.findings.unknown import find_unknown, notes_on
from aclkit.model.acl import acl_words
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.rules.names.question import Budget
from tests.audit.findings.auditing import audit_of, subjects
from tests.factories import acl
from tests.rules.names.world import acl as read_acl
from tests.upgrading import ACLS, BAD, DOES, NEW, OLD, PLAIN, RANGES, ROLLING

READS_RANGES = replace(KAFKA, cidr_hosts=True)
STAGES = {"old": (OLD, KAFKA), "rolling": (ROLLING, READS_RANGES), "new": (NEW, READS_RANGES)}


def at(stage, acls=ACLS):
    brokers, semantics = STAGES[stage]
    return audit_of(*acls, brokers=brokers, semantics=semantics)


@pytest.mark.parametrize("stage", ["old", "rolling"])
def test_each_range_that_some_broker_takes_for_text_is_told_with_what_it_will_do(stage):
    found = {each.acl_ids[0]: each.severity for each in find_sleeping_ranges(at(stage))}
    assert found == DOES


def test_where_all_brokers_read_ranges_nothing_sleeps():
    assert not subjects(find_sleeping_ranges(at("new")))
    assert at("new").by_ranges is None
    unknown = audit_of(*ACLS, semantics=READS_RANGES)
    assert not subjects(find_sleeping_ranges(unknown))


def test_where_no_broker_is_known_ranges_that_the_run_takes_for_text_sleep():
    found = list(find_sleeping_ranges(audit_of(*ACLS, semantics=KAFKA)))
    assert {each.acl_ids[0] for each in found} == DOES.keys()
    assert "because no registered broker is known" in found[0].evidence[-1]


def test_a_message_says_what_it_gives_or_takes_and_the_shortest_name():
    gives, takes, nothing = (
        next(each for each in find_sleeping_ranges(at("old")) if each.acl_ids == (name,))
        for name in ("bob-1", "six-1", "bob-3")
    )
    assert gives.message == (
        "ALLOW READ on topic payments for User:bob from 10.0.0.0/8 matches no client before Kafka "
        "4.4. From Kafka 4.4 on, the ALLOW grants READ, DESCRIBE for User:bob from hosts that "
        "10.0.0.0/8 matches (such as 10.0.0.1), for example on payments."
    )
    assert "the DENY revokes READ, DESCRIBE for User:alice from hosts that" in takes.message
    assert nothing.message.endswith("From Kafka 4.4 on, the ALLOW changes no decision.")
    assert nothing.fix.startswith("Do nothing while the other ranges stay unchanged.")
    assert gives.evidence[-1] == (
        "Brokers compare hosts such as 10.0.0.0/8 as text: brokers 1, 2 support metadata.version "
        "up to 31 (4.4-IV0)"
    )


def test_a_range_that_sleeps_is_not_said_never_to_match_and_a_bad_one_is():
    for stage in STAGES:
        dead = "never-matches" if stage == "old" else "malformed-range"
        found = {each.acl_ids[0] for each in find_all(at(stage)) if each.finding == dead}
        assert found == {each.acl_id for each in BAD}


def test_decisions_that_depend_on_the_broker_are_one_finding_of_the_cluster():
    (found,) = find_brokers_disagree(at("rolling"))
    assert (found.subject, found.severity) == ("cluster", "high")
    assert found.acl_ids == ("bob-1", "six-1", "six-3")
    assert found.message == (
        "The answer to 3 sets of requests depends on the broker. For example, READ on "
        "topic:payments by User:alice from 2001:db8:0:0:0:0:0:1 is ALLOWED by broker 2 and DENIED "
        "by broker 1."
    )
    assert found.fix.startswith("Upgrade broker 2 to Kafka 4.4 or later, or downgrade broker 1. ")
    regions = [line for line in found.evidence if line.startswith("allowed only by broker ")]
    assert len(regions) == 3
    assert regions[0].startswith("allowed only by broker 2: READ, DESCRIBE for User:alice from ")


@pytest.mark.parametrize("stage", ["old", "new"])
def test_brokers_that_are_alike_do_not_disagree(stage):
    assert not subjects(find_brokers_disagree(at(stage)))


def test_brokers_that_differ_where_no_decision_does_are_no_finding():
    harmless = [*PLAIN, RANGES[3], *BAD]
    assert not subjects(find_brokers_disagree(at("rolling", harmless)))


def test_without_ranges_the_findings_are_those_of_before_whatever_the_brokers_are():
    for semantics in (KAFKA, KIP_1042):
        acls = [*PLAIN, *BAD, acl("*", principal="User:*", operation="ALL")]
        today = find_all(audit_of(*acls, semantics=semantics))
        for brokers in (OLD, ROLLING, NEW):
            asked = audit_of(*acls, brokers=brokers, semantics=semantics)
            assert find_all(asked) == today
            assert asked.by_ranges is None


HARD = [
    "ALLOW User:x READ GLOB *b*a???????? 10.0.0.0/8",
    "ALLOW User:x READ GLOB *a????????",
]


def test_what_the_budget_leaves_open_is_a_note_and_no_finding():
    acls = [read_acl(text, number) for number, text in enumerate(HARD)]
    known = audit_of(*acls, brokers=ROLLING, semantics=KIP_1042)
    assert [each.severity for each in find_sleeping_ranges(known)] == ["info"]
    assert not find_unknown(known, find_all(known), find_all)
    poor = replace(known, budget=Budget(per_question=150))
    found = find_all(poor)
    assert not {"sleeping-range", "brokers-disagree"} & {each.finding for each in found}
    unknown = find_unknown(poor, found, find_all)
    told = {(each.finding, each.subject) for each in unknown}
    assert {("sleeping-range", str(acls[0])), ("brokers-disagree", "cluster")} <= told
    assert any(f"sleeping-range of {acl_words(acls[0])}." in note for note in notes_on(unknown))
