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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from aclkit.model.acl import ANY_OTHER, Request
from aclkit.pipeline.explain.counted import Pairs
from aclkit.pipeline.explain.faults import DECISIONS, OPERATIONS, RULES
from aclkit.pipeline.explain.read_back import (
    KNOWN,
    OUTCOMES,
    SUPER_TYPE,
    Few,
    Hashes,
    Numbers,
    ReadBack,
    parts_of,
)

Drawn = npt.NDArray[np.void]
"""Rulings, each with a stratum that it is in and its lot there."""

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
        lots: for each operation of each host; the lot of a ruling comes of this, and its ruleset.
    """

    principals: Few
    resources: Few
    places: Few
    hosts: Sequence[int]
    lots: Hashes

    @classmethod
    def of(cls, read: ReadBack, seed: int) -> Order:
        """Draw it; the names are numbered as they sort, so the same seed draws the same."""
        random = np.random.default_rng(seed)
        hosts = read.names["host"]
        shuffled = random.permutation(read.hosts)[:_TRIED].tolist()
        other = hosts.index((ANY_OTHER,))
        resources = random.permutation(len(read.type_of_resource)).astype(np.int32)
        return cls(
            principals=random.permutation(len(read.class_of)).astype(np.int32),
            resources=resources,
            places=np.argsort(resources).astype(np.int32),
            hosts=list(dict.fromkeys([*shuffled, *([other] if other < read.hosts else [])])),
            lots=random.integers(_MOST_LOT, size=len(hosts) * len(OPERATIONS), dtype=np.uint64),
        )


class _Standing(NamedTuple):
    """Who has a ruleset: a ruling is in a stratum for each of them.

    Sorted by ruleset.

    Attributes:
        ruleset: the ruleset.
        kind: how it stands, for which class and which type, see ``_kind``.
        place: the least place of the resources where it does.
    """

    ruleset: Few
    kind: Few
    place: Few

    @classmethod
    def of(cls, read: ReadBack, pairs: Pairs, order: Order) -> _Standing:
        own = np.flatnonzero(pairs.principal_of >= 0)
        class_of_own = read.class_of[pairs.principal_of[own]]
        rest, place = np.divmod(pairs.shared, max(len(order.places), 1))
        of_class, ruleset = np.divmod(rest, max(len(read.rulesets), 1))
        types, classes = read.type_of_ruleset, len(read.names["class"])
        parts = [
            (own, _kind(_PAIR, class_of_own, types[own], classes), pairs.place_of[own]),
            (ruleset, _kind(_CLASS, of_class, types[ruleset], classes), place),
        ]
        for of_type in np.unique(read.type_of_resource):
            first = order.places[read.type_of_resource == of_type].min()
            supers = np.unique(read.class_of[read.is_super])
            super_ruleset = np.argmax(types == SUPER_TYPE) if len(supers) else 0
            kinds = _kind(_SUPER, supers, of_type, classes)
            parts.append((np.full_like(supers, super_ruleset), kinds, np.full_like(supers, first)))
        found = [np.concatenate(column).astype(np.int32) for column in zip(*parts, strict=True)]
        by_ruleset = np.argsort(found[0], kind="stable")
        return cls(*(column[by_ruleset] for column in found))


def _kind(how: int, of_class: Few, of_type: Few, classes: int) -> Few:
    """Return a number for a standing's way, class and type."""
    return (how * classes + of_class) * (SUPER_TYPE + 1) + of_type


class Draw:
    """Takes the rows of ``explain_ruling`` and keeps the rulings that may be drawn."""

    def __init__(self, read: ReadBack, pairs: Pairs, order: Order, most: int) -> None:
        """Begin without rulings, to draw up to so many."""
        self._read, self._pairs, self._order, self._most = read, pairs, order, most
        self._standing = standing = _Standing.of(read, pairs, order)
        self._any_other = read.names["host"].index((ANY_OTHER,))
        host, _, outcome = parts_of(np.arange(len(order.lots) * OUTCOMES))
        self._way = (outcome * 2 + (host != self._any_other)).astype(np.int32)
        self._lots = np.repeat(order.lots, OUTCOMES)
        # Most rulesets stand in one way: their rulings are dropped by a look at one number. Of
        # the others every ruling is looked at for each of their standings.
        kinds = 1 + int(standing.kind.max(initial=0))
        self._count = np.bincount(standing.ruleset, minlength=len(read.rulesets))
        self._ends = np.cumsum(self._count)
        self._one = np.full(len(read.rulesets), kinds * _WAYS, np.int32)
        is_one = self._count == 1
        self._one[is_one] = standing.kind[self._ends[is_one] - 1] * _WAYS
        # The greatest lot that may still be drawn from a stratum.
        self._bound = np.full((kinds + 1) * _WAYS, _MOST_LOT)
        self._held = np.empty(0, _DRAWN)
        self._new: list[Drawn] = []
        self._room = _SOME

    def add(self, ruleset: Numbers, ruling: Numbers, hashes: Hashes, acl_ids: pa.Array) -> None:
        """Take some rows."""
        lots = (hashes ^ self._lots[ruling]) * _ODD
        bounds = self._bound[self._one[ruleset] + self._way[ruling]]
        may_be = np.flatnonzero(lots <= bounds)
        if not len(may_be):
            return
        ruleset, ruling, lots = ruleset[may_be], ruling[may_be], lots[may_be]
        count = self._count[ruleset]
        row = np.repeat(np.arange(len(may_be)), count)
        nth = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        found = np.empty(len(row), _DRAWN)
        found["standing"] = standing = (self._ends[ruleset] - count)[row] + nth
        found["ruling"], found["lot"] = ruling[row], lots[row]
        kind = self._standing.kind[standing]
        found["stratum"] = kind * _WAYS + self._way[ruling[row]]
        # The ruleset of super users has rulings of operations that a type does not know.
        known = KNOWN[kind % (SUPER_TYPE + 1)] >> parts_of(ruling[row])[1] & 1 == 1
        left = np.flatnonzero(known & (found["lot"] <= self._bound[found["stratum"]]))
        found = found[left]
        found["acl_id"] = acl_ids.take(pa.array(may_be[row[left]])).to_pylist()
        self._new.append(found)
        self._room -= len(found)
        if self._room < 0:
            self.drawn()

    def drawn(self) -> Drawn:
        """Return the rulings drawn if no more follow; drop all others, and lower the bounds."""
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
        return found[by_turn[: self._most]]

    def tried(self, drawn: Drawn) -> tuple[Numbers, Numbers]:
        """Return ruleset and ruling for each ruling drawn and each host that may ask for it."""
        _, operation, _ = parts_of(drawn["ruling"])
        hosts = np.array(self._order.hosts)
        at_host = hosts * len(OPERATIONS) + operation[:, np.newaxis]
        ruleset = self._standing.ruleset[drawn["standing"]].astype(np.int64)
        return ruleset[:, np.newaxis], at_host * OUTCOMES

    def cells(self, drawn: Drawn, is_taken: npt.NDArray[np.bool_]) -> list[tuple[Any, ...]]:
        """Return the cells of rulings drawn that have one, as ``CELL``.

        Args:
            drawn: the rulings.
            is_taken: which of ``tried`` have rulings of their own.
        """
        names = self._read.names
        principals = {at: self._principal(at) for at in np.unique(drawn["standing"]).tolist()}
        cells = []
        parts = zip(*(part.tolist() for part in parts_of(drawn["ruling"])), strict=True)
        for one, (host, operation, outcome), taken in zip(drawn, parts, is_taken, strict=True):
            at = int(one["standing"])
            hosts = [self._order.hosts[n] for n in np.flatnonzero(~taken).tolist()]
            asking = next(iter(hosts if host == self._any_other else [host]), None)
            if (who := principals[at]) is not None and asking is not None:
                decision, rule = divmod(outcome, len(RULES))
                resource = names["resource"][self._order.resources[self._standing.place[at]]]
                asked = (*names["principal"][who], *names["host"][asking])
                request = (*asked, OPERATIONS[operation], *resource)
                cells.append((*request, DECISIONS[decision], RULES[rule], one["acl_id"]))
        return cells

    def _principal(self, at: int) -> int | None:
        """Return a principal to whom a standing applies at its resource."""
        how, of_class = divmod(
            int(self._standing.kind[at]) // (SUPER_TYPE + 1), len(self._read.names["class"])
        )
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
    """Return the least number of turns that yield so many; where none does, more than any size.

    >>> _level(np.array([1, 5, 9]), 6), _level(np.array([1, 2]), 100)
    (3, 3)
    """
    ordered = np.sort(sizes)
    left = np.arange(len(sizes), 0, -1)
    before = np.concatenate([[0], np.cumsum(ordered)[:-1]])
    # So many are drawn once a stratum of each size has given all.
    enough = np.flatnonzero(before + ordered * left >= most)
    if not len(enough):
        return int(sizes.max(initial=0)) + 1
    first = enough[0]
    return max(int(-((before[first] - most) // left[first])), 1)


_PAIR, _CLASS, _SUPER = range(3)
_WAYS: Final = 2 * OUTCOMES
_SOME: Final = 20_000
_MOST_LOT: Final = np.uint64(2**64 - 1)
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)
_DRAWN: Final = np.dtype(
    [
        ("stratum", np.int64),
        ("lot", np.uint64),
        ("standing", np.int64),
        ("ruling", np.int64),
        ("acl_id", np.object_),
    ]
)
