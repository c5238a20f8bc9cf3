"""Who may have made a change: the rule, and that it never names the wrong one as certain."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.questions.by_whom.match import (
    ADDED,
    REMOVED,
    AclChange,
    ControllerLog,
    Matcher,
    Sent,
    has_other_clock,
)
from tests.questions.by_whom.controllers import NODES, SECOND, SKEW, World, make_world

AT = 100 * SECOND
BEATS = tuple(range(0, 200 * SECOND, 2 * SECOND))


def sent(seconds, principal="User:admin", change=ADDED, host="10.0.0.9", last=None):
    at = int(seconds * SECOND)
    return Sent(first=at, last=at if last is None else int(last * SECOND), change=change,
                principal=principal, host=host, source="a.log")  # fmt: skip


def changed(change=ADDED, epoch=1):
    return AclChange(acl_id="id", change=change, log_offset=7, time=AT, epoch=epoch)


def matched(*requests, change=None, beats=BEATS, doubts=(), began=None, skew=SECOND):
    log = ControllerLog(requests=requests, heartbeats=beats, doubts=doubts, files=1)
    matcher = Matcher(log=log, epoch_began={1: 0} if began is None else began, skew=skew)
    return next(iter(matcher.match([change or changed()])))


def test_the_only_request_of_the_window_is_the_only_candidate():
    found = matched(sent(99.9), sent(50, "User:alice"))
    assert (found.candidates, found.is_covered) == ((("User:admin", "10.0.0.9"),), True)
    assert found.sources == ("a.log",)


def test_two_principals_in_the_window_are_both_candidates():
    found = matched(sent(99.9), sent(93, "User:alice"))
    assert [who for who, _ in found.candidates] == ["User:admin", "User:alice"]


def test_a_request_after_the_record_is_none_but_for_the_skew():
    assert matched(sent(100.5)).candidates
    assert not matched(sent(100.5), skew=0).candidates


def test_a_batch_that_was_begun_before_the_request_is_of_the_request():
    assert matched(sent(100.025), skew=0).candidates


def test_a_create_adds_and_a_delete_removes():
    assert not matched(sent(99.9, change=REMOVED)).candidates
    assert matched(sent(99.9, change=REMOVED), change=changed(REMOVED)).candidates


def test_an_hour_that_comes_twice_may_be_either():
    assert matched(sent(50, last=99)).candidates


@pytest.mark.parametrize(
    "fields",
    [
        {"beats": ()},
        {"beats": [beat for beat in BEATS if not 94 * SECOND < beat < 99 * SECOND]},
        {"beats": [beat for beat in BEATS if beat < AT]},
        {"beats": [beat for beat in BEATS if beat > 92 * SECOND]},
        {"doubts": [(95 * SECOND, 95 * SECOND)]},
        {"began": {1: 95 * SECOND}},
        {"began": {}},
        {"change": changed(epoch=None)},
    ],
    ids=[
        "no heartbeats", "a pause of heartbeats", "the log ends", "the log begins",
        "a line that was not read", "the epoch began in the window", "an unknown epoch",
        "no epoch",
    ],
)  # fmt: skip
def test_a_candidate_is_uncertain_where_a_line_may_be_missing(fields):
    found = matched(sent(99.9), **fields)
    assert found.candidates
    assert not found.is_covered


def test_covered_changes_without_any_request_mean_that_the_clocks_do_not_fit():
    explained, unexplained = matched(sent(99.9)), matched()
    assert has_other_clock([explained, unexplained])
    assert not has_other_clock([*[explained] * 9, unexplained])
    assert not has_other_clock([matched(beats=())])


def certain(world: World, lost=()):
    """Return offset → the one principal, where it is certain."""
    log = world.log(lost)
    matcher = Matcher(log=log, epoch_began=world.epoch_began, skew=SKEW)
    found = list(matcher.match(world.changes))
    for match in found:
        if match.is_covered:
            assert world.truth[match.change.log_offset] in {who for who, _ in match.candidates}
    sure = [match for match in found if match.is_covered and len(match.candidates) == 1]
    return {match.change.log_offset: match.candidates[0][0] for match in sure}


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(("nothing", "one log", "parts")))
def test_of_200_changes_none_is_laid_at_the_wrong_door(seed, losing):
    random = Random(seed)
    world = make_world(random)
    end = world.terms[-1].end
    lost = []
    if losing == "one log":
        lost = [(random.randrange(NODES), -end, 2 * end)]
    elif losing == "parts":
        starts = [random.randrange(0, end) for _ in range(6)]
        lost = [(random.randrange(NODES), at, at + random.randint(1, 90) * SECOND)
                for at in starts]  # fmt: skip
    for offset, who in certain(world, lost).items():
        assert who == world.truth[offset]


def test_with_all_logs_most_changes_of_quiet_times_are_certain():
    world = make_world(Random(7), count=60, seconds=3_600, shortest=300)
    sure = certain(world)
    assert len(sure) > len(world.changes) * 0.6
    whole = (-SECOND, 2 * world.terms[-1].end)
    one_missing = [certain(world, [(node, *whole)]) for node in range(NODES)]
    assert all(len(found) < len(sure) for found in one_missing)
    assert any(one_missing)
