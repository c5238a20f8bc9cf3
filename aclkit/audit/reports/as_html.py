"""A report → one HTML file that needs no network and runs nothing but its own script.

Names come from strangers. The template escapes them (jinja2's autoescape); the script gets them as
JSON in a block that is no script, and sets them as text. The page's own policy (CSP, by the
hashes of its style and script) forbids everything else.

What the page's script reads of the explorer says names once, and numbers packed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, TypeVar
from urllib.parse import quote

from jinja2 import FunctionLoader
from markupsafe import Markup

from aclkit.audit.findings.baseline import Judged
from aclkit.audit.findings.sentences import SubjectColumns, subject_columns, subject_words
from aclkit.audit.reports.assets import LOOK, PIECES, digest, environment, part, script, style
from aclkit.audit.reports.data import (
    AliveAcl,
    Explorer,
    HeatMap,
    NumberedRuling,
    RunReport,
    TrendPoint,
)
from aclkit.audit.reports.reach import heat_tables
from aclkit.audit.reports.words import (
    cause_words,
    count_severities,
    state_words,
    thousands,
    utc,
    verdict,
)
from aclkit.model.acl import ANY_OTHER
from aclkit.model.facts import in_utc
from aclkit.model.findings import EVERY_NAME, SEVERITIES, Finding
from aclkit.model.operation import USE_OF_OPERATION, USES
from aclkit.model.resource import WORD_OF_TYPE
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


_Name = TypeVar("_Name")
_DIGITS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_BITS: Final = 5
_MORE: Final = 1 << _BITS
"""A digit of packed numbers holds five bits, the lowest first, and whether more follow."""
_BEGINNING: Final = datetime(1, 1, 1, tzinfo=UTC)


def embed(explorer: Explorer, heat: HeatMap | None = None) -> dict[str, Any]:
    """Return names as lists, and as packed numbers whatever is meant many times.

    Rulesets are numbered anew, those of most pairs first: small numbers are short. A list within
    packed numbers is its length and then its members. A ruling is operation, host (0 is any
    other), ACL (0 is none), and twice the rule plus one where it is ALLOWED; hosts that fare as
    any other does are left out. The names of the heat maps' rows and columns are there as they
    are: on the page two may look alike.
    """
    types = sorted({kind for kind, _ in explorer.resources})
    type_of = numbered(types)
    operations = sorted({name for kind in types for name in explorer.operations[kind]})
    operation_of = numbered(operations)
    used = Counter(ruleset for _, _, ruleset in explorer.pairs)
    order = sorted(range(len(explorer.rulings)), key=lambda old: (-used[old], old))
    new = numbered(order)
    texts: dict[str, int] = {}
    return {
        "other": _number_in(explorer.principals, f"User:{ANY_OTHER}"),
        "otherTopic": _number_in(explorer.resources, "TOPIC", ANY_OTHER),
        "principals": [[name, kind, int(is_super)] for name, kind, is_super in explorer.principals],
        "hosts": list(explorer.hosts),
        "types": [WORD_OF_TYPE[kind] for kind in types],
        "resources": [[type_of[kind], name] for kind, name in explorer.resources],
        "operations": operations,
        "uses": [USE_OF_OPERATION[name] for name in operations],
        "known": [[operation_of[name] for name in explorer.operations[kind]] for kind in types],
        "aclIds": [alive.acl.acl_id for alive in explorer.acls],
        "acls": pack(n for alive in explorer.acls for n in _acl(alive, texts)),
        "texts": list(texts),
        "members": pack(n for old in order for n in _counted(explorer.rulesets[old])),
        "rulings": pack(n for old in order for n in _rulings(explorer.rulings[old], operation_of)),
        "rules": list(explorer.rules),
        "super": new.get(explorer.super_ruleset, -1),
        "classes": [pack(new.get(old, -1) + 1 for old in row) for row in explorer.classes],
        "pairs": pack(_pairs(explorer, new)),
        "heatPrincipals": list(heat.principals) if heat else [],
        "heatPrefixes": [prefix for prefix, _ in heat.prefixes] if heat else [],
    }


def pack(numbers: Iterable[int]) -> str:
    """Write numbers from zero up as letters, digits, ``-`` and ``_``.

    >>> pack([0, 31, 32])
    'AfgB'
    """
    return "".join(map(_packed, numbers))


def _packed(number: int) -> str:
    digits = ""
    while number >= _MORE:
        digits += _DIGITS[_MORE + number % _MORE]
        number >>= _BITS
    return digits + _DIGITS[number]


def _counted(numbers: Sequence[int]) -> Iterator[int]:
    yield len(numbers)
    yield from numbers


def _rulings(rulings: Sequence[NumberedRuling], operation_of: Mapping[str, int]) -> list[int]:
    """Return how many rulings there are, and each; those on operations of other types are not."""
    rest = {operation: tuple(said) for operation, host, *said in rulings if host < 0}
    kept = [
        (operation_of[operation], host + 1, acl + 1, rule * 2 + is_allowed)
        for operation, host, is_allowed, rule, acl in rulings
        if operation in operation_of
        and (host < 0 or (is_allowed, rule, acl) != rest.get(operation))
    ]
    return [len(kept), *(number for ruling in kept for number in ruling)]


def _pairs(explorer: Explorer, new: Mapping[int, int]) -> Iterator[int]:
    """Yield each principal's pairs as a list: twice the ruleset, plus one where the skip follows.

    A skip is the number of resources between a pair and the one before, where there are any.
    """
    own = {p: list(rows) for p, rows in groupby(sorted(explorer.pairs), key=itemgetter(0))}
    for place in range(len(explorer.principals)):
        numbers: list[int] = []
        after = 0
        for _, resource, ruleset in own.get(place, []):
            skip = resource - after
            numbers += (new[ruleset] * 2 + 1, skip) if skip else (new[ruleset] * 2,)
            after = resource + 1
        yield from _counted(numbers)


def _acl(alive: AliveAcl, texts: dict[str, int]) -> list[int]:
    """Return an ACL's fields by place in ``texts``, its offset + 1, and 0 or its time's second."""
    fields = [texts.setdefault(text, len(texts)) for text in alive.acl.binding]
    at = alive.added_at
    second = int((in_utc(at) - _BEGINNING).total_seconds()) + 1 if at else 0
    return [*fields, alive.added_offset + 1, second]


def _number_in(rows: Sequence[tuple[Any, ...]], *first: str) -> int:
    """Return the place of the row that begins so; -1 without one."""
    return next((place for place, row in enumerate(rows) if row[: len(first)] == first), -1)


def numbered(names: Iterable[_Name]) -> dict[_Name, int]:
    """Return name → its place."""
    return {name: place for place, name in enumerate(names)}
