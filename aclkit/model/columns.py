"""Names of columns → names that differ. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count


def distinct(columns: Sequence[str]) -> list[str]:
    """Number columns of one name: an object would keep the last of them only.

    >>> distinct(["a", "a", "b"])
    ['a', 'a_1', 'b']
    """
    names: list[str] = []
    for column in columns:
        numbered = (f"{column}_{number}" for number in count(1))
        free = (name for name in chain([column], numbered) if name not in names)
        names.append(next(name for name in free if name == column or name not in columns))
    return names
