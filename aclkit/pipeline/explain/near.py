"""Patterns and a few names → which match which, found by how they begin and not by the trie."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence

from aclkit.model.groups import grouped
from aclkit.model.semantics import Semantics
from aclkit.rules.patterns.match import pattern_matches, start_of_names

Resource = tuple[str, str]
"""Resource type and name."""

Pattern = tuple[str, str, str]
"""Resource type, pattern type and name."""


def resources_matched(
    patterns: Iterable[Pattern], resources: Collection[Resource], semantics: Semantics
) -> Iterator[tuple[Pattern, Resource]]:
    """Yield each pattern with each of a few resources that it matches, by the specification."""
    names = grouped(sorted(resources))
    for pattern in patterns:
        resource_type, kind, text = pattern
        for name in _names_near(pattern, names.get(resource_type, ()), semantics):
            if pattern_matches(kind, text, name, semantics):
                yield pattern, (resource_type, name)


def _names_near(pattern: Pattern, names: Sequence[str], semantics: Semantics) -> Iterator[str]:
    """Yield those of some sorted names that begin with a pattern's text, or if LITERAL equal it."""
    _, pattern_type, text = pattern
    start, is_whole = start_of_names(pattern_type, text, semantics)
    for at in range(bisect_left(names, start), len(names)):
        if not names[at].startswith(start) or (is_whole and names[at] != start):
            return
        yield names[at]
