"""What came out of a proof → its answer: what speaks against it, and whether it holds. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from aclkit.answer.document import Answer, Facts, Item, Items, Part, Sentence
from aclkit.questions.prove.never import HOLDS, Answers
from aclkit.questions.prove.never import Answer as Proven
from aclkit.questions.prove.objects import (
    ANSWER_COLUMNS,
    answer_rows,
    answers_object,
)
from aclkit.questions.prove.words import (
    answer_words,
    answers_verdict,
    tell_answer,
)
from aclkit.questions.sides import side_facts
from aclkit.questions.state import State
from aclkit.rules.names.words import way_out


def _besides(sentences: Sequence[str], sides: Sequence[State]) -> Iterator[str]:
    """Yield the verdict, and what was read how."""
    yield from sentences
    yield from (f"{name}: {words}" for name, words in side_facts(sides))


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
