"""Parts of an answer → Markdown, in which no name does anything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from aclkit.answer.document import (
    Answer,
    Command,
    Facts,
    Heading,
    Item,
    Items,
    Part,
    Row,
    Sentence,
    Table,
)
from aclkit.answer.text import shown_cell
from aclkit.model.visible import visible

MOST_ROWS: Final = 50
"""So many rows of a table or a list are shown, the rest is counted: a comment has a size limit."""

_ALL_ROWS: Final = "`--format json` prints all"

MOST_LETTERS: Final = 65_000
"""So long is a comment at most: GitHub takes 65,536 characters."""

_CUT: Final = "… the rest was cut; `--format json` prints all"
_LONGEST_FENCE: Final = 10
_FAIL: Final = re.compile("fail", re.IGNORECASE)
_NO_WIDTH: Final = "\u200b"
"""A space without width: it breaks a word that programs look for, and people do not see it."""

_SPECIAL: Final = re.compile(r"[\\`*_\[\]|~$@!#]")
_LIST_MARK: Final = re.compile(r"^(\d*)([-+=.)])")
"""What would open a list or underline a heading at the start of a line."""
_OUTER_SPACE: Final = re.compile(r"^ | $")
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_FENCE: Final = re.compile("`+")


def render_markdown(answer: Answer) -> str:
    """Return an answer as a comment: its title, then its parts."""
    title = [Heading(answer.title)] if answer.title else []
    text = document([*title, *answer.for_people()])
    comment = answer.comment
    if comment is None:
        return text
    text = fitted(f"<!-- {comment.marker} -->\n{text}", MOST_LETTERS)
    if not comment.is_calm:
        return text
    return _FAIL.sub(lambda found: f"{found[0][:2]}{_NO_WIDTH}{found[0][2:]}", text)


def fitted(text: str, most: int) -> str:
    r"""Cut a page after a whole line where it is too long, and close the fence that is open there.

    >>> print(fitted("a\n```diff\n+ b\n+ c\n```\n" + "d" * 60, 70))
    a
    ```diff
    + b
    ```
    <BLANKLINE>
    … the rest was cut; `--format json` prints all
    <BLANKLINE>
    """
    if len(text) <= most:
        return text
    end = text.rfind("\n", 0, most - len(_CUT) - _LONGEST_FENCE)
    kept = text[: max(0, end)]
    fences = [line for line in kept.split("\n") if line.startswith("```")]
    is_open = len(fences) % 2
    close = f"\n{_FENCE.findall(fences[-1])[0]}" if is_open else ""
    return f"{kept}{close}\n\n{_CUT}\n"


def document(parts: Iterable[Part], level: int = 2, rest: str = _ALL_ROWS) -> str:
    """Return a page of parts.

    Args:
        parts: a heading first; the headings that follow are one level below it.
        level: of that heading.
        rest: where to find the rows that are only counted.
    """
    blocks: list[str] = []
    for number, part in enumerate(parts):
        blocks += _blocks_of(part, level + min(number, 1), rest)
    return "\n\n".join(blocks) + "\n"


def _blocks_of(part: Part, level: int, more: str) -> Iterator[str]:
    match part:
        case Heading(text, is_sub):
            yield f"{'#' * (level + is_sub)} {escape_markdown(text)}"
        case Sentence(text, tone):
            shown = escape_markdown(text)
            yield f"**{shown}**" if tone in ("good", "bad") else shown
        case Command(text):
            yield _fenced([visible(text)], "sh")
        case Facts(facts):
            yield "\n".join(f"- {escape_markdown(f'{label}: {text}')}" for label, text in facts)
        case Items(items):
            yield from _list(items, more)
        case Table(columns, rows):
            yield from _table(columns, rows, more)


def _list(items: Iterable[Item], more: str) -> Iterator[str]:
    """Yield the first lines of a list; what comes and goes as the difference that it is."""
    rest = iter(items)
    shown = list(islice(rest, MOST_ROWS))
    if any(item.mark for item in shown):
        yield _fenced([line for item in shown for line in _diff_lines(item)], "diff")
    elif shown:
        yield "\n".join(map(_item, shown))
    yield from _more(rest, more)


def _diff_lines(item: Item) -> Iterator[str]:
    # What a difference calls changed: a line with "!".
    yield visible(f"{'!' if item.mark == '~' else item.mark or ' '} {item.text}")
    yield from (visible(f"      {text}") for text in item.under)


def _item(item: Item) -> str:
    under = "".join(f"\n  - {escape_markdown(text)}" for text in item.under)
    return f"- {escape_markdown(item.text)}{under}"


def _table(columns: Sequence[str], rows: Iterable[Row], more: str) -> Iterator[str]:
    rest = iter(rows)
    shown = [tuple(row) for row in islice(rest, MOST_ROWS)]
    numbers = [all(type(v) is int for v in column) for column in zip(*shown, strict=True)]
    numbers = numbers or [False] * len(columns)
    rule = "".join("---:|" if is_number else "---|" for is_number in numbers)
    head, *lines = (f"| {' | '.join(map(_cell, cells))} |" for cells in (columns, *shown))
    yield "\n".join([head, f"|{rule}", *lines])
    yield from _more(rest, more)


def _cell(value: object) -> str:
    if type(value) is int:
        return f"{value:,}"
    if value is None:
        return ""
    return escape_markdown(value if isinstance(value, str) else shown_cell(value))


def _more(rest: Iterable[object], where: str) -> Iterator[str]:
    if number := sum(1 for _ in rest):
        yield f"… and {number:,} more; {where}"


def _fenced(lines: Sequence[str], language: str) -> str:
    """Put lines into a fence that is longer than any in them."""
    longest = max((len(found) for line in lines for found in _FENCE.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}{language}", *lines, fence])


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
