"""Which grants are unused, and how sure that is."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from aclkit.model.semantics import KAFKA, REDPANDA
from aclkit.questions.usage.clock import to_micros
from aclkit.questions.usage.coverage import Coverage, FileCoverage, describe, find_gaps
from aclkit.questions.usage.use import (
    MATCHED,
    TOO_NEW,
    UNKNOWN,
    UNUSED,
    USED,
    NamedUse,
    find_unused,
    judge_grants,
)
from aclkit.questions.usage.whole_log import CONTROLLERS, DAYS, NO_LOG, Judgeable, Missing
from tests.factories import acl
from tests.questions.usage.pasts import Step, lives_of

END = datetime(2026, 11, 21, tzinfo=UTC).replace(tzinfo=None)
DAY = timedelta(days=1)
OLD = acl("old", acl_id="old")
WHOLE = Judgeable(
    window_from=END - 90 * DAY, window_to=END, missing=(), controllers=None, covered=1.0, brokers=3
)
SHORT = replace(WHOLE, missing=(Missing(DAYS, "The log is too short.", "wait"),))
NONE = Judgeable(
    window_from=None, window_to=None, missing=(Missing(NO_LOG, "No log.", "read one"),),
    controllers=None, covered=0.0,
)  # fmt: skip


def life(one=OLD, age=100):
    return lives_of([Step(1, to_micros(END - age * DAY), came=one)])[0]


def usage(lives, uses=None, matches=None, log=WHOLE, supers=()):
    found = judge_grants(lives, uses or {}, matches or {}, log, supers)
    return {grant.acl.acl_id: grant.usage for grant in found}


def used(days_ago):
    return NamedUse(last=END - days_ago * DAY, lines=1)


def test_a_grant_that_no_line_names_in_the_window_is_unused():
    assert usage([life()]) == {"old": UNUSED}
    assert usage([life()], {"old": used(91)}) == {"old": UNUSED}
    assert usage([life()], {"old": used(89)}) == {"old": USED}


@pytest.mark.parametrize("log", [SHORT, NONE])
def test_where_the_log_is_not_whole_nothing_counts_as_unused(log):
    assert usage([life()], log=log) == {"old": UNKNOWN}
    assert list(find_unused(judge_grants([life()], {}, {}, log), log)) == []


def test_one_line_shows_a_use_whatever_the_log_lacks():
    assert usage([life()], {"old": used(1)}, log=SHORT) == {"old": USED}
    assert usage([life()], matches={"old": END}, log=SHORT) == {"old": MATCHED}


def test_only_grants_older_than_the_window_are_unused():
    assert usage([life(age=89)]) == {"old": TOO_NEW}
    assert usage([life(age=90)]) == {"old": UNUSED}
    assert usage([life(age=89)], {"old": used(1)}) == {"old": USED}


def test_a_grant_of_which_no_start_is_known_is_not_judged():
    assert usage([replace(life(), added_at=None)]) == {"old": TOO_NEW}


def test_a_super_user_needs_no_grant_so_no_line_is_about_its_own():
    assert usage([life()], supers=(OLD.principal,)) == {"old": UNKNOWN}


def test_without_the_controllers_log_what_only_they_check_is_unknown():
    create = acl("t", operation="CREATE", acl_id="create")
    beat = acl("kafka-cluster", resource_type="CLUSTER", operation="CLUSTER_ACTION", acl_id="beat")
    log = replace(WHOLE, controllers=Missing(CONTROLLERS, "No controllers.", "read them"))
    found = usage([life(), life(create), life(beat)], log=log)
    assert found == {"old": UNUSED, "create": UNKNOWN, "beat": UNKNOWN}


def test_a_grant_that_others_were_named_for_is_matched():
    assert usage([life()], matches={"old": END}) == {"old": MATCHED}
    assert usage([life()], {"old": used(1)}, {"old": END}) == {"old": USED}


def test_acls_with_the_same_seven_fields_are_used_together():
    twin = acl("old", acl_id="twin")
    assert usage([life(), life(twin)], {"twin": used(1)}) == {"old": USED, "twin": USED}


def test_no_log_shows_that_the_members_of_a_role_do_not_use_a_grant():
    role = life(acl("old", acl_id="old", principal="RedpandaRole:ops"))
    redpanda = replace(KAFKA, authorizer=REDPANDA)
    (found,) = judge_grants([role], {}, {}, WHOLE, (), redpanda)
    assert found.usage == UNKNOWN


def test_the_finding_names_days_brokers_and_controllers():
    (found,) = find_unused(judge_grants([life()], {}, {}, WHOLE), WHOLE)
    assert found.acl_ids == ("old",)
    assert found.message.endswith(
        "no use since 2026-08-23 (90 days, log of all 3 brokers and of the controllers)."
    )


def test_a_gap_is_more_than_an_hour_without_a_line():
    hours = [END + timedelta(hours=n) for n in (0, 1, 3)]
    assert find_gaps([(at, at) for at in hours]) == ((hours[1], hours[2]),)
    assert find_gaps([(hours[0], hours[2]), (hours[1], hours[1])]) == ()


def test_what_was_read_is_always_said():
    file = FileCoverage(source="a.log", lines=9, allowed_lines=5, first=END - 9 * DAY, last=END)
    found = describe(Coverage(files=(file,), allowed_from=file.first, gaps=()))
    assert "2026-11-12T00:00:00Z to 2026-11-21T00:00:00Z: 9 lines in 1 file, 5 of" in found
    assert "no readable line" in describe(Coverage(files=(), allowed_from=None, gaps=()))
