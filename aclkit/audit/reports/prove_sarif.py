"""What came out of proofs → SARIF 2.1.0, for code scanners. Pure.

Each counterexample is a result, with the resource as its logical location; so is what the budget
left open, for a gate counts it as a failure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import Any, Final

import aclkit
from aclkit.audit.reports.as_sarif import driver_of, notes_of, result_of, rule_of, sarif
from aclkit.questions.assertions.answer import example_words, outcome_words, verdict_sentence
from aclkit.questions.assertions.model import FAILED, Outcome, verdict_of
from aclkit.questions.prove import words
from aclkit.questions.prove.answer import left_out_words
from aclkit.questions.prove.claim import FAILS, UNKNOWN, Claimed, Counterexample
from aclkit.questions.state import State
from aclkit.questions.state_words import side_facts
from aclkit.rules.names.change_lines import change_lines, line_words

_NEVER: Final = "never"
_LEVELS: Final = {FAILS: "error", FAILED: "error", UNKNOWN: "warning"}


def comparison_sarif(found: Claimed, sides: Sequence[State], notes: Sequence[str]) -> str:
    """Return a run of one rule: the claim."""
    results = [_result(found, example) for example in found.counterexamples]
    if found.outcome == UNKNOWN:
        results = [
            _result_of(found.claim, UNKNOWN, words.verdict_sentence(found), "every name", ())
        ]
    facts = map(": ".join, side_facts(sides))
    said = [words.verdict_sentence(found), *facts, *left_out_words(found), *notes]
    return _sarif(found.claim, words.CLAIMS[found.claim], found.outcome, results, said)


def policies_sarif(found: Sequence[Outcome], state: State, notes: Sequence[str]) -> str:
    """Return a run of one rule: that every policy holds."""
    results = [_policy_result(each) for each in found if not each.has_passed]
    facts = map(": ".join, side_facts([state]))
    said = [verdict_sentence(found), *facts, *notes]
    return _sarif(_NEVER, "Each assertion of the file holds", verdict_of(found), results, said)


def _sarif(
    claim: str, meaning: str, outcome: str, results: Sequence[dict[str, Any]], said: Iterable[str]
) -> str:
    rule = rule_of(
        _rule_name(claim),
        f"{meaning}, for every name that a broker could be asked about.",
        "Change the ACLs so that it is so; where it is unknown, give the proof more states.",
        _LEVELS[FAILS],
    )
    invocation = {
        "executionSuccessful": outcome != UNKNOWN,
        "toolExecutionNotifications": notes_of(list(said)),
    }
    driver = driver_of(aclkit.__version__, [rule])
    return sarif(_rule_name(claim), driver, invocation, results)


def _result(found: Claimed, example: Counterexample) -> dict[str, Any]:
    lines = map(line_words, change_lines([example.opening]))
    text = [
        f"{example.kind.capitalize()}: {'; '.join(lines)}",
        f"For example, {words.example_words(example)}",
    ]
    place, key = str(example.request.resource), (example.kind, *astuple(example.request))
    return _result_of(found.claim, FAILS, ". ".join(text), place, key)


def _policy_result(found: Outcome) -> dict[str, Any]:
    name, besides = found.assertion.name, outcome_words(found)
    text = [
        f"{found.verdict}: {found.assertion.kind} {name}",
        *(f"For example, {example_words(each)}" for each in found.examples),
        *([besides] if besides else ()),
    ]
    return _result_of(_NEVER, found.verdict, ". ".join(text), name, (name,))


def _result_of(
    claim: str, outcome: str, text: str, place: str, key: Sequence[str]
) -> dict[str, Any]:
    said = "\x00".join((claim, *key)).encode("utf-8", "surrogatepass")
    fingerprint = hashlib.sha256(said).hexdigest()[:16]
    return result_of((_rule_name(claim), 0), _LEVELS[outcome], text, place, fingerprint)


def _rule_name(claim: str) -> str:
    return f"prove-{claim}"
