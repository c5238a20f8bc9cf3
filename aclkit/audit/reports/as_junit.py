"""A report → JUnit XML, the form in which build servers take tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from aclkit.audit.findings.baseline import Judged, is_alarming_finding
from aclkit.audit.reports.data import AssertionOutcome, RunReport
from aclkit.audit.reports.words import iso, state_words
from aclkit.model.findings import Finding, up_to
from aclkit.model.groups import grouped
from aclkit.model.visible import visible

_Stated = tuple[Finding, Judged | None]

MOST_LINES: Final = 100
"""So many findings of a kind are listed in its test case; the rest is counted."""


def render_junit(report: RunReport, fail_on: str = "high") -> str:
    """Return a test case per kind of finding, and one per assertion.

    A kind fails if a finding of it is at least as severe as ``fail_on`` (``never``: none does)
    and not known from a baseline, or if its mute has run out; its other findings are its output. A
    kind that the run looked for and did not find is a case that passes. Muted findings are a case
    of their own for each kind, which is skipped.
    """
    summary = report.summary
    severe = up_to(fail_on)
    by_kind: dict[str, list[_Stated]] = {kind: [] for kind in report.kinds}
    for finding, state in summary.listed:
        if state is None or not state.is_muted:
            by_kind.setdefault(finding.finding, []).append((finding, state))
    found = [_kind(kind, by_kind[kind], severe) for kind in sorted(by_kind)]
    found += _skipped(summary.muted)
    tested = [_assertion(outcome) for outcome in summary.assertions or ()]
    suites = [("findings", found), *([("assertions", tested)] if tested else ())]
    failed = sum("<failure " in case for _, cases in suites for case in cases)
    total = sum(len(cases) for _, cases in suites)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="aclkit" tests="{total}" failures="{failed}" errors="0" '
        f'time="{summary.seconds:.3f}">',
        *(line for name, cases in suites for line in _suite(report, name, cases)),
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _suite(report: RunReport, name: str, cases: list[str]) -> Iterable[str]:
    failed = sum("<failure " in case for case in cases)
    skipped = sum("<skipped " in case for case in cases)
    started = iso(report.summary.started_at).removesuffix("Z")
    label = _attribute(f"{report.summary.cluster_id} {name}")
    yield (
        f'  <testsuite name={label} tests="{len(cases)}" failures="{failed}" errors="0" '
        f'skipped="{skipped}" time="0" timestamp="{started}">'
    )
    yield from cases
    yield "  </testsuite>"


def _kind(kind: str, findings: list[_Stated], severe: tuple[str, ...]) -> str:
    failing = [one for one in findings if is_alarming_finding(one[0], one[1], severe)]
    ordered = sorted(findings, key=lambda one: not is_alarming_finding(one[0], one[1], severe))
    text = _text(_lines(ordered))
    if not failing:
        return _case("finding", kind, f"<system-out>{text}</system-out>" if findings else "")
    message = _attribute(f"{len(failing):,} findings, the worst is {failing[0][0].severity}")
    failure = f"<failure message={message} type={_attribute(kind)}>{text}</failure>"
    return _case("finding", kind, failure)


def _skipped(muted: Iterable[_Stated]) -> list[str]:
    """Return a skipped case for each kind of which findings are muted."""
    kinds = grouped((found.finding, (found, state)) for found, state in muted)
    return [
        _case(
            "muted",
            kind,
            f"<skipped message={_attribute(f'{len(kinds[kind]):,} findings are muted')}>"
            f"{_text(_lines(kinds[kind]))}</skipped>",
        )
        for kind in sorted(kinds)
    ]


def _lines(findings: Sequence[_Stated]) -> str:
    """List findings, each with its state, those beyond the most counted."""
    lines = [
        f"{f.severity}{f' ({state_words(state)})' if state else ''}: {f.message} Fix: {f.fix}"
        for f, state in findings[:MOST_LINES]
    ]
    more = len(findings) - MOST_LINES
    return "\n".join([*lines, *([f"… and {more:,} more"] if more > 0 else ())])


def _assertion(outcome: AssertionOutcome) -> str:
    if outcome.passed:
        return _case("assertion", outcome.name, "")
    body = f"{outcome.message}\n{outcome.example}".rstrip()
    message = _attribute(outcome.message)
    kind = "assertion-unknown" if outcome.is_unknown else "assertion"
    failure = f'<failure message={message} type="{kind}">{_text(body)}</failure>'
    return _case("assertion", outcome.name, failure)


def _case(kind: str, name: str, body: str) -> str:
    start = f'    <testcase classname="aclkit.{kind}" name={_attribute(name)} time="0"'
    return f"{start}>{body}</testcase>" if body else f"{start}/>"


def _attribute(text: str) -> str:
    """Quote a text; XML has no form for most control characters, so they are shown."""
    return quoteattr(visible(text))


def _text(text: str) -> str:
    return escape("\n".join(map(visible, text.split("\n"))))
