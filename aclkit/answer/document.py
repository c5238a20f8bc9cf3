"""What a question returns: parts for people, rows for programs, and what holds for all of it.

A question builds an ``Answer`` and writes nothing itself. A renderer per format turns it into text:
``text`` for a terminal, ``markdown`` for a comment, ``html`` for a page, ``rows`` for programs.
Names stand in it as they are: each renderer makes them harmless in its own way, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from itertools import chain
from typing import Final, Literal

from aclkit.model.values import dataclass

Row = Sequence[object]
"""The cells of a row; a whole number stands on the right, None is no value."""

Tone = Literal["", "good", "bad", "note"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence.

    Attributes:
        text: the sentence.
        tone: whether it is a verdict that is good or bad, or a note on what is not known.
    """

    text: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """What the parts that follow are about; ``is_sub`` within those of the heading before."""

    text: str
    is_sub: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with the same columns; the name of a column is its type, see ``STYLED``.

    Attributes:
        columns: their names.
        rows: their cells.
        wide: the table with every column, where this one is a choice.
        spare: columns that a narrow screen leaves out, the first of them first.
        has_head: a terminal shows the names of the columns; without them the rows are indented.
    """

    columns: Sequence[str]
    rows: Iterable[Row]
    wide: Table | None = None
    spare: Sequence[str] = ()
    has_head: bool = True


@dataclass(frozen=True, slots=True)
class Item:
    """A line of a list.

    Attributes:
        text: the line.
        mark: ``+`` for an addition, ``-`` for a removal, ``~`` for a change.
        under: details of the line, a line each.
    """

    text: str
    mark: str = ""
    under: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Items:
    """Lines of a list."""

    items: Iterable[Item]


@dataclass(frozen=True, slots=True)
class Facts:
    """Short texts, each under a label, such as the fields of one thing."""

    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Command:
    """A command to copy; it is never broken into lines."""

    text: str


Part = Sentence | Heading | Table | Items | Facts | Command

STYLED: Final = frozenset(
    ("decision", "severity", "change", "permission_type", "because", "acl", "before", "after")
)
"""Columns whose first word is aclkit's or Kafka's own: no name of a stranger is coloured so."""


Members = Iterable[tuple[str, object]]
"""Members of an object of JSON; one whose value is an iterator is a list, made item by item."""

JsonObject = Mapping[str, object] | Members
"""A whole answer as one object of JSON; it may be written as it is made."""


@dataclass(frozen=True, slots=True)
class Comment:
    """How an answer is a comment of a merge request.

    Attributes:
        marker: by it a pipeline finds the comment that it wrote before.
        is_calm: the text has no "fail" in it, names included: some tools take that word in the
            output of a check for a failure.
    """

    marker: str
    is_calm: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to a question; a format makes only what it writes.

    Attributes:
        columns: names of the cells of ``rows``.
        rows: the answer for programs.
        parts: makes the text for people; without it people read the rows as a table.
        notes: what is unknown or could mislead; below the parts, but on stderr for rows.
        title: the subject of the answer; the heading of a comment.
        besides: makes the text for people that the rows do not hold; on stderr for rows.
        more: values that hold for all rows; JSON repeats them in each row.
        json: makes the object of JSON; without it JSON has the rows.
        sarif: makes the SARIF log, where an answer has one.
        comment: in Markdown, what makes it a comment.
    """

    columns: Sequence[str]
    rows: Iterable[Row]
    parts: Callable[[], Iterable[Part]] | None = None
    notes: Sequence[str] = ()
    title: str = ""
    besides: Callable[[], Iterable[str]] | None = None
    more: Mapping[str, object] = field(default_factory=dict)
    json: Callable[[], JsonObject] | None = None
    sarif: Callable[[], str] | None = None
    comment: Comment | None = None

    def for_people(self) -> Iterable[Part]:
        """Return what people read, the notes last."""
        parts = [Table(self.columns, self.rows)] if self.parts is None else self.parts()
        return chain(parts, (Sentence(note, "note") for note in self.notes))

    def beside_rows(self) -> Iterable[str]:
        """Return what is told beside rows: what they do not hold, the notes last."""
        return chain(() if self.besides is None else self.besides(), self.notes)
