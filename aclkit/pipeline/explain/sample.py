"""The numbers of written rulings and a seed → some cells of the view ``explain``, by stratum.

A stratum is how the ruleset stands (a pair's own, a class's, the super users'), the principal
class, the resource type, whether the ruling names its host, the decision and the rule. Drawn are
rulings: the first of each stratum, then the second of each, and so on up to a limit; each stands
for one cell that it decides. So no stratum is passed over for being small, as long as there are
no more of them than cells; within a large one a defect of few rulings may stay unseen. A ruling of
a class or of any other host has no cell where all that are tried have one of their own.

A ruling's lot comes of its ruleset's id, its host, its operation and the seed: the rows may lie in
any order. Only rulings that may still be drawn are held, some times as many as cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from aclkit.model.acl import ANY_OTHER, Request
from aclkit.pipeline.explain.counted import Pairs
from aclkit.pipeline.explain.read_back import (
    KNOWN,
    OPERATIONS,
    OUTCOMES,
    SUPER_TYPE,
    Hashes,
    Numbers,
    ReadBack,
)
from aclkit.runtime.arrow import arrow_table

CELL: Final = (*Request.__slots__, "decision", "rule", "deciding_acl_id")
"""The columns of a cell: the request, and its decision in the tables."""

_TRIED: Final = 16
"""Of so many principals of a class, and hosts, one is sought that no own ruleset or ruling has."""


@dataclass(frozen=True, slots=True)
class Order:
    """Principals, resources and hosts in an order drawn by lot.

    Attributes:
        principals: their numbers in that order.
        resources: theirs.
        places: the place of each resource there.
        hosts: theirs, the first ones, and any other.
    """

    principals: Numbers
    resources: Numbers
    places: Numbers
    hosts: Sequence[int]

    @classmethod
    def of(cls, read: ReadBack, seed: int) -> Order:
        """Draw it; the names are numbered as they sort, so the same seed draws the same."""
        random = np.random.default_rng(seed)
        hosts = read.names["host"]
        shuffled = random.permutation(len(hosts))[:_TRIED].tolist()
        resources = random.permutation(len(read.type_of_resource)).astype(np.int32)
        return cls(
            principals=random.permutation(len(read.class_of)).astype(np.int32),
            resources=resources,
            places=np.argsort(resources).astype(np.int32),
            hosts=list(dict.fromkeys([*shuffled, hosts.index((ANY_OTHER,))])),
        )


class _Standing(NamedTuple):
    """Who has a ruleset: for one of each of these a ruling is in a stratum.

    Each column has a value for each ruleset and its class and type; they are sorted by ruleset.
    """

    ruleset: Numbers
    how: Numbers
    of_class: Numbers
    of_type: Numbers
    place: Numbers

    @classmethod
    def of(cls, read: ReadBack, pairs: Pairs, order: Order) -> _Standing:
        own = np.flatnonzero(pairs.principal_of >= 0)
        rest, place = np.divmod(pairs.shared, max(len(order.places), 1))
        of_class, ruleset = np.divmod(rest, max(len(read.rulesets), 1))
        parts = [
            (own, _PAIR, read.class_of[pairs.principal_of[own]], read.type_of_ruleset[own],
             pairs.place_of[own]),
            (ruleset, _CLASS, of_class, read.type_of_ruleset[ruleset], place),
            *_of_supers(read, order),
        ]  # fmt: skip
        columns = zip(*(np.broadcast_arrays(*part) for part in parts), strict=True)
        found = [np.concatenate(column).astype(np.int32) for column in columns]
        sorted_by = np.argsort(found[0], kind="stable")
        return cls(*(column[sorted_by] for column in found))


def _of_supers(read: ReadBack, order: Order) -> Iterator[tuple[Any, ...]]:
    """Yield the columns of each class that has a super user, by type."""
    rulesets = np.flatnonzero(read.type_of_ruleset == SUPER_TYPE)
    for of_type in np.unique(read.type_of_resource):
        place = order.places[read.type_of_resource == of_type].min()
        for of_class in np.unique(read.class_of[read.is_super]):
            yield rulesets, _SUPER, of_class, of_type, place


class Draw:
    """Takes the rows of ``explain_ruling`` and keeps the rulings that may be drawn."""

    def __init__(self, read: ReadBack, pairs: Pairs, order: Order, most: int) -> None:
        """Begin without rulings, to draw up to so many."""
        self._read, self._pairs, self._order, self._most = read, pairs, order, most
        self._any_other = read.names["host"].index((ANY_OTHER,))
        self._standing = standing = _Standing.of(read, pairs, order)
        code = standing.how * len(read.names["class"]) + standing.of_class
        code = code * (SUPER_TYPE + 1) + standing.of_type
        kinds = np.flatnonzero(np.bincount(code))
        self._kind = np.searchsorted(kinds, code).astype(np.int32)
        self._ends = np.cumsum(np.bincount(standing.ruleset, minlength=len(read.rulesets)))
        # Most rulesets stand for one kind; of the others every ruling is looked at.
        self._count = np.diff(self._ends, prepend=0)
        self._one = np.full(len(read.rulesets), len(kinds), np.int32)
        is_one = self._count == 1
        self._one[is_one] = self._kind[self._ends[is_one] - 1]
        # The greatest lot that may still be drawn from a stratum.
        self._bound = np.full((len(kinds) + 1) * _WAYS, _MOST_LOT)
        self._held = np.empty(0, _DRAWN)
        self._new: list[npt.NDArray[Any]] = []
        self._room = _SOME

    def add(self, ruleset: Numbers, host: Numbers, operation: Numbers, outcome: Numbers) -> None:
        """Take some rows."""
        way = outcome * 2 + (host != self._any_other)
        lots = _lots(self._read.rulesets.hashes[ruleset], host, operation)
        may_be = np.flatnonzero(lots <= self._bound[self._one[ruleset] * _WAYS + way])
        count = self._count[ruleset[may_be]]
        row = np.repeat(may_be, count)
        nth = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        standing = self._ends[ruleset[row]] - self._count[ruleset[row]] + nth
        found = np.empty(len(row), _DRAWN)
        found["stratum"], found["lot"] = self._kind[standing] * _WAYS + way[row], lots[row]
        found["standing"], found["host"] = standing, host[row]
        found["operation"] = operation[row]
        # The ruleset of super users has rulings of operations that a type does not know.
        known = KNOWN[self._standing.of_type[standing]] >> operation[row] & 1 == 1
        found = found[known & (found["lot"] <= self._bound[found["stratum"]])]
        self._new.append(found)
        self._room -= len(found)
        if self._room < 0:
            self._drop()

    def _drop(self) -> None:
        """Keep those that are drawn if no more follow; lower the bounds to them."""
        found = np.concatenate([self._held, *self._new])
        found = found[np.lexsort((found["lot"], found["stratum"]))]
        _, start, size = np.unique(found["stratum"], return_index=True, return_counts=True)
        turn = np.arange(len(found)) - np.repeat(start, size)
        level = _level(size, self._most)
        full = start[size >= level] + level - 1
        self._bound[found["stratum"][full]] = found["lot"][full]
        self._held, self._new = found[turn < level], []
        self._room = _SOME + len(self._held)
        by_turn = np.lexsort((found["stratum"], found["lot"], turn))
        self._drawn = found[by_turn[: self._most]]

    def cells(self) -> list[tuple[Any, ...]]:
        """Return the cells of the rulings drawn, as ``CELL``."""
        self._drop()
        asked, found = list(self._asked()), self._rulings()
        cells = []
        for who, resource, ruleset, operation, host, tried in asked:
            free = (one for one in tried if (ruleset, operation, one) not in found)
            asking = next(free, None) if host == ANY_OTHER else host
            if asking is not None:
                ruling = found[ruleset, operation, host]
                cells.append((who, asking, operation, *resource, *ruling))
        return cells

    def _asked(self) -> Iterator[tuple[str, tuple[str, ...], int, str, str, Sequence[str]]]:
        """Yield a pair for each ruling drawn that has one, and who may ask for any other host."""
        names, standing = self._read.names, self._standing
        tried = [names["host"][number][0] for number in self._order.hosts]
        principals = {at: self._principal(at) for at in np.unique(self._drawn["standing"]).tolist()}
        for drawn in self._drawn:
            at = drawn["standing"]
            if (who := principals[at]) is not None:
                resource = names["resource"][self._order.resources[standing.place[at]]]
                operation, (host,) = OPERATIONS[drawn["operation"]], names["host"][drawn["host"]]
                ruleset = int(standing.ruleset[at])
                yield names["principal"][who][0], resource, ruleset, operation, host, tried

    def _rulings(self) -> dict[tuple[int, str, str], tuple[Any, ...]]:
        """Read the rulings drawn, and what the hosts tried have in the place of any other's.

        Returns:
            (ruleset, operation, host) → decision, rule and deciding ACL.
        """
        names = self._read.names["host"]
        hashes = self._read.rulesets.hashes
        wanted = {
            (int(self._standing.ruleset[drawn["standing"]]), OPERATIONS[drawn["operation"]], host)
            for drawn in self._drawn
            for (host,) in (
                names[number]
                for number in (
                    self._order.hosts if drawn["host"] == self._any_other else [drawn["host"]]
                )
            )
        }
        rows = [(int(hashes[one[0]]), *one) for one in sorted(wanted)]
        self._read.written.give("drawn", arrow_table(rows, _DRAWN_ROW))
        found = self._read.written.rows(_RULINGS.format(hash=self._read.hash_sql))
        return {row[:3]: row[3:] for row in found}

    def _principal(self, at: int) -> int | None:
        """Return a principal to whom a standing applies at its resource."""
        how, of_class = self._standing.how[at], self._standing.of_class[at]
        if how == _PAIR:
            return int(self._pairs.principal_of[self._standing.ruleset[at]])
        order = self._order.principals
        is_member = self._read.class_of[order] == of_class
        members = order[is_member & (self._read.is_super[order] == (how == _SUPER))][:_TRIED]
        if how == _SUPER:
            return int(members[0])
        resource = self._order.resources[self._standing.place[at]]
        keys = members.astype(np.int64) * len(self._order.places) + resource
        free = members[~self._pairs.own.hold(keys)]
        return int(free[0]) if len(free) else None


def _level(sizes: npt.NDArray[np.int64], most: int) -> int:
    """Return the least number of turns that yield so many, or all.

    >>> _level(np.array([1, 5, 9]), 6), _level(np.array([1, 2]), 100)
    (3, 2)
    """
    ordered = np.sort(sizes)
    left = np.arange(len(sizes), 0, -1)
    before = np.concatenate([[0], np.cumsum(ordered)[:-1]])
    # So many are drawn once a stratum of each size has given all.
    enough = np.flatnonzero(before + ordered * left >= most)
    if not len(enough):
        return int(ordered[-1]) if len(sizes) else 1
    first = enough[0]
    return max(int(-((before[first] - most) // left[first])), 1)


def _lots(ruleset: Hashes, host: Numbers, operation: Numbers) -> Hashes:
    """Return the lots of rulings: 64 bits that come of all three."""
    lots = ruleset + (host * len(OPERATIONS) + operation).astype(np.uint64) * _MIXERS[0]
    for shift, mixer in zip((30, 27), _MIXERS[1:], strict=True):
        lots ^= lots >> np.uint64(shift)
        lots *= mixer
    lots ^= lots >> np.uint64(31)
    return lots


_PAIR, _CLASS, _SUPER = range(3)
_WAYS: Final = 2 * OUTCOMES
_SOME: Final = 20_000
_MOST_LOT: Final = np.uint64(2**64 - 1)
_MIXERS: Final = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)
"""Of splitmix64."""
_DRAWN: Final = np.dtype(
    [
        ("stratum", np.int64),
        ("lot", np.uint64),
        ("standing", np.int64),
        ("host", np.int32),
        ("operation", np.int32),
    ]
)
_DRAWN_ROW: Final = pa.schema(
    {"hash": pa.uint64(), "ruleset": pa.int32(), "operation": pa.string(), "host": pa.string()}
)
_RULINGS: Final = (
    f"SELECT d.ruleset, g.operation, g.host, {', '.join(f'g.{name}' for name in CELL[-3:])} "  # noqa: S608 -- contract
    "FROM explain_ruling g "
    "JOIN drawn d ON d.hash = {hash} AND d.operation = g.operation AND d.host = g.host"
)
