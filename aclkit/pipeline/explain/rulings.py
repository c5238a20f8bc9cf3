"""Sets of groups → rulings: what each decides for an operation from a host, and which ACL. Pure.

A host that no ACL of a set names is answered by ``<any-other>``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.pipeline.explain.arrays import (
    Flags,
    Lists,
    Numbers,
    order_of,
    ranges_of,
    runs_of,
)
from aclkit.pipeline.explain.groups import NONE, Best
from aclkit.pipeline.explain.pairing import NO_SET, Sets
from aclkit.pipeline.explain.prepared import AMONG_ALL, NEVER, Prepared
from aclkit.pipeline.explain.ranked_acls import BITS_OF_ACL, OPERATIONS, TYPES

LOOKS: Final = 1_000_000
"""Of so many rows at once rulings are found: some hundred megabytes."""
ANY_HOST: Final = -1
"""The place of ``<any-other>`` among the hosts."""
NO_ACL: Final = -1
_MET_LAST: Final = np.int64(1 << 62)
"""Added to the precedence of an ACL that the broker meets last; precedences stay below it."""
_OPERATIONS_OF: Final = np.array([len(OPERATIONS_OF_TYPE[of_type]) for of_type in TYPES])


@dataclass(frozen=True, slots=True)
class Rulings:
    """Rulings of some sets.

    Attributes:
        set: a place among those that were asked for.
        host: a place among the hosts, or ``ANY_HOST``.
        operation: a place among the operations of the set's resource type.
        is_allowed: the decision.
        acl: the number of the ACL that decides, or ``NO_ACL``.
    """

    set: Numbers
    host: Numbers
    operation: Numbers
    is_allowed: Flags
    acl: Numbers


@dataclass(frozen=True, slots=True)
class _OfHosts:
    """What is best of some owners, for any other host, and for each host that an ACL names."""

    best: Best
    lists: Lists
    host: Numbers
    best_at_host: Best


@dataclass(frozen=True, slots=True)
class Ruler:
    """Decides sets; what is best of a class set is worked out once for all sets that hold it."""

    prepared: Prepared
    sets: Sets
    of_classes: _OfHosts

    @classmethod
    def of(cls, prepared: Prepared, sets: Sets) -> Ruler:
        """Prepare to decide the sets of a slice."""
        every = np.arange(len(sets.class_met_last))
        row, at = sets.shared.elements(every)
        groups, met_last = sets.shared_group[at], sets.class_met_last
        return cls(prepared, sets, _unite(prepared, row, groups, met_last[row], len(every)))

    def rule(self, which: Numbers) -> Rulings:
        """Decide some sets.

        One ruling for ``<any-other>`` and every operation, and one for each host that an ACL which
        answers the operation names; there the best of both decides.
        """
        sets, size = self.sets, len(which)
        row, at = sets.own.elements(which)
        own = _unite(self.prepared, row, sets.own_group[at], sets.met_last[which][row], size)
        of_class = sets.of_class[which]
        holds = np.flatnonzero(of_class != NO_SET)
        best = own.best.better(self.of_classes.best.take(of_class[holds]).least(holds, size))
        class_row, class_at = self.of_classes.lists.elements(of_class[holds])
        owners, hosts, at_host = _best_by_host(
            np.concatenate([own.lists.owners(), holds[class_row]]),
            np.concatenate([own.host, self.of_classes.host[class_at]]),
            _concat(own.best_at_host, self.of_classes.best_at_host.take(class_at)),
        )
        answered, answers = np.nonzero((at_host.deny != NONE) | (at_host.allow != NONE))
        at_host = at_host.better(best.take(owners))

        operations = _OPERATIONS_OF[sets.resource_type[which]]
        asked, operation = np.nonzero(np.arange(OPERATIONS)[None, :] < operations[:, None])
        deny = np.concatenate([best.deny[asked, operation], at_host.deny[answered, answers]])
        allow = np.concatenate([best.allow[asked, operation], at_host.allow[answered, answers]])
        denied, allowed = deny != NONE, allow != NONE
        precedence = np.where(denied, deny, allow * self.prepared.sign)
        number = precedence & ((1 << BITS_OF_ACL) - 1)
        return Rulings(
            set=np.concatenate([asked, owners[answered]]),
            host=np.concatenate([np.full(len(asked), ANY_HOST), hosts[answered]]),
            operation=np.concatenate([operation, answers]),
            is_allowed=allowed & ~denied,
            acl=np.where(denied | allowed, number, NO_ACL),
        )

    def parts(self, which: Numbers, most: int) -> Iterator[Numbers]:
        """Cut sets into parts, so that to decide one looks at about so many rows at most."""
        groups = self.prepared.groups
        hosts = groups.at_host.counts
        row, at = self.sets.own.elements(which)
        looks = (
            np.bincount(row, weights=1 + hosts[self.sets.own_group[at]], minlength=len(which))
            + np.append(self.of_classes.lists.counts, 0)[self.sets.of_class[which]]
        )
        return (which[part] for part in ranges_of(looks + 1, most))


def _unite(p: Prepared, owners: Numbers, groups: Numbers, met_last: Numbers, size: int) -> _OfHosts:
    """Return what is best of the groups of owners, sorted numbers below a size."""
    of_denies, of_allows = p.met_last
    moves = (
        (met_last > NEVER) & of_denies[groups],
        (met_last == AMONG_ALL) & of_allows[groups],
    )
    best = _moved_back(p.groups.best.take(groups), moves, p.sign).least(owners, size)
    row, at = p.groups.at_host.elements(groups)
    moves = (moves[0][row], moves[1][row])
    owners, hosts, at_host = _best_by_host(
        owners[row], p.groups.host[at], _moved_back(p.groups.best_at_host.take(at), moves, p.sign)
    )
    return _OfHosts(best, Lists.of(owners, size), hosts, at_host)


def _best_by_host(owners: Numbers, hosts: Numbers, best: Best) -> tuple[Numbers, Numbers, Best]:
    """Return each different owner and host, sorted, with what is best of its rows."""
    order = order_of([owners, hosts])
    owners, hosts = owners[order], hosts[order]
    first, _, number = runs_of(owners, hosts)
    return owners[first], hosts[first], best.take(order).least(number, len(first))


def _moved_back(best: Best, moves: tuple[Flags, Flags], sign: np.int64) -> Best:
    """Put what the broker meets last behind all else; ``best`` is changed."""
    for values, is_late, by in (
        (best.deny, moves[0], _MET_LAST),
        (best.allow, moves[1], sign * _MET_LAST),
    ):
        if is_late.any():
            values[is_late[:, None] & (values != NONE)] += by
    return best


def _concat(one: Best, other: Best) -> Best:
    return Best(np.concatenate([one.deny, other.deny]), np.concatenate([one.allow, other.allow]))
