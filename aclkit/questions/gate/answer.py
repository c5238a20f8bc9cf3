"""A planned change and the verdict on it → the answer: verdict, what changes, what to do. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from aclkit.answer.document import (
    Answer,
    Comment,
    Heading,
    Item,
    Items,
    Members,
    Part,
    Sentence,
)
from aclkit.answer.masked import masked, masker
from aclkit.kafka.desired.plan_effect import PlanEffect
from aclkit.model.acl import BINDING, Acl, acl_words
from aclkit.model.phrases import number_of
from aclkit.questions.assertions.answer import outcome_item
from aclkit.questions.gate.passing import Passing
from aclkit.questions.gate.verdict import DENY, Limits, Planned, Verdict
from aclkit.questions.preview.answer import preview_answer
from aclkit.questions.preview.preview_json import preview_members
from aclkit.rules.names.change_lines import MARKS, change_lines, line_words

MARKER: Final = "aclkit preview"
"""In a comment of Markdown: by it a pipeline finds the comment that it wrote before."""

_PLAIN: Final = ("added", "removed")
_EFFECTS: Final[Mapping[str, str]] = {
    "gap": "is off for a time",
    "removed-though-kept-by-another": "is removed, although another resource keeps it",
    "removed-by-its-own-replacement": "is removed by its own replacement",
    "undefined-order": "may be lost: one resource deletes it and another creates it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Findings of an audit that a change brings and ends, as sentences."""

    brought: Sequence[str] = ()
    ended: Sequence[str] = ()


def gate_answer(
    planned: Planned,
    verdict: Verdict,
    limits: Limits,
    title: str,
    notes: Sequence[str] = (),
    findings: Findings | None = None,
) -> Answer:
    """Return the verdict, then what a preview shows.

    Sensitive fields are whole in what programs read alone. The verdict's sentences are for people
    as they are.
    """
    found = findings or Findings()
    base = preview_answer(planned.preview, title)
    shown = replace(
        base,
        parts=lambda: [*_parts(planned, limits, found, base)],
        notes=(*notes, *base.notes),
    )
    return with_verdict(
        replace(
            masked(shown, masker(planned.hidden)),
            json=lambda: _members(planned, limits, found, notes),
        ),
        verdict,
    )


def with_verdict(answer: Answer, verdict: Verdict) -> Answer:
    """Put the verdict on a change in front of another answer about it."""
    parts, besides, made = answer.parts, answer.besides, answer.json

    def members() -> Members:
        yield (
            "gate",
            {
                "verdict": verdict.name,
                "reasons": list(verdict.reasons),
                "effect": list(verdict.effect),
            },
        )
        found = made() if made else {}
        yield from found.items() if isinstance(found, Mapping) else found

    return replace(
        answer,
        parts=lambda: [*_verdict(verdict), *(parts() if parts else ())],
        besides=lambda: [verdict.sentence, *(besides() if besides else ())],
        json=members,
        comment=Comment(MARKER, is_calm=verdict.name != DENY),
    )


def _verdict(verdict: Verdict) -> Iterator[Part]:
    yield Sentence(verdict.sentence, "bad" if verdict.name == DENY else "good")
    if len(verdict.reasons) > 1:
        yield Items([Item(reason) for reason in verdict.reasons[1:]])


def _parts(planned: Planned, limits: Limits, found: Findings, base: Answer) -> Iterator[Part]:
    change = planned.preview.change
    if change.added or change.removed:
        yield Sentence(
            f"Adds {number_of(len(change.added), 'ACL')}, removes {len(change.removed)}."
        )
    if broken := [each for each in limits.outcomes if not each.has_passed]:
        after = planned.preview.change.after.acls
        acls: dict[str | None, Acl] = dict(after.items())
        yield Heading("Policies")
        yield Items([outcome_item(each, acls) for each in broken])
    if warned := [each for each in planned.effects if each.effect not in _PLAIN]:
        yield Heading("The plan")
        yield Items([_effect(each) for each in warned])
    if base.parts is not None:
        yield Heading("Access")
        yield from base.parts()
    if planned.others is not None and planned.others.openings:
        yield Heading("Perhaps")
        yield Items(_otherwise(planned.others, "perhaps"))
    if planned.moment is not None and planned.moment.openings:
        yield Heading("While it is applied")
        yield Items(_otherwise(planned.moment, "for a time"))
    if planned.depends:
        yield Heading("Which ACLs exist afterwards depends on")
        yield Items([Item(each.words) for each in planned.depends])
    for heading, sentences in (("New findings", found.brought), ("Ended findings", found.ended)):
        if sentences:
            yield Heading(heading)
            yield Items([Item(each) for each in sentences])


def _effect(each: PlanEffect) -> Item:
    under = [f"by {each.by}", *([each.advice] if each.advice else [])]
    return Item(f"{acl_words(each.acl.acl)} {_EFFECTS[each.effect]}", "!", under)


def _otherwise(passing: Passing, when: str) -> Iterator[Item]:
    for line in change_lines(passing.openings):
        yield Item(f"{when}: {line_words(line)}", MARKS[line.kind])


def _members(
    planned: Planned,
    limits: Limits,
    found: Findings,
    notes: Sequence[str],
) -> Members:
    yield "plan_effects", [_effect_object(each) for each in planned.effects]
    for name, passing in (("for_a_time", planned.moment), ("perhaps", planned.others)):
        lines = change_lines(passing.openings if passing else ())
        yield name, [{"kind": line.kind, "words": line_words(line)} for line in lines]
    yield "depends_on", [each.words for each in planned.depends]
    yield (
        "policies",
        [{"name": each.assertion.name, "outcome": each.state} for each in limits.outcomes],
    )
    yield "file_notes", list(notes)
    yield "findings", {"brought": list(found.brought), "ended": list(found.ended)}
    yield from preview_members(planned.preview)


def _effect_object(each: PlanEffect) -> dict[str, object]:
    fields = dict(zip(BINDING, each.acl.binding, strict=True))
    return {"effect": each.effect, **fields, "by": each.by, "advice": each.advice or None}
