"""Texts of ACLs → numbers that order them by the criteria of ``rules/decide/order.py``. Pure.

Ordering a text once, on the driver, leaves Spark with comparing numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import takewhile
from typing import Any, Final, TypeVar

from aclkit.model.semantics import Semantics
from aclkit.rules.decide.order import PATTERN, Criterion, Order, criteria_of

T = TypeVar("T", bound=Hashable)

OF_PATTERN: Final = "pattern_rank"
"""The column of what the first criteria make of a pattern alone."""

OF_OPERATION: Final = "operation_rank"
"""The column of the criterion that may depend on the operation asked for."""


def pattern_criteria(semantics: Semantics) -> list[Criterion]:
    """Return the first criteria, as long as they look at nothing but the pattern."""
    return list(takewhile(lambda one: {*one.fields} <= {*PATTERN}, criteria_of(semantics)))


def other_criteria(semantics: Semantics) -> Sequence[Criterion]:
    """Return the criteria after ``pattern_criteria``."""
    return criteria_of(semantics)[len(pattern_criteria(semantics)) :]


def rank_patterns(
    patterns: Iterable[tuple[str, str, str]], semantics: Semantics
) -> dict[tuple[str, str, str], int]:
    """Number (resource type, pattern type, name) in the order in which patterns decide."""
    criteria, order = pattern_criteria(semantics), Order("", semantics)

    def key(pattern: tuple[str, str, str]) -> tuple[Any, ...]:
        values = dict(zip(PATTERN, pattern[1:], strict=True))
        return tuple(one.key(order, *(values[name] for name in one.fields)) for one in criteria)

    return dense_rank(patterns, key)


def rank_columns(
    items: Sequence[T],
    fields: Sequence[str],
    values: Callable[[T], Sequence[str]],
    semantics: Semantics,
    operation: Callable[[T], str] = lambda _: "",
) -> dict[str, dict[T, int]]:
    """Number items by each criterion that uses some of their fields and no others.

    Args:
        items: what is numbered.
        fields: the fields of an ACL that an item stands for.
        values: an item's values of them.
        semantics: has the criteria.
        operation: what is asked for, where the item depends on it.

    Returns:
        column → item → number, in the order of the criteria.
    """

    def ranked(criterion: Criterion) -> dict[T, int]:
        def key(item: T) -> Any:  # noqa: ANN401 -- whatever the criterion compares
            held = dict(zip(fields, values(item), strict=True))
            order = Order(operation(item), semantics)
            return criterion.key(order, *(held[name] for name in criterion.fields))

        return dense_rank(items, key)

    known = {*fields}
    return {one.column: ranked(one) for one in other_criteria(semantics) if {*one.fields} <= known}


def dense_rank(items: Iterable[T], key: Callable[[T], Any]) -> dict[T, int]:
    """Number items by a key; equal keys have one number.

    >>> dense_rank(["bb", "a", "cc"], len)
    {'bb': 1, 'a': 0, 'cc': 1}
    """
    keys = {item: key(item) for item in items}
    number = {k: n for n, k in enumerate(sorted(set(keys.values())))}
    return {item: number[k] for item, k in keys.items()}
