"""Lines of the authorizer log as frames of a few rows: judged, counted, and what they cover."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from aclkit.model.acl import Acl
from aclkit.model.facts import LISTING, RECORD, SNAPSHOT
from aclkit.model.semantics import BrokerSettings
from aclkit.pipeline.replay.on_spark.engine import OnSpark
from aclkit.pipeline.replay.ranges import Range
from aclkit.questions.usage import lines
from aclkit.questions.usage.check import AGREE, MISMATCH, UNDETERMINED, UNREADABLE
from aclkit.questions.usage.coverage import FileCoverage
from aclkit.questions.usage.entry import CUT_SHORT
from aclkit.questions.usage.frames import collect_rows, judge, uses
from aclkit.questions.usage.grants import Use
from aclkit.questions.usage.known_past import past_of
from aclkit.questions.usage.layout import LAYOUT_NOT_READ
from aclkit.questions.usage.source import COLUMNS, DDL
from aclkit.runtime.frame import Steps, local_frame
from tests.factories import acl
from tests.pipeline.explain.frames import must_hold
from tests.pipeline.replay import frames
from tests.pipeline.replay.frames import added, at, life, listed, must_be
from tests.questions.usage.pasts import Step
from tests.questions.usage.pasts import past_of as steps_past

SECOND = 1_000_000
READ = acl("orders", acl_id="read")
TWIN = acl("ord", pattern_type="PREFIXED", acl_id="twin")
PAST = steps_past([Step(1, 100 * SECOND, came=READ), Step(2, 100 * SECOND, came=TWIN)])
REQUEST = {"principal": "User:a", "host": "10.0.0.1", "operation": "READ",
           "resource_type": "TOPIC", "resource_name": "orders"}  # fmt: skip


def table(spark, name, rows):
    return frames.table(OnSpark(spark, "c", Steps()), name, rows)


def line(verdict=AGREE, second=0, **columns):
    """A row of ``access_log``."""
    named = {"cluster_id": "c", "source": "log", "position": second, "log_time": at(second)}
    named |= {"line_id": f"{verdict}{second}", "verdict": verdict, **REQUEST}
    return named | {"decision": "ALLOWED", "rule": "MatchingAcl"} | columns


def moment(second):
    return at(second).replace(tzinfo=None)


def entry(position, time, **columns):
    """An entry of a log, as its source reads it."""
    micros = time * SECOND
    named = {"source": "log", "position": position, "line_id": f"id{position}"}
    named |= {"first_micros": micros, "last_micros": micros, "is_ambiguous": False}
    named |= {**REQUEST, "pattern_type": "LITERAL", "request_name": "Fetch"}
    named |= {"resource_ref_count": 1, "decision": "DENIED", "rule": "DefaultDeny"}
    return named | {"rule_text": "DefaultDeny"} | columns


def entries(spark, *rows):
    return local_frame(spark, [[row.get(name) for name in COLUMNS] for row in rows], DDL)


def test_each_entry_becomes_a_row_with_what_was_said_and_what_was_expected(spark):
    nothing = dict.fromkeys(COLUMNS)
    bad = {"source": "log", "line_id": "id3", "problem": "why", "raw": "text"}
    found = judge(
        entries(
            spark,
            entry(1, 50),
            entry(2, 200),
            {**nothing, **bad, "position": 3, "is_ambiguous": False},
            {**nothing, **bad, "position": 4, "line_id": "id4", "is_ambiguous": True},
        ),
        PAST,
        "c",
        SECOND,
    )
    said = {"cluster_id": "c", "source": "log", **REQUEST, "request_name": "Fetch"}
    said |= {"resource_ref_count": 1, "decision": "DENIED", "rule": "DefaultDeny"}
    denied = {"expected_decision": "DENIED", "expected_rule": "DefaultDeny"}
    allowed = {"expected_decision": "ALLOWED", "expected_rule": "MatchingAcl"}
    reason = (
        "the ACLs decide ALLOWED by MatchingAcl(acl=StandardAcl[resourceType=TOPIC, "
        "resourceName=ord, patternType=PREFIXED, principal=User:a, host=*, operation=READ, "
        "permissionType=ALLOW])"
    )
    late = {"cluster_id": "c", "source": "log", "reason": "why", "raw": "text"}
    must_be(
        found.select("line.*"),
        "access_log",
        [
            {**said, **denied, "line_id": "id1", "position": 1, "verdict": AGREE,
             "log_time": datetime.fromtimestamp(50, UTC)},
            {**said, **allowed, "line_id": "id2", "position": 2, "verdict": MISMATCH,
             "log_time": datetime.fromtimestamp(200, UTC), "expected_acl_id": "twin",
             "reason": reason},
            {**late, "line_id": "id3", "position": 3, "verdict": UNREADABLE},
            {**late, "line_id": "id4", "position": 4, "verdict": UNDETERMINED},
        ],
    )  # fmt: skip


def test_all_grants_that_could_have_allowed_a_request_are_used_at_its_last_line(spark):
    rows = [(*REQUEST.values(), 200 * SECOND), (*REQUEST.values(), 150 * SECOND),
            ("User:b", *list(REQUEST.values())[1:], 300 * SECOND)]  # fmt: skip
    ddl = ", ".join(f"{name} STRING" for name in REQUEST) + ", at BIGINT"
    found = uses(local_frame(spark, rows, ddl), PAST)
    must_hold(found, [("read", 200 * SECOND), ("twin", 200 * SECOND)], "acl_id STRING, at BIGINT")


@pytest.fixture
def log(spark):
    return lambda *rows: table(spark, "access_log", rows)


def test_lines_are_counted_by_verdict_and_those_that_are_none_too(log):
    found = lines.count_verdicts(log(line(), line(second=1), line(MISMATCH, 2)))
    assert found == {AGREE: 2, MISMATCH: 1, UNDETERMINED: 0, UNREADABLE: 0}


def test_the_first_lines_of_a_verdict_are_told_without_cluster_and_id(log):
    rows = [line(MISMATCH, n, reason=f"r{n}") for n in (3, 1, 2)]
    found = lines.worst_lines(log(*rows, line()), MISMATCH, 2)
    assert [(one["log_time"], one["reason"]) for one in found] == [
        (moment(1), "r1"), (moment(2), "r2"),
    ]  # fmt: skip
    assert {"cluster_id", "line_id"}.isdisjoint(found[0])


def test_mismatches_alike_are_one_the_most_frequent_first(log):
    often = [line(MISMATCH, n, reason="x", position=n) for n in (7, 5)]
    once = line(MISMATCH, 1, reason="y", host="10.0.0.9", source="other")
    found = lines.disagreements(log(*often, once, line()), 5)
    assert [(d.lines, d.reason, d.first, d.source, d.position) for d in found] == [
        (2, "x", moment(5), "log", 5), (1, "y", moment(1), "other", 1),
    ]  # fmt: skip
    assert found[0].request == tuple(REQUEST.values())
    assert len(lines.disagreements(log(*often, once), 1)) == 1


def test_lines_are_readable_that_could_be_read_and_have_a_time(log):
    rows = [line(), line(UNREADABLE, 1), line(UNDETERMINED, 2), line(MISMATCH, 3, log_time=None)]
    must_be(lines.readable(log(*rows)), "access_log", [rows[0], rows[2]])


def test_coverage_is_by_file_with_gaps_and_the_first_allowed_line(log):
    much_later = at(0) + timedelta(hours=3)
    found = lines.coverage_of(
        log(
            line(second=4, decision="DENIED", source="a"),
            line(second=6, source="a"),
            line(second=8, decision="DENIED", source="b"),
            line(second=9, source="a", log_time=much_later),
        )
    )
    late = much_later.replace(tzinfo=None)
    assert found.files == (
        FileCoverage(source="a", lines=3, allowed_lines=2, first=moment(4), last=late),
        FileCoverage(source="b", lines=1, allowed_lines=0, first=moment(8), last=moment(8)),
    )
    assert (found.allowed_from, found.gaps) == (moment(6), ((moment(8), late),))


def test_files_with_lines_of_an_unread_layout_are_known(log):
    found = lines.coverage_of(
        log(
            line(source="a"),
            line(UNREADABLE, 1, source="a", reason="expected a line of the logger"),
            line(UNREADABLE, 2, source="b", reason=f"{LAYOUT_NOT_READ}found no time"),
            line(UNREADABLE, 3, source="c", reason=CUT_SHORT),
        )
    )
    assert found.unread_files == ("b",)
    assert [file.source for file in found.files] == ["a"]


def test_the_first_line_of_the_authorizer_that_could_not_be_read_is_told(log):
    other = line(UNREADABLE, 1, source="a", reason="no Principal")
    rows = [line(UNREADABLE, n, source="b", reason=LAYOUT_NOT_READ + str(n)) for n in (7, 5)]
    assert lines.first_unreadable(log(line(), other, *rows)) == ("b", 5, f"{LAYOUT_NOT_READ}5")
    assert lines.first_unreadable(log(line(), other)) == ("a", 1, "no Principal")


def test_an_acl_is_used_by_the_allowed_lines_that_name_it(log):
    found = lines.uses_of(
        log(
            line(second=1, deciding_acl_id="a"),
            line(second=5, deciding_acl_id="a"),
            line(second=9, deciding_acl_id="a", decision="DENIED"),
            line(second=2, deciding_acl_id="b"),
            line(second=7),
        ),
        moment(3),
    )
    assert found == {"a": Use(last=moment(5), lines=1), "b": Use(last=moment(2), lines=0)}


def test_allowed_requests_are_those_that_an_acl_allowed_each_with_its_last_line(log):
    found = lines.allowed_requests(
        log(
            line(second=1),
            line(second=5),
            line(second=6, rule="SuperUser"),
            line(second=3, rule=None, host="10.0.0.2"),
            line(second=7, decision="DENIED"),
            line(second=2, host="10.0.0.2"),
        )
    )
    rows = [
        (*REQUEST.values(), round(at(5).timestamp()) * SECOND),
        (*{**REQUEST, "host": "10.0.0.2"}.values(), round(at(3).timestamp()) * SECOND),
    ]
    must_hold(found, rows, ", ".join(f"{name} STRING" for name in REQUEST) + ", at BIGINT")


def test_the_past_is_read_of_facts_history_and_settings_up_to_the_head(spark):
    ranges = [Range(0, 4, 1, SNAPSHOT), Range(4, 9, 1, RECORD), Range(0, 99, 1, SNAPSHOT)]
    facts = [listed(4, "a"), listed(99, "a", log_time=at(59)), added(5, "b"), added(5, "b")]
    settings = [
        {"cluster_id": "c", "since_time": at(8), "super_users": ["User:x"], "allow_everyone": True},
        {"cluster_id": "c", "since_time": at(2), "super_users": None, "allow_everyone": None},
    ]
    past = past_of(
        ranges,
        table(spark, "acl_log", facts),
        table(spark, "acl_history", [life("b", 5), life("a", 3, 5)]),
        table(spark, "setting", settings),
        head=9,
    )
    assert [(one.acl.acl_id, one.effective_offset, one.removed_offset) for one in past.lives] == [
        ("a", 3, 5), ("b", 5, None),
    ]  # fmt: skip
    assert past.lives[1].acl == Acl(**{name: life("b", 5)[name] for name in Acl.__slots__})
    assert past.lives[0].removed_at == moment(5)
    assert (past.timeline.head, past.timeline.jumps) == (9, ((0, 4),))
    assert [(each.since, each.broker) for each in past.timeline.settings] == [
        (moment(2), BrokerSettings()),
        (moment(8), BrokerSettings(super_users=frozenset({"User:x"}), allow_everyone=True)),
    ]
    came = {offset: span[1] for offset, span in past.reached.items()}
    assert came[3] == round(at(4).timestamp()) * SECOND
    assert came[5] == round(at(5).timestamp()) * SECOND


def test_a_past_without_settings_is_none(spark):
    empty = [table(spark, name, []) for name in ("acl_log", "acl_history", "setting")]
    assert past_of([Range(0, 1, None, LISTING)], *empty, head=1) is None


def test_rows_are_collected_with_times_in_utc_without_a_zone(spark):
    found = collect_rows(table(spark, "setting", [{"cluster_id": "c", "since_time": at(1)}]))
    assert found == [("c", moment(1), *[None] * 4)]


def test_grants_are_used_where_lines_name_them_and_matched_where_they_could_have_allowed(log):
    time = datetime.fromtimestamp(300, UTC)
    known = log(line(deciding_acl_id="twin", log_time=time))
    found = lines.grants_of(known, PAST, lines.coverage_of(known), days=0.001)
    last = time.replace(tzinfo=None)
    assert [(g.acl.acl_id, g.usage, g.last_used_at, g.last_matched_at) for g in found] == [
        ("read", "matched", None, last), ("twin", "used", last, last),
    ]  # fmt: skip
