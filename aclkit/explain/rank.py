"""Texts of ACLs → numbers that order them as ``decide/order.py`` does. Pure.

Ordering a text once, on the driver, leaves Spark with comparing numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from aclkit.decide.order import utf16
from aclkit.model.enums import PatternType
from aclkit.model.semantics import BROKER, Semantics
from aclkit.patterns.specificity import (
    host_specificity,
    pattern_specificity,
    principal_specificity,
)

T = TypeVar("T", bound=Hashable)


def rank_patterns(
    patterns: Iterable[tuple[str, str, str]], semantics: Semantics
) -> dict[tuple[str, str, str], int]:
    """Number (resource type, pattern type, name) in the order in which patterns decide."""
    if semantics.deciding_acl == BROKER:
        names = sorted({utf16(name) for _, _, name in patterns}, reverse=True)
        position = {name: number for number, name in enumerate(names)}
        return dense_rank(patterns, lambda p: (position[utf16(p[2])], PatternType.ordinal(p[1])))
    return dense_rank(patterns, lambda p: pattern_specificity(p[1], p[2], semantics))


def rank_principals(principals: Iterable[str], semantics: Semantics) -> dict[str, int]:
    """Number ACL principals in the order in which they decide."""
    if semantics.deciding_acl == BROKER:
        return dense_rank(principals, utf16)
    return dense_rank(principals, lambda text: principal_specificity(text, semantics))


def rank_hosts(hosts: Iterable[str], semantics: Semantics) -> dict[str, int]:
    """Number ACL hosts in the order in which they decide."""
    if semantics.deciding_acl == BROKER:
        return dense_rank(hosts, utf16)
    return dense_rank(hosts, lambda text: host_specificity(text, semantics))


def dense_rank(items: Iterable[T], key: Callable[[T], Any]) -> dict[T, int]:
    """Number items by a key; equal keys have one number.

    >>> dense_rank(["bb", "a", "cc"], len)
    {'bb': 1, 'a': 0, 'cc': 1}
    """
    keys = {item: key(item) for item in items}
    number = {k: n for n, k in enumerate(sorted(set(keys.values())))}
    return {item: number[k] for item, k in keys.items()}
