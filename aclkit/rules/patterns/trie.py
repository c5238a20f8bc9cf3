"""All resource patterns, built once → the ids of every pattern that matches a name.

A trie whose nodes are kept in sorted order of their paths, each with its parent, so that the
deepest node above a name is one binary search away and nothing nests when it is pickled. What
is a mere start (PREFIXED, ``lit*``) ends on the node of that start; a glob hangs on the node of
its literal start and is decomposed, filtered and verified: it is filed under its rarest literal
q-gram, looked at only for names that hold it, and checked without going back over the name.
``pattern_matches`` is the specification.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import Final

from aclkit.model.acl import ANY_OTHER
from aclkit.model.glob import glob_matches
from aclkit.model.groups import grouped
from aclkit.model.semantics import Semantics
from aclkit.model.values import dataclass
from aclkit.rules.patterns.match import GLOB, LITERAL, effective_pattern_type, matches_every_name

_WILDCARD_RUN: Final = re.compile(r"([*?]+)")
_LONGEST_GRAM: Final = 4
_FEW: Final = 8
"""So many globs of one node are verified without a filter in front of them."""
_SAMPLE: Final = 4_000
"""How many pattern texts rate how rare a gram is: they are the best guess at future names."""
_SAMPLED: Final = 1_000
"""Of each so many letters: few names are longer, and those that are shall not cost minutes."""
_MASK_BITS: Final = 64


@dataclass(frozen=True, slots=True)
class PatternIndex:
    """The tries of all resource types."""

    tries: dict[str, PatternTrie]

    @classmethod
    def build(
        cls, patterns: Iterable[tuple[int, str, str, str]], semantics: Semantics
    ) -> PatternIndex:
        """Build the index over (id, resource type, pattern type, pattern text).

        >>> from aclkit.model.semantics import KIP_1042
        >>> patterns = [(1, "TOPIC", "PREFIXED", "pay-"), (2, "TOPIC", "GLOB", "*-in?")]
        >>> PatternIndex.build(patterns, KIP_1042).matches("TOPIC", "pay-in1")
        [1, 2]
        """
        by_type = grouped((kind, (number, how, text)) for number, kind, how, text in patterns)
        return cls({name: PatternTrie.build(rows, semantics) for name, rows in by_type.items()})

    def matches(self, resource_type: str, name: str) -> list[int]:
        """Return the ids of all patterns of the type that match the name, in order."""
        trie = self.tries.get(resource_type)
        return trie.matches(name) if trie else []


@dataclass(frozen=True, slots=True)
class PatternTrie:
    """All patterns of one resource type.

    Attributes:
        literals: name → ids of the patterns that match this name only.
        everywhere: ids that reach "any other".
        wildcards: ids of LITERAL ``*`` where ``wildcard_defect`` lets it miss names.
        paths: the nodes' paths, sorted.
        nodes: the nodes, one per path.
    """

    literals: dict[str, list[int]]
    everywhere: list[int]
    wildcards: list[int]
    paths: list[str]
    nodes: list[_Node]

    @classmethod
    def build(cls, patterns: Iterable[tuple[int, str, str]], semantics: Semantics) -> PatternTrie:
        """Build the trie over (id, pattern type, pattern text)."""
        draft = _Draft()
        for pattern_id, pattern_type, text in patterns:
            draft.add(pattern_id, pattern_type, text, semantics)
        rarity = _Rarity([*draft.literals, *draft.starts, *draft.globs])
        paths = sorted(draft.starts.keys() | draft.globs.keys())
        nodes = [
            _node(parent, draft.starts.get(path, []), draft.globs.get(path, {}), rarity)
            for path, parent in zip(paths, _parents(paths), strict=True)
        ]
        return cls(draft.literals, draft.everywhere, draft.wildcards, paths, nodes)

    def matches(self, name: str) -> list[int]:
        """Return the ids of all patterns that match the name, in order."""
        if name == ANY_OTHER:
            return sorted(self.everywhere)
        found = list(self.literals.get(name, ()))
        if self.wildcards and not (len(name) > 1 and name[0] == "*"):
            found += self.wildcards
        grams: dict[int, set[str]] = {}
        absent = 0
        for node in self._nodes_above(name):
            found += node.ids
            globs = node.candidates(name, grams)
            if globs and not absent:
                absent = ~_letter_mask(name)
            for glob in globs:
                if not glob.letters & absent and glob.matches(name):
                    found += glob.ids
        found.sort()
        return found

    def _nodes_above(self, name: str) -> Iterator[_Node]:
        """Yield the nodes whose path starts the name, the deepest first.

        The last path that sorts up to the name is below all of them, or is one.
        """
        at = bisect_right(self.paths, name) - 1
        while at >= 0 and not name.startswith(self.paths[at]):
            at = self.nodes[at].parent
        while at >= 0:
            node = self.nodes[at]
            yield node
            at = node.parent


@dataclass(frozen=True, slots=True)
class _Glob:
    """A glob with a wildcard that is more than ``lit*``, split for a check without steps back.

    Attributes:
        ids: the patterns with this normal form.
        start: how many letters the node's path has already matched.
        letters: a bit for each letter that a name must hold; different letters may share one.
        fragments: the literals between the wildcards.
        tail: the literal after the last wildcard.
        minimum: how long a name must be.
        exact: the glob itself where it holds ``?``: fragments in order then do not suffice.
    """

    ids: list[int]
    start: int
    letters: int
    fragments: tuple[str, ...]
    tail: str
    minimum: int
    exact: str | None

    def matches(self, name: str) -> bool:
        """Whether the glob matches a name that begins with its literal start."""
        if len(name) < self.minimum or not name.endswith(self.tail):
            return False
        at, end = self.start, len(name) - len(self.tail)
        for fragment in self.fragments:
            at = name.find(fragment, at, end)
            if at < 0:
                return False
            at += len(fragment)
        return self.exact is None or glob_matches(self.exact, name)


@dataclass(frozen=True, slots=True)
class _Node:
    """One path: what matches every name below it, and the globs that start with it.

    Attributes:
        parent: the node of the longest path that starts this one, or -1.
        ids: patterns that match every name that begins with the path.
        unfiled: globs to verify for every such name.
        filed: gram length → gram → globs to verify for names that hold the gram.
    """

    parent: int
    ids: list[int]
    unfiled: list[_Glob]
    filed: dict[int, dict[str, list[_Glob]]]

    def candidates(self, name: str, grams: dict[int, set[str]]) -> list[_Glob]:
        """Return the globs worth verifying; ``grams`` keeps the name's grams between nodes."""
        if not self.filed:
            return self.unfiled
        chosen = list(self.unfiled)
        for size, globs in self.filed.items():
            if size not in grams:
                grams[size] = set(_grams(name, size))
            for gram in globs.keys() & grams[size]:
                chosen += globs[gram]
        return chosen


@dataclass(slots=True)
class _Draft:
    """The patterns sorted by what they can match, before any node exists."""

    literals: dict[str, list[int]] = field(default_factory=dict)
    everywhere: list[int] = field(default_factory=list)
    wildcards: list[int] = field(default_factory=list)
    starts: dict[str, list[int]] = field(default_factory=dict)
    globs: dict[str, dict[str, list[int]]] = field(default_factory=dict)

    def add(self, pattern_id: int, pattern_type: str, text: str, semantics: Semantics) -> None:
        if matches_every_name(pattern_type, text, semantics):
            self.everywhere.append(pattern_id)
        kind = effective_pattern_type(pattern_type, semantics)
        if kind == GLOB:
            self._add_glob(pattern_id, text)
        elif kind != LITERAL:
            self.starts.setdefault(text, []).append(pattern_id)
        elif text != "*":
            self.literals.setdefault(text, []).append(pattern_id)
        elif semantics.wildcard_defect:
            self.wildcards.append(pattern_id)
        else:
            self.starts.setdefault("", []).append(pattern_id)

    def _add_glob(self, pattern_id: int, text: str) -> None:
        start, *rest = _split(text)
        if not rest and text:
            ids = self.literals.setdefault(text, [])
        elif rest in ([], ["*", ""]):
            ids = self.starts.setdefault(start, [])
        else:
            ids = self.globs.setdefault(start, {}).setdefault(start + "".join(rest), [])
        ids.append(pattern_id)


class _Rarity:
    """Which gram of a glob is the rarest among the texts of the patterns."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [text[:_SAMPLED] for text in texts[:: max(1, len(texts) // _SAMPLE)]]
        self._counts: dict[int, Counter[str]] = {}

    def rarest(self, fragments: Iterable[str], size: int) -> str:
        """Return the rarest gram of that length in the fragments."""
        if size not in self._counts:
            self._counts[size] = Counter(g for text in self._texts for g in _grams(text, size))
        counts = self._counts[size]
        return min((g for f in fragments for g in _grams(f, size)), key=lambda g: (counts[g], g))


def _node(parent: int, ids: list[int], globs: dict[str, list[int]], rarity: _Rarity) -> _Node:
    node = _Node(parent, ids, [], {})
    for text, glob_ids in globs.items():
        glob = _glob(text, glob_ids)
        literals = (*glob.fragments, glob.tail)
        size = min(_LONGEST_GRAM, max(map(len, literals)))
        if size and len(globs) > _FEW:
            filed = node.filed.setdefault(size, {})
            filed.setdefault(rarity.rarest(literals, size), []).append(glob)
        else:
            node.unfiled.append(glob)
    return node


def _glob(text: str, ids: list[int]) -> _Glob:
    parts = _split(text)
    start, *fragments, tail = parts[::2]
    questions = text.count("?")
    return _Glob(
        ids=ids,
        start=len(start),
        letters=_letter_mask("".join(parts[::2])),
        fragments=tuple(filter(None, fragments)),
        tail=tail,
        minimum=sum(map(len, parts[::2])) + questions,
        exact=text if questions else None,
    )


def _split(glob: str) -> list[str]:
    """Split into literals and, between them, wildcard runs: its ``?``s, then one ``*`` if any."""
    parts = _WILDCARD_RUN.split(glob)
    for at in range(1, len(parts), 2):
        parts[at] = "?" * parts[at].count("?") + "*" * ("*" in parts[at])
    return parts


def _letter_mask(text: str) -> int:
    """Set the bit of each letter of a text."""
    mask = 0
    for letter in set(text):
        mask |= 1 << ord(letter) % _MASK_BITS
    return mask


def _grams(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(len(text) - size + 1)]


def _parents(paths: Sequence[str]) -> Iterator[int]:
    """Yield for each of the sorted paths where the longest other that starts it is, or -1."""
    open_paths: list[int] = []
    for at, path in enumerate(paths):
        while open_paths and not path.startswith(paths[open_paths[-1]]):
            open_paths.pop()
        yield open_paths[-1] if open_paths else -1
        open_paths.append(at)
