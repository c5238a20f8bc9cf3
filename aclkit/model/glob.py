"""A glob and a text → does the glob match all of it? KIP-1042's two wildcards, nothing else.

No regular expression is ever built from a glob: globs come from strangers.
"""

from __future__ import annotations


def glob_matches(glob: str, name: str) -> bool:
    """Say whether a glob matches the whole name.

    ``*`` is zero or more characters, ``?`` exactly one code point; nothing else is special,
    there is no escape and case matters (KIP-1042). Between its stars a glob is a row of segments;
    each is taken where it is found first, for a later place could do nothing that the first
    cannot.

    >>> glob_matches("He*m*m*", "Hermesmoon"), glob_matches("a?", "a")
    (True, False)
    """
    first, *others = glob.split("*")
    if not others:
        return len(glob) == len(name) and _stands_at(glob, name, 0)
    *middle, last = others
    at, end = len(first), len(name) - len(last)
    if at > end or not (_stands_at(first, name, 0) and _stands_at(last, name, end)):
        return False
    for segment in middle:
        at = _find(segment, name, at, end)
        if at < 0:
            return False
        at += len(segment)
    return True


def is_universal(glob: str) -> bool:
    """Say whether a glob matches every name: the empty glob and runs of stars (KIP-1042)."""
    return glob.count("*") == len(glob)


def _find(segment: str, name: str, start: int, end: int) -> int:
    """Return where a segment stands first in a part of a name, or -1."""
    if "?" not in segment:
        return name.find(segment, start, end)
    places = range(start, end - len(segment) + 1)
    return next((place for place in places if _stands_at(segment, name, place)), -1)


def _stands_at(segment: str, name: str, at: int) -> bool:
    """Say whether a segment, not longer than what is left of the name, stands at a place of it."""
    for letters in segment.split("?"):
        if not name.startswith(letters, at):
            return False
        at += len(letters) + 1
    return True
