"""Operations of an access → their words, and how powerful they are: the most powerful is first."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from aclkit.model.operation import OPERATIONS_OF_TYPE, USE_OF_OPERATION, USES

Power = tuple[int, bool]
"""Sorts before what is less powerful: what it is for, and the cluster before all other types."""


def power_of(operations: Iterable[str], resource_type: str) -> Power:
    """Return the power of operations on a resource type: that of the most powerful of them.

    >>> power_of(["READ", "ALTER"], "TOPIC") < power_of(["WRITE"], "TOPIC")
    True
    """
    uses = (USES.index(USE_OF_OPERATION[each]) for each in operations if each in USE_OF_OPERATION)
    return min(uses, default=len(USES)), resource_type != "CLUSTER"


def operations_words(operations: Collection[str], resource_type: str | None) -> str:
    """Write operations in the order of their codes; all that the type has are ``every operation``.

    >>> operations_words(["WRITE", "READ"], "TOPIC")
    'READ, WRITE'
    """
    known = OPERATIONS_OF_TYPE.get(resource_type or "", ())
    if len(operations) > 1 and set(operations) == set(known):
        return "every operation"
    return ", ".join(sorted(operations, key=known.index) if known else operations)
