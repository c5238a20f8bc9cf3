"""What ACLs say in one dimension, and a pattern → names that stand for those to come. Pure.

A dimension is the principals, the hosts, or the names of one resource type. A pattern gets a name
of its own, and one for what it shares with each text of an ACL; each is in no inventory, is meant
by the assertion, and is matched by as few other texts as can be. For what three patterns share,
nothing stands; of several ways to lay two globs over each other one is taken, see ``overlap``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL, Acl
from aclkit.model.host import canonical_host
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.principal import split_principal
from aclkit.model.resource import CLUSTER_NAME
from aclkit.model.semantics import KIP_1042, Semantics
from aclkit.questions.preview.overlap import Symbols, fill, is_name, may_overlap, overlap
from aclkit.questions.preview.state import Asked
from aclkit.rules.patterns.contain import pattern_symbols
from aclkit.rules.patterns.cover import covers
from aclkit.rules.patterns.identity import (
    host_pattern,
    index_hosts,
    index_principals,
    principal_pattern,
)
from aclkit.rules.patterns.trie import PatternIndex

Text = str | int
"""What an index calls a text: principals and hosts are themselves, patterns have numbers."""


class StandIn(NamedTuple):
    """A name of no inventory; ``is_endless`` where it stands for any number of them."""

    name: str
    is_endless: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """What ACLs say of the principals, of the hosts, or of the names of one resource type.

    Attributes:
        texts: the texts of ACLs.
        matching: those of them that match a name.
        taken: names of the inventory.
        symbol: the one of these that stands for any other, if it is among them.
        is_legal: whether a text can be a name at all.
        fillers: what is put for a run of any letters, the first choice first; empty at last.
    """

    texts: Mapping[Text, Symbols]
    matching: Callable[[str], Collection[Text]]
    taken: Collection[str]
    symbol: str
    is_legal: Callable[[str], bool]
    fillers: tuple[str, ...]

    def within(self, mine: Symbols, is_meant: Callable[[str], bool]) -> Iterator[StandIn]:
        """Yield stand-ins of a pattern, but for those that fare as any other name does."""
        said = None
        if self.symbol in self.taken and is_meant(self.symbol):
            said = set(self.matching(self.symbol))
        for shared in self._shared(mine):
            found = self._name(shared, is_meant)
            if found is not None and set(self.matching(found.name)) != said:
                yield found

    def _shared(self, mine: Symbols) -> Iterator[Symbols]:
        yield mine
        for symbols in self.texts.values():
            if not may_overlap(mine, symbols) or covers(symbols, mine):
                continue
            shared = symbols if covers(mine, symbols) else overlap(mine, symbols)
            if shared is not None:
                yield shared

    def _name(self, shared: Symbols, is_meant: Callable[[str], bool]) -> StandIn | None:
        """Find a name that fewest texts match, aside from those that match all that is shared."""
        best: tuple[int, StandIn] | None = None
        for filler in ("",) if is_name(shared) else self.fillers:
            name = fill(shared, run=filler, one=filler[-1:] or _LETTER)
            if name in self.taken or not self.is_legal(name) or not is_meant(name):
                continue
            strange = sum(not covers(self.texts[text], shared) for text in self.matching(name))
            if best is None or strange < best[0]:
                best = strange, StandIn(name, bool(filler))
            if not strange:
                break
        return best[1] if best else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """All dimensions of some ACLs and an inventory."""

    principals: Dimension
    hosts: Dimension
    resources: Mapping[str, Dimension]

    @classmethod
    def of(cls, acls: Iterable[Acl], inventory: Asked, semantics: Semantics) -> Ground:
        """Index what the ACLs say."""
        rows = list(acls)
        return cls(
            principals=_principals({acl.principal for acl in rows}, inventory, semantics),
            hosts=_hosts({acl.host for acl in rows}, inventory, semantics),
            resources=_resources(rows, inventory, semantics),
        )


def _principals(texts: Iterable[str], inventory: Asked, semantics: Semantics) -> Dimension:
    named = sorted(text for text in texts if split_principal(text))
    return Dimension(
        texts=_symbols({text: principal_pattern(text, semantics) for text in named}),
        matching=index_principals(named, semantics).matching,
        taken=frozenset(inventory.principals),
        symbol=ANY_OTHER_PRINCIPAL,
        is_legal=lambda name: split_principal(name) is not None,
        fillers=_WORDS,
    )


def _hosts(texts: Iterable[str], inventory: Asked, semantics: Semantics) -> Dimension:
    named = sorted(texts)
    return Dimension(
        texts=_symbols({text: host_pattern(text, semantics) for text in named}),
        matching=index_hosts(named, semantics).matching,
        taken=frozenset(inventory.hosts),
        symbol=ANY_OTHER,
        is_legal=lambda name: canonical_host(name) == name,
        fillers=_ADDRESSES,
    )


def _symbols(patterns: Mapping[str, tuple[str, str]]) -> dict[Text, Symbols]:
    return {text: pattern_symbols(*pattern, KIP_1042) for text, pattern in patterns.items()}


def _resources(acls: Iterable[Acl], inventory: Asked, semantics: Semantics) -> dict[str, Dimension]:
    rows = sorted({acl.pattern for acl in acls})
    index = PatternIndex.build(((n, *row) for n, row in enumerate(rows)), semantics)
    texts: dict[str, dict[Text, Symbols]] = {kind: {} for kind in OPERATIONS_OF_TYPE}
    taken: dict[str, set[str]] = {kind: set() for kind in OPERATIONS_OF_TYPE}
    for number, (kind, pattern_type, name) in enumerate(rows):
        if kind in texts:
            texts[kind][number] = pattern_symbols(pattern_type, name, semantics)
    for resource in inventory.resources:
        taken[resource.resource_type].add(resource.resource_name)
    return {
        kind: Dimension(
            texts=texts[kind],
            matching=partial(index.matches, kind),
            taken=taken[kind],
            symbol=ANY_OTHER,
            is_legal=CLUSTER_NAME.__eq__ if kind == "CLUSTER" else bool,
            fillers=_WORDS,
        )
        for kind in OPERATIONS_OF_TYPE
    }


_LETTER: Final = "z"
_WORDS: Final = (
    "any-other", *(f"{letter}-any-other" for letter in "zqxjkvw"),
    *"zqxjkvwybfghmpcunlodrtsiea0123456789", "",
)  # fmt: skip
_ADDRESSES: Final = (
    *(".".join([part] * n) for n in range(1, 5) for part in ("254", "253", "199", "77", "9", "5")),
    *(":".join([part] * n) for n in range(1, 9) for part in ("fe", "d", "7")),
    "",
)
"""Parts of addresses, IPv4 and IPv6; those are passed over that make no address of a glob."""
