"""A witness for "any other": a name that only patterns for every name match. Pure.

It is not a known name either. A plain name is preferred, then the shortest possible one. If no such
name exists, this is proven, unless the search limit is reached first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final, NamedTuple

from aclkit.model.acl import ANY_OTHER_PRINCIPAL
from aclkit.model.cidr import Range
from aclkit.model.principal import split_principal
from aclkit.model.semantics import Semantics
from aclkit.rules.names.domain import HOSTS, USERS, Domain, domain_of
from aclkit.rules.names.question import STATES_OF_A_QUESTION, Question
from aclkit.rules.names.rows import (
    Symbols,
    is_plain,
    of_host,
    of_pattern,
    of_principal,
    range_of,
)
from aclkit.rules.names.target import Classifier
from aclkit.rules.patterns.identity import Atom, atoms_of, hosts_outside
from aclkit.rules.patterns.match import is_any_host, matches_every_name, principal_matches

_USER: Final = "User:"
_PLAIN: Final = "any-other"
_TRIED: Final = 1_000
"""So many addresses of an atom are tried before a walk looks for one that no glob matches."""
_ADDRESSES: Final = tuple(f"192.0.2.{number}" for number in range(1, 255))
"""Addresses reserved for documentation."""


class Witness(NamedTuple):
    """A name; None where there is none, or where that ``is_known`` not to be so."""

    name: str | None
    is_known: bool


def principal_witness(texts: Iterable[str], taken: Iterable[str], semantics: Semantics) -> Witness:
    """Find a user whom no ACL principal means but those that mean every user."""
    singling = [
        symbols
        for text in texts
        if not principal_matches(text, ANY_OTHER_PRINCIPAL, semantics)
        and (symbols := of_principal(text, semantics)) is not None
    ]
    names = {split[1] for name in taken if (split := split_principal(name))}
    singling += [tuple(f"{_USER}{name}") for name in names]
    return _find([], singling, USERS, [f"{_USER}{_PLAIN}"])


def host_witness(texts: Iterable[str], taken: Iterable[str], semantics: Semantics) -> Witness:
    """Find an address that no ACL host means but those that mean every host."""
    named = _Named.of(texts, taken, semantics)
    is_counted = named.ranges and not named.globs
    outside = islice(hosts_outside(named.ranges, named.names), 1) if is_counted else ()
    singling = [*named.globs, *map(tuple, named.names), *named.ranges.values()]
    return _find([], singling, HOSTS, chain(_ADDRESSES, outside))


def atom_witnesses(
    texts: Iterable[str], taken: Iterable[str], semantics: Semantics
) -> Iterator[tuple[Atom, Witness]]:
    """Find for each atom of ACL ranges an address that nothing narrower means, but a single one.

    A range of one address names it, as the address itself does.
    """
    named = _Named.of(texts, taken, semantics)
    matching = Question([named.globs], HOSTS)
    for atom in atoms_of(named.ranges):
        if atom.range.is_single:
            continue
        tried = islice(atom.hosts(named.names), _TRIED if named.globs else 1)
        found = next((host for host in tried if not matching.flags_of(host)), None)
        if found is not None or not named.globs:
            yield atom, Witness(found, is_known=True)
        else:
            inner = [named.ranges[each] for each in atom.inner]
            singling = [*named.globs, *map(tuple, named.names), *inner]
            yield atom, _find([named.ranges[atom.range]], singling, HOSTS, ())


class _Named(NamedTuple):
    """What ACL hosts and an inventory name, but what means every host.

    Attributes:
        names: single hosts.
        globs: of ACLs.
        ranges: of ACLs, with their symbols.
    """

    names: frozenset[str]
    globs: list[Symbols]
    ranges: dict[Range, Symbols]

    @classmethod
    def of(cls, texts: Iterable[str], taken: Iterable[str], semantics: Semantics) -> _Named:
        rows = {of_host(text, semantics) for text in texts if not is_any_host(text, semantics)}
        ranges = {found: row for row in rows if (found := range_of(row))}
        plain = {row for row in rows if is_plain(row)}
        globs = sorted(rows.difference(plain, ranges.values()))
        return cls(frozenset({*map("".join, plain), *taken}), globs, ranges)


def resource_witness(
    resource_type: str,
    patterns: Iterable[tuple[str, str]],
    taken: Iterable[str],
    semantics: Semantics,
) -> Witness:
    """Find a name that all patterns reach that stand for every name, and no other one.

    Args:
        resource_type: what has the name.
        patterns: pattern type and name of each pattern of the type.
        taken: names that are not wanted.
        semantics: how patterns are read.
    """
    for_all: list[Symbols] = []
    singling: list[Symbols] = [tuple(name) for name in taken]
    for kind, name in patterns:
        rows = for_all if matches_every_name(kind, name, semantics) else singling
        rows += of_pattern(resource_type, kind, name, semantics)
    return _find(for_all, singling, domain_of(resource_type), [_PLAIN, f"{_USER}{_PLAIN}"])


def _find(
    for_all: list[Symbols], singling: list[Symbols], domain: Domain, preferred: Iterable[str]
) -> Witness:
    wanted = 0b10 if for_all else 0
    question = Question([singling, for_all], domain)
    names = (name for name in preferred if domain.holds(name))
    plain = next((name for name in names if question.flags_of(name) == wanted), None)
    if plain is not None:
        return Witness(plain, is_known=True)
    found = question.find(
        Classifier(2, lambda flags: flags == wanted or None), STATES_OF_A_QUESTION
    )
    return Witness(found.names.get(True), found.is_complete or bool(found.names))
