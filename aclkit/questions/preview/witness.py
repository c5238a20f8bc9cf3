"""The patterns that a change affects → names that stand for those to come. Pure.

A witness of a pattern is a name that stands in no inventory and that, as far as one is found,
only this pattern reaches and what contains it: its "any other". A witness of an overlap is such
a name for what two patterns share. What wider sets of patterns share, nothing stands for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Acl
from aclkit.model.host import canonical_host
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.principal import WILDCARD_PRINCIPAL, split_principal
from aclkit.model.resource import WORD_OF_TYPE, Resource
from aclkit.model.semantics import Semantics
from aclkit.pipeline.inventory.any_other import find_witness
from aclkit.questions.preview.overlap import (
    Symbols,
    fill,
    is_name,
    literal_start,
    may_overlap,
    overlap,
)
from aclkit.questions.preview.state import Asked, Change
from aclkit.rules.patterns.contain import glob_symbols, pattern_symbols, principal_contains
from aclkit.rules.patterns.cover import covers
from aclkit.rules.patterns.match import (
    GLOB,
    PREFIXED,
    effective_pattern_type,
    is_any_host,
    matches_every_name,
    names_exactly,
)
from aclkit.rules.patterns.trie import PatternIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A name that stands for names to come.

    Attributes:
        stands_for: in words.
        is_overlap: it stands for what a affected pattern shares with another one.
        resource: the name, where it is a resource's; otherwise None.
        principal: the name, where it is a principal's.
        host: the name, where it is a host's.
    """

    stands_for: str
    is_overlap: bool = False
    resource: Resource | None = None
    principal: str | None = None
    host: str | None = None

    @property
    def name(self) -> str:
        """The name itself."""
        return self.principal or self.host or (self.resource or _NOBODY).resource_name


_NOBODY: Final = Resource("", "")

_Pattern = tuple[str, str, str]
"""Resource type, pattern type and name."""

_TRIES: Final = 24
"""So many names are tried for a witness; then the one that fewest other patterns reach is taken."""


def find_witnesses(change: Change, asked: Asked) -> list[Witness]:
    """Find witnesses for the patterns of a change's ACLs, for principals and hosts like theirs.

    What reaches every name has the inventory's own "any other" for a witness.
    """
    affected = change.affected
    if not affected:
        return []
    found = [
        *_Names.of(change, asked).witnesses({acl.pattern: None for acl in affected}),
        *_principals(affected, asked.principals, change.semantics),
        *_hosts(affected, asked.hosts, change.semantics),
    ]
    distinct = {(w.resource, w.principal, w.host): w for w in reversed(found)}
    return list(reversed(distinct.values()))


def describe_pattern(pattern: _Pattern, semantics: Semantics) -> str:
    """Write which names a pattern reaches.

    >>> from aclkit.model.semantics import KIP_1042
    >>> describe_pattern(("TOPIC", "PREFIXED", "payments."), KIP_1042)
    'any topic to come that starts with `payments.`'
    """
    resource_type, pattern_type, name = pattern
    word = WORD_OF_TYPE[resource_type]
    kind = effective_pattern_type(pattern_type, semantics)
    if matches_every_name(pattern_type, name, semantics):
        return f"any {word} to come"
    if kind == PREFIXED:
        return f"any {word} to come that starts with `{name}`"
    if kind == GLOB:
        return f"any {word} to come that matches `{name}`"
    return f"the {word} `{name}`, should it come"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """All patterns of both states, and the names of the inventory.

    Attributes:
        patterns: in one order.
        symbols: of each of them.
        starts: the letters before a pattern's first wildcard → numbers of such patterns, by type.
        sorted_starts: the same starts in order: what begins alike stands together.
        index: of the patterns by their numbers.
        taken: resources that are no names to come.
        semantics: how patterns are read.
    """

    patterns: Sequence[_Pattern]
    symbols: Sequence[Symbols]
    starts: Mapping[tuple[str, str], Sequence[int]]
    sorted_starts: Sequence[tuple[str, str]]
    index: PatternIndex
    taken: Collection[Resource]
    semantics: Semantics

    @classmethod
    def of(cls, change: Change, asked: Asked) -> _Names:
        acls: Mapping[str, Acl] = {**change.before.acls, **change.after.acls}
        patterns = list(dict.fromkeys(acl.pattern for _, acl in sorted(acls.items())))
        symbols = [pattern_symbols(kind, name, change.semantics) for _, kind, name in patterns]
        starts: dict[tuple[str, str], list[int]] = {}
        for number, (resource_type, *_) in enumerate(patterns):
            starts.setdefault((resource_type, literal_start(symbols[number])), []).append(number)
        rows = ((number, *pattern) for number, pattern in enumerate(patterns))
        return cls(
            patterns=patterns,
            symbols=symbols,
            starts=starts,
            sorted_starts=sorted(starts),
            index=PatternIndex.build(rows, change.semantics),
            taken=frozenset(asked.resources),
            semantics=change.semantics,
        )

    def witnesses(self, affected: Iterable[_Pattern]) -> Iterator[Witness]:
        """Yield a witness of each affected pattern, then of its overlaps with each other one."""
        for pattern in affected:
            resource_type, pattern_type, name = pattern
            if resource_type == "CLUSTER" or resource_type not in OPERATIONS_OF_TYPE:
                continue
            words = describe_pattern(pattern, self.semantics)
            mine = pattern_symbols(pattern_type, name, self.semantics)
            if matches_every_name(pattern_type, name, self.semantics):
                yield Witness(stands_for=words, resource=Resource(resource_type, ANY_OTHER))
            elif witness := self._name(resource_type, mine):
                yield Witness(stands_for=words, resource=witness)
            if not is_name(mine):
                yield from self._overlaps(pattern, mine, words)

    def _overlaps(self, pattern: _Pattern, mine: Symbols, words: str) -> Iterator[Witness]:
        for number in self._near(pattern[0], mine):
            other, symbols = self.patterns[number], self.symbols[number]
            if other == pattern or not may_overlap(mine, symbols):
                continue
            if is_name(symbols):
                # Of the names in the inventory all is known already.
                is_new = Resource(other[0], "".join(symbols)) not in self.taken
                shared: Symbols | None = overlap(mine, symbols) if is_new else None
            elif covers(symbols, mine):
                continue
            else:
                shared = symbols if covers(mine, symbols) else overlap(mine, symbols)
            witness = self._name(pattern[0], shared) if shared is not None else None
            if witness:
                also = f"{words}, and that {other[1]} `{other[2]}` reaches too"
                yield Witness(stands_for=also, is_overlap=True, resource=witness)

    def _near(self, resource_type: str, mine: Symbols) -> list[int]:
        """Return the patterns that begin as a pattern does: no other shares a name with it.

        One start has to be the beginning of the other. To look at all patterns instead takes
        time that grows with the square of a change set.
        """
        start = literal_start(mine)
        near = [
            number
            for end in range(len(start))
            for number in self.starts.get((resource_type, start[:end]), ())
        ]
        at = bisect_left(self.sorted_starts, (resource_type, start))
        for key in islice(self.sorted_starts, at, None):
            if key[0] != resource_type or not key[1].startswith(start):
                break
            near += self.starts[key]
        return sorted(near)

    def _name(self, resource_type: str, shared: Symbols) -> Resource | None:
        """Find a name that as few patterns reach as can be, of those that do not contain it."""
        if is_name(shared):
            only = Resource(resource_type, "".join(shared))
            return None if only in self.taken else only
        best: tuple[int, str] | None = None
        tries = 0

        def is_ordinary(filler: str) -> bool:
            nonlocal best, tries
            name = fill(shared, run=filler, one=filler[0])
            tries += 1
            if Resource(resource_type, name) not in self.taken:
                reaching = self.index.matches(resource_type, name)
                strange = sum(not covers(self.symbols[number], shared) for number in reaching)
                best = min(best or (strange, name), (strange, name))
            return best is not None and (best[0] == 0 or tries >= _TRIES)

        find_witness(is_ordinary, ())
        return Resource(resource_type, best[1]) if best else None


def _principals(
    affected: Iterable[Acl], taken: Collection[str], semantics: Semantics
) -> Iterator[Witness]:
    """Yield a witness for each ACL principal that stands for several."""
    for text in dict.fromkeys(acl.principal for acl in affected):
        parts = split_principal(text)
        if principal_contains(text, WILDCARD_PRINCIPAL, semantics):
            if ANY_OTHER_PRINCIPAL not in taken:
                yield Witness(stands_for="any principal to come", principal=ANY_OTHER_PRINCIPAL)
        elif parts is not None and not names_exactly(text, semantics):
            symbols = (*glob_symbols(parts[0]), ":", *glob_symbols(parts[1]))
            names = (fill(symbols, run=run, one=run[0]) for run in _FILLERS)
            free = next((name for name in names if name not in taken), None)
            if free:
                words = f"any principal to come like `{text}`"
                yield Witness(stands_for=words, principal=free)


def _hosts(
    affected: Iterable[Acl], taken: Collection[str], semantics: Semantics
) -> Iterator[Witness]:
    """Yield a witness for each ACL host that stands for several."""
    for text in dict.fromkeys(acl.host for acl in affected):
        if is_any_host(text, semantics):
            if ANY_OTHER not in taken:
                yield Witness(stands_for="any host to come", host=ANY_OTHER)
        elif semantics.identity_globs and ("*" in text or "?" in text):
            names = (fill(glob_symbols(text), run=run, one=run[-1]) for run in _ADDRESSES)
            free = next((n for n in names if canonical_host(n) == n and n not in taken), None)
            if free:
                yield Witness(stands_for=f"any host to come like `{text}`", host=free)


_FILLERS: Final = ("any-other", *(f"{letter}-any-other" for letter in "zqxjkvw"))
_ADDRESSES: Final = (
    *(".".join([str(n)] * parts) for parts in (1, 2, 3) for n in (254, 253, 199, 77, 9, 5)),
    *(":".join([f"{n:x}"] * groups) for groups in range(1, 8) for n in (254, 253, 199, 77, 9, 5)),
)
"""Parts of addresses, IPv4 and IPv6; whole ones are the any-other host's."""
