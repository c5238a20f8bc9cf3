"""The formats of desired state, and which one a file has.

A format is told by content, never by the name of the file: pipelines rename files. Formats are
asked in order, the most particular first, so that no text is of two. One format is one entry here
and a module of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from aclkit.errors import DataError, UsageError
from aclkit.kafka.desired.model import Document, Part


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
