"""Columns of requests → columns of rulings: one is decided of all that the same ACLs match.

The names of each dimension fall into classes: principals and hosts by the texts of ACLs that match
them, resources by the patterns. Requests of the same classes have the same ruling, so ``AclIndex``
decides the first of them, and the others take what it said. That costs a look into a dictionary for
each distinct name of a batch, however many requests there are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from aclkit.model.acl import Acl, Request
from aclkit.model.enums import AclOperation
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.model.symbol import HOSTS, PRINCIPALS, RESOURCES, is_symbol
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.patterns.identity import index_hosts, index_principals
from aclkit.rules.patterns.trie import PatternIndex

ASKED: Final = ("principal", "host", "operation", "resource_type", "resource_name")
"""The columns of a request."""

RULED: Final = pa.struct(
    {"decision": pa.string(), "rule": pa.string(), "deciding_acl_id": pa.string()}
)
"""The columns of a ruling, as in ``explain``."""

_NOTHING: Final = -1
_NONE_ASKED: Final = ("UNKNOWN", "ANY")
"""Operations of filters and of records alone."""
_OPERATIONS: Final = tuple(name for name in AclOperation.__members__ if name not in _NONE_ASKED)
_MOST: Final = 500_000
"""So many names of a dimension are remembered, and so many combinations of classes."""

_TYPES: Final = tuple(OPERATIONS_OF_TYPE)
_KINDS: Final = {kind: place for place, kind in enumerate(_TYPES)}
_PLACES: Final = {operation: place for place, operation in enumerate(_OPERATIONS)}

_Key = tuple[int, ...]
"""The classes of principal, host, operation and resource, by number."""
_Said = tuple[str | None, str | None, str | None]
_Numbers = npt.NDArray[np.int64]
_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class ManyRequests:
    """ACLs and settings, ready to decide columns of requests; it may be pickled.

    Kafka knows a request of its own resource types and operations. What is none has no ruling, and
    none has a symbol such as ``<any-other>``, which stands for many names.
    """

    def __init__(self, acls: Iterable[Acl], settings: BrokerSettings, semantics: Semantics) -> None:
        """Index ACLs.

        Raises:
            AclIdError: two have the same id.
        """
        self._index = AclIndex.of(acls, semantics)
        self._settings = settings

    def __reduce__(self) -> tuple[object, ...]:
        """Travel as ACLs that are indexed already, without what was remembered."""
        return _again, (self._index, self._settings)

    def decide(self, asked: Sequence[pa.Array]) -> pa.StructArray:
        """Decide requests.

        Args:
            asked: the columns ``ASKED``, of texts.

        Returns:
            ``RULED``; null where a column is null or holds a symbol, or Kafka knows no such type or
            operation.
        """
        principals, hosts, operations, types, names = asked
        number = [
            self._principals.numbers(principals),
            self._hosts.numbers(hosts),
            _numbers_of(operations, _PLACES.get),
            self._of_resources(types, names),
        ]
        is_asked = np.logical_and.reduce([each != _NOTHING for each in number])
        rows = np.flatnonzero(is_asked)
        at, inverse = _distinct([each[rows] for each in number])
        first = rows[at]
        classes = zip(*(each[first].tolist() for each in number), strict=True)
        ruled = [
            self._ruled.get(key) or self._rule(key, asked, row)
            for key, row in zip(classes, first.tolist(), strict=True)
        ]
        place = np.zeros(len(names), np.int64)
        place[rows] = np.array(ruled, np.int64)[inverse]
        fields = [
            pa.array(each, pa.string()).take(pa.array(place))
            for each in zip(*self._said, strict=True)
        ]
        return pa.StructArray.from_arrays(fields, fields=[*RULED], mask=pa.array(~is_asked))

    def _rule(self, classes: _Key, asked: Sequence[pa.Array], row: int) -> int:
        """Decide the request of a row, the first of its classes; return the place of the answer."""
        principal, host, operation, *resource = (column[row].as_py() for column in asked)
        request = Request.of(principal, host, operation, Resource(*resource))
        ruling = self._index.decide(request, self._settings)
        said = ruling.decision, ruling.rule, ruling.acl_id
        place = self._said.setdefault(said, len(self._said))
        _remember(self._ruled, classes, place)
        return place

    def _of_resources(self, types: pa.Array, names: pa.Array) -> _Numbers:
        """Number the classes of resources, type by type."""
        found = np.full(len(names), _NOTHING)
        kinds = _numbers_of(types, _KINDS.get)
        for kind in np.unique(kinds[kinds != _NOTHING]):
            rows = np.flatnonzero(kinds == kind)
            found[rows] = self._resources[_TYPES[kind]].numbers(names.take(pa.array(rows)))
        return found

    @cached_property
    def _ruled(self) -> dict[_Key, int]:
        """The places of what is said of requests, by their classes."""
        return {}

    @cached_property
    def _said(self) -> dict[_Said, int]:
        """Decision, rule and ACL of the rulings, with their places; first that of no request."""
        return {(None, None, None): 0}

    @cached_property
    def _principals(self) -> _Classes:
        texts = {acl.principal for acl in self._index.by_id.values()}
        index = index_principals(texts, self._index.semantics)
        return _Classes(
            PRINCIPALS, lambda n: (self._settings.makes_super(n), *index.matching(n)), {}
        )

    @cached_property
    def _hosts(self) -> _Classes:
        texts = {acl.host for acl in self._index.by_id.values()}
        index = index_hosts(texts, self._index.semantics)
        return _Classes(HOSTS, lambda name: tuple(index.matching(name)), {})

    @cached_property
    def _resources(self) -> dict[str, _Classes]:
        patterns = ((at, *pattern) for at, pattern in enumerate(self._index.by_pattern))
        index, seen = PatternIndex.build(patterns, self._index.semantics), dict[Hashable, int]()

        def of_type(kind: str) -> _Classes:
            last = self._index.rescan.wildcard_last
            return _Classes(
                RESOURCES, lambda n: (kind, last(kind, n), *index.matches(kind, n)), seen
            )

        return {kind: of_type(kind) for kind in _TYPES}


class _Classes:
    """The classes of one dimension, numbered as they come."""

    def __init__(
        self, kind: str, class_of: Callable[[str], Hashable], seen: dict[Hashable, int]
    ) -> None:
        self._kind = kind
        self._class_of = class_of
        self._seen = seen
        self._known: dict[str, int] = {}

    def numbers(self, names: pa.Array) -> _Numbers:
        """Return the number of the class of each name; ``_NOTHING`` of what is none."""
        return _numbers_of(names, self._number)

    def _number(self, name: str) -> int | None:
        number = self._known.get(name)
        if number is None and is_symbol(self._kind, name):
            return None
        if number is None:
            number = self._seen.setdefault(self._class_of(name), len(self._seen))
            _remember(self._known, name, number)
        return number


def _numbers_of(names: pa.Array, number: Callable[[str], int | None]) -> _Numbers:
    """Return a number for each name; ``_NOTHING`` where there is none."""
    coded = names.dictionary_encode()
    found = [number(name) for name in coded.dictionary.to_pylist()]
    numbers = [_NOTHING if each is None else each for each in found]
    of_code = np.array([*numbers, _NOTHING], np.int64)  # the last is what null takes
    codes: _Numbers = coded.indices.fill_null(len(numbers)).to_numpy(zero_copy_only=False)
    return of_code[codes]


def _distinct(columns: Sequence[_Numbers]) -> tuple[_Numbers, _Numbers]:
    """Return a row of each combination of numbers, and which combination each row has."""
    key = np.zeros(len(columns[0]), np.int64)
    at: _Numbers = np.zeros(0, np.int64)
    for column in columns:
        # Numbered again after each column, so that products stay small.
        _, narrow = np.unique(column, return_inverse=True)
        key = key * (int(narrow.max(initial=0)) + 1) + narrow
        _, at, key = np.unique(key, return_index=True, return_inverse=True)
    return at, key


def _remember(known: dict[_K, _V], key: _K, value: _V) -> None:
    if len(known) >= _MOST:
        known.clear()
    known[key] = value


def _again(index: AclIndex, settings: BrokerSettings) -> ManyRequests:
    made = ManyRequests((), settings, index.semantics)
    made._index = index
    return made
