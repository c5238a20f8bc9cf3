"""A planned change and the verdict on it → SARIF 2.1.0 that points into the team's files. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

import aclkit
from aclkit.audit.reports.as_sarif import driver_of, notes_of, result_of, rule_of, sarif
from aclkit.kafka.desired.model import Place
from aclkit.model.acl import Acl, acl_words
from aclkit.questions.gate.verdict import DENY, Planned, Verdict

Places = Mapping[tuple[str, ...], Sequence[Place]]
"""Where files hold an ACL, by its seven fields."""

_LEVELS: Final = {"deny": "error", "review": "warning", "pass": "note"}
_RULES: Final[Mapping[str, str]] = {
    "verdict": "A change of ACLs breaks what the team allows.",
    "added": "The change adds an ACL.",
    "removed": "The change removes an ACL.",
    "gap": "An ACL is deleted and created again: it is off for a time.",
    "removed-though-kept-by-another": "An ACL is removed, although another resource keeps it.",
    "removed-by-its-own-replacement": "An ACL is removed by its own replacement.",
    "undefined-order": "One resource deletes an ACL and another creates it, in any order.",
}


def gate_sarif(
    planned: Planned,
    verdict: Verdict,
    places: Places,
    notes: Sequence[str],
    clean: Callable[[str], str],
) -> str:
    """Return a run with a result for each ACL that changes, and one for each broken condition.

    Args:
        planned: the change.
        verdict: on it.
        places: where files hold the ACLs; a result without a file has a logical location only.
        notes: what a reader must know.
        clean: hides sensitive values in a text.
    """
    results = [*_broken(verdict, clean), *_changes(planned, verdict, places, clean)]
    rules = [rule_of(name, text, "See the preview.", "warning") for name, text in _RULES.items()]
    invocation = {
        "executionSuccessful": planned.is_known,
        "toolExecutionNotifications": notes_of([clean(note) for note in notes]),
    }
    return sarif("preview", driver_of(aclkit.__version__, rules), invocation, results)


def _broken(verdict: Verdict, clean: Callable[[str], str]) -> Iterator[dict[str, Any]]:
    if verdict.name == DENY:
        for reason in verdict.reasons:
            text = clean(reason)
            yield _result("verdict", "error", text, "verdict", text)


def _changes(
    planned: Planned, verdict: Verdict, places: Places, clean: Callable[[str], str]
) -> Iterator[dict[str, Any]]:
    told = {each.acl.binding: (each.effect, each.advice) for each in planned.effects}
    change = planned.preview.change
    rows: list[tuple[str, Acl, str]] = [
        *(("added", acl, "") for acl in change.added if acl.binding not in told),
        *(("removed", acl, "") for acl in change.removed if acl.binding not in told),
        *((each.effect, each.acl.acl, each.advice or "") for each in planned.effects),
    ]
    level = _LEVELS[verdict.name]
    for effect, acl, advice in rows:
        text = " ".join(filter(None, (f"{effect.capitalize()}: {acl_words(acl)}.", advice)))
        where = [*map(_physical, places.get(acl.binding, ()))]
        subject = f"{effect} {' '.join(acl.binding)}"
        found = _result(effect, level, clean(text), clean(acl_words(acl)), subject)
        yield {**found, "locations": where} if where else found


def _result(rule: str, level: str, text: str, place: str, subject: str) -> dict[str, Any]:
    digest = hashlib.sha256(subject.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return result_of((rule, list(_RULES).index(rule)), level, text, place, digest)


def _physical(place: Place) -> dict[str, Any]:
    """Return a place in a file; of a resource its address is the logical location."""
    found: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": quote(place.file)}}}
    if place.line:
        found["physicalLocation"]["region"] = {"startLine": place.line}
    if place.address:
        found["logicalLocations"] = [{"fullyQualifiedName": place.address, "kind": "resource"}]
    return found
