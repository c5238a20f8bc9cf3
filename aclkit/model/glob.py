"""A glob and a text → does the glob match all of it? KIP-1042's two wildcards, nothing else.

No regular expression is ever built from a glob: globs come from strangers.
"""

from __future__ import annotations


def glob_matches(glob: str, name: str) -> bool:
    """Say whether a glob matches the whole name, in O(len(glob) × len(name)) at worst.

    ``*`` is zero or more characters, ``?`` exactly one code point; nothing else is special,
    there is no escape and case matters (KIP-1042). Only the last ``*`` is ever gone back to:
    an earlier one could do nothing that the last one cannot.

    >>> glob_matches("He*m*m*", "Hermesmoon"), glob_matches("a?", "a")
    (True, False)
    """
    at_glob = at_name = 0
    star, resume = -1, 0
    while at_name < len(name):
        if at_glob < len(glob) and glob[at_glob] == "*":
            star, resume = at_glob, at_name
            at_glob += 1
        elif at_glob < len(glob) and glob[at_glob] in ("?", name[at_name]):
            at_glob += 1
            at_name += 1
        elif star >= 0:
            resume += 1
            at_glob, at_name = star + 1, resume
        else:
            return False
    return glob.count("*", at_glob) == len(glob) - at_glob


def is_universal(glob: str) -> bool:
    """Say whether a glob matches every name: the empty glob and runs of stars (KIP-1042)."""
    return glob.count("*") == len(glob)
