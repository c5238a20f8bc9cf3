"""What a page is asked, as texts → what stands in it: the questions' own answers, and no others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from aclkit.audit.findings.sentences import subject_columns, subject_words
from aclkit.audit.reports.data import NightlySummary, ReportedPrincipal
from aclkit.audit.reports.gather import Judge, read_summary
from aclkit.audit.reports.reach import acls_behind, gather_principals, heat_tables, principals_of
from aclkit.audit.reports.words import cause_words, verdict
from aclkit.audit.serve.accesses import graph, history, what_can, who_can, why
from aclkit.audit.serve.clusters import side_by_side
from aclkit.audit.serve.drawings import heat_json, read_heat
from aclkit.audit.serve.finder import Names, find, read_names
from aclkit.audit.serve.form import CHOICES, FIELDS, outcome_of
from aclkit.audit.serve.page import ROWS, Given, Page, href, paged
from aclkit.audit.serve.snapshot import Reading
from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation
from aclkit.model.findings import SEVERITIES, Finding, sort_findings
from aclkit.questions.arguments import Denials
from aclkit.questions.denials.answer import (
    cause_heading,
    denial_words,
    is_selected,
    proposed_fixes,
    rather_words,
    reason_words,
    summary,
)
from aclkit.questions.denials.read import has_log, read_denials
from aclkit.questions.query.lifetimes import first_seen
from aclkit.warehouse.published import DAY, unread_parts

MOST_CAUSES: Final = 5


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
        worst_first = sort_findings(summary.findings)
        kinds = Counter((found.severity, found.finding) for found in worst_first)
        return Page("home", {
            "summary": summary,
            "verdict": verdict(summary),
            "kinds": list(kinds.items()),
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

    def heat(self, reading: Reading, _: Given) -> Page:
        """Return how much of each group of topics each principal may administer, write, read."""
        heat = read_heat(reading)
        return Page("heat", {
            "heat": heat,
            "tables": heat_tables(heat),
            "places": partial(heat_json, heat),
        })  # fmt: skip

    def principals(self, reading: Reading, given: Given) -> Page:
        """Return all principals whose names contain a text, those of most access first."""
        words = given.get("words", "").lower()
        rows = [each for each in self._principals(reading) if words in each.name.lower()]
        return Page("principals", {"words": given.get("words", ""), **paged(rows, given)})

    def _principals(self, reading: Reading) -> tuple[ReportedPrincipal, ...]:
        return reading.snapshot.memory.kept(
            ("principals", reading.cluster_id, datetime.now(UTC).date()),
            lambda: gather_principals(reading.tables, reading.run, self.summary(reading).findings),
            lambda found: 10 * len(found),
        )

    def findings(self, reading: Reading, given: Given) -> Page:
        """Return the findings that contain all words, the worst first."""
        rows, acls = self.summary(reading).listed, self._acls(reading)
        words = given.get("words", "").lower().split()[:30]
        severity, kind, principal = (
            given.get(key, "") for key in ("severity", "kind", "principal")
        )
        kept = [
            (found, state)
            for found, state in rows
            if severity in ("", found.severity)
            and kind in ("", found.finding)
            and (not principal or principal in principals_of(found, acls))
            and _holds(found, words)
        ]  # fmt: skip
        page = paged(kept, given, 50)
        since = first_seen(reading.tables, reading.cluster_id, [found for found, _ in page["rows"]])
        page["rows"] = [
            (found, state, subject_columns(found, acls), since[found.fingerprint])
            for found, state in page["rows"]
        ]
        return Page("findings", {
            "total": len(rows),
            "severities": SEVERITIES,
            "kinds": sorted({found.finding for found, _ in rows}),
            "has_states": self.judge is not None,
            "severity": severity, "kind": kind, "words": given.get("words", ""),
            "principal": principal,
            "subject": lambda found: subject_words(found.subject, acls.values()),
            **page,
        })  # fmt: skip

    def _acls(self, reading: Reading) -> Mapping[str, Acl]:
        """Return the ACLs behind findings."""
        return reading.snapshot.memory.kept(
            ("acls of findings", reading.cluster_id),
            lambda: acls_behind(
                reading.tables, reading.run, (found for found, _ in self.summary(reading).listed)
            ),
            lambda acls: 10 * len(acls),
        )

    def changes(self, reading: Reading, given: Given) -> Page:
        """Return what the run that decided last changed, the largest first."""
        summary = self.summary(reading)
        rows = [(each, cause_words(each, MOST_CAUSES)) for each in summary.changes]
        return Page("changes", {
            "number": summary.access_changes,
            "known": set(read_names(reading).principals),
            **paged(rows, given),
        })  # fmt: skip

    def denials(self, reading: Reading, given: Given) -> Page:
        """Return the refused accesses that contain all words, by cause, and what to do."""
        found = reading.snapshot.memory.kept(
            ("denials", reading.cluster_id),
            lambda: read_denials(
                reading.tables, reading.run, unread_parts(reading.published, reading.run)
            ),
            lambda found: 20 * len(found),
        )
        words = given.get("words", "").lower().split()[:30]
        asked = Denials(include_listings=bool(given.get("all")))
        kept = [
            each
            for each in found
            if is_selected(each, asked)
            and all(word in denial_words(each.refused).lower() for word in words)
        ]
        return Page("denials", {
            "has_log": has_log(reading.published),
            "summary": summary(kept),
            "words": given.get("words", ""), "all": asked.include_listings,
            "cause": cause_heading, "reason": reason_words,
            "rather": rather_words, "fixes": proposed_fixes,
            "known": read_names(reading).whole,
            **paged(kept, given),
        })  # fmt: skip

    def preview(self, reading: Reading, given: Given) -> Page:
        """Return the form of an ACL, filled in as an address says."""
        return Page("preview", {**_form(given), "outcome": None})

    def outcome(self, reading: Reading, given: Given) -> Page:
        """Return what the form that was sent comes to."""
        return Page("preview", {**_form(given), "outcome": outcome_of(reading, given)})


def _form(given: Given) -> dict[str, Any]:
    usual = {"action": "add", "permission": "allow", "operation": "READ", "type": "topic"}
    operations = [name for name in AclOperation.__members__ if name not in ("UNKNOWN", "ANY")]
    return {
        "form": {name: given.get(name, usual.get(name, "")) for name in FIELDS},
        "choices": CHOICES, "operations": operations,
    }  # fmt: skip


def _examples(names: Names) -> list[tuple[str, str, str]]:
    """Return a topic and a principal of the middle, for who has never asked."""
    topics = [str(r) for r in names.resources if r.resource_type == "TOPIC" and "<" not in str(r)]
    people = [name for name in names.principals if "<" not in name]
    found = [("/who-can", "resource", topics), ("/what-can", "principal", people)]
    return [(path, key, some[len(some) // 2]) for path, key, some in found if some]


def _holds(found: Finding, words: Sequence[str]) -> bool:
    low = " ".join(
        (found.message, found.subject, found.fix, found.fingerprint, *found.evidence)
    ).lower()
    return all(word in low for word in words)


Handler = Callable[[Answers, Reading, Given], Page]


def _plain(make: Callable[[Reading, Given], Page]) -> Handler:
    """Take a page that needs nothing but the run."""
    return lambda _, reading, given: make(reading, given)


PAGES: Final[Mapping[str, Handler]] = {
    "/": Answers.home,
    "/search": Answers.search,
    "/who-can": _plain(who_can),
    "/what-can": _plain(what_can),
    "/graph": _plain(graph),
    "/principals": Answers.principals,
    "/heat": Answers.heat,
    "/why": _plain(why),
    "/history": _plain(history),
    "/findings": Answers.findings,
    "/changes": Answers.changes,
    "/denials": Answers.denials,
    "/preview": Answers.preview,
    "/compare": _plain(side_by_side),
}
"""Path → what answers it."""
