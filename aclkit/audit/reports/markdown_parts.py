"""Names and rows → parts of a Markdown page, in which no name does anything. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from aclkit.model.visible import visible

_SPECIAL: Final = re.compile(r"[\\`*_\[\]|~$@!#]")
_LIST_MARK: Final = re.compile(r"^(\d*)([-+=.)])")
"""What would open a list or underline a heading at the start of a line."""
_OUTER_SPACE: Final = re.compile(r"^ | $")
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}

MOST_LINES: Final = 50
"""So many lines of a kind are shown; the rest is counted. A comment has a largest size."""


def document(blocks: Iterable[Sequence[str]]) -> str:
    """Return a page of blocks, each of them lines."""
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def table(
    columns: Sequence[str], rows: Iterable[Iterable[str]], right: Collection[str] = ()
) -> list[str]:
    """Return the lines of a table; the cells are Markdown already, those of some stand right."""
    rule = "".join("---:|" if column in right else "---|" for column in columns)
    head, *lines = (f"| {' | '.join(cells)} |" for cells in (columns, *rows))
    return [head, f"|{rule}", *lines]


def bounded_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], number: int
) -> Iterator[list[str]]:
    """Yield the first of a number of rows as a table, and how many more there are."""
    cells = (
        (f"{v:,}" if isinstance(v, int) else escape_markdown(str(v)) for v in row)
        for row in islice(rows, MOST_LINES)
    )
    yield table(columns, cells)
    if number > MOST_LINES:
        yield [f"… and {number - MOST_LINES:,} more lines; `--format csv` prints them all"]


def escape_markdown(text: str) -> str:
    r"""Return a text so that Markdown and HTML show it and do nothing else with it.

    What is not printable, line breaks and marks that turn the direction of writing among them,
    becomes its code point.

    >>> print(escape_markdown("a|b\n<i>`"))
    a\|b\\u{a}&lt;i&gt;\`
    """
    escaped = _SPECIAL.sub(r"\\\g<0>", visible(text))
    for character, entity in _ENTITIES.items():
        escaped = escaped.replace(character, entity)
    escaped = escaped.replace("](", "]\\(").replace("://", "\\://").replace("www.", "www\\.")
    escaped = _LIST_MARK.sub(r"\1\\\2", escaped)
    return _OUTER_SPACE.sub("&#32;", escaped)
