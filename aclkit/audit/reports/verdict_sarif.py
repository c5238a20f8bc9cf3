"""A verdict and what it is about → SARIF 2.1.0, for code scanners. Pure.

Of files each ACL that changes is a result that points into them; of two states each counterexample,
with the resource as its logical location; of policies each that is not proven. What is unknown is a
result too, for a gate counts it as a failure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from typing import Any, Final
from urllib.parse import quote

import aclkit
from aclkit.audit.reports.as_sarif import driver_of, notes_of, result_of, rule_of, sarif
from aclkit.kafka.desired.model import Place
from aclkit.model.acl import Acl, acl_words
from aclkit.questions.assertions.answer import example_words, outcome_words, verdict_sentence
from aclkit.questions.assertions.model import FAILED, UNKNOWN, Outcome
from aclkit.questions.assertions.model import verdict_of as verdict_of_policies
from aclkit.questions.difference.answer import left_out_words
from aclkit.questions.difference.as_json import claim_of, outcome_of
from aclkit.questions.difference.compared import Compared
from aclkit.questions.difference.verdict import FAIL, NEEDS_APPROVAL, PASSES, Verdict
from aclkit.questions.difference.words import counterexample_words
from aclkit.questions.state import State
from aclkit.questions.state_words import side_facts
from aclkit.rules.decide.confirm import Counterexample
from aclkit.rules.names.change_lines import change_lines, line_words

Places = Mapping[tuple[str, ...], Sequence[Place]]
"""Where files hold an ACL, by its seven fields."""

_LEVELS: Final = {FAIL: "error", NEEDS_APPROVAL: "warning", PASSES: "note"}
_GATE_RULES: Final[Mapping[str, str]] = {
    "verdict": "A change of ACLs breaks what the team allows.",
    "added": "The change adds an ACL.",
    "removed": "The change removes an ACL.",
    "gap": "An ACL is deleted and created again: it is off for a time.",
    "removed-though-kept-by-another": "An ACL is removed, although another resource keeps it.",
    "removed-by-its-own-replacement": "An ACL is removed by its own replacement.",
    "undefined-order": "One resource deletes an ACL and another creates it, in any order.",
}


def gate_sarif(
    compared: Compared,
    verdict: Verdict,
    places: Places,
    notes: Sequence[str],
    clean: Callable[[str], str],
) -> str:
    """Return a run with a result for each ACL that changes, and one for each broken condition.

    Args:
        compared: the change.
        verdict: on it.
        places: where files hold the ACLs; a result without a file has a logical location only.
        notes: what a reader must know.
        clean: hides sensitive values in a text.
    """
    results = [*_broken(verdict, clean), *_changes(compared, verdict, places, clean)]
    rules = [
        rule_of(name, text, "See the preview.", "warning") for name, text in _GATE_RULES.items()
    ]
    invocation = {
        "executionSuccessful": compared.is_all_known,
        "toolExecutionNotifications": notes_of([clean(note) for note in notes]),
    }
    return sarif("preview", driver_of(aclkit.__version__, rules), invocation, results)


def _broken(verdict: Verdict, clean: Callable[[str], str]) -> Iterator[dict[str, Any]]:
    if verdict.name == FAIL:
        for reason in verdict.reasons:
            text = clean(reason)
            yield _gate_result("verdict", "error", text, "verdict", text)


def _changes(
    compared: Compared, verdict: Verdict, places: Places, clean: Callable[[str], str]
) -> Iterator[dict[str, Any]]:
    told = {each.acl.binding: (each.effect, each.advice) for each in compared.applied.effects}
    change = compared.change
    rows: list[tuple[str, Acl, str]] = [
        *(("added", acl, "") for acl in change.added if acl.binding not in told),
        *(("removed", acl, "") for acl in change.removed if acl.binding not in told),
        *((each.effect, each.acl.acl, each.advice or "") for each in compared.applied.effects),
    ]
    level = _LEVELS[verdict.name]
    for effect, acl, advice in rows:
        text = " ".join(filter(None, (f"{effect.capitalize()}: {acl_words(acl)}.", advice)))
        where = [*map(_physical, places.get(acl.binding, ()))]
        subject = f"{effect} {' '.join(acl.binding)}"
        found = _gate_result(effect, level, clean(text), clean(acl_words(acl)), subject)
        yield {**found, "locations": where} if where else found


def _gate_result(rule: str, level: str, text: str, place: str, subject: str) -> dict[str, Any]:
    digest = hashlib.sha256(subject.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return result_of((rule, list(_GATE_RULES).index(rule)), level, text, place, digest)


def _physical(place: Place) -> dict[str, Any]:
    """Return a place in a file; of a resource its address is the logical location."""
    found: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": quote(place.file)}}}
    if place.line:
        found["physicalLocation"]["region"] = {"startLine": place.line}
    if place.address:
        found["logicalLocations"] = [{"fullyQualifiedName": place.address, "kind": "resource"}]
    return found


_NEVER: Final = "never"
_CLAIMS: Final = {
    "same": "A and B allow the same",
    "no-more": "B allows nothing that A denies",
    "no-less": "B allows all that A allows",
}
_CLAIM_LEVELS: Final = {FAILED: "error", UNKNOWN: "warning"}


def difference_sarif(compared: Compared, verdict: Verdict, notes: Sequence[str]) -> str:
    """Return a run of one rule: that two states allow the same, or one no more than the other.

    Args:
        compared: the difference.
        verdict: on it: what does not fail is a warning.
        notes: what a reader must know.
    """
    claim, outcome = claim_of(compared), outcome_of(compared)
    level = "error" if verdict.name == FAIL else "warning"
    results = [_counterexample(claim, each, level) for each in compared.shown]
    if outcome == UNKNOWN:
        results.append(_result_of(claim, "warning", verdict.sentence, "every name", ()))
    elif verdict.name == FAIL and not results:
        reasons = ((each, (each,)) for each in verdict.reasons)
        results += (_result_of(claim, level, each, "every name", key) for each, key in reasons)
    facts = map(": ".join, side_facts(compared.sides))
    said = [verdict.sentence, *facts, *left_out_words(compared), *notes]
    return _claim_sarif(claim, _CLAIMS[claim], outcome, results, said)


def _counterexample(claim: str, example: Counterexample, level: str) -> dict[str, Any]:
    lines = map(line_words, change_lines([example.opening]))
    text = [
        f"{example.kind.capitalize()}: {'; '.join(lines)}",
        f"For example, {counterexample_words(example)}",
    ]
    place, key = str(example.request.resource), (example.kind, *astuple(example.request))
    return _result_of(claim, level, ". ".join(text), place, key)


def policies_sarif(found: Sequence[Outcome], state: State, notes: Sequence[str]) -> str:
    """Return a run of one rule: that every policy holds."""
    results = [_policy_result(each) for each in found if not each.has_passed]
    facts = map(": ".join, side_facts([state]))
    said = [verdict_sentence(found), *facts, *notes]
    return _claim_sarif(
        _NEVER, "Each assertion of the file holds", verdict_of_policies(found), results, said
    )


def _claim_sarif(
    claim: str, meaning: str, outcome: str, results: Sequence[dict[str, Any]], said: Iterable[str]
) -> str:
    rule = rule_of(
        _rule_name(claim),
        f"{meaning}, for every name that a broker could be asked about.",
        "Change the ACLs so that it is so; where it is unknown, give the proof more states.",
        _CLAIM_LEVELS[FAILED],
    )
    invocation = {
        "executionSuccessful": outcome != UNKNOWN,
        "toolExecutionNotifications": notes_of(list(said)),
    }
    driver = driver_of(aclkit.__version__, [rule])
    return sarif(_rule_name(claim), driver, invocation, results)


def _policy_result(found: Outcome) -> dict[str, Any]:
    name, besides = found.assertion.name, outcome_words(found)
    text = [
        f"{found.verdict}: {found.assertion.kind} {name}",
        *(f"For example, {example_words(each)}" for each in found.examples),
        *([besides] if besides else ()),
    ]
    return _result_of(_NEVER, _CLAIM_LEVELS[found.verdict], ". ".join(text), name, (name,))


def _result_of(claim: str, level: str, text: str, place: str, key: Sequence[str]) -> dict[str, Any]:
    said = "\x00".join((claim, *key)).encode("utf-8", "surrogatepass")
    fingerprint = hashlib.sha256(said).hexdigest()[:16]
    return result_of((_rule_name(claim), 0), level, text, place, fingerprint)


def _rule_name(claim: str) -> str:
    return f"prove-{claim}"
