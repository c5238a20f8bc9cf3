"""changes for people: a line for each principal and cause, or the sentence that nothing changed."""

from __future__ import annotations

from aclkit.answer.document import Item, Items, Sentence
from aclkit.audit.reports.changes_answer import RunChange, cells_answer, changes_answer
from aclkit.audit.reports.data import Cause, ReportedChange
from aclkit.warehouse.job_run import PublishedRun
from tests.audit.reports.made import WHEN
from tests.factories import acl

RUN = PublishedRun(
    run_number=42, run_id="r", cluster_id="c1", job="run", finished_at=WHEN, counts={},
    table_versions={},
)  # fmt: skip
ADDED = Cause(offset=901, at=WHEN, what="added", acl=acl("pay", pattern_type="PREFIXED"))


def change(resource="topic:pay-x", who="User:a", *, causes=(ADDED,), **fields):
    defaults = {"gained": 1, "lost": 0, "cause": "acl"}
    found = ReportedChange(who=who, resource=resource, causes=causes, **(defaults | fields))
    return [RunChange(RUN, found, cause) for cause in causes or [None]]


def parts(*changes):
    return list(changes_answer([each for rows in changes for each in rows], "run 41").parts())


def items(*changes):
    return list(next(part for part in parts(*changes) if isinstance(part, Items)).items)


def test_that_nothing_changed_is_one_sentence():
    assert parts() == [Sentence("No access changed since run 41.", "good")]
    assert list(cells_answer([]).parts()) == [Sentence("No access changed.", "good")]


def test_a_principal_and_a_cause_are_one_line_whatever_the_number_of_resources():
    (item,) = items(change("topic:pay-x"), change("topic:pay-y", gained=2))
    assert (item.text, item.mark) == ("User:a: 3 accesses gained on 2 resources", "+")
    assert len(item.under) == 1
    assert item.under[0].endswith(" added at offset 901")


def test_each_principal_and_each_cause_has_its_line():
    removed = Cause(offset=902, at=WHEN, what="removed", acl=acl("pay-x"))
    texts = [
        item.text
        for item in items(
            change(), change(who="User:b"), change(gained=0, lost=1, causes=(removed,))
        )
    ]
    assert texts == [
        "User:a: 1 access gained on topic:pay-x",
        "User:b: 1 access gained on topic:pay-x",
        "User:a: 1 access lost on topic:pay-x",
    ]


def test_the_last_sentence_counts_a_change_with_two_causes_once():
    two = change(gained=2, causes=(ADDED, Cause(offset=902, at=None, what="added", acl=acl("p"))))
    assert parts(two)[-1] == Sentence("2 accesses gained, 0 lost since run 41.")


def test_a_name_that_came_is_no_change_of_access_and_says_how_to_see_it():
    found = parts(change("topic:new one", who="", cause="came", gained=0, causes=()))
    assert list(found[0].items) == [
        Item("topic:new one: new; see: aclkit who-can ANY 'topic:new one'", "+")
    ]
    assert found[-1] == Sentence("No access changed since run 41.", "good")
