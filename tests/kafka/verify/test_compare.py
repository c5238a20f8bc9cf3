"""What counts as the same answer, and what is told of the rest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from aclkit.kafka.verify.compare import NO_WITNESS, Cell, compare, is_same
from aclkit.kafka.verify.wire import Reply
from aclkit.model.semantics import KAFKA, BrokerSettings
from tests.factories import acl, request

READ = acl()
ALLOWED = Reply("ALLOWED", "MatchingAcl", READ)


@dataclass
class Told:
    """A Kafka that gives the answers it was told to."""

    answers: list[Reply]
    asked: list = field(default_factory=list)

    def ask(self, requests):
        self.asked += requests
        return self.answers[: len(requests)]


@pytest.mark.parametrize(
    ("kafkas", "wanted"),
    [
        (ALLOWED, True),
        (replace(ALLOWED, acl=replace(READ, acl_id="another id of the same seven fields")), True),
        (replace(ALLOWED, acl=replace(READ, host="10.0.0.1")), False),
        (replace(ALLOWED, decision="DENIED"), False),
        (Reply("ALLOWED", "SuperUser"), False),
        (Reply("ALLOWED", "DefaultAllow"), False),
        (Reply(None, "throws java.lang.Error: x"), False),
        (Reply(None, "hangs: no answer within 30 s"), False),
    ],
)
def test_decision_rule_and_deciding_acl_must_be_the_same(kafkas, wanted):
    assert is_same(ALLOWED, kafkas) is wanted


def test_codes_that_kafka_does_not_know_are_one():
    glob, nine = (replace(READ, pattern_type=name) for name in ("GLOB", "UNKNOWN(9)"))
    assert is_same(replace(ALLOWED, acl=glob), replace(ALLOWED, acl=nine))
    assert not is_same(replace(ALLOWED, acl=glob), ALLOWED)


def one(cell: Cell, *answers: Reply, again: bool = False):
    told = Told(list(answers))
    report = compare(
        [[cell]], {READ.acl_id: READ}, BrokerSettings(), told, again=KAFKA if again else None
    )  # fmt: skip
    return report, told


def test_a_published_row_is_compared_as_it_stands():
    cell = Cell(request(), request(), "ALLOWED", "MatchingAcl", READ.acl_id)
    report, told = one(cell, ALLOWED)
    assert (report.asked, report.agree, told.asked) == (1, 1, [request()])
    assert report.read_otherwise is None
    report, _ = one(replace(cell, decision="DENIED"), ALLOWED)
    (mismatch,) = report.mismatches
    assert (mismatch.ours.decision, mismatch.kafkas) == ("DENIED", ALLOWED)


def test_a_row_can_be_decided_again():
    wrong = Cell(request(), request(), "DENIED", "DefaultDeny", None)
    report, _ = one(wrong, ALLOWED, again=True)
    assert (report.asked, report.agree, report.read_otherwise) == (1, 1, 1)
    report, _ = one(replace(wrong, decision="ALLOWED"), ALLOWED, again=True)
    assert (report.agree, report.read_otherwise) == (1, 0)


def test_a_gap_and_an_acl_that_is_not_alive_are_mismatches():
    gap = Cell(request(), request(), None, None, None)
    report, _ = one(gap, Reply("DENIED", "DefaultDeny"))
    assert report.mismatches[0].ours == Reply(None, "no ruling")
    dead = Cell(request(), request(), "ALLOWED", "MatchingAcl", "gone")
    report, _ = one(dead, ALLOWED)
    assert report.mismatches[0].ours.rule == "MatchingAcl by gone, which no longer exists"


def test_what_cannot_be_asked_is_left_out_with_the_reason():
    report, told = one(Cell(request(), None, "DENIED", "DefaultDeny", None))
    assert [left.reason for left in report.left_out] == [NO_WITNESS]
    session = request(principal="User:*")
    report, told = one(Cell(session, session, "DENIED", "DefaultDeny", None))
    assert [left.request for left in report.left_out] == [session]
    assert (told.asked, report.asked) == ([], 0)
