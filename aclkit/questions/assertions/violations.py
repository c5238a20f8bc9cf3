"""A state and the names that an assertion is about → the decisions that violate it, counted. Pure.

Every principal × host × operation × resource counts, and none is decided alone. What ACLs do is a
number: a bit for each operation and host that they allow, and one that they deny. Bits of several
ACLs are joined by "or". Resources that the same patterns match, their own LITERAL aside, share a
row: for each principal the operations that violate the assertion. The rule of ``rules/decide``
decides the examples again, by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, reduce
from itertools import combinations
from operator import or_
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aclkit.model.acl import ANY_OTHER, Acl
from aclkit.model.resource import Resource
from aclkit.questions.assertions.match import operations_on
from aclkit.questions.assertions.model import Assertion, What
from aclkit.questions.state import Inventory
from aclkit.rules.decide.confirm import Decider
from aclkit.rules.names.rows import Rules, operations_of
from aclkit.rules.patterns.identity import IdentityIndex, index_hosts, index_principals
from aclkit.rules.patterns.match import LITERAL, names_one

_Row = npt.NDArray[np.uint32]
"""Of each principal: a bit for each operation that violates from a known host, and from any host
the same ``_FROM_ANY`` places higher."""
_Bits = Mapping[str, int]
"""The principal of ACLs → the bits of what they do."""

_FROM_ANY: Final = 16
_KNOWN: Final = np.uint32((1 << _FROM_ANY) - 1)
_ROWS: Final = 256
"""So many rows are remembered: resources next to each other share them."""


@dataclass(frozen=True)
class Indexed:
    """What decides in a state, and its known names, ready to be asked.

    Attributes:
        rules: all that decides.
        inventory: the known names.
    """

    rules: Rules
    inventory: Inventory

    @cached_property
    def decider(self) -> Decider:
        """The rule, ready to decide single requests."""
        return Decider.of(self.rules)

    @cached_property
    def shared(self) -> IdentityIndex:
        """The principals of ACLs that may match several."""
        semantics = self.rules.semantics
        texts = {acl.principal for acl in self.rules.acls}
        return index_principals((t for t in texts if not names_one(t, semantics)), semantics)

    @cached_property
    def acl_hosts(self) -> IdentityIndex:
        """The hosts of ACLs."""
        return index_hosts({acl.host for acl in self.rules.acls}, self.rules.semantics)

    @cached_property
    def principals(self) -> frozenset[str]:
        """The known principals."""
        return frozenset(self.inventory.principals)

    @cached_property
    def hosts(self) -> frozenset[str]:
        """The known hosts."""
        return frozenset(self.inventory.hosts)

    @cached_property
    def resources(self) -> frozenset[Resource]:
        """The known resources."""
        return frozenset(self.inventory.resources)

    def attributes(self, name: str | Resource) -> Mapping[str, str]:
        """Return the attributes of a name; one that is not known has none."""
        return self.inventory.attributes.get(name, {})


class Names(NamedTuple):
    """What a duty is about: of each dimension the known names, and those that it spells out."""

    principals: Sequence[str]
    resources: Sequence[Resource]
    hosts: Sequence[str]


class Hit(NamedTuple):
    """A decision that violates an assertion; of several the least is shown.

    Attributes:
        is_beyond: the principal, the host or the resource is not a known name.
        is_symbol: the principal or the resource is "any other".
    """

    is_beyond: bool
    is_symbol: bool
    principal: str
    resource_type: str
    resource_name: str
    operation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Violations:
    """How many violations there are, and one of them.

    Attributes:
        count: how many.
        hits: the decisions of one, each with the number of the duty that it is about.
        detail: what these do not show.
    """

    count: int = 0
    hits: tuple[tuple[int, Hit], ...] = ()
    detail: str | None = None


def find_violations(state: Indexed, assertion: Assertion, duties: Sequence[Names]) -> Violations:
    """Count what violates an assertion.

    Args:
        state: what decides, and the known names.
        assertion: what must hold.
        duties: what each of its duties is about.
    """
    found = [
        _Duty(state, assertion, what, names)
        for what, names in zip(assertion.duties, duties, strict=True)
    ]
    if assertion.kind == "separate":
        return _of_several([duty.by_principal() for duty in found])
    (duty,) = found
    return _of_number(duty, assertion.limit) if assertion.kind == "at_most" else _of_all(duty)


def _of_all(duty: _Duty) -> Violations:
    """Each (principal, operation, resource) is a violation."""
    count, hits = 0, []
    for resource, row in duty.rows():
        count += int(np.bitwise_count(row >> _FROM_ANY).sum())
        hits += duty.least(resource, row)
    return Violations(count=count, hits=((0, min(hits)),)) if hits else Violations()


def _of_number(duty: _Duty, limit: int) -> Violations:
    """Each resource with too many principals is a violation; the worst one is the example."""
    worst: list[tuple[bool, int, Hit]] = []
    for resource, row in duty.rows():
        number, is_endless = int(np.count_nonzero(row)), bool(row[duty.symbols].any())
        if number > limit or is_endless:
            worst.append((not is_endless, -number, min(duty.least(resource, row))))
    if not worst:
        return Violations()
    is_number, number, hit = min(worst)
    principals = f"{-number:,}" if is_number else "any number of"
    return Violations(
        count=len(worst),
        hits=((0, hit),),
        detail=f"{principals} principals, expected at most {limit:,}",
    )


def _of_several(duties: Sequence[Mapping[str, Hit]]) -> Violations:
    """Each principal that has two of the duties is a violation; the first one is the example."""
    holders: dict[str, tuple[tuple[int, Hit], ...]] = {}
    for (first, one), (second, other) in combinations(enumerate(duties), 2):
        for principal in one.keys() & other.keys():
            holders.setdefault(principal, ((first, one[principal]), (second, other[principal])))
    if not holders:
        return Violations()
    return Violations(
        count=len(holders),
        hits=min(holders.values(), key=lambda hits: [hit for _, hit in hits]),
        detail="the same principal has both duties",
    )


@dataclass(frozen=True)
class _Duty:
    """What a duty is about, in order, and what violates it there."""

    state: Indexed
    assertion: Assertion
    what: What
    names: Names
    kinds: dict[str, _OfType] = field(default_factory=dict)

    @cached_property
    def principals(self) -> list[str]:
        return sorted(self.names.principals, key=lambda name: (_is_symbol(name), name))

    @cached_property
    def symbols(self) -> list[int]:
        """The places of "any other"; they are at the end."""
        return [at for at, name in enumerate(self.principals) if _is_symbol(name)]

    @cached_property
    def known(self) -> _Row:
        """Which bits of a row may stand for a known name."""
        bits = (~np.uint32(0) if p in self.state.principals else ~_KNOWN for p in self.principals)
        return np.fromiter(bits, np.uint32, len(self.principals))

    def rows(self) -> Iterator[tuple[Resource, _Row]]:
        """Yield each resource, in order, with its row."""
        if not self.principals:
            return
        for resource in sorted(self.names.resources, key=lambda r: (r[1] == ANY_OTHER, r)):
            kind = resource.resource_type
            if kind not in self.kinds:
                self.kinds[kind] = _OfType(self, kind)
            row = self.kinds[kind].row(resource)
            yield resource, row & (self.known if resource in self.state.resources else ~_KNOWN)

    def least(self, resource: Resource, row: _Row) -> list[Hit]:
        """Return hits of a row, the least among them; none where it has none."""
        at = np.flatnonzero(row & _KNOWN)[:1]
        if not len(at):
            at = np.flatnonzero(row)[:1]
        # The name of a resource that is "any other" leaves the principals in order of their texts.
        places = {*at.tolist(), *(place for place in self.symbols if row[place])}
        return [self.hit(resource, int(row[place]), place) for place in places]

    def by_principal(self) -> dict[str, Hit]:
        """Return the least hit of each principal that has one."""
        found: dict[str, Hit] = {}
        is_new = np.full(len(self.principals), ~np.uint32(0))
        for resource, row in self.rows():
            places = np.flatnonzero(row & is_new).tolist()
            for place in {*places, *(place for place in self.symbols if row[place])}:
                hit = self.hit(resource, int(row[place]), place)
                found[hit.principal] = min(hit, found.get(hit.principal, hit))
                is_new[place] &= _KNOWN if hit.is_beyond else 0
        return found

    def hit(self, resource: Resource, value: int, place: int) -> Hit:
        """Return the least hit of a principal on a resource."""
        of_known, principal = value & int(_KNOWN), self.principals[place]
        bits = of_known or value >> _FROM_ANY
        operation = self.kinds[resource.resource_type].operations[(bits & -bits).bit_length() - 1]
        is_symbol = _is_symbol(principal) or resource.resource_name == ANY_OTHER
        return Hit(not of_known, is_symbol, principal, *resource, operation)


def _is_symbol(principal: str) -> bool:
    return principal.partition(":")[2] == ANY_OTHER


class _OfType:
    """What violates a duty on resources of one type."""

    def __init__(self, duty: _Duty, resource_type: str) -> None:
        state = duty.state
        self.index, self.settings = state.decider.index, state.rules.settings
        self.is_shared = frozenset(state.shared.texts).__contains__
        self.is_duty = duty.assertion.bad_decision != "ALLOWED"
        self.operations = sorted(operations_on(duty.what, resource_type))
        hosts = dict.fromkeys(
            (host in state.hosts, tuple(state.acl_hosts.matching(host)))
            for host in duty.names.hosts
        )
        self.width, self.size = len(hosts), len(hosts) * len(self.operations)
        self.full = (1 << self.size) - 1
        self.known_hosts = sum(is_known << at for at, (is_known, _) in enumerate(hosts))
        self.bits_of_host: dict[str, int] = {}
        for at, (_, texts) in enumerate(hosts):
            for text in texts:
                self.bits_of_host[text] = self.bits_of_host.get(text, 0) | 1 << at
        self.principals = {name: at for at, name in enumerate(duty.principals)}
        self.supers = [
            at for name, at in self.principals.items() if self.settings.makes_super(name)
        ]
        classes: dict[tuple[str, ...], int] = {}
        self.class_of = [
            classes.setdefault(tuple(state.shared.matching(name)), len(classes))
            for name in self.principals
        ]
        self.classes = list(classes)
        self.bits: dict[tuple[str, str, str], int] = {}
        self.violating = lru_cache(maxsize=None)(self._violating)
        self.shared_row = lru_cache(_ROWS)(self._shared_row)

    def row(self, resource: Resource) -> _Row:
        """Return the row of a resource; it is not to be changed."""
        patterns = self.index.patterns(*resource)
        if not patterns and self.settings.allow_everyone:
            return np.full(len(self.principals), self.violating(self.full), np.uint32)
        own = resource.resource_type, LITERAL, resource.resource_name
        common, row, by_class = self.shared_row(tuple(p for p in patterns if p != own))
        mine = self.of_pattern(own) if own in patterns else {}
        if not mine:
            return row
        if any(map(self.is_shared, mine)):
            return self._row(_joined([common, mine]))[0]
        bits = {text: bits | common.get(text, 0) for text, bits in mine.items()}
        row = row.copy()
        self._put(row, bits, by_class)
        return row

    def _shared_row(
        self, patterns: Sequence[tuple[str, str, str]]
    ) -> tuple[_Bits, _Row, list[int]]:
        common = _joined(map(self.of_pattern, patterns))
        return common, *self._row(common)

    def _row(self, bits: _Bits) -> tuple[_Row, list[int]]:
        """Return a row, and the bits of each class of principals."""
        by_class = [_all_of(bits.get(text, 0) for text in texts) for texts in self.classes]
        row = np.array([self.violating(each) for each in by_class], np.uint32)[self.class_of]
        self._put(row, bits, by_class)
        return row, by_class

    def _put(self, row: _Row, bits: _Bits, by_class: Sequence[int]) -> None:
        """Put into a row what ACLs do that name one principal."""
        places, values = [], []
        for text, own in bits.items():
            place = self.principals.get(text)
            if place is not None and not self.is_shared(text):
                places.append(place)
                values.append(self.violating(own | by_class[self.class_of[place]]))
        row[places] = values
        row[self.supers] = self.violating(self.full)

    def of_pattern(self, pattern: tuple[str, str, str]) -> _Bits:
        """Return what the ACLs of a pattern do, by principal."""
        found: dict[str, int] = {}
        for acls in self.index.by_pattern[pattern].values():
            for acl in acls:
                key = acl.operation, acl.permission_type, acl.host
                if key not in self.bits:
                    self.bits[key] = self.bits_of(acl)
                if self.bits[key]:
                    found[acl.principal] = found.get(acl.principal, 0) | self.bits[key]
        return found

    def bits_of(self, acl: Acl) -> int:
        """Return the bits of what an ACL allows; of what it denies they are ``size`` higher."""
        answered, hosts = operations_of(acl), self.bits_of_host.get(acl.host, 0)
        bits = _all_of(
            hosts << at * self.width for at, o in enumerate(self.operations) if o in answered
        )
        return bits if acl.is_allow else bits << self.size

    def _violating(self, bits: int) -> int:
        """Return what a row has where the ACLs of a principal do this."""
        allowed = bits & ~(bits >> self.size) & self.full
        violating = self.full & ~allowed if self.is_duty else allowed
        found = 0
        for at in range(len(self.operations)):
            hosts = violating >> at * self.width & ((1 << self.width) - 1)
            found |= bool(hosts & self.known_hosts) << at | bool(hosts) << at + _FROM_ANY
        return found


def _all_of(bits: Iterable[int]) -> int:
    return reduce(or_, bits, 0)


def _joined(parts: Iterable[_Bits]) -> _Bits:
    found: dict[str, int] = {}
    for part in parts:
        for text, bits in part.items():
            found[text] = found.get(text, 0) | bits
    return found
