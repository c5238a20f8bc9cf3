"""ACLs and settings → fewer ACLs that decide every name alike; why each may go. Pure.

Greedy: every step leaves all decisions as they are. Who prints what comes of it has it proven by
``compare`` first, which shares nothing with this but the question it asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from aclkit.model.acl import Acl
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.redpanda import has_unknown_members
from aclkit.rules.names.overlap_index import OverlapIndex
from aclkit.rules.names.question import Budget
from aclkit.rules.names.redundancy import Leftover, find_cover, is_idle, is_reached_by_others
from aclkit.rules.names.rows import (
    EVERYTHING,
    Row,
    Rules,
    is_plain,
    operations_of,
    operations_to_come,
    rows_of,
    start_of,
)

COVERED: Final = "covered"
MERGED: Final = "merged"
IDLE: Final = "idle"
NEVER: Final = "never matches"


class Step(NamedTuple):
    """An ACL that goes.

    Attributes:
        acl: it.
        why: ``COVERED`` by others; ``MERGED`` into an ACL of ALL; ``IDLE``: a DENY of requests
            that nothing allows; ``NEVER`` matches a possible request.
        by: the ACLs that decide in its place, of a DENY that is idle itself before that goes.
    """

    acl: Acl
    why: str
    by: tuple[Acl, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tidy:
    """What is left of some ACLs.

    Attributes:
        before: all of them, each once.
        after: what decides alike.
        added: those of it that are new: of ALL, in the place of its operations.
        steps: those that go, in an order in which they can; first those that others cover.
        unknown: those that stay because the budget ended before it was known.
    """

    before: tuple[Acl, ...]
    after: tuple[Acl, ...]
    added: tuple[Acl, ...]
    steps: tuple[Step, ...]
    unknown: tuple[Acl, ...]


Reasons = Callable[[Acl], frozenset[str]]
"""An ACL → why it should go itself; another one goes because of it only for the same reasons."""


def no_reasons(_: Acl) -> frozenset[str]:
    """Find no reason for an ACL to go: each may be why another one does."""
    return frozenset()


def tidy(
    rules: Rules,
    budget: Budget,
    *,
    reasons: Reasons = no_reasons,
    idle_denies: bool = False,
    keep_operations: bool = False,
) -> Tidy:
    """Leave out what the other ACLs make needless.

    ACLs of types and operations that are not known stay as they are, and so do those of roles and
    groups of Redpanda, whose members are unknown.

    Args:
        rules: what decides.
        budget: what may be spent; beyond it an ACL stays.
        reasons: why an ACL should go itself.
        idle_denies: leave out DENYs too that take nothing away today.
        keep_operations: do not write ALL where all its operations are there.
    """
    before = {acl.binding: acl for acl in rules.acls}
    work = _Work()
    for resource_type in OPERATIONS_OF_TYPE:
        acls = [acl for _, acl in sorted(before.items()) if acl.resource_type == resource_type]
        if acls:
            tidier = _Tidier(acls, rules, budget, reasons, work)
            tidier.drop_covered(tidier.rows)
            if not keep_operations:
                tidier.merge_operations()
            if idle_denies:
                tidier.drop_idle()
            tidier.hand_over()
    gone = {step.acl.binding for step in work.steps}
    kept = (*before.values(), *work.added)
    return Tidy(
        before=tuple(before.values()),
        after=tuple(acl for acl in kept if acl.binding not in gone),
        added=tuple(work.added),
        steps=tuple(sorted(work.steps, key=lambda step: step.why == IDLE)),
        unknown=tuple(acl for name, acl in work.unknown.items() if name not in gone),
    )


@dataclass(slots=True)
class _Work:
    """What was found for all types."""

    added: list[Acl] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    unknown: dict[tuple[str, ...], Acl] = field(default_factory=dict)


class _Tidier:
    """Leaves out ACLs of one type."""

    def __init__(
        self, acls: list[Acl], rules: Rules, budget: Budget, reasons: Reasons, work: _Work
    ) -> None:
        rows = list(rows_of(acls, rules.semantics))
        read = rules.semantics
        known = (row for row in rows if not has_unknown_members(row.acl.principal, read))
        self.rows = sorted((row for row in known if operations_to_come(row.acl)), key=_width)
        self._semantics, self._work = rules.semantics, work
        self._is_open = rules.settings.allow_everyone
        supers = rules.settings.super_users
        self._others = OverlapIndex(rows, rules.semantics, budget, supers)
        self._reasons = {row: reasons(row.acl) for row in rows}
        self._alive = dict.fromkeys(self.rows)
        self._made: list[Row] = []
        self._went: dict[Row, tuple[str, tuple[Row, ...]]] = {}

    def drop_covered(self, rows: Iterable[Row]) -> None:
        """Leave out, one after another, what the others cover: the narrow first."""
        for row in rows:
            by = self._cover(row)
            if by is not None:
                self._drop(row, COVERED if by else NEVER, by)

    def merge_operations(self) -> None:
        """Write ALL where all operations of it were, and look at what that covers."""
        together = grouped((replace(row.acl, acl_id="", operation=""), row) for row in self.rows)
        for rows in together.values():
            left = [row for row in rows if row in self._alive]
            if len(left) > 1 and _answer_together(rows):
                self._merge(left)
        near = {other for row in self._made for other in self._others.near(row)}
        self.drop_covered([row for row in self._alive if row in near])

    def drop_idle(self) -> None:
        """Leave out the DENYs that take nothing away, which only more ALLOWs could change."""
        for row in [row for row in self._alive if not row.acl.is_allow]:
            if self._may_go(row, is_needless=is_idle(row, self._others)):
                self._drop(row, IDLE, ())

    def hand_over(self) -> None:
        """Name, of each that goes, what decides in its place in the end, where that does."""
        self._work.added += (row.acl for row in self._made if row in self._alive)
        for row in self.rows:
            why, by = self._went.get(row, ("", ()))
            if any(other in self._went for other in by):
                why, by = COVERED, self._find(row).by or by
            if why:
                self._work.steps.append(Step(row.acl, why, tuple(other.acl for other in by)))

    def _merge(self, rows: list[Row]) -> None:
        acl = rows[0].acl
        name = f"tidy-{acl.resource_type}-{len(self._made) + 1}"
        (row,) = rows_of([replace(acl, operation="ALL", acl_id=name)], self._semantics)
        self._made.append(row)
        self._reasons[row] = frozenset().union(*(self._reasons[each] for each in rows))
        self._others.add(row)
        self._alive[row] = None
        for each in rows:
            self._drop(each, MERGED, (row,))

    def _cover(self, row: Row) -> tuple[Row, ...] | None:
        cover = self._find(row)
        # What covers all of it reaches its names.
        may_go = self._may_go(row, is_needless=cover.is_covered, is_reached=bool(cover.by))
        return cover.by if may_go else None

    def _find(self, row: Row) -> Leftover:
        reasons = self._reasons[row]
        return find_cover(
            row,
            self._others,
            operations_to_come(row.acl),
            lambda other: self._reasons[other] <= reasons,
        )

    def _may_go(self, row: Row, *, is_needless: bool | None, is_reached: bool = False) -> bool:
        """Whether an ACL may go; where it is needless but for the default that allows, not."""
        if is_needless and self._is_open and not is_reached:
            is_needless = is_reached_by_others(row, self._others)
        if is_needless is None:
            self._work.unknown[row.acl.binding] = row.acl
        return bool(is_needless)

    def _drop(self, row: Row, why: str, by: tuple[Row, ...]) -> None:
        self._others.remove(row)
        del self._alive[row]
        self._went[row] = why, by


def _answer_together(rows: Iterable[Row]) -> bool:
    """Whether ACLs answer all operations that their type is known to have, none by ALL."""
    acls = [row.acl for row in rows]
    answered = frozenset[str]().union(*map(operations_of, acls))
    is_all = answered.issuperset(OPERATIONS_OF_TYPE[acls[0].resource_type])
    return is_all and all(acl.operation != "ALL" for acl in acls)


def _width(row: Row) -> tuple[object, ...]:
    """Sort ACLs by how much they speak of; what speaks of little goes first."""
    pattern, acl = row.patterns[-1], row.acl
    return (
        *(0 if not each or is_plain(each) else 2 if each == EVERYTHING else 1
          for each in (row.principal, row.host)),
        acl.operation == "ALL",
        0 if is_plain(pattern) else 1 if len(start_of(pattern)) < len(pattern) - 1 else 2,
        -len(pattern),
        acl.binding,
    )  # fmt: skip
