"""A number of things in words. Pure."""

from __future__ import annotations


def number_of(number: int, one: str, many: str = "") -> str:
    """Write a number of things; ``many`` is for words whose plural has no plain ``s``.

    >>> number_of(1, "file"), number_of(2_000, "file")
    ('1 file', '2,000 files')
    """
    return f"{number:,} {one}" if number == 1 else f"{number:,} {many or f'{one}s'}"
