"""An ACL and the others → what they leave of it, or which of them decide in its place. Pure.

A name of the ACL is proposed, all others that match it are looked up, and these together leave
another name or none. So only ACLs that matter get into a question, and mostly none is asked: the
first name is left already, or one ACL plainly covers.

More ACLs cover more, so this is asked in the least classes of principals and hosts only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from aclkit.model.acl import Request
from aclkit.rules.names.cells import Cell
from aclkit.rules.names.cover import LEFT, covers, fewest, is_plainly_covered
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.overlap_index import OverlapIndex, Who, by_id
from aclkit.rules.names.rows import Row, Symbols, is_plain, operations_of, operations_to_come

Counts = Callable[[Row], bool]
"""Which of the others count."""

_ROUNDS: Final = 8
"""So many names are proposed before all the others that are near get into the question."""


class Left(NamedTuple):
    """What others leave of an ACL for a class and an operation.

    Attributes:
        name: the shortest name left; None where there is none, or the budget ended.
        by: the others that leave nothing; or those that the budget could not tell about.
        is_known: the budget did not end.
    """

    name: str | None
    by: tuple[Row, ...] = ()
    is_known: bool = True

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is left."""
        return self.name is None and self.is_known


class View:
    """What an ACL, or several of them all, answer for a class; and the others there."""

    def __init__(
        self,
        others: OverlapIndex,
        rows: tuple[Row, ...],
        who: Who,
        *,
        allows: tuple[bool, ...] = (False,),
    ) -> None:
        """Take the ACLs; ``allows`` states whether others are DENYs, ALLOWs or both."""
        self.rows, self.who = rows, who
        self._others, self._allows = others, allows
        self._kind = rows[0].acl.resource_type
        self._at = cache(self._find_at)

    def left(self, operation: str, counts: Counts = lambda _: True) -> Left:
        """Return what others leave for an operation."""
        found = self._others.left_by((), self.rows)
        chosen: dict[Row, None] = {}
        for turn in range(_ROUNDS + 1):
            if LEFT not in found.names:
                break
            name = found.names[LEFT]
            rows = self._at(name) if turn < _ROUNDS else self._near()
            hits = [each for each in rows if each.answers(operation) and counts(each)]
            alone = next((each for each in hits if self._plainly_covers(each)), None)
            if alone is not None:
                return Left(None, (alone,))
            fresh = [each for each in hits if each not in chosen]
            if not fresh:
                return Left(name)
            chosen.update(dict.fromkeys(fresh))
            found = self._others.left_by(chosen, self.rows)
        if LEFT in found.names:
            return Left(found.names[LEFT])
        return Left(None, tuple(chosen), found.is_complete)

    def request(self, operation: str, name: str) -> Request:
        """Return the request of the class about a name."""
        return Cell(self._kind, *self.who, operation).about(name)

    def _find_at(self, name: str) -> list[Row]:
        found = (self._others.at(self.who, name, self._kind, allows=each) for each in self._allows)
        return [row for rows in found for row in rows if row not in self.rows]

    def _near(self) -> list[Row]:
        near = self._others.near_for
        found = (near(self.rows[0], self.who, allows=each) for each in self._allows)
        return sorted((row for some in found for row in some if row not in self.rows), key=by_id)

    def _plainly_covers(self, other: Row) -> bool:
        wide = set(other.patterns)
        return any(
            all(is_plainly_covered(wide, each) or self._is_reached(other, each) for each in narrow)
            for narrow in (row.patterns for row in self.rows)
        )

    def _is_reached(self, other: Row, narrow: Symbols) -> bool:
        return is_plain(narrow) and self._others.reaches(other, "".join(narrow))


class Leftover(NamedTuple):
    """What others leave of an ACL.

    Attributes:
        given: operation → the least class in which the shortest name is left, and that name.
        by: where nothing is left, the others that see to it; of up to some sixty none that could
            be missing; none where the ACL answers no request that there could be.
        unknown: operations for which it is unknown whether something is left.
        hard: the others that made it so.
    """

    given: Mapping[str, tuple[View, str]]
    by: tuple[Row, ...] = ()
    unknown: frozenset[str] = frozenset()
    hard: tuple[Row, ...] = ()

    @property
    def is_covered(self) -> bool | None:
        """Whether nothing is left; None where the budget ended before it was known."""
        return False if self.given else None if self.unknown else True


def find_left(
    rows: tuple[Row, ...],
    others: OverlapIndex,
    operations: Iterable[str],
    *,
    allows: tuple[bool, ...] = (False,),
    counts: Counts = lambda _: True,
    is_one_enough: bool = False,
) -> Leftover:
    """Look for what others leave of an ACL, or of what several answer all, by operation.

    One that is left may be enough.
    """
    classes, is_complete = others.who(*rows)
    views = [View(others, rows, who, allows=allows) for who in classes]
    given: dict[str, tuple[View, str]] = {}
    by: dict[Row, None] = {}
    hard: dict[Row, None] = {}
    unknown = set[str]()
    for operation in sorted(operations):
        all_left = [(view, view.left(operation, counts)) for view in views]
        found = [(view, left.name) for view, left in all_left if left.name is not None]
        if found:
            given[operation] = min(found, key=lambda each: (len(each[1]), each[1]))
            if is_one_enough:
                break
            continue
        by.update((each, None) for _, left in all_left for each in left.by)
        if not is_complete or any(not left.is_known for _, left in all_left):
            unknown.add(operation)
            hard |= by
    if given or unknown:
        return Leftover(given, (), frozenset(unknown), tuple(hard))
    return Leftover({}, _fewest(operations, views, by))


def find_cover(
    row: Row, others: OverlapIndex, operations: Iterable[str], counts: Counts = lambda _: True
) -> Leftover:
    """Look for others in whose presence an ACL decides nothing; for an ALLOW, DENYs are among them.

    One name that is left is enough to know that there are none.
    """
    allows = (True, False) if row.acl.is_allow else (False,)
    return find_left((row,), others, operations, allows=allows, counts=counts, is_one_enough=True)


def is_idle(deny: Row, others: OverlapIndex) -> bool | None:
    """Whether a DENY has no effect: without it no ALLOW would allow a request it matches."""
    is_known = True
    supers = {tuple(name) for name in others.super_users}
    for allow in others.meeting(deny, allows=True):
        if supers.isdisjoint({deny.principal, allow.principal}):
            operations = operations_to_come(deny.acl) & operations_to_come(allow.acl)
            left = find_left((deny, allow), others, operations, is_one_enough=True)
            if left.given:
                return False
            is_known &= not left.unknown
    return True if is_known else None


def is_reached_by_others(row: Row, others: OverlapIndex) -> bool | None:
    """Whether each name of an ACL is in another one: else a default may come to decide."""
    wide = {pattern for other in others.near(row) for pattern in other.patterns}
    return covers(wide, row.patterns, domain_of(row.acl.resource_type), others.budget)


def covered_names(row: Row, others: OverlapIndex) -> Callable[[str], bool]:
    """Tell the names that ACLs decide wherever one like another could; itself counts if there.

    Where classes are missing, or there are none, the function accepts no name.
    """
    kind, asked = row.acl.resource_type, operations_of(row.acl)
    classes, is_complete = others.who(row)
    is_known = is_complete and bool(classes)

    def is_decided(who: Who, name: str) -> bool:
        found = (each for a in (True, False) for each in others.at(who, name, kind, allows=a))
        return asked <= frozenset[str]().union(*(operations_of(each.acl) for each in found))

    return cache(lambda name: is_known and all(is_decided(who, name) for who in classes))


def _fewest(
    operations: Iterable[str], views: Sequence[View], by: Mapping[Row, None]
) -> tuple[Row, ...]:
    """Drop one after another what is not needed to leave nothing."""

    def is_enough(few: list[Row]) -> bool:
        counts = set(few).__contains__
        return all(view.left(o, counts).is_nothing for o in operations for view in views)

    kept = sorted(by, key=by_id)
    return tuple(fewest(kept, is_enough) if len(kept) > 1 else kept)
