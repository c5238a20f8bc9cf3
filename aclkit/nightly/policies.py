"""A nightly run's summary and a team's policies → the summary with verdicts, and the exit code.

The policies are a baseline, accepted findings and assertions. Assertions are checked against the
published tables of the run, without Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from aclkit.audit.findings.baseline import BaselineEntry, Judged, Mute, classify, failing
from aclkit.audit.reports.data import AssertionOutcome, NightlySummary
from aclkit.audit.reports.gather import read_summary
from aclkit.audit.reports.words import ran_out_sentences, states_words
from aclkit.model.findings import NEVER, SEVERITIES, Finding, up_to
from aclkit.model.phrases import number_of
from aclkit.questions.assertions.answer import example_words
from aclkit.questions.assertions.check import check
from aclkit.questions.assertions.model import Assertion, Outcome
from aclkit.questions.query.as_of import STATE
from aclkit.questions.read_state import Opened, read_state
from aclkit.questions.state import State
from aclkit.rules.names.question import Budget
from aclkit.warehouse.duck import connect, open_tables
from aclkit.warehouse.location import Location
from aclkit.warehouse.published import Published, deciding_run

FAILED_EXIT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """A team's policies for a nightly run.

    Attributes:
        today: accepted findings stay accepted through their last day.
        fail_on: the least severity of a finding that makes the exit code 1, or ``never``; one in
            the baseline, or accepted, does not.
        only_new: nor does one that the previous published run had.
        baseline: fingerprint → what is known; without a baseline no finding is in it.
        mutes: accepted findings, each until a day.
        assertions: what must hold.
    """

    today: date
    fail_on: str = "high"
    only_new: bool = False
    baseline: Mapping[str, BaselineEntry] = field(default_factory=dict)
    mutes: Sequence[Mute] = ()
    assertions: Sequence[Assertion] = ()

    def judge(self, findings: Iterable[Finding]) -> list[Judged]:
        """Return the state of each finding."""
        return classify(findings, self.baseline, self.mutes, self.today)

    @property
    def has_states(self) -> bool:
        """Whether there is anything by which the states of findings differ."""
        return bool(self.baseline or self.mutes)


def conclude(
    summary: NightlySummary, code: int, policies: Policies, published: Published | None
) -> NightlySummary:
    """Judge a nightly run: findings by baseline and mutes, the assertions, and the exit code.

    The highest exit code wins. The summary's findings no longer contain accepted ones; it keeps
    the state of each finding where there is a baseline or a mute.

    Args:
        summary: of the run, with all findings in force.
        code: the exit code so far.
        policies: the team's.
        published: what the run has published; None where it is on no local disk, and then no
            assertion can be checked.
    """
    judged = policies.judge(summary.findings)
    tested: list[AssertionOutcome] | None = None
    if published is not None and policies.assertions:
        with connect(published, STATE) as connection:
            run = deciding_run(published, summary.cluster_id)
            state = read_state(Opened(connection, published, run))
        tested = _test(state, policies.assertions)
    reasons = list(_reasons(judged, tested or (), policies, summary.known_before))
    if policies.has_states:
        summary = summary.with_states(judged)
    reason = "; ".join(reasons) or (_good_words(policies) if summary.findings else "")
    return replace(
        summary,
        notes=(*summary.notes, *_notes(judged, policies)),
        assertions=None if tested is None else tuple(tested),
        exit_code=max(code, FAILED_EXIT if reasons else 0),
        exit_reason="" if code > FAILED_EXIT else reason,
    )


def _reasons(
    judged: Iterable[Judged],
    tested: Iterable[AssertionOutcome],
    policies: Policies,
    before: frozenset[str] | None,
) -> Iterator[str]:
    """Yield in words why a run fails; nothing where it does not."""
    counted = failing(judged, up_to(policies.fail_on))
    late = [each for each in counted if each.is_expired]
    missing = [each for each in counted if not each.is_expired]
    if policies.only_new:
        missing = [each for each in missing if each.fingerprint not in (before or ())]
    if missing:
        kind = "new finding" if policies.only_new else "finding"
        number = number_of(len(missing), kind)
        yield f"{number} {'is' if len(missing) == 1 else 'are'} not in the baseline"
    if late:
        yield number_of(len(late), "acceptance has expired", "acceptances have expired")
    broken = sum(not each.passed for each in tested)
    if broken:
        yield number_of(broken, "policy does not hold", "policies do not hold")


def _good_words(policies: Policies) -> str:
    """Write why findings fail no run."""
    if policies.fail_on == NEVER:
        return "--fail-on is never"
    kind = "new finding" if policies.only_new else "finding"
    return f"no {kind} that reaches --fail-on is outside the baseline"


def _test(state: State, assertions: Sequence[Assertion]) -> list[AssertionOutcome]:
    """Check assertions on the published state, in the words of reports."""
    return [
        AssertionOutcome(
            name=outcome.assertion.name,
            passed=outcome.has_passed,
            state=outcome.state,
            severity=SEVERITIES[0],
            message=_message(outcome),
            example="; ".join(map(example_words, outcome.examples)),
        )
        for outcome in check(state, assertions, Budget())
    ]


def _message(outcome: Outcome) -> str:
    asked = f"{outcome.assertion.kind}, {outcome.checked:,} checked"
    detail = f": {outcome.detail}" if outcome.detail else ""
    if outcome.has_passed:
        return f"{asked}, no violation"
    return f"{asked}, {number_of(outcome.violations, 'violation')}{detail}"


def _notes(judged: Sequence[Judged], policies: Policies) -> Iterator[str]:
    """Count the states, and name mutes that have run out."""
    if policies.has_states:
        yield f"Findings compared with the baseline: {states_words(judged) or 'none'}."
    yield from ran_out_sentences(judged)


def newest_summary(
    place: Location,
    cluster_id: str,
    policies: Callable[[], Policies],
    known: NightlySummary | None = None,
) -> NightlySummary:
    """Return what the newest run that decided on a cluster has found.

    Args:
        place: the warehouse.
        cluster_id: the cluster.
        policies: returns the team's policies.
        known: returned where it is of the newest run still.
    """
    with open_tables(place.text) as (published, tables):
        run = deciding_run(published, cluster_id)
        if known is not None and known.run_id == run.run_id:
            return known
        found = read_summary(tables, run)
    return conclude(found, 0, policies(), published)
