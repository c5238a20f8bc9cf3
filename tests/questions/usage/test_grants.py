"""Which grants are unused, and how sure that is."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from aclkit.questions.usage.clock import to_micros
from aclkit.questions.usage.coverage import Coverage, FileCoverage, describe, find_gaps
from aclkit.questions.usage.grants import (
    MATCHED,
    TOO_NEW,
    UNKNOWN,
    UNUSED,
    USED,
    Use,
    find_unused,
    judge_grants,
)
from tests.factories import acl
from tests.questions.usage.pasts import Step, lives_of

END = datetime(2026, 11, 21, tzinfo=UTC).replace(tzinfo=None)
DAY = timedelta(days=1)
OLD = acl("old", acl_id="old")


def life(one=OLD, age=100):
    return lives_of([Step(1, to_micros(END - age * DAY), came=one)])[0]


def coverage(days=90, allowed=5, gaps=(), last=END):
    file = FileCoverage(
        source="a.log", lines=9, allowed_lines=allowed, first=last - days * DAY, last=last
    )
    return Coverage(files=(file,), allowed_from=file.first if allowed else None, gaps=gaps)


def usage(lives, uses=None, matches=None, log=None, days=90):
    found = judge_grants(lives, uses or {}, matches or {}, log or coverage(), days)
    return {grant.acl.acl_id: grant.usage for grant in found}


def used(days_ago):
    return Use(last=END - days_ago * DAY, lines=1)


def test_a_grant_that_no_line_names_in_the_window_is_unused():
    assert usage([life()]) == {"old": UNUSED}
    assert usage([life()], {"old": used(91)}) == {"old": UNUSED}
    assert usage([life()], {"old": used(89)}) == {"old": USED}


def test_a_log_of_which_allowed_lines_could_not_be_read_is_not_said_to_lack_debug():
    log = coverage(allowed=0)
    assert "at DEBUG" in describe(log, 90)
    assert "DEBUG" not in describe(replace(log, unread_files=("b.log",)), 90)


def test_where_a_file_could_not_be_read_nothing_counts_as_unused():
    log = replace(coverage(), unread_files=("b.log",))
    assert usage([life()], log=log) == {"old": UNKNOWN}
    assert usage([life()], {"old": used(1)}, log=log) == {"old": USED}


@pytest.mark.parametrize("uses", [{}, {"old": used(1)}])
def test_only_grants_older_than_the_window_are_judged(uses):
    assert usage([life(age=89)], uses) == {"old": TOO_NEW}
    assert usage([life(age=90)], uses) == {"old": USED if uses else UNUSED}


def test_a_grant_of_which_no_start_is_known_is_not_judged():
    assert usage([replace(life(), added_at=None)]) == {"old": TOO_NEW}


@pytest.mark.parametrize(
    "log", [coverage(allowed=0), Coverage(files=(), allowed_from=None, gaps=())]
)
def test_without_allowed_lines_the_answer_is_unknown(log):
    assert usage([life(), life(acl(acl_id="new"), age=1)], log=log) == {
        "old": UNKNOWN, "new": UNKNOWN,
    }  # fmt: skip


def log_of(*files, allowed_from):
    return Coverage(files=files, allowed_from=allowed_from, gaps=())


def file_of(name, first, last, allowed):
    """A file from so many days ago to so many days ago."""
    return FileCoverage(
        source=name, lines=9, allowed_lines=allowed, first=END - first * DAY, last=END - last * DAY
    )


def test_where_a_file_of_the_window_has_no_allowed_line_the_use_of_its_broker_is_unknown():
    loud, silent = file_of("b1.log", 90, 0, 5), file_of("b2.log", 90, 1, 0)
    log = log_of(loud, silent, allowed_from=loud.first)
    assert usage([life()], log=log) == {"old": UNKNOWN}
    assert usage([life()], {"old": used(1)}, log=log) == {"old": USED}
    assert usage([life()], matches={"old": END}, log=log) == {"old": MATCHED}
    assert list(find_unused(judge_grants([life()], {}, {}, log, 90))) == []


def test_a_silent_file_of_no_time_or_of_one_that_is_not_covered_anyhow_does_not_matter():
    loud = file_of("b1.log", 50, 0, 5)
    old = file_of("b2.log", 200, 91, 0), file_of("b2.log.1", 89, 50, 0)
    few_lines_behind_a_rotation = file_of("b1.log.1", 40, 39.999, 0)
    log = log_of(loud, *old, few_lines_behind_a_rotation, allowed_from=loud.first)
    assert usage([life()], log=log) == {"old": UNUSED}


def test_a_grant_that_others_were_named_for_is_matched():
    assert usage([life()], matches={"old": END}) == {"old": MATCHED}
    assert usage([life()], {"old": used(1)}, {"old": END}) == {"old": USED}


def test_acls_with_the_same_seven_fields_are_used_together():
    twin = acl("old", acl_id="twin")
    assert usage([life(), life(twin)], {"twin": used(1)}) == {"old": USED, "twin": USED}


def test_coverage_is_the_share_of_the_window_with_allowed_lines():
    start = END - 90 * DAY
    assert coverage().share(start) == 1
    assert coverage(days=9).share(start) == pytest.approx(0.1)
    assert coverage(allowed=0).share(start) == 0
    gap = (END - 50 * DAY, END - 5 * DAY)
    assert coverage(gaps=(gap,)).share(start) == pytest.approx(0.5)
    assert coverage(gaps=((END - 95 * DAY, END - 81 * DAY),)).share(start) == pytest.approx(0.9)


def test_a_gap_is_more_than_an_hour_without_a_line():
    hours = [END + timedelta(hours=n) for n in (0, 1, 3)]
    assert find_gaps([(at, at) for at in hours]) == ((hours[1], hours[2]),)
    assert find_gaps([(hours[0], hours[2]), (hours[1], hours[1])]) == ()


def test_an_unused_grant_is_a_finding_only_where_the_whole_window_is_covered():
    def found(log):
        return [f.acl_ids for f in find_unused(judge_grants([life()], {}, {}, log, 90))]

    assert found(coverage()) == [("old",)]
    assert found(coverage(days=80)) == []
    assert found(coverage(allowed=0)) == []


def test_what_is_covered_is_always_said():
    assert "90.0% of the 90 days" not in describe(coverage(days=9), 90)
    assert "That is 10.0% of the 90 days that are judged." in describe(coverage(days=9), 90)
    assert "it is unknown which grants are used" in describe(coverage(allowed=0), 90)
    assert "no readable line" in describe(Coverage(files=(), allowed_from=None, gaps=()), 90)
