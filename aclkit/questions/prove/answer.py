"""What came out of a proof → its answer: what speaks against it, and whether it holds. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aclkit.answer.document import Answer, Facts, Item, Items, Part, Sentence
from aclkit.questions.prove.claim import AGAINST, HOLDS, Claimed
from aclkit.questions.prove.objects import COLUMNS, comparison_object, row
from aclkit.questions.prove.words import example_words, verdict_sentence
from aclkit.questions.state import State
from aclkit.questions.state_words import side_facts
from aclkit.rules.names.change_lines import MARKS, change_lines, line_words
from aclkit.rules.names.words import unknown_sentences


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


def _verdict(text: str, outcome: str) -> Sentence:
    return Sentence(text, "good" if outcome == HOLDS else "bad")
