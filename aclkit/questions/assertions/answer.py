"""Policies and whether they hold → the answer: a line each, with an example of what fails. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from aclkit.answer.document import Answer, Item, Items, Part, Row, Sentence
from aclkit.model.acl import Acl
from aclkit.model.broker_settings import caveats_on_list
from aclkit.model.phrases import number_of
from aclkit.model.semantics import BrokerSettings
from aclkit.questions.assertions.model import UNKNOWN, Example, Outcome
from aclkit.questions.query.table_words import short_reason
from aclkit.rules.decide.rules import ALLOWED

COLUMNS: Final = (
    "state", "kind", "assertion", "checked", "violations", "principal", "host", "operation",
    "resource", "decision", "rule", "deciding_acl", "acl_id", "in_inventory", "detail", "proof",
)  # fmt: skip
_STATES: Final = ("failed", "unknown", "passed")

Acls = Mapping[str | None, Acl]


def assertions_answer(outcomes: Sequence[Outcome], acls: Acls, settings: BrokerSettings) -> Answer:
    """Return which policies hold.

    Args:
        outcomes: of the policies, in the order of the file.
        acls: those that decided the examples, by id.
        settings: of the brokers.
    """
    return Answer(
        title="Policies",
        columns=COLUMNS,
        rows=[row for each in outcomes for row in _rows(each, acls)],
        parts=lambda: _parts(outcomes, acls),
        notes=(*_notes(outcomes), *caveats_on_list(settings)),
        more={"unknown_settings": sorted(settings.unknown)},
    )


def _parts(outcomes: Sequence[Outcome], acls: Acls) -> Iterator[Part]:
    worst_first = sorted(outcomes, key=lambda outcome: _STATES.index(outcome.state))
    yield Items(outcome_item(outcome, acls) for outcome in worst_first)
    counts = Counter(outcome.state for outcome in outcomes)
    parts = [f"{counts['passed']:,} passed", f"{counts['failed']:,} failed"]
    if counts["unknown"]:
        parts.append(f"{counts['unknown']:,} unknown")
    yield Sentence(f"{', '.join(parts)}.", "good" if counts["passed"] == len(outcomes) else "bad")


def outcome_item(outcome: Outcome, acls: Acls) -> Item:
    """Write whether a policy holds, and what violates it."""
    examples = [example_words(example, acls) for example in outcome.examples]
    number = f" ({number_of(outcome.violations, 'violation')})" if outcome.violations else ""
    detail = [outcome.detail] if outcome.state == UNKNOWN and outcome.detail else []
    return Item(f"{outcome.state:<9}{outcome.assertion.name}{number}", under=[*examples, *detail])


def example_words(example: Example, acls: Acls) -> str:
    """Write a decision that violates a policy."""
    verb = "can" if example.decision == ALLOWED else "cannot"
    to_come = "" if example.in_inventory else " (a name to come)"
    acl = acls.get(example.acl_id)
    reason = short_reason(example.decision, example.rule, acl, None, None)
    what = f"{example.operation} {example.resource}{to_come} from {example.host}"
    return f"{example.principal} {verb} {what}: {reason}"


def _notes(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        if not outcome.checked:
            yield f"The policy {outcome.assertion.name!r} matches nothing that exists."


def _rows(outcome: Outcome, acls: Acls) -> Iterator[Row]:
    assertion = outcome.assertion
    head = (outcome.state, assertion.kind, assertion.name, outcome.checked, outcome.violations)
    for e in outcome.examples:
        acl = acls.get(e.acl_id)
        yield (
            *head, e.principal, e.host, e.operation, str(e.resource), e.decision, e.rule,
            acl and str(acl), e.acl_id, e.in_inventory, outcome.detail, outcome.proof,
        )  # fmt: skip
    if not outcome.examples:
        none = [None] * (len(COLUMNS) - len(head) - 2)
        yield (*head, *none, outcome.detail, outcome.proof)
