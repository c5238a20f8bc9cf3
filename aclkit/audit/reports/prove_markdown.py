"""What came out of proofs → a comment for a merge request, in Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aclkit.audit.reports.markdown_parts import bounded_table, document, escape_markdown
from aclkit.questions.prove import words
from aclkit.questions.prove.claim import Claimed
from aclkit.questions.prove.never import Answers
from aclkit.questions.prove.reading import ReadSide
from aclkit.rules.names.compare import GAINED, LOST

_COLUMNS = ("who", "on", "for example", "A", "B")
_ANSWERS = ("outcome", "assertion", "for example", "A", "because")


def render_comparison(found: Claimed, sides: Sequence[ReadSide], notes: Sequence[str]) -> str:
    """Return the verdict, what it is about, and what speaks against it."""
    (_, verdict), *rest = words.comparison_sentences(found, sides)
    blocks = _head(f"prove {found.claim}", verdict, rest, notes)
    for kind in (GAINED, LOST):
        told = [words.tell(example) for example in found.counterexamples if example.kind == kind]
        rows = [("; ".join(who), *rest) for who, *rest in told]
        if rows:
            blocks += [[f"### {kind}"], *bounded_table(_COLUMNS, rows, len(rows))]
    return document([*blocks, *([escape_markdown(text)] for text in words.left_out_words(found))])


def render_answers(found: Answers, sides: Sequence[ReadSide], notes: Sequence[str]) -> str:
    """Return the verdict, what it is about, and the assertions, those that hold last."""
    (_, verdict), *rest = words.answers_sentences(found, sides)
    rows = [
        (
            answer.outcome,
            f"{answer.assertion.kind}: {answer.assertion.name}",
            "; ".join(asked for asked, _ in words.tell_answer(answer)),
            "; ".join(decided for _, decided in words.tell_answer(answer)),
            words.answer_words(answer),
        )
        for answer in found.worst_first
    ]
    return document(
        [*_head("prove never", verdict, rest, notes), *bounded_table(_ANSWERS, rows, len(rows))]
    )


def _head(
    title: str, verdict: str, rest: Iterable[tuple[str, str]], notes: Sequence[str]
) -> list[list[str]]:
    statements = [*rest, *(("note", note) for note in notes)]
    return [
        [f"## {title}"],
        [f"**{escape_markdown(verdict)}**"],
        [f"- {escape_markdown(': '.join(statement))}" for statement in statements],
    ]
