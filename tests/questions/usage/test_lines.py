"""Rows of access_day, a few, in a warehouse: counted, what they cover, which grants they use."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from aclkit.model.acl import Acl, Request
from aclkit.model.facts import LISTING, RECORD, SNAPSHOT
from aclkit.model.semantics import BrokerSettings
from aclkit.pipeline.replay.spans import Range
from aclkit.questions.usage import lines
from aclkit.questions.usage.check import AGREE, MISMATCH, UNDETERMINED, UNREADABLE
from aclkit.questions.usage.clock import to_micros
from aclkit.questions.usage.coverage import AuthorizerLog, FileCoverage, Needed, Stretch
from aclkit.questions.usage.layout import LAYOUT_NOT_READ
from aclkit.questions.usage.past import PAST_TABLES, past_of
from aclkit.questions.usage.use import NamedUse
from aclkit.questions.usage.whole_log import judge_log
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.store import Store
from tests.factories import acl
from tests.pipeline.replay.frames import added, at, life, listed
from tests.questions.usage.pasts import Step
from tests.questions.usage.pasts import past_of as steps_past

SECOND = 1_000_000
RUN = 3
READ = acl("orders", acl_id="read")
TWIN = acl("ord", pattern_type="PREFIXED", acl_id="twin")
PAST = steps_past([Step(1, 100 * SECOND, came=READ), Step(2, 100 * SECOND, came=TWIN)])
REQUEST = {"principal": "User:a", "host": "10.0.0.1", "operation": "READ",
           "resource_type": "TOPIC", "resource_name": "orders"}  # fmt: skip


def line(verdict=AGREE, second=0, until=None, **columns):
    """A row of ``access_day``; its file is named by its first letter."""
    first, last = at(second), at(second if until is None else until)
    named = {"run_number": RUN, "position": second, "first_at": first, "last_at": last}
    named |= {"lines": 1, "verdict": verdict, "file_id": "log", "is_open": False, **REQUEST}
    return named | {"decision": "ALLOWED", "rule": "MatchingAcl"} | columns


def moment(second):
    return at(second).replace(tzinfo=None)


def rows_of(table, *rows):
    names = TABLES[table].column_names
    return [tuple(({"cluster_id": "c"} | row).get(name) for name in names) for row in rows]


@pytest.fixture
def log(tmp_path):
    """Write rows, and of each file of theirs a row of ``log_file``; open both."""
    stack = []

    def written(*rows):
        store = Store(None, str(tmp_path / f"w{len(stack)}"))
        store.append("access_day", rows_of("access_day", *rows))
        known = {}
        for row in rows:
            spoke = known.setdefault(row["file_id"], [])
            if row["first_at"] is not None and row["verdict"] != UNREADABLE:
                spoke += [(to_micros(row["first_at"]), to_micros(row["last_at"]))]
        files = [
            {"file_id": name, "source": name, "spoke_from": [a for a, _ in sorted(spoke)],
             "spoke_to": [b for _, b in sorted(spoke)]}
            for name, spoke in known.items()
        ]  # fmt: skip
        store.append("log_file", rows_of("log_file", *files))
        opened = read_written(store, "c", "access_day", "log_file")
        stack.append(opened)
        return opened.__enter__()

    yield written
    for opened in stack:
        opened.__exit__(None, None, None)


def test_lines_of_a_run_are_counted_by_verdict_and_those_that_are_none_too(log):
    other = line(second=5, run_number=2)
    found = lines.count_verdicts(log(line(lines=7), line(second=1), line(MISMATCH, 2), other), RUN)
    assert found == {AGREE: 8, MISMATCH: 1, UNDETERMINED: 0, UNREADABLE: 0}


def test_the_first_lines_of_a_verdict_are_told_with_their_file(log):
    rows = [line(MISMATCH, n, reason=f"r{n}") for n in (3, 1, 2)]
    found = lines.worst_lines(log(*rows, line()), RUN, MISMATCH, 2)
    assert [(one["first_at"], one["reason"], one["source"]) for one in found] == [
        (moment(1), "r1", "log"), (moment(2), "r2", "log"),
    ]  # fmt: skip
    assert {"cluster_id", "file_id"}.isdisjoint(found[0])


def test_mismatches_alike_are_one_the_most_frequent_first(log):
    often = [line(MISMATCH, n, reason="x", position=n) for n in (7, 5)]
    once = line(MISMATCH, 1, reason="y", host="10.0.0.9", file_id="other")
    read = log(*often, once, line())
    found = lines.disagreements(read, moment(0), 5)
    assert [(d.lines, d.reason, d.first, d.source, d.position) for d in found] == [
        (2, "x", moment(5), "log", 5), (1, "y", moment(1), "other", 1),
    ]  # fmt: skip
    assert found[0].request == tuple(REQUEST.values())
    assert len(lines.disagreements(read, moment(0), 1)) == 1
    assert [d.lines for d in lines.disagreements(read, moment(6), 5)] == [1]


def test_coverage_is_by_file_with_gaps_and_the_first_allowed_line(log):
    late = at(0) + timedelta(hours=3)
    found = lines.coverage_of(
        log(
            line(second=4, decision="DENIED", file_id="a"),
            line(second=6, file_id="a"),
            line(second=8, decision="DENIED", file_id="b", lines=5),
            line(file_id="a", first_at=late, last_at=late),
        )
    )
    late = late.replace(tzinfo=None)
    assert found.files == (
        FileCoverage(source="a", lines=3, allowed_lines=2, first=moment(4), last=late),
        FileCoverage(source="b", lines=5, allowed_lines=0, first=moment(8), last=moment(8)),
    )
    assert (found.allowed_from, found.gaps) == (moment(6), ((moment(8), late),))


def test_the_first_line_of_the_authorizer_that_could_not_be_read_is_told(log):
    other = line(UNREADABLE, 1, file_id="a", reason="no Principal")
    rows = [line(UNREADABLE, n, file_id="b", reason=LAYOUT_NOT_READ + str(n)) for n in (7, 5)]
    told = lines.first_unreadable(log(line(), other, *rows), RUN)
    assert told == ("b", 5, f"{LAYOUT_NOT_READ}5")
    assert lines.first_unreadable(log(line(), other), RUN) == ("a", 1, "no Principal")


def test_an_acl_is_used_by_the_allowed_lines_that_name_it(log):
    found = lines.uses_of(
        log(
            line(second=1, deciding_acl_id="a", lines=9),
            line(second=2, until=5, deciding_acl_id="a", lines=4, run_number=2),
            line(second=9, deciding_acl_id="a", decision="DENIED"),
            line(second=2, deciding_acl_id="b"),
            line(second=7),
        ),
        moment(3),
    )
    assert found == {"a": NamedUse(last=moment(5), lines=4), "b": NamedUse(last=moment(2), lines=0)}


def test_allowed_requests_are_those_that_an_acl_allowed_each_with_its_last_line(log):
    named = steps_past([Step(1, 0, came=acl("orders", host="10.0.0.2", acl_id="x"))])
    found = lines.allowed_requests(
        log(
            line(second=1),
            line(second=2, until=5),
            line(second=4, host="10.0.0.3"),
            line(second=6, rule="SuperUser"),
            line(second=3, rule=None, host="10.0.0.2"),
            line(second=7, decision="DENIED"),
            line(second=2, host="10.0.0.2"),
        ),
        named,
    )
    any_other = Request(**REQUEST | {"host": "<any-other>"})
    own = Request(**REQUEST | {"host": "10.0.0.2"})
    assert found == {any_other: to_micros(at(5)), own: to_micros(at(3))}


def test_grants_that_could_have_allowed_a_request_are_used_at_its_last_line():
    requests = [
        (Request(**REQUEST), 200 * SECOND),
        (Request(**REQUEST), 150 * SECOND),
        (Request(**REQUEST | {"principal": "User:b"}), 300 * SECOND),
        (Request(**REQUEST), 99 * SECOND),
    ]
    last = datetime.fromtimestamp(200, UTC).replace(tzinfo=None)
    assert lines.matches_of(requests, PAST) == {"read": last, "twin": last}


def test_grants_are_used_where_lines_name_them_and_matched_where_they_could_have_allowed(log):
    time = datetime.fromtimestamp(300, UTC)
    read = log(line(deciding_acl_id="twin", first_at=time, last_at=time))
    last = time.replace(tzinfo=None)
    window = judge_log(AuthorizerLog(stretches=[Stretch("log", last, last)]), Needed(days=0.001))
    found = lines.grants_of(read, PAST, window)
    assert [(g.acl.acl_id, g.usage, g.last_used_at, g.last_matched_at) for g in found] == [
        ("read", "matched", None, last), ("twin", "used", last, last),
    ]  # fmt: skip


@contextmanager
def told(tmp_path, **tables):
    store = Store(None, str(tmp_path))
    for table, rows in tables.items():
        store.append(table, rows_of(table, *rows))
    with read_written(store, "c", *PAST_TABLES) as read:
        yield read


def test_the_past_is_read_of_facts_history_and_settings_up_to_the_head(tmp_path):
    ranges = [Range(0, 4, 1, SNAPSHOT), Range(4, 9, 1, RECORD), Range(0, 99, 1, SNAPSHOT)]
    settings = [
        {"since_time": at(8), "super_users": ["User:x"], "allow_everyone": True},
        {"since_time": at(2), "super_users": None, "allow_everyone": None},
    ]
    facts = [listed(4, "a"), listed(99, "a", log_time=at(59)), added(5, "b"), added(5, "b")]
    lives = [life("b", 5), life("a", 3, 5)]
    with told(tmp_path, acl_log=facts, acl_history=lives, setting=settings) as read:
        past = past_of(ranges, read, head=9)
    assert [(one.acl.acl_id, one.effective_offset, one.removed_offset) for one in past.lives] == [
        ("a", 3, 5), ("b", 5, None),
    ]  # fmt: skip
    assert past.lives[1].acl == Acl(**{name: life("b", 5)[name] for name in Acl.__slots__})
    assert past.lives[0].removed_at == moment(5)
    assert (past.timeline.head, past.timeline.jumps) == (9, ((0, 4),))
    assert [(each.since, each.broker) for each in past.timeline.settings] == [
        (moment(2), BrokerSettings(unknown=frozenset({
            "super.users", "allow.everyone.if.no.acl.found"}))),
        (moment(8), BrokerSettings(super_users=frozenset({"User:x"}), allow_everyone=True)),
    ]  # fmt: skip
    came = {offset: span[1] for offset, span in past.reached.items()}
    assert came[3] == round(at(4).timestamp()) * SECOND
    assert came[5] == round(at(5).timestamp()) * SECOND


def test_a_past_without_settings_is_none(tmp_path):
    with told(tmp_path) as read:
        assert past_of([Range(0, 1, None, LISTING)], read, head=1) is None
