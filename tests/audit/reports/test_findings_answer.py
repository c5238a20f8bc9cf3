"""audit for people: counts, then each kind of finding with its worst."""

from __future__ import annotations

from aclkit.answer.document import Heading, Sentence, Table
from aclkit.audit.findings.baseline import Judged
from aclkit.audit.reports.findings_answer import (
    MOST_OF_A_KIND,
    Findings,
    counts_sentence,
    findings_answer,
)
from tests.audit.reports.made import finding


def judged(*findings, state="new"):
    return [Judged(state=state, fingerprint=f.fingerprint, finding=f) for f in findings]


def found(*findings, state="new", **fields):
    return Findings(judged=judged(*findings, state=state), first_seen={}, acls={}, **fields)


MANY = [finding(number) for number in range(MOST_OF_A_KIND + 2)]


def blocks(answered):
    return [part for part in findings_answer(answered).parts() if isinstance(part, Table)]


def test_three_of_a_kind_are_shown_and_how_to_see_all():
    (block,) = blocks(found(*MANY))
    message = "Everyone has READ."
    assert list(block.rows) == [[f"topic:t{number}", message] for number in range(3)]
    assert Sentence("All of a kind: aclkit audit --kind KIND") in [
        *findings_answer(found(*MANY)).parts()
    ]


def test_a_kind_that_was_asked_for_is_shown_whole():
    (block,) = blocks(found(*MANY, kinds=("public-access",)))
    assert len(block.rows) == len(MANY)


def test_every_kind_has_a_heading_with_its_number():
    both = found(*MANY, finding(9, "redundant-acl", severity="low"))
    parts = findings_answer(both).parts()
    heads = [part.text.partition(":")[0] for part in parts if isinstance(part, Heading)]
    assert heads == ["public-access (5 high)", "redundant-acl (1 low)"]


def test_the_first_sentence_counts_by_severity():
    low = finding(9, "redundant-acl", severity="low")
    assert counts_sentence(found(*MANY, low)) == "5 high and 1 low findings."
    assert counts_sentence(found(low)) == "1 low finding."
    assert counts_sentence(found()) == "No findings."


def test_the_first_sentence_counts_by_state_too_where_there_are_states():
    assert (
        counts_sentence(found(finding(), has_states=True))
        == "1 high finding (1 not in the baseline)."
    )


def test_programs_have_every_finding():
    assert len(list(findings_answer(found(*MANY)).rows)) == len(MANY)
