"""A night and a team's policies: states, notes, assertions and the exit code."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from aclkit.audit.findings.baseline import Mute, parse_baseline, render_baseline
from aclkit.audit.reports.data import NightlySummary
from aclkit.model.findings import NEVER, Finding
from aclkit.nightly.policies import Policies, conclude
from aclkit.questions.assertions.parse import parse_assertions
from aclkit.rules.names.question import Budget
from aclkit.warehouse.published import open_warehouse
from tests.questions.query import small_warehouse as small

TODAY = date(2026, 11, 21)


def found(subject, severity="high"):
    return Finding(finding="k", severity=severity, subject=subject, message="m", fix="f")


def night(*findings, run_id="r"):
    return NightlySummary(
        cluster_id=small.CLUSTER, run_id=run_id, started_at=datetime(2026, 11, 21, tzinfo=UTC),
        seconds=1.0, status="complete", head_offset=100, acls=1, principals=1, hosts=1,
        resources=1, rows_expected=1, rows_decided=1, notes=("before",), findings=findings,
        changes=(), access_changes=0, exit_code=None,
    )  # fmt: skip


def mute(until, subject):
    return Mute(fingerprint=None, finding="k", subject=subject, until=until, owner="ops",
                reason="r")  # fmt: skip


@pytest.mark.parametrize(
    ("policies", "code"),
    [
        ({}, 1),
        ({"fail_on": NEVER}, 0),
        ({"baseline": parse_baseline(render_baseline([found("a")], "c", {}), "b")}, 0),
        ({"mutes": [mute(TODAY, "a")]}, 0),
        ({"mutes": [mute(date(2026, 11, 20), "a")], "fail_on": NEVER}, 1),
    ],
    ids=["new", "never", "known", "muted", "run-out"],
)
def test_findings_outside_the_baseline_and_mutes_that_ran_out_fail_a_night(policies, code):
    summary = conclude(night(found("a")), 0, Policies(today=TODAY, **policies), None)
    assert summary.exit_code == code


def test_the_highest_exit_code_wins():
    assert conclude(night(found("a")), 3, Policies(today=TODAY), None).exit_code == 3


@pytest.mark.parametrize(
    ("before", "policies", "code", "reason"),
    [
        (None, {}, 1, "2 findings are not in the baseline"),
        ("ab", {}, 1, "2 findings are not in the baseline"),
        (None, {"only_new": True}, 1, "2 new findings are not in the baseline"),
        ("a", {"only_new": True}, 1, "1 new finding is not in the baseline"),
        (
            "ab", {"only_new": True}, 0,
            "no new finding that reaches --fail-on is outside the baseline",
        ),
        ("ab", {"fail_on": NEVER}, 0, "--fail-on is never"),
        (
            "ab", {"only_new": True, "mutes": [mute(date(2026, 11, 20), "a")]}, 1,
            "1 acceptance has expired",
        ),
    ],
)  # fmt: skip
def test_the_exit_code_names_its_reason(before, policies, code, reason):
    """New is what the previous published run did not have; the baseline is another matter."""
    known = None if before is None else frozenset(found(each).fingerprint for each in before)
    told = replace(night(found("a"), found("b")), known_before=known)
    summary = conclude(told, 0, Policies(today=TODAY, **policies), None)
    assert (summary.exit_code, summary.exit_reason) == (code, reason)


def test_less_severe_findings_do_not_fail_a_night():
    policies = Policies(today=TODAY, fail_on="medium")
    assert conclude(night(found("a", "low")), 0, policies, None).exit_code == 0


def test_muted_findings_are_counted_and_not_listed():
    policies = Policies(today=TODAY, mutes=[mute(TODAY, "a")])
    summary = conclude(night(found("a"), found("b")), 0, policies, None)
    assert [finding.subject for finding in summary.findings] == ["b"]
    compared = "Findings compared with the baseline: 1 not in the baseline, 1 muted."
    assert summary.notes == ("before", compared)
    assert [(item.state, item.finding.subject) for item in summary.judged] == [
        ("muted", "a"), ("new", "b"),
    ]  # fmt: skip


def test_without_baseline_and_mutes_a_night_has_no_states():
    assert conclude(night(found("a")), 0, Policies(today=TODAY), None).judged is None


def test_a_mute_that_ran_out_is_noted():
    policies = Policies(today=TODAY, mutes=[mute(date(2026, 1, 1), "a")])
    notes = conclude(night(found("a")), 0, policies, None).notes
    assert notes[-1].startswith("the mute of ops on k ")
    assert notes[-1].endswith("ran out on 2026-01-01")


FAILS = (
    '[[never]]\nname="bad"\nprincipals="User:alice"\noperations="READ"\nresources="topic:payments"'
)
HOLDS = '[[never]]\nname="good"\nprincipals="User:carol"\noperations="ALTER"\nresources="cluster"'


@pytest.mark.parametrize(("text", "code"), [(HOLDS, 0), (FAILS, 1)], ids=["holds", "fails"])
def test_a_failed_assertion_fails_a_night_whatever_the_severity(tmp_path, text, code):
    small.build(tmp_path)
    policies = Policies(today=TODAY, fail_on=NEVER, assertions=parse_assertions(text, "a.toml"))
    summary = conclude(night(), 0, policies, open_warehouse(str(tmp_path)))
    (tested,) = summary.assertions
    assert (summary.exit_code, tested.passed) == (code, not code)
    if code:
        assert tested.message == "never, 1 checked, 1 violation"
        assert tested.example == (
            "User:alice can READ topic:payments from 10.0.0.1: "
            "ALLOW READ on topic payments for User:alice from any host"
        )


def test_an_assertion_that_is_not_proven_fails_a_night_as_unknown(tmp_path, monkeypatch):
    small.build(tmp_path)
    monkeypatch.setattr("aclkit.nightly.policies.Budget", lambda: Budget(per_question=2))
    policies = Policies(today=TODAY, fail_on=NEVER, assertions=parse_assertions(HOLDS, "a.toml"))
    summary = conclude(night(), 0, policies, open_warehouse(str(tmp_path)))
    (tested,) = summary.assertions
    assert (summary.exit_code, tested.passed, tested.state) == (1, False, "unknown")
    assert tested.message == (
        "never, 1 checked, 0 violations: for all possible names: unknown: "
        "one question took 2 states; to raise the search limit: --budget"
    )


def test_without_assertions_none_are_shown(tmp_path):
    small.build(tmp_path)
    summary = conclude(night(), 0, Policies(today=TODAY), open_warehouse(str(tmp_path)))
    assert summary.assertions is None
