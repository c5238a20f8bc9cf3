"""An answer and the name of a format → its lines. A new format of all answers is one line here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

from aclkit.answer.document import Answer, Row
from aclkit.answer.formats import CSV, JSON, JSONL, MARKDOWN, SARIF, TABLE
from aclkit.answer.markdown import render_markdown
from aclkit.answer.rows import choose_columns, render_csv, render_json, render_jsonl
from aclkit.answer.text import Layout, lay_out
from aclkit.errors import UsageError
from aclkit.model.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How an answer is written.

    Attributes:
        columns: the columns of rows that are wanted; all if none is named.
        layout: how a table is laid out.
        stamp: time and offset of the run that it stands on.
    """

    columns: Sequence[str] = ()
    layout: Layout = field(default_factory=Layout)
    stamp: Sequence[object] = ()


def render(answer: Answer, output_format: str, form: Form) -> Iterator[str]:
    """Yield the lines of an answer.

    Raises:
        UsageError: columns are chosen that the rows have not, or in a format without columns.
    """
    if form.columns:
        if output_format != TABLE and not is_rows(answer, output_format):
            raise UsageError(
                f"--columns needs rows, and --format {output_format} has none here. "
                f"Use {TABLE}, {JSONL} or {CSV}."
            )
        columns, rows = choose_columns(form.columns, answer.columns, answer.rows)
        answer, form = Answer(columns=columns, rows=rows), Form(layout=form.layout)
    return _RENDERERS[output_format](answer, form)


def render_rows(
    columns: Sequence[str],
    rows: Iterable[Row],
    output_format: str = TABLE,
    layout: Layout | None = None,
) -> Iterator[str]:
    """Yield the lines of rows in one of ``FORMATS``; without a layout each row is one line."""
    answer = Answer(columns=columns, rows=rows)
    return render(answer, output_format, Form(layout=layout or Layout()))


def is_rows(answer: Answer, output_format: str) -> bool:
    """Whether a format has rows alone, so that the notes of an answer have no place in it."""
    return output_format in (JSONL, CSV) or (output_format == JSON and answer.json is None)


def _sarif(answer: Answer, _: Form) -> Iterator[str]:
    if answer.sarif is None:
        raise UsageError("This answer has no SARIF form.")
    return iter([answer.sarif()])


_RENDERERS: Final[Mapping[str, Callable[[Answer, Form], Iterator[str]]]] = {
    TABLE: lambda answer, form: lay_out(answer.for_people(), form.layout),
    JSON: lambda answer, form: render_json(answer, form.stamp),
    JSONL: lambda answer, form: render_jsonl(answer.columns, answer.rows, form.stamp),
    CSV: lambda answer, _: render_csv(answer.columns, answer.rows),
    MARKDOWN: lambda answer, _: iter([render_markdown(answer)]),
    SARIF: _sarif,
}
