"""An answer's JSON and its lines → as much of both as an assistant is sent. Pure.

What is left out is counted. Names stay text: each letter that acts or hides is made visible, as it
is on a terminal, because an assistant's user sees no raw bytes either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from aclkit.answer.rows import json_value
from aclkit.model.visible import visible

MOST_LETTERS: Final = 200_000
"""So many letters of JSON an answer may have."""

LONGEST_STRING: Final = 10_000
MOST_LINES: Final = 80
LONGEST_LINE: Final = 600
QUOTE: Final = "| "
"""Each line that may hold a name begins so. No name has a line break, so none can leave it."""


@dataclass(slots=True)
class Cutter:
    """Cuts the lists of one answer, and knows what it cut.

    Attributes:
        limit: so many items of each list stay.
        left: so many letters may still be written; then lists end.
        cut: the place of each list that was cut → how many items it has.
    """

    limit: int
    left: int = MOST_LETTERS
    cut: dict[str, int] = field(default_factory=dict)

    def rows(self, items: Iterable[object], place: str) -> list[object]:
        """Return the first items of a list; all are counted."""
        found: list[object] = []
        number = 0
        for item in items:
            number += 1
            if len(found) < self.limit and self.left > 0:
                found.append(self.value(item, f"{place}[]"))
        if number > len(found):
            self.cut[place] = max(number, self.cut.get(place, 0))
        return found

    def members(self, items: Iterable[tuple[str, object]], place: str = "") -> dict[str, object]:
        """Return an object; the place of a member is its name below that of the object."""
        found: dict[str, object] = {}
        for name, value in items:
            self.left -= len(name)
            below = f"{place}.{visible(name)}" if place else visible(name)
            found[visible(name)] = self.value(value, below)
        return found

    def value(self, value: object, place: str) -> object:
        """Return any value as JSON has it."""
        if isinstance(value, Mapping):
            return self.members(((str(key), item) for key, item in value.items()), place)
        if isinstance(value, (list, tuple, Iterator)):
            return self.rows(value, place)
        plain = json_value(value)
        if not isinstance(plain, str):
            self.left -= 8
            return plain
        text = visible(plain)
        if len(text) > LONGEST_STRING:
            self.cut[place] = max(len(text), self.cut.get(place, 0))
            text = f"{text[:LONGEST_STRING]}…"
        self.left -= len(text)
        return text


def quoted_text(lines: Iterable[str]) -> str:
    r"""Write the first lines of a text, each with the mark of what may hold names.

    >>> print(quoted_text(["a\n", "b\n"]))
    | a
    | b
    """
    rest = iter(lines)
    found = [_quoted(line) for line in islice(rest, MOST_LINES)]
    if next(rest, None) is not None:
        found.append(f"(Only the first {MOST_LINES} lines are shown.)")
    return "\n".join(found)


def _quoted(line: str) -> str:
    text = line.rstrip()
    if len(text) > LONGEST_LINE:
        text = f"{text[:LONGEST_LINE]}…"
    return f"{QUOTE}{text}".rstrip()
