"""Parts of sentences: things in a list, and the word that is most like another. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

_FEW: Final = 3
_LONGEST_WORD: Final = 32
"""Of a longer word the beginning is compared: the time grows with the square."""


def listed(words: Sequence[str], last: str = "and") -> str:
    """Write all of a list, a word before the last one.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b"], "or")
    ('a', 'a, b and c', 'a or b')
    """
    *before, end = words
    return f"{', '.join(before)} {last} {end}" if before else end


def few(words: Iterable[str], most: int = _FEW) -> str:
    """Write the first of a list, and count the others.

    >>> few("abcde"), few("abc")
    ('a, b, c and 2 more', 'a, b, c')
    """
    every = list(words)
    shown = ", ".join(every[:most])
    return shown if len(every) <= most else f"{shown} and {len(every) - most:,} more"


def capitalized(text: str) -> str:
    """Begin a text with a capital letter; the rest stays, names in it among others.

    >>> capitalized("no ACL for User:bob")
    'No ACL for User:bob'
    """
    return f"{text[:1].upper()}{text[1:]}"


def most_like(word: str, known: Iterable[str], least: float = 0.6) -> str | None:
    """Return the known word that is most like one, None where none is.

    Args:
        word: what somebody wrote.
        known: the words that there are.
        least: how much alike they must be, from 0 to 1.

    >>> most_like("READD", ["READ", "WRITE"]), most_like("FLY", ["READ", "WRITE"])
    ('READ', None)
    """
    # Here: only a mistake needs it.
    from difflib import get_close_matches

    return next(iter(get_close_matches(word[:_LONGEST_WORD], list(known), 1, least)), None)


def number_of(number: int, one: str, many: str = "") -> str:
    """Write a number of things; ``many`` is for words whose plural has no plain ``s``.

    >>> number_of(1, "file"), number_of(2_000, "file")
    ('1 file', '2,000 files')
    """
    return f"{number:,} {one}" if number == 1 else f"{number:,} {many or f'{one}s'}"
