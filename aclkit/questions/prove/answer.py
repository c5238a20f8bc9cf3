"""What came out of a proof → its answer: what speaks against it, and whether it holds. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from aclkit.answer.document import Answer, Facts, Item, Items, Part, Sentence
from aclkit.questions.prove.claim import AGAINST, HOLDS, Claimed
from aclkit.questions.prove.never import Answer as Proven
from aclkit.questions.prove.never import Answers
from aclkit.questions.prove.objects import (
    ANSWER_COLUMNS,
    COLUMNS,
    answer_rows,
    answers_object,
    comparison_object,
    row,
)
from aclkit.questions.prove.words import (
    answer_words,
    answers_verdict,
    example_words,
    side_facts,
    tell_answer,
    verdict_sentence,
)
from aclkit.questions.state import State
from aclkit.rules.names.change_lines import MARKS, change_lines, line_words
from aclkit.rules.names.words import unknown_sentences, way_out


def comparison_answer(
    found: Claimed, sides: Sequence[State], notes: Sequence[str], limit: int | None
) -> Answer:
    """Return the answer to a claim about two sides."""
    return Answer(
        title=f"prove {found.claim}",
        columns=COLUMNS,
        rows=map(row, found.counterexamples),
        parts=lambda: _comparison_parts(found, sides),
        besides=lambda: _besides([verdict_sentence(found), *left_out_words(found)], sides),
        notes=(*unknown_sentences(found.difference, found.cost), *notes),
        json=lambda: comparison_object(found, sides, notes, limit),
    )


def _comparison_parts(found: Claimed, sides: Sequence[State]) -> Iterator[Part]:
    lines = change_lines(each.opening for each in found.counterexamples)
    if lines:
        yield Items(Item(line_words(line), MARKS[line.kind]) for line in lines)
        yield Sentence(f"For example, {example_words(found.counterexamples[0])}.")
    yield _verdict(verdict_sentence(found), found.outcome)
    yield from map(Sentence, left_out_words(found))
    yield Facts(list(side_facts(sides)))


def _besides(sentences: Sequence[str], sides: Sequence[State]) -> Iterator[str]:
    """Yield the verdict, and what was read how."""
    yield from sentences
    yield from (f"{name}: {words}" for name, words in side_facts(sides))


def left_out_words(found: Claimed) -> Iterator[str]:
    """Yield how much of what speaks against a claim is not shown."""
    for kind in AGAINST[found.claim]:
        if left := found.cells(kind) - found.shown(kind):
            yield f"… and {left:,} more {kind}: --all"


def answers_answer(found: Answers, sides: Sequence[State], notes: Sequence[str]) -> Answer:
    """Return the answer to a file of assertions, those that fail first."""
    open_end = [way_out(found.cost)] if found.is_open_end else []
    return Answer(
        title="prove never",
        columns=ANSWER_COLUMNS,
        rows=chain.from_iterable(map(answer_rows, found.answers)),
        parts=lambda: _answers_parts(found, sides),
        besides=lambda: _besides([answers_verdict(found)], sides),
        notes=(*open_end, *notes),
        json=lambda: answers_object(found, sides, notes),
    )


def _answers_parts(found: Answers, sides: Sequence[State]) -> Iterator[Part]:
    yield Items(map(_answer_item, found.worst_first))
    yield _verdict(answers_verdict(found), found.outcome)
    yield Facts(list(side_facts(sides)))


def _answer_item(answer: Proven) -> Item:
    under = [f"for example, {asked}: {decided}" for asked, decided in tell_answer(answer)]
    besides = answer_words(answer)
    state = f"{answer.outcome:<9}{answer.assertion.name}"
    return Item(state, under=[*under, *([besides] if besides else [])])


def _verdict(text: str, outcome: str) -> Sentence:
    return Sentence(text, "good" if outcome == HOLDS else "bad")
