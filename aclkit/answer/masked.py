"""An answer → the same without values that people must not see. Pure.

Rows and objects for programs stay whole, see ``Answer``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from aclkit.answer.document import Answer, Facts, Heading, Item, Items, Part, Sentence, Table
from aclkit.answer.rows import json_text

Clean = Callable[[str], str]

_SHORTEST_START: Final = 4
"""A shorter value is the start of too many words."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """A value that people must not see.

    Attributes:
        value: the value.
        shown: what they see instead.
        is_start: names start with it, and would show it.
    """

    value: str
    shown: str
    is_start: bool = False


def masker(hidden: Iterable[Hidden]) -> Clean:
    """Return what replaces hidden values in a text.

    >>> masker([Hidden("User:ann", "(x)"), Hidden("pay-", "(y)", True)])("User:ann, a-pay-, pay-in")
    '(x), a-pay-, (y)in'
    """
    first = {each.value: each for each in sorted(hidden, key=lambda each: each.is_start)}
    longest_first = sorted(first.values(), key=lambda each: len(each.value), reverse=True)

    def clean(text: str) -> str:
        for each in longest_first:
            is_start = each.is_start and len(each.value) >= _SHORTEST_START
            text = _replaced(text, each.value, each.shown, is_start=is_start)
        return text

    return clean


def masked(answer: Answer, clean: Clean) -> Answer:
    """Return an answer whose texts for people and code scanners lack hidden values."""
    parts, besides, sarif = answer.parts, answer.besides, answer.sarif
    return replace(
        answer,
        title=clean(answer.title),
        notes=[clean(note) for note in answer.notes],
        parts=None if parts is None else lambda: [_masked_part(part, clean) for part in parts()],
        besides=None if besides is None else lambda: [clean(text) for text in besides()],
        sarif=None if sarif is None else lambda: _masked_json(sarif(), clean),
    )


def _replaced(text: str, value: str, other: str, *, is_start: bool = False) -> str:
    """Replace a value where it stands as a word of its own, not within a longer name.

    >>> _replaced("READ on topic a* (prefix) for a-b, a", "a", "X")
    'READ on topic X* (prefix) for a-b, X'
    """
    pieces, start = list[str](), 0
    while value and (at := text.find(value, start)) >= 0:
        end = at + len(value)
        is_begun = not (_is_inner(value[0]) and _is_inner(text[at - 1 : at]))
        is_ended = is_start or not (_is_inner(value[-1]) and _is_inner(text[end : end + 1]))
        pieces += [text[start:at], other if is_begun and is_ended else value]
        start = end
    return "".join((*pieces, text[start:]))


def _is_inner(letter: str) -> bool:
    """Whether a letter beside a value makes it a part of a longer name."""
    return letter.isalnum() or letter in ("-", "_")


def _masked_part(part: Part, clean: Clean) -> Part:
    match part:
        case Sentence(text):
            return replace(part, text=clean(text))
        case Heading(text):
            return replace(part, text=clean(text))
        case Items(items):
            return Items(
                [
                    Item(clean(item.text), item.mark, [clean(text) for text in item.under])
                    for item in items
                ]
            )
        case Facts(facts):
            return Facts([(label, clean(text)) for label, text in facts])
        case Table(columns, rows):
            return Table(
                columns,
                [[clean(cell) if isinstance(cell, str) else cell for cell in row] for row in rows],
            )
    return part


def _masked_json(text: str, clean: Clean) -> str:
    """Return a document of JSON with other texts, laid out alike."""

    def walked(value: object) -> object:
        match value:
            case str():
                return clean(value)
            case list():
                return [walked(each) for each in value]
            case dict():
                return {name: walked(each) for name, each in value.items()}
        return value

    return json_text(walked(json.loads(text)), indent=2) + "\n"
