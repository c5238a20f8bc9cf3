"""A report → one HTML file that needs no network and runs nothing but its own script.

Names come from strangers. The template escapes them (jinja2's autoescape); the script gets them as
JSON in a block that is no script, and sets them as text. The page's own policy (CSP, by the
hashes of its style and script) forbids everything else.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote

from jinja2 import FunctionLoader
from markupsafe import Markup

from aclkit.audit.findings.baseline import Judged
from aclkit.audit.findings.sentences import SubjectColumns, subject_columns, subject_words
from aclkit.audit.reports.assets import LOOK, PIECES, digest, environment, part, script, style
from aclkit.audit.reports.data import AliveAcl, RunReport, TrendPoint
from aclkit.audit.reports.embed import embed
from aclkit.audit.reports.reach import heat_tables
from aclkit.audit.reports.words import (
    cause_words,
    count_severities,
    state_words,
    thousands,
    utc,
    verdict,
)
from aclkit.model.findings import EVERY_NAME, SEVERITIES, Finding
from aclkit.model.operation import USES
from aclkit.warehouse.published import READ_AGAIN

WIDTH: Final = 320
HEIGHT: Final = 80
_WIDEST: Final = 28.0
_GAP: Final = 0.2


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle, of which style, and what it says."""

    x: float
    y: float
    width: float
    height: float
    style: str
    says: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars under a title; ``says`` is the same in words."""

    title: str
    says: str
    bars: tuple[Bar, ...]
    width: int = WIDTH
    height: int = HEIGHT


_Parts = Callable[[TrendPoint], Iterable[tuple[str, int]]]
_SHOWN: Final[tuple[tuple[str, _Parts], ...]] = (
    ("Findings", lambda point: ((name, point.findings.get(name, 0)) for name in SEVERITIES)),
    ("ACLs", lambda point: (("acls", point.acls),)),
    ("Access gained and lost", lambda point: (("gained", point.gained), ("lost", point.lost))),
)


def bars(points: Sequence[TrendPoint]) -> list[Chart]:
    """Draw what changed over two runs or more: findings, ACLs, access gained and lost."""
    return [_chart(title, points, parts) for title, parts in _SHOWN] if len(points) > 1 else []


def _chart(title: str, points: Sequence[TrendPoint], parts: _Parts) -> Chart:
    totals = [sum(value for _, value in parts(point)) for point in points]
    highest = max(*totals, 1)
    slot = min(_WIDEST, WIDTH / len(points))
    drawn: list[Bar] = []
    for place, point in enumerate(points):
        floor = float(HEIGHT)
        for kind, value in parts(point):
            tall = value / highest * HEIGHT
            floor -= tall
            says = f"run {point.run_number}, {utc(point.started_at)}: {thousands(value)} {kind}"
            left, wide = round(place * slot, 1), round(slot * (1 - _GAP), 1)
            drawn.append(Bar(left, round(floor, 1), wide, round(tall, 1), kind, says))
    first, last = totals[0], totals[-1]
    says = f"{title}: {thousands(last)} in the newest run, {thousands(first)} in the first shown"
    return Chart(title, says, tuple(bar for bar in drawn if bar.height))


MOST_FINDINGS: Final = 250
"""So many findings of a kind and severity are shown; the rest is counted."""

STATES_SHOWN: Final = ("new", "known", "muted")
"""The states that findings of the page may have; what is fixed is a list of its own."""

MOST_PRINCIPALS: Final = 250
MOST_CHANGES: Final = 250
MOST_CAUSES: Final = 5

_ESCAPES: Final = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}


def render_html(report: RunReport) -> str:
    """Return the page."""
    looks = style(LOOK, "report.css")
    runs = script(*PIECES, "decisions.js", "question.js", "rows.js", "answer.js", "report.js")
    templates = environment(FunctionLoader(part), scope=_scope, state=state_words, place=_place)
    data = None if report.explorer is None else embed(report.explorer, report.heat)
    summary = report.summary
    return templates.get_template("report.html.j2").render(
        policy=_policy(looks, runs),
        style=own_markup(looks),
        script=own_markup(runs),
        data=script_json(data),
        report=report,
        read_again=READ_AGAIN,
        summary=summary,
        verdict=verdict(summary),
        uses=USES,
        severities=SEVERITIES,
        found=count_severities(summary.findings),
        **_findings(report),
        charts=bars(report.trend),
        principals=report.principals[:MOST_PRINCIPALS],
        principal_link=None if report.explorer is None else _principal_link,
        heat=heat_tables(report.heat),
        changes=[
            (change, cause_words(change, MOST_CAUSES)) for change in summary.changes[:MOST_CHANGES]
        ],
        more_changes=summary.access_changes - len(summary.changes[:MOST_CHANGES]),
    )


def own_markup(text: str) -> Markup:
    """Return a text as markup: a file of this package, or JSON for a script block."""
    return Markup(text)  # noqa: S704 -- nothing else comes here


def script_json(data: object) -> Markup:
    """Return JSON for a script block: no letter in it can end the block or a line of script."""
    return own_markup(json.dumps(data, separators=(",", ":")).translate(_ESCAPES))


@dataclass(frozen=True, slots=True)
class _Shown:
    """A finding, its state, whom and what it is about, its ACLs, and its evidence beyond them."""

    finding: Finding
    state: Judged | None
    subject: str
    about: SubjectColumns
    since: datetime | None
    acls: tuple[AliveAcl, ...]
    evidence: tuple[str, ...]


def _findings(report: RunReport) -> dict[str, Any]:
    """Return what the page shows of findings, by risk; those that somebody answers for last."""
    summary = report.summary
    rows = sorted(summary.listed, key=lambda row: bool(row[1] and row[1].is_muted))
    numbers = Counter((found.severity, found.finding) for found, _ in rows)
    kept: Counter[tuple[str, str]] = Counter()
    shown: list[_Shown] = []
    for found, state in rows:
        kind = (found.severity, found.finding)
        kept[kind] += 1
        if kept[kind] <= MOST_FINDINGS:
            shown.append(_show(found, state, report))
    kinds = sorted(numbers.items(), key=lambda item: (SEVERITIES.index(item[0][0]), item[0][1]))
    return {
        "shown": shown,
        "total": len(rows),
        "kinds": [(*kind, number) for kind, number in kinds],
        "cut": [(*kind, n - MOST_FINDINGS) for kind, n in kinds if n > MOST_FINDINGS],
        "fixed": summary.fixed[:MOST_FINDINGS],
        "more_fixed": max(0, len(summary.fixed) - MOST_FINDINGS),
        "states": [] if summary.judged is None else STATES_SHOWN,
    }


def _show(finding: Finding, state: Judged | None, report: RunReport) -> _Shown:
    """Return a finding; ACLs that the report knows go out of its evidence: it says more of them."""
    known = report.acls_of(finding)
    said = tuple(f"ACL {alive.acl.acl_id}:" for alive in known)
    evidence = tuple(line for line in finding.evidence if not said or not line.startswith(said))
    acls = {alive.acl.acl_id: alive.acl for alive in known}
    return _Shown(
        finding=finding,
        state=state,
        subject=subject_words(finding.subject, acls.values()),
        about=subject_columns(finding, acls),
        since=report.since.get(finding.fingerprint),
        acls=tuple(known),
        evidence=evidence,
    )


def _policy(looks: str, runs: str) -> str:
    """Allow the page's own style and script by their hashes, and nothing else."""
    return "; ".join((
        "default-src 'none'", f"style-src {digest(looks)}", f"script-src {digest(runs)}",
        "img-src data:", "base-uri 'none'", "form-action 'none'",
        "require-trusted-types-for 'script'", "trusted-types 'none'",
    ))  # fmt: skip


def _scope(holds_for: str) -> str:
    return "for every possible name" if holds_for == EVERY_NAME else "for the known names"


def _principal_link(path: str, principal: str) -> str | None:
    """Return where a principal's access stands in the page; other pages it has not."""
    return f"#principal={_place(principal)}" if path == "/what-can" else None


def _place(name: str) -> str:
    """Return a name as a part of the page's own addresses; see ``escapePart`` of page.js."""
    return "".join(
        f"%u{ord(letter):x}" if "\ud800" <= letter <= "\udfff" else quote(letter, safe="")
        for letter in name
    )
