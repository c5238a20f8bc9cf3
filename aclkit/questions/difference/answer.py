"""What differs, and the verdict → the answer: verdict, each change once, what is unknown. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from aclkit.answer.document import (
    Answer,
    Comment,
    Facts,
    Heading,
    Item,
    Items,
    JsonObject,
    Part,
    Sentence,
)
from aclkit.answer.masked import masked, masker
from aclkit.kafka.desired.plan_effect import PlanEffect
from aclkit.model.acl import acl_words
from aclkit.model.groups import grouped
from aclkit.model.phrases import number_of
from aclkit.questions.assertions.answer import outcome_item
from aclkit.questions.difference.access_change import KINDS, REDECIDED
from aclkit.questions.difference.as_json import (
    EXAMPLE_COLUMNS,
    effect_members,
    example_row,
    found_cells,
    gate_members,
    outcome_of,
    sides_members,
    verdict_object,
)
from aclkit.questions.difference.compared import Compared
from aclkit.questions.difference.effect import ChangedCell
from aclkit.questions.difference.passing import Passing
from aclkit.questions.difference.verdict import FAIL, OLD_NAMES, PASSES, Demands, Verdict
from aclkit.questions.difference.words import (
    PLANNED,
    Tense,
    counterexample_words,
    example_sentence,
    next_reading_sentence,
    notes,
    part_sentences,
    reason_words,
    total_sentence,
)
from aclkit.questions.query.decide_unlisted import Verdict as Decided
from aclkit.questions.state_words import side_facts
from aclkit.rules.names.change_lines import MARKS, ChangeLine, change_lines, line_words
from aclkit.rules.names.compare import OTHERWISE, SLEEPS, WAKES
from aclkit.rules.names.words import semantics_change_words, unknown_sentences

COLUMNS: Final = ("change", *ChangedCell._fields)
_BECOMES: Final = {
    WAKES: "takes effect",
    SLEEPS: "loses its effect",
    OTHERWISE: "is read differently",
}
_MOST_REDECIDED: Final = 3
"""Of what stays allowed or denied so many reasons are shown."""


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


def difference_answer(
    compared: Compared, verdict: Verdict, title: str, tense: Tense = PLANNED
) -> Answer:
    """Return the verdict, then what a change does to access."""
    base = effect_answer(compared, title, tense, has_total=not _is_all(compared, verdict))
    return with_verdict(base, verdict)


def _is_all(compared: Compared, verdict: Verdict) -> bool:
    """Whether the verdict says all that there is to say."""
    return verdict.name == PASSES and not compared.effect.count(REDECIDED)


def gate_answer(
    compared: Compared,
    verdict: Verdict,
    demands: Demands,
    title: str,
    notes: Sequence[str] = (),
    findings: Findings | None = None,
) -> Answer:
    """Return the verdict on files, then what they change, at the end and on the way.

    Sensitive fields are whole in what programs read alone. The verdict's sentences are for people
    as they are.
    """
    found = findings or Findings()
    base = effect_answer(compared, title, has_total=not _is_all(compared, verdict))
    shown = replace(
        base,
        parts=lambda: [*_gate_parts(compared, demands, found, base)],
        notes=(*notes, *base.notes),
    )
    return as_comment(
        with_verdict(
            replace(
                masked(shown, masker(compared.change.hidden)),
                json=lambda: gate_members(
                    compared, demands.outcomes, notes, found.brought, found.ended
                ),
            ),
            verdict,
        ),
        verdict,
    )


def sides_answer(
    compared: Compared, verdict: Verdict, limit: int | None, notes: Sequence[str]
) -> Answer:
    """Return the verdict on two sides, and what speaks against it with what decides on each.

    Args:
        compared: the difference of both, bounded.
        verdict: on it.
        limit: at most so many examples of each kind were asked for, None for all.
        notes: what a reader of it must know.
    """
    facts = [*side_facts(compared.sides)]
    answer = Answer(
        title="Difference of A and B",
        columns=EXAMPLE_COLUMNS,
        rows=map(example_row, compared.examples),
        parts=lambda: _sides_parts(compared, verdict, facts),
        besides=lambda: [*_proof_words(compared, verdict), *map(": ".join, facts)],
        notes=(*unknown_sentences(compared.against, compared.budget), *notes),
        json=lambda: dict(sides_members(compared, notes, limit)),
    )
    return with_verdict(answer, verdict)


def _sides_parts(
    compared: Compared, verdict: Verdict, facts: Sequence[tuple[str, str]]
) -> Iterator[Part]:
    if lines := change_lines(each.opening for each in compared.examples):
        yield Items(Item(line_words(line), MARKS[line.kind]) for line in lines)
        yield Sentence(f"For example, {counterexample_words(compared.examples[0])}.")
    yield from map(Sentence, _proof_words(compared, verdict))
    yield Facts(facts)


def _proof_words(compared: Compared, verdict: Verdict) -> Iterator[str]:
    """Yield what is proven for every name, and how much is not shown."""
    if verdict.name != PASSES and outcome_of(compared) == "holds":
        yield f"No access is {' or '.join(compared.bounds)}: proven for every name."
    yield from left_out_words(compared)


def left_out_words(compared: Compared) -> Iterator[str]:
    """Yield how much of what differs is not shown."""
    for kind, cells, shown in found_cells(compared):
        if left := cells - shown:
            yield f"… and {left:,} more {kind}: --all"


def with_verdict(answer: Answer, verdict: Verdict) -> Answer:
    """Put the verdict on a difference in front of an answer about it; in JSON it comes last."""
    parts, besides, made = answer.parts, answer.besides, answer.json
    last = ("judged", verdict_object(verdict))
    return replace(
        answer,
        parts=lambda: [*_verdict(verdict), *(parts() if parts else ())],
        besides=lambda: [verdict.sentence, *(besides() if besides else ())],
        json=lambda: _joined(made() if made else {}, [last]),
    )


def as_comment(answer: Answer, verdict: Verdict) -> Answer:
    """Make an answer a comment of a merge request; JSON has the verdict in its older words too."""
    made = answer.json
    first = ("gate", {**verdict_object(verdict), "verdict": OLD_NAMES[verdict.name]})
    return replace(
        answer,
        json=lambda: _joined([first], made() if made else {}),
        comment=Comment(MARKER, is_calm=verdict.name != FAIL),
    )


def _joined(first: JsonObject, second: JsonObject) -> JsonObject:
    """Join the members of objects; of one that is written as it is made so is the whole."""
    is_whole = isinstance(first, Mapping) or isinstance(second, Mapping)
    pairs = (each.items() if isinstance(each, Mapping) else each for each in (first, second))
    found = chain.from_iterable(pairs)
    return dict(found) if is_whole else found


def _verdict(verdict: Verdict) -> Iterator[Part]:
    yield Sentence(verdict.sentence, "bad" if verdict.name == FAIL else "good")
    if len(verdict.reasons) > 1:
        yield Items([Item(reason) for reason in verdict.reasons[1:]])


def effect_answer(
    preview: Compared, title: str, tense: Tense = PLANNED, *, has_total: bool = True
) -> Answer:
    """Return what a change does to access: a line each, and every decision for programs.

    Args:
        preview: what differs.
        title: the subject of the answer.
        tense: how the change is spoken of.
        has_total: write what the changes come to.
    """
    return Answer(
        title=title,
        columns=COLUMNS,
        rows=((kind, *cell) for kind in KINDS for cell in preview.effect.cells(kind)),
        parts=lambda: _parts(preview, tense, has_total=has_total),
        besides=lambda: _besides(preview, tense, has_total=has_total),
        notes=tuple(notes(preview)),
        json=lambda: effect_members(preview),
    )


def _parts(preview: Compared, tense: Tense, *, has_total: bool) -> Iterator[Part]:
    lines = preview.told
    if first := next_reading_sentence(preview):
        yield Sentence(first)
    items = [*_changes(preview, lines), *_redecided(preview), *_rereads(preview)]
    if items:
        yield Items(items)
    if has_total:
        total = total_sentence(preview, lines, tense)
        yield Sentence(total, "good" if preview.is_known else "bad")
    yield from map(Sentence, part_sentences(preview, tense))


def _besides(preview: Compared, tense: Tense, *, has_total: bool) -> Iterator[str]:
    """Yield what changes for every name, known or not; rows are about known names."""
    lines = preview.told
    for line, words in _told(preview, lines):
        yield f"{MARKS[line.kind]} {words}"
    if has_total:
        yield total_sentence(preview, lines, tense)
    yield from part_sentences(preview, tense)


def _changes(preview: Compared, lines: Sequence[ChangeLine]) -> Iterator[Item]:
    """Yield what is gained and lost; below the first what decided it and what will."""
    example = example_sentence(preview)
    under = [example] if example and len(lines) == 1 else []
    for line, words in _told(preview, lines):
        yield Item(words, MARKS[line.kind], under)


def _told(preview: Compared, lines: Sequence[ChangeLine]) -> Iterator[tuple[ChangeLine, str]]:
    """Yield each line with its words."""
    known = grouped(preview.asked.resources)
    for line in lines:
        yield line, line_words(line, known.get(line.resource_type, ()))


def _redecided(preview: Compared) -> Iterator[Item]:
    """Yield what stays allowed or denied and is decided by another ACL or rule."""
    counts: Counter[tuple[Decided, Decided]] = Counter()
    for line in preview.effect.lines(REDECIDED):
        counts[line.before, line.after] += len(line.hosts)
    for (before, after), number in counts.most_common(_MOST_REDECIDED):
        what = f"{number_of(number, 'access', 'accesses')} still {before.decision.lower()}"
        then, now = reason_words(preview, before), reason_words(preview, after)
        yield Item(f"{what}: {now} (before: {then})", "~")
    if len(counts) > _MOST_REDECIDED:
        more = counts.total() - sum(n for _, n in counts.most_common(_MOST_REDECIDED))
        yield Item(f"{number_of(more, 'more access', 'more accesses')} by another ACL or rule", "~")


def _rereads(preview: Compared) -> Iterator[Item]:
    """Yield what each ACL does that is read otherwise, that of most access first."""
    for each in sorted(preview.rereads, key=lambda each: -len(each.changes)):
        yield Item(
            f"{acl_words(each.acl)} {_BECOMES[each.becomes]}: {semantics_change_words(each)}", "~"
        )


def _gate_parts(
    compared: Compared, demands: Demands, found: Findings, base: Answer
) -> Iterator[Part]:
    change = compared.change
    if change.added or change.removed:
        yield Sentence(
            f"Adds {number_of(len(change.added), 'ACL')}, removes {len(change.removed)}."
        )
    if broken := [each for each in demands.outcomes if not each.has_passed]:
        yield Heading("Policies")
        yield Items(map(outcome_item, broken))
    if warned := [each for each in compared.applied.effects if each.effect not in _PLAIN]:
        yield Heading("The plan")
        yield Items([_effect(each) for each in warned])
    if base.parts is not None and (shown := [*base.parts()]):
        yield Heading("Access")
        yield from shown
    if compared.others is not None and compared.others.openings:
        yield Heading("Perhaps")
        yield Items(_otherwise(compared.others, "perhaps"))
    if compared.moment is not None and compared.moment.openings:
        yield Heading("While it is applied")
        yield Items(_otherwise(compared.moment, "for a time"))
    if compared.applied.depends:
        yield Heading("Which ACLs exist afterwards depends on")
        yield Items([Item(each.words) for each in compared.applied.depends])
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
