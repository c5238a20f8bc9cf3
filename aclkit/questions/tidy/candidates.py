"""Names of ACLs → the globs, or the prefixes, that have several of them in common. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import Final

from aclkit.rules.patterns.match import GLOB, PREFIXED

MOST_NAMES: Final = 60
MOST_OF_A_CELL: Final = 40
"""So many names are paired, and so many of what that gives are looked at: the most frequent."""

_SEPARATOR: Final = re.compile(r"([._-])")
_MOST_STARS: Final = 3


def candidates(texts: Iterable[str], pattern_type: str) -> list[str]:
    """Return the names of patterns of a type that some texts have in common, at most so many.

    A text is a name, or a glob that stands for a prefix.
    """
    some = sorted(set(texts))[:MOST_NAMES]
    found: Counter[str] = Counter()
    for one, other in combinations(some, 2):
        found.update(_of_pair(one, other) if pattern_type == GLOB else _starts(one, other))
    wanted = (name for name in found if pattern_type == PREFIXED or _is_glob(name))
    return sorted(wanted, key=lambda name: (-found[name], name))[:MOST_OF_A_CELL]


def _of_pair(one: str, other: str) -> set[str]:
    """Return what two names have in common part by part, and at both ends.

    >>> sorted(_of_pair("pay.a1.log", "pay.a2.log"))
    ['pay.*.log', 'pay.a*.log']
    """
    start = _common_start(one, other).rstrip("*")
    rest = [one[len(start) :][::-1], other[len(start) :][::-1]]
    found = {f"{start}*{_common_start(*rest)[::-1].lstrip('*')}"}
    parts, others = _SEPARATOR.split(one), _SEPARATOR.split(other)
    if len(parts) == len(others) and parts[1::2] == others[1::2]:
        alike = (p if p == q else "*" for p, q in zip(parts, others, strict=True))
        found.add("".join(alike))
    return found


def _starts(one: str, other: str) -> set[str]:
    """Return the letters with which two names begin, whole parts of them, and all of them."""
    start = _common_start(one, other).rstrip("*")
    ends = {0, len(start), *(found.end() for found in _SEPARATOR.finditer(start))}
    return {start[:end] for end in ends} - {""}


def _common_start(one: str, other: str) -> str:
    pairs = zip(one, other, strict=False)
    end = next((at for at, (p, q) in enumerate(pairs) if p != q), min(len(one), len(other)))
    return one[:end]


def _is_glob(name: str) -> bool:
    """Whether a name has stars, not too many, and something else."""
    return 0 < name.count("*") <= _MOST_STARS and any(letter not in "*._-" for letter in name)
