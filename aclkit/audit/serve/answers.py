"""What a page is asked, as texts → what stands in it: the questions' own answers, and no others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from aclkit.audit.reports.data import NightlySummary
from aclkit.audit.reports.gather import Judge, read_summary
from aclkit.audit.reports.heat import heat_tables
from aclkit.audit.reports.words import cause_words, verdict
from aclkit.audit.serve.finder import Names, find, read_names
from aclkit.audit.serve.form import (
    ACTIONS,
    FIELDS,
    PATTERNS,
    PERMISSIONS,
    fields_of,
    outcome_of,
)
from aclkit.audit.serve.graph import MOST_DRAWN, graph_json
from aclkit.audit.serve.heat import heat_json, lines_of_prefix, of_prefix, read_heat
from aclkit.audit.serve.latest import Reading
from aclkit.audit.serve.page import href, pages_of
from aclkit.audit.serve.rows import Folded, Lines, fold_what, fold_who, in_words, lines_of
from aclkit.errors import UsageError
from aclkit.kafka.acls.command import kafka_acls_command
from aclkit.model.acl import ANY_OTHER_PRINCIPAL
from aclkit.model.enums import AclOperation
from aclkit.model.findings import SEVERITIES, Finding
from aclkit.model.operation import (
    ANY_OPERATION,
    OPERATIONS_OF_TYPE,
    USE_OF_OPERATION,
    parse_operation,
)
from aclkit.model.resource import TYPE_OF_WORD, Resource, parse_resource
from aclkit.questions.query import access
from aclkit.questions.query.decisions import Decisions, decisions_of, decisions_on
from aclkit.questions.query.history import read_history
from aclkit.questions.query.hosts import few_hosts
from aclkit.questions.query.names import Unknown
from aclkit.questions.query.passage_words import passage_lines
from aclkit.questions.query.pattern_grants import (
    pattern_words,
    reach_words,
    read_pattern_grants,
    together,
)
from aclkit.questions.query.why import explain_why
from aclkit.questions.query.words import (
    history_notes,
    history_sentence,
    hosts_words,
    others_otherwise_sentence,
    otherwise_sentences,
    why_caveats,
    why_hints,
    why_notes,
    why_sentence,
)
from aclkit.rules.decide.rules import ALLOWED
from aclkit.warehouse.alive import acls_alive
from aclkit.warehouse.published import DAY

Given = Mapping[str, str]

DECISIONS: Final = {"ALLOWED": "ALLOWED", "DENIED": "DENIED", "both": None}
ROWS: Final = 100
"""So many rows stand on a page."""

MOST_CAUSES: Final = 5
_DIGITS: Final = 18


@dataclass(frozen=True, slots=True)
class Page:
    """A template's name and what stands in it; or where to go instead."""

    name: str = ""
    holds: dict[str, Any] = field(default_factory=dict)
    leads_to: str = ""


@dataclass(frozen=True, slots=True)
class Answers:
    """The pages.

    Attributes:
        judge: says the states of findings, where there is a baseline or a mute.
        max_age: of a run that is older each page says so.
    """

    judge: Judge | None = None
    max_age: timedelta = DAY

    def summary(self, reading: Reading) -> NightlySummary:
        """Return the summary of the run; mutes run out by the day."""
        key = "summary", reading.cluster_id, datetime.now(UTC).date()
        return reading.snapshot.memory.kept(
            key,
            lambda: read_summary(reading.tables, reading.run, self.judge),
            lambda summary: 10 * (len(summary.findings) + len(summary.changes)),
        )

    def home(self, reading: Reading, _: Given) -> Page:
        """Return the first page: how the run stands, and what to begin with."""
        summary, names = self.summary(reading), read_names(reading)
        kinds = Counter((found.severity, found.finding) for found in summary.findings)
        return Page("home", {
            "summary": summary,
            "verdict": verdict(summary),
            "kinds": sorted(kinds.items(), key=lambda kind: _risk(*kind[0])),
            "changes": [(each, cause_words(each, 1)) for each in summary.changes[:5]],
            "examples": _examples(names),
        })  # fmt: skip

    def search(self, reading: Reading, given: Given) -> Page:
        """Return the names that hold the words, or lead to the only one."""
        found = find(given.get("q", ""), read_names(reading))
        if found.is_one and found.resources:
            resource = str(found.resources[0])
            return Page(leads_to=href("/who-can", resource=resource, operation=found.operation))
        if found.is_one:
            return Page(leads_to=href("/what-can", principal=found.principals[0]))
        number = len(found.principals) + len(found.resources)
        return Page("search", {
            "found": found,
            "number": number,
            "principals": found.principals[:ROWS],
            "resources": found.resources[:ROWS],
        })  # fmt: skip

    def who_can(self, reading: Reading, given: Given) -> Page:
        """Return who may touch a resource, one row a principal."""
        resource, found, folded = _ask_who(reading, given)
        return Page("who_can", {
            "resource": resource,
            "operations": OPERATIONS_OF_TYPE[resource.resource_type],
            **_shown(reading, folded, given),
            "unknown": found.unknown,
            "notes": [*found.caveats(None), *_otherwise(reading, found, resource, given)],
        })  # fmt: skip

    def what_can(self, reading: Reading, given: Given) -> Page:
        """Return what a principal may touch, one row a resource."""
        found, folded = _ask_what(reading, given)
        return Page("what_can", {
            "principal": given.get("principal", ""),
            "grants": _pattern_grants(reading, found, given),
            "uses": USE_OF_OPERATION,
            "types": tuple(TYPE_OF_WORD),
            "prefix": given.get("prefix"),
            **_shown(reading, folded, given),
            "unknown": found.unknown,
            "notes": found.caveats(given.get("principal", "")),
        })  # fmt: skip

    def graph(self, reading: Reading, given: Given) -> Page:
        """Return the graph of one of these two."""
        is_what = "principal" in given
        if is_what:
            (found, folded), asked = _ask_what(reading, given), given["principal"]
        else:
            resource, found, folded = _ask_who(reading, given)
            asked = str(resource)
        key = "principal" if is_what else "resource"
        acls = acls_alive(reading.tables, reading.run, found.acl_ids)
        return Page("graph", {
            "asked": asked,
            "heading": ("What", " can touch") if is_what else ("Who can touch", ""),
            "rows_path": "/what-can" if is_what else "/who-can",
            "given": {name: given.get(name) for name in (key, *_NARROW)},
            "number": len(folded.rows),
            "most": MOST_DRAWN,
            "drawing": partial(graph_json, found, folded, acls, {key: asked}),
        })  # fmt: skip

    def heat(self, reading: Reading, _: Given) -> Page:
        """Return how much of each group of topics each principal may administer, write, read."""
        heat = read_heat(reading)
        return Page("heat", {
            "heat": heat,
            "tables": heat_tables(heat),
            "places": partial(heat_json, heat),
        })  # fmt: skip

    def why(self, reading: Reading, given: Given) -> Page:
        """Return a decision with every ACL that takes part; without an operation, all of them."""
        principal, resource = _pair(given)
        if not given.get("operation"):
            answer = access.what_can(
                *reading.where, principal,
                resource_type=resource.resource_type, resource_name=resource.resource_name,
                host=given.get("host") or None, decision=None,
            )  # fmt: skip
            return Page("pair", {
                **_access(reading, given, answer.unknown),
                "rows": answer.rows,
                "notes": [
                    *answer.caveats(principal),
                    *_otherwise(reading, answer, resource, given, [principal]),
                ],
            })  # fmt: skip
        found = explain_why(
            *reading.where, principal, given["operation"], resource,
            host=given.get("host") or None, moment=_offset(given),
        )  # fmt: skip
        least = found.least
        return Page("why", {
            **_access(reading, given, found.unknown),
            "why": found,
            "sentence": why_sentence(found),
            "elsewhere": [
                *(hosts_words(*there) for there in found.elsewhere), *otherwise_sentences(found),
            ],
            "notes": [*why_caveats(found), *why_notes(found)],
            "parts": [(part, fields_of(part.acl, "remove")) for part in (*found.acls, *found.near)],
            "hints": [*passage_lines(found), *why_hints(found)],
            "least": least,
            "command": None if least is None else kafka_acls_command(least),
            "least_fields": None if least is None else fields_of(least),
        })  # fmt: skip

    def history(self, reading: Reading, given: Given) -> Page:
        """Return since when an access is as it is, the newest first."""
        principal, resource = _pair(given)
        found = read_history(
            *reading.where, principal, given.get("operation", ""), resource,
            host=given.get("host") or None,
        )  # fmt: skip
        return Page("history", {
            **_access(reading, given, found.unknown),
            "sentence": history_sentence(found),
            "notes": list(history_notes(found)),
            "intervals": found.intervals[::-1][:ROWS],
            "more": max(0, len(found.intervals) - ROWS),
        })  # fmt: skip

    def findings(self, reading: Reading, given: Given) -> Page:
        """Return the findings that hold all words, the worst first."""
        rows = self.summary(reading).listed
        words = given.get("words", "").lower().split()[:30]
        severity, kind = given.get("severity", ""), given.get("kind", "")
        kept = [
            (found, state)
            for found, state in rows
            if severity in ("", found.severity)
            and kind in ("", found.finding)
            and _holds(found, words)
        ]  # fmt: skip
        return Page("findings", {
            "total": len(rows),
            "severities": SEVERITIES,
            "kinds": sorted({found.finding for found, _ in rows}),
            "has_states": self.judge is not None,
            "severity": severity, "kind": kind, "words": given.get("words", ""),
            **_paged(kept, given, 50),
        })  # fmt: skip

    def changes(self, reading: Reading, given: Given) -> Page:
        """Return what the run that decided last changed, the largest first."""
        summary = self.summary(reading)
        rows = [(each, cause_words(each, MOST_CAUSES)) for each in summary.changes]
        return Page("changes", {
            "number": summary.access_changes,
            "known": set(read_names(reading).principals),
            **_paged(rows, given, ROWS),
        })  # fmt: skip

    def preview(self, reading: Reading, given: Given) -> Page:
        """Return the form of an ACL, filled in as an address says."""
        return Page("preview", {**_form(given), "outcome": None})

    def outcome(self, reading: Reading, given: Given) -> Page:
        """Return what the form that was sent comes to."""
        return Page("preview", {**_form(given), "outcome": outcome_of(reading, given)})


_NARROW: Final = ("type", "prefix", "operation", "host", "decision")
"""What narrows an answer of who-can or what-can."""


def _ask_who(reading: Reading, given: Given) -> tuple[Resource, Decisions, Folded]:
    resource, decision = parse_resource(given.get("resource", "")), _decision(given)
    operation, host = given.get("operation") or ANY_OPERATION, given.get("host") or None
    found = decisions_on(reading.where, operation, resource, host=host, decision=decision)
    return resource, found, fold_who(found, is_folded=decision == ALLOWED)


def _otherwise(
    reading: Reading,
    found: Decisions,
    resource: Resource,
    given: Given,
    principals: Sequence[str] | None = None,
) -> Iterator[str]:
    """Yield whom the other reading of ACLs decides otherwise for."""
    asked = parse_operation(given.get("operation") or ANY_OPERATION, resource.resource_type)
    other = access.otherwise_of(reading.where, found, resource, frozenset(asked), principals)
    if other is not None:
        yield others_otherwise_sentence(other)


def _ask_what(reading: Reading, given: Given) -> tuple[Decisions, Folded]:
    principal, prefix = given.get("principal", ""), given.get("prefix")
    kind = given.get("type") or ("" if prefix is None else "topic")
    known = tuple(TYPE_OF_WORD) if prefix is None else ("topic",)
    if kind and kind not in known:
        raise UsageError(f"bad type {kind!r}: expected {', '.join(known)}")
    decision, host = _decision(given), given.get("host") or None

    def ask(who: str) -> Decisions:
        narrow = {"resource_type": TYPE_OF_WORD.get(kind)}
        return decisions_of(reading.where, who, narrow, host=host, decision=decision)

    found, usual = ask(principal), dict[str, Lines]()
    if decision == ALLOWED and principal != ANY_OTHER_PRINCIPAL:
        key = "everybody", reading.cluster_id, kind, host
        usual = reading.snapshot.memory.kept(key, lambda: lines_of(ask(ANY_OTHER_PRINCIPAL)))
    if prefix is not None:
        found, usual = of_prefix(found, prefix), lines_of_prefix(usual, prefix)
    return found, fold_what(found, usual)


def _pattern_grants(reading: Reading, found: Decisions, given: Given) -> list[dict[str, Any]]:
    """Return what the principal has by patterns; nothing where only a prefix is asked about."""
    if given.get("prefix") is not None:
        return []
    grants = read_pattern_grants(
        reading.tables, found, given.get("principal", ""), decision=_decision(given),
        kind=TYPE_OF_WORD.get(given.get("type", "")), is_one_host=bool(given.get("host")),
    )  # fmt: skip
    return [
        {
            "pattern": pattern_words(grant.acl),
            "operations": done,
            "hosts": grant.hosts
            if given.get("host")
            else few_hosts(grant.hosts.split(","), sorted(found.hosts)),
            "grant": grant,
            "today": reach_words(grant),
        }
        for grant, done in together(grants)
    ]


def _form(given: Given) -> dict[str, Any]:
    usual = {"action": "add", "permission": "allow", "operation": "READ", "type": "topic"}
    operations = [name for name in AclOperation.__members__ if name not in ("UNKNOWN", "ANY")]
    return {
        "form": {name: given.get(name, usual.get(name, "")) for name in FIELDS},
        "actions": ACTIONS, "permissions": PERMISSIONS, "patterns": PATTERNS,
        "types": tuple(TYPE_OF_WORD), "operations": operations,
    }  # fmt: skip


def _examples(names: Names) -> list[tuple[str, str, str]]:
    """Return a topic and a principal of the middle, for who has never asked."""
    topics = [str(r) for r in names.resources if r.resource_type == "TOPIC" and "<" not in str(r)]
    people = [name for name in names.principals if "<" not in name]
    found = [("/who-can", "resource", topics), ("/what-can", "principal", people)]
    return [(path, key, some[len(some) // 2]) for path, key, some in found if some]


def _decision(given: Given) -> str | None:
    asked = given.get("decision") or "ALLOWED"
    if asked not in DECISIONS:
        raise UsageError(f"bad decision {asked!r}: expected {', '.join(DECISIONS)}")
    return DECISIONS[asked]


def _offset(given: Given) -> int | None:
    text = given.get("at", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        raise UsageError(f"bad offset {text!r}: expected a whole number")
    return int(text)


def _shown(reading: Reading, folded: Folded, given: Given) -> dict[str, Any]:
    return {
        "folded": folded,
        "hosts": read_names(reading).hosts,
        "operation": given.get("operation", ""),
        "host": given.get("host", ""),
        "decision": given.get("decision") or "ALLOWED",
        "decisions": tuple(DECISIONS),
        "kind": given.get("type", ""),
        "in_words": in_words,
        "narrowed": {name: given.get(name) for name in _NARROW},
        **_paged(folded.rows, given, ROWS),
    }


def _paged(rows: Sequence[Any], given: Given, size: int) -> dict[str, Any]:
    text = given.get("page", "1")
    asked = int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS else 1
    shown, at, last = pages_of(rows, asked, size)
    return {"rows": shown, "page": at, "last_page": last, "count": len(rows)}


def _pair(given: Given) -> tuple[str, Resource]:
    return given.get("principal", ""), parse_resource(given.get("resource", ""))


def _access(reading: Reading, given: Given, unknown: Sequence[Unknown]) -> dict[str, Any]:
    """Return what every page about one access says of it."""
    principal, resource = _pair(given)
    return {
        "principal": principal,
        "resource": resource,
        "operations": OPERATIONS_OF_TYPE[resource.resource_type],
        "operation": given.get("operation", "").upper(),
        "host": given.get("host", ""),
        "hosts": read_names(reading).hosts,
        "at": given.get("at", ""),
        "unknown": unknown,
    }


def _risk(severity: str, kind: str) -> tuple[int, str]:
    return SEVERITIES.index(severity), kind


def _holds(found: Finding, words: Sequence[str]) -> bool:
    low = " ".join((found.message, found.subject, found.fix, found.fingerprint)).lower()
    return all(word in low for word in words)


Handler = Callable[[Answers, Reading, Given], Page]
PAGES: Final[Mapping[str, Handler]] = {
    "/": Answers.home,
    "/search": Answers.search,
    "/who-can": Answers.who_can,
    "/what-can": Answers.what_can,
    "/graph": Answers.graph,
    "/heat": Answers.heat,
    "/why": Answers.why,
    "/history": Answers.history,
    "/findings": Answers.findings,
    "/changes": Answers.changes,
    "/preview": Answers.preview,
}
"""Path → what answers it."""
