"""The ACLs in force → numbers in the place of their texts, in the order in which they decide. Pure.

Every ACL gets a *precedence* for each operation that it answers: one number, smaller for what
decides first (``rules/decide/order.py``, ``most-specific``) or for what a broker meets first. Its
highest bits are the criteria before the operation, then how the ACL answers it. Its lowest bits
are all criteria after that, which are also the ACL's number.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aclkit.errors import DataError
from aclkit.model.operation import OPERATIONS_OF_TYPE, every_cover
from aclkit.model.semantics import Semantics
from aclkit.pipeline.explain.arrays import (
    EMPTY,
    Flags,
    Numbers,
    first_places,
    inverse_of,
    order_of,
)
from aclkit.pipeline.inventory.survey import Texts
from aclkit.rules.decide.order import PATTERN, Criterion, Order, criteria_of

T = TypeVar("T", bound=Hashable)

TYPES: Final = tuple(OPERATIONS_OF_TYPE)
OPERATIONS: Final = max(map(len, OPERATIONS_OF_TYPE.values()))
"""How many operations a resource type knows at most."""

BITS_OF_ACL: Final = 28
"""The lowest bits of a precedence, which are the ACL's number."""
_BITS_OF_ANSWER: Final = 6
MOST_ACLS: Final = (1 << BITS_OF_ACL) - 1
"""At most this many ACLs can be distinguished."""

_OF_OPERATION: Final = "operation_rank"
"""The column of the criterion that may depend on the operation asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedAcls:
    """ACLs as columns of numbers.

    Attributes:
        pattern: of each, its place among the patterns of the texts.
        principal: its place among the principals of ACLs.
        host: its place among the hosts of ACLs.
        is_allow: whether it is an ALLOW; whatever else there is denies.
        cover: its row of ``answers``.
        answers: [operation and permission of a type, operation asked] → the rank of the answer, -1
            where it is none.
        first: how many ACLs stand before it by the criteria before the operation.
        number: how many do by all criteria, the operation asked aside.
        id_rank: the place of its id among the ids, sorted.
        ids_by_number: ids.
        ids_by_rank: ids, sorted.
    """

    pattern: Numbers
    principal: Numbers
    host: Numbers
    is_allow: Flags
    cover: Numbers
    answers: Numbers
    first: Numbers
    number: Numbers
    id_rank: Numbers
    ids_by_number: pa.Array
    ids_by_rank: pa.Array

    def precedences(self, rows: Numbers, operation: int) -> tuple[Flags, Numbers]:
        """Return which of some ACLs answer an operation, and the precedence of those that do."""
        answer = self.answers[self.cover[rows], operation]
        answers = answer >= 0
        rows = rows[answers]
        first = self.first[rows] << (BITS_OF_ACL + _BITS_OF_ANSWER)
        return answers, first + (answer[answers] << BITS_OF_ACL) + self.number[rows]


def rank_acls(acls: pa.Table, texts: Texts, semantics: Semantics) -> RankedAcls:
    """Number and rank the ACLs in force.

    Args:
        acls: the columns of an ``Acl``.
        texts: what they are made of.
        semantics: has the criteria.

    Raises:
        DataError: there are more than can be distinguished.
    """
    if len(acls) > MOST_ACLS:
        raise DataError(f"Expected at most {MOST_ACLS:,} ACLs in force, found {len(acls):,}")
    columns = {name: acls.column(name).combine_chunks() for name in acls.column_names}
    pattern = _pattern_numbers(columns, texts.patterns)
    principal = _places(columns["principal"], texts.principals)
    host = _places(columns["host"], texts.hosts)
    operation, operations = _encoded(columns["operation"])
    permission, permissions = _encoded(columns["permission_type"])
    resource_type, types = _encoded(columns["resource_type"])
    ids = columns["acl_id"]
    by_id = _order_of_texts(ids)
    id_rank = inverse_of(by_id)

    numbered: dict[str, tuple[Numbers, Sequence[str]]] = {
        "principal": (principal, texts.principals),
        "host": (host, texts.hosts),
        "operation": (operation, operations),
        "permission_type": (permission, permissions),
    }

    def ranks(criterion: Criterion) -> Numbers:
        if criterion.fields == ("acl_id",):
            return id_rank
        if {*criterion.fields} <= {*PATTERN}:
            keys = [dict(zip(PATTERN, of[1:], strict=True)) for of in texts.patterns]
            values = [[key[name] for name in criterion.fields] for key in keys]
            return _ranks(values, criterion, semantics)[pattern]
        (name,) = criterion.fields
        number, known = numbered[name]
        return _ranks([(text,) for text in known], criterion, semantics)[number]

    criteria = criteria_of(semantics)
    at = [criterion.column for criterion in criteria].index(_OF_OPERATION)
    before = [_rank_patterns(texts.patterns, semantics)[pattern]]
    before += [ranks(one) for one in criteria[len(_of_patterns(criteria)) : at]]
    order = order_of([*before, *(ranks(one) for one in criteria[at + 1 :])])
    is_allow = np.array([text == "ALLOW" for text in permissions], bool)[permission]
    type_place = np.array([TYPES.index(t) if t in TYPES else len(TYPES) for t in types], np.int64)
    return RankedAcls(
        pattern=pattern,
        principal=principal,
        host=host,
        is_allow=is_allow,
        cover=(type_place[resource_type] * len(operations) + operation) * 2 + is_allow,
        answers=_answers(operations, semantics),
        first=_first_of_equals(before, order),
        number=inverse_of(order),
        id_rank=id_rank,
        ids_by_number=ids.take(pa.array(order)),
        ids_by_rank=ids.take(pa.array(by_id)),
    )


def _first_of_equals(criteria: Sequence[Numbers], order: Numbers) -> Numbers:
    """Return for each row the place, in an order, of the first that is equal to it by criteria."""
    if not len(order):
        return EMPTY
    start = np.zeros(len(order), np.int64)
    first = first_places(*(column[order] for column in criteria))
    start[first] = first
    found = np.empty(len(order), np.int64)
    found[order] = np.maximum.accumulate(start)
    return found


def _answers(operations: Sequence[str], semantics: Semantics) -> Numbers:
    """Return how ACLs answer the operations asked; see ``RankedAcls.answers``."""
    covers = [cover for cover in every_cover() if cover.operation in operations]
    (criterion,) = (one for one in criteria_of(semantics) if one.column == _OF_OPERATION)

    def key(cover: Any) -> Any:  # noqa: ANN401 -- whatever the criterion compares
        held = (getattr(cover, name) for name in criterion.fields)
        return criterion.key(Order(cover.asked, semantics), *held)

    ranks = dense_rank(covers, key)
    found = np.full(((len(TYPES) + 1) * len(operations) * 2, OPERATIONS), -1, np.int64)
    for cover in covers:
        of_type = TYPES.index(cover.resource_type) * len(operations)
        row = (of_type + operations.index(cover.operation)) * 2 + (cover.permission_type == "ALLOW")
        asked = OPERATIONS_OF_TYPE[cover.resource_type].index(cover.asked)
        found[row, asked] = ranks[cover]
    return found


def _pattern_numbers(columns: dict[str, pa.Array], patterns: Sequence[Pattern]) -> Numbers:
    """Return the place of each ACL's pattern among all: three texts found as one number."""
    names = sorted({name for _, _, name in patterns})
    types = sorted({of_type for of_type, _, _ in patterns})
    kinds = sorted({kind for _, kind, _ in patterns})

    def packed(of_type: Any, kind: Any, name: Any) -> Any:  # noqa: ANN401 -- numbers or columns
        return (name * len(types) + of_type) * len(kinds) + kind

    at = {name: number for number, name in enumerate(names)}
    known = np.array(
        [packed(types.index(t), kinds.index(k), at[name]) for t, k, name in patterns], np.int64
    )
    mine: Numbers = packed(
        _places(columns["resource_type"], types),
        _places(columns["pattern_type"], kinds),
        _places(columns["resource_name"], names),
    )
    order = np.argsort(known)
    found: Numbers = order[np.searchsorted(known[order], mine)]
    return found


def _of_patterns(criteria: Iterable[Criterion]) -> list[Criterion]:
    """Return the first criteria, those that look at nothing but the pattern."""
    return list(takewhile(lambda one: {*one.fields} <= {*PATTERN}, criteria))


def _rank_patterns(patterns: Sequence[Pattern], semantics: Semantics) -> Numbers:
    """Number patterns in the order in which the first criteria let them decide."""
    criteria, order = _of_patterns(criteria_of(semantics)), Order("", semantics)

    def key(pattern: Pattern) -> tuple[Any, ...]:
        values = dict(zip(PATTERN, pattern[1:], strict=True))
        return tuple(one.key(order, *(values[name] for name in one.fields)) for one in criteria)

    ranks = dense_rank(patterns, key)
    return np.array([ranks[pattern] for pattern in patterns], np.int64)


def _ranks(values: Sequence[Sequence[str]], criterion: Criterion, semantics: Semantics) -> Numbers:
    """Number values of a criterion's fields in the order in which they decide."""
    order = Order("", semantics)
    ranks = dense_rank(map(tuple, values), lambda each: criterion.key(order, *each))
    return np.array([ranks[tuple(each)] for each in values], np.int64)


def dense_rank(items: Iterable[T], key: Callable[[T], Any]) -> dict[T, int]:
    """Number items by a key; equal keys have one number.

    >>> dense_rank(["bb", "a", "cc"], len)
    {'bb': 1, 'a': 0, 'cc': 1}
    """
    keys = {item: key(item) for item in items}
    number = {k: n for n, k in enumerate(sorted(set(keys.values())))}
    return {item: number[k] for item, k in keys.items()}


def _places(column: pa.Array, texts: Sequence[str]) -> Numbers:
    """Return the place of each text in a list that holds them all."""
    found = pc.index_in(column, value_set=pa.array(texts, pa.string()))
    return np.asarray(found.to_numpy(zero_copy_only=False), np.int64)


def _encoded(column: pa.Array) -> tuple[Numbers, list[str]]:
    """Return texts as places in the list of those that occur."""
    found = pc.dictionary_encode(column)
    return found.indices.to_numpy().astype(np.int64), found.dictionary.to_pylist()


def _order_of_texts(texts: pa.Array) -> Numbers:
    if pc.all(pc.less_equal(texts[:-1], texts[1:])).as_py() is not False:
        return np.arange(len(texts))
    found: Numbers = pc.sort_indices(texts).to_numpy().astype(np.int64)
    return found


Pattern = tuple[str, str, str]
"""Resource type, pattern type and name."""
