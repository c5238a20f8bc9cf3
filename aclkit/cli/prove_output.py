"""What came out of proofs → lines of at most 80 columns, for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from aclkit.cli.table import text_width
from aclkit.model.visible import visible
from aclkit.questions.prove import words
from aclkit.questions.prove.claim import Claimed
from aclkit.questions.prove.never import Answers
from aclkit.questions.prove.reading import ReadSide

COLUMNS: Final = 80
_LABEL: Final = 11

Sentences = Iterable[tuple[str, str]]


def comparison_lines(found: Claimed, sides: Sequence[ReadSide]) -> Iterator[str]:
    """Yield the statements, and each counterexample below an empty line."""
    yield from labelled(words.comparison_sentences(found, sides))
    for example in found.counterexamples:
        who, *rest = words.tell(example)
        yield "\n"
        yield from labelled((example.kind, text) for text in who)
        yield from labelled(zip(("on", "example", "A", "B"), rest, strict=True))
    for text in words.left_out_words(found):
        yield f"\n{text}\n"


def answers_lines(found: Answers, sides: Sequence[ReadSide]) -> Iterator[str]:
    """Yield the statements, and each assertion below an empty line; those that hold last."""
    yield from labelled(words.answers_sentences(found, sides))
    for answer in found.worst_first:
        assertion = answer.assertion
        yield "\n"
        yield from labelled([(answer.outcome, f"[[{assertion.kind}]] {assertion.name}")])
        for told in words.tell_answer(answer):
            yield from labelled(zip(("example", "A"), told, strict=True))
        if besides := words.answer_words(answer):
            yield from labelled([("because", besides)])


def labelled(sentences: Sentences) -> Iterator[str]:
    """Yield sentences behind their labels, broken at blanks where they are too long.

    >>> print("".join(labelled([("verdict", "it " * 30)])))
    verdict    it it it it it it it it it it it it it it it it it it it it it it it
               it it it it it it it
    <BLANKLINE>
    """
    for label, text in sentences:
        lead = label.ljust(_LABEL - 1) + " "
        for line in _broken(visible(text), COLUMNS - _LABEL):
            yield f"{lead}{line}".rstrip() + "\n"
            lead = " " * _LABEL


def _broken(text: str, width: int) -> Iterator[str]:
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if line and text_width(longer) > width:
            yield line
            longer = word
        line = longer
    yield line
