"""The formats of desired state, and which one a file has.

A format is told by content, never by the name of the file: pipelines rename files. Formats are
asked in order, the most particular first, so that no text is of two. One format is one entry here
and a module of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from aclkit.errors import DataError, UsageError
from aclkit.kafka.desired.model import (
    DesiredAcl,
    Document,
    Part,
    Problem,
    Reach,
    ResourceChange,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A way to write down ACLs.

    Attributes:
        name: the value of ``--from``.
        title: what people call it.
        holds: whether a document looks like it. A broken document of the format does too, so
            that its reader says what is wrong.
        read: makes a part of a document; what is wrong with it are problems of the part.
    """

    name: str
    title: str
    holds: Callable[[Document], bool]
    read: Callable[[Document], Part]


def format_of(
    document: Document, formats: Iterable[Format], wanted: str | None = None
) -> Format | None:
    """Return the format of a document, by its content or as the user wants it; None if unknown.

    Raises:
        UsageError: no format has the wanted name.
    """
    formats = tuple(formats)
    if wanted is not None:
        found = next((each for each in formats if each.name == wanted), None)
        if found is None:
            names = ", ".join(each.name for each in formats)
            raise UsageError(f"Unknown format {wanted!r}. Valid: {names}.")
        return found
    return next((each for each in formats if each.holds(document)), None)


def unlike(document: Document, form: Format) -> DataError:
    """Return the error about a document that does not look like the format that was passed."""
    found = "it does not look like" if document.text.strip() else "it is empty, not"
    return DataError(f"{document.name}: {found} {form.title}, and cannot be read as {form.name}.")


def unknown_form(document: Document, formats: Iterable[Format]) -> DataError:
    """Return the error about a document of no known format; an empty one is of none."""
    found = "it holds no known format of ACLs" if document.text.strip() else "it is empty"
    names = ", ".join(each.name for each in formats)
    return DataError(f"{document.name}: {found}. Formats: {names}.")


@dataclass(slots=True)
class PartBuilder:
    """What was read of a document up to here; the fields are those of ``Part``."""

    document: Document
    acls: list[DesiredAcl] = field(default_factory=list)
    changes: list[ResourceChange] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)

    def refuse(self, line: int, text: str, address: str = "") -> None:
        """Add a problem; the line is 0 where it is unknown."""
        self.problems.append(Problem(self.document.place(line, address), text))

    def take(self, found: DesiredAcl | Iterable[Problem]) -> None:
        """Add an ACL, or why it is none."""
        if isinstance(found, DesiredAcl):
            self.acls.append(found)
        else:
            self.problems += found

    def part(self, form: str, reach: Reach) -> Part:
        """Return what was read, each problem once."""
        return Part(
            document=self.document.name,
            form=form,
            reach=reach,
            acls=self.acls,
            changes=self.changes,
            problems=list(dict.fromkeys(self.problems)),
            notes=self.notes,
            unread=self.unread,
        )
