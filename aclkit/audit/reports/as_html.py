"""A report → one HTML file that needs no network and runs nothing but its own script.

Names come from strangers. The template escapes them (jinja2's autoescape); the script gets them as
JSON in a block that is no script, and sets them as text. The page's own policy (CSP, by the
hashes of its style and script) forbids everything else.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from aclkit.audit.findings.baseline import Judged
from aclkit.audit.reports.data import AliveAcl, RunReport
from aclkit.audit.reports.embed import embed
from aclkit.audit.reports.states import (
    count_severities,
    fixed,
    muted,
    state_by_fingerprint,
    state_words,
)
from aclkit.audit.reports.trend_chart import bars
from aclkit.audit.reports.words import (
    cause_words,
    missing_answers,
    needs_a_person,
    thousands,
    utc,
    verdict,
)
from aclkit.model.findings import EVERY_NAME, SEVERITIES, Finding, sort_findings
from aclkit.model.visible import visible
from aclkit.questions.query.words import acl_words

MOST_FINDINGS: Final = 250
"""So many findings of a kind and severity are shown; the rest is counted."""

STATES_SHOWN: Final = ("new", "known", "muted")
"""The states that findings of the page may have; what is fixed is a list of its own."""

MOST_CHANGES: Final = 250
MOST_CAUSES: Final = 5

_ESCAPES: Final = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}
_LEVELS: Final = (0.0, 0.1, 0.3, 0.6, 0.999)
"""A cell of the heat map is of the level of the last share that it exceeds."""


def render_html(report: RunReport) -> str:
    """Return the page."""
    style, script = _part("report.css"), _part("report.js")
    template = _environment().from_string(_part("report.html.j2"))
    data = None if report.explorer is None else embed(report.explorer, report.heat)
    summary = report.summary
    return template.render(
        policy=_policy(style, script),
        style=_own(style),
        script=_own(script),
        data=_own(script_json(data)),
        report=report,
        summary=summary,
        verdict=verdict(summary),
        is_calm=not needs_a_person(summary),
        missing=missing_answers(summary),
        found=count_severities(summary.findings),
        severities=list(_severities(report)),
        muted=list(_muted(report)),
        more_muted=max(0, len(muted(summary)) - MOST_FINDINGS),
        fixed=fixed(summary)[:MOST_FINDINGS],
        more_fixed=max(0, len(fixed(summary)) - MOST_FINDINGS),
        states=[] if summary.judged is None else STATES_SHOWN,
        charts=bars(report.trend),
        heat=list(_heat_rows(report)),
        changes=[
            (change, cause_words(change, MOST_CAUSES)) for change in summary.changes[:MOST_CHANGES]
        ],
        more_changes=summary.access_changes - len(summary.changes[:MOST_CHANGES]),
    )


def _own(text: str) -> Markup:
    """Return a text as markup: a file of this package, or JSON for a script block."""
    return Markup(text)  # noqa: S704 -- nothing else comes here


def script_json(data: object) -> str:
    """Return JSON for a script block: no letter in it can end the block or a line of script."""
    return json.dumps(data, separators=(",", ":")).translate(_ESCAPES)


@dataclass(frozen=True, slots=True)
class _Shown:
    """A finding, its state, its ACLs, and its evidence beyond them."""

    finding: Finding
    state: Judged | None
    acls: tuple[AliveAcl, ...]
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Kind:
    """The findings of one kind and severity that are shown, and how many more there are."""

    name: str
    number: int
    shown: tuple[_Shown, ...]

    @property
    def more(self) -> int:
        return self.number - len(self.shown)


def _severities(report: RunReport) -> Iterator[tuple[str, int, list[_Kind]]]:
    kinds: defaultdict[str, defaultdict[str, list[Finding]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for finding in sort_findings(report.summary.findings):
        kinds[finding.severity][finding.finding].append(finding)
    states = state_by_fingerprint(report.summary)
    for severity in SEVERITIES:
        found = [
            _Kind(name, len(rows), tuple(_show(r, states, report) for r in rows[:MOST_FINDINGS]))
            for name, rows in kinds[severity].items()
        ]
        if found:
            yield severity, sum(kind.number for kind in found), found


def _muted(report: RunReport) -> Iterator[_Shown]:
    """Yield the findings that somebody answers for."""
    items = muted(report.summary)[:MOST_FINDINGS]
    states = {item.fingerprint: item for item in items}
    return (_show(item.finding, states, report) for item in items if item.finding is not None)


def _show(finding: Finding, states: Mapping[str, Judged], report: RunReport) -> _Shown:
    """Return a finding; ACLs that the report knows go out of its evidence: it says more of them."""
    known = [report.acls[acl_id] for acl_id in finding.acl_ids if acl_id in report.acls]
    said = tuple(f"ACL {alive.acl.acl_id}:" for alive in known)
    evidence = tuple(line for line in finding.evidence if not said or not line.startswith(said))
    return _Shown(finding, states.get(finding.fingerprint), tuple(known), evidence)


def _heat_rows(report: RunReport) -> Iterator[tuple[str, list[tuple[int, int, int, str]]]]:
    """Yield each principal with (level, allowed, possible, percent) of every prefix."""
    heat = report.heat
    if heat is None:
        return
    for principal, row in zip(heat.principals, heat.allowed, strict=True):
        cells = zip(row, heat.possible, strict=True)
        yield principal, [(_level(n, of), n, of, _percent(n, of)) for n, of in cells]


def _level(allowed: int, possible: int) -> int:
    share = allowed / possible if possible else 0.0
    return sum(share > least for least in _LEVELS)


def _percent(allowed: int, possible: int) -> str:
    if not allowed or not possible:
        return "·"
    return f"{max(1, allowed * 100 // possible)}"


def _policy(style: str, script: str) -> str:
    """Allow the page's own style and script by their hashes, and nothing else."""
    return "; ".join((
        "default-src 'none'", f"style-src {_digest(style)}", f"script-src {_digest(script)}",
        "img-src data:", "base-uri 'none'", "form-action 'none'",
        "require-trusted-types-for 'script'", "trusted-types 'none'",
    ))  # fmt: skip


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters.update(
        thousands=thousands, utc=utc, acl=acl_words, scope=_scope, state=state_words
    )
    return environment


def _finalize(value: object) -> object:
    """Show what would not be seen; what is markup already is this package's own."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _scope(holds_for: str) -> str:
    return "for every possible name" if holds_for == EVERY_NAME else "for the inventory"


def _part(name: str) -> str:
    return files("aclkit.audit.reports").joinpath("templates", name).read_text(encoding="utf-8")
