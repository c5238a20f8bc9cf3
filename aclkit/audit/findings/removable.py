"""ACLs → which of them no decision needs, each with those that answer in its place.

An ALLOW is overridden where DENYs leave nothing of it. An ACL may go where others of its permission
leave nothing of it, for an ALLOW together with DENYs. Others count together: patterns, operations,
principals and hosts may be shared out among them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from aclkit.model.acl import Acl
from aclkit.rules.names.overlap_index import OverlapIndex
from aclkit.rules.names.redundancy import Counts, Leftover, find_cover, find_left
from aclkit.rules.names.rows import Row, operations_of

Rows = Mapping[str, Row]
"""Id → ACL, in order of ids."""
Covers = dict[str, tuple[Acl, ...]]
"""Id of an ACL that may go → the ACLs that answer in its place."""
MayCover = Callable[[Acl, Acl], bool]
"""Whether the first ACL may be the reason for the second to go."""

_BESIDE: Final = ("READ", "WRITE")
"""kafka-acls writes DESCRIBE together with these, for --consumer and --producer."""


@dataclass(slots=True)
class Removable:
    """What may go.

    Attributes:
        covers: see ``Covers``.
        unknown: id of an ACL that may have to stay, for the budget ended → what made it hard.
    """

    covers: Covers = field(default_factory=dict)
    unknown: dict[str, tuple[Acl, ...]] = field(default_factory=dict)


def find_leftovers(rows: Rows, others: OverlapIndex) -> dict[str, Leftover]:
    """Return by id what DENYs leave of each ALLOW: DENY wins (StandardAuthorizerData)."""
    allows = (row for row in rows.values() if row.acl.is_allow)
    return {row.acl.acl_id: find_left((row,), others, operations_of(row.acl)) for row in allows}


def find_overridden(leftovers: Mapping[str, Leftover]) -> Covers:
    """Return the ALLOWs that DENYs leave nothing of."""
    return {acl_id: _acls(left.by) for acl_id, left in leftovers.items() if left.by}


def find_removable(
    rows: Rows, others: OverlapIndex, overridden: Covers, may_cover: MayCover = lambda *_: True
) -> Removable:
    """Return the ACLs that others of their own permission make unnecessary.

    Of ACLs that contain each other the first by id stays. Those that are named stay, so that all
    that is returned can go, alone or together; of what is left nothing can. Where it takes a DENY
    as well to answer for an ALLOW, it is among those named.

    Args:
        rows: the ACLs.
        others: the same, indexed.
        overridden: those that DENYs leave nothing of.
        may_cover: a transitive relation.
    """
    found = Removable()
    wider = {acl_id: _wider(row, others, may_cover, found) for acl_id, row in rows.items()}
    going = {acl_id for acl_id, some in wider.items() if _is_behind(rows[acl_id], some, wider)}

    def stays(row: Row) -> bool:
        return row.acl.acl_id not in going and row.acl.acl_id not in overridden

    for row in rows.values():
        if stays(row) and _together(row, others, stays, may_cover, found):
            going.add(row.acl.acl_id)
    for acl_id in (each for each in rows if each in going):
        alone = next((other for other in wider[acl_id] if other.acl.acl_id not in going), None)
        cover = (alone,) if alone else _together(rows[acl_id], others, stays, may_cover, found)
        found.covers[acl_id] = _acls(cover)
    found.unknown = {each: hard for each, hard in found.unknown.items() if each not in going}
    return found


def written_beside(rows: Rows, going: Collection[str]) -> Iterator[str]:
    """Yield the id of each redundant DESCRIBE whose READ or WRITE stays.

    kafka-acls writes both for --consumer and --producer. Of equal ACLs it is the first by id.
    """
    staying = {_but_operation(row.acl) for row in rows.values() if _is_beside(row.acl, going)}
    seen = set[tuple[str, ...]]()
    for acl_id, row in rows.items():
        acl = row.acl
        if acl.is_allow and acl.operation == "DESCRIBE" and acl.binding not in seen:
            seen.add(acl.binding)
            if acl_id in going and _but_operation(acl) in staying:
                yield acl_id


def _is_beside(acl: Acl, going: Collection[str]) -> bool:
    return acl.is_allow and acl.operation in _BESIDE and acl.acl_id not in going


def _but_operation(acl: Acl) -> tuple[object, ...]:
    return *acl.pattern, acl.principal, acl.host


def _wider(row: Row, others: OverlapIndex, may_cover: MayCover, found: Removable) -> list[Row]:
    """Return the ACLs that contain one and may cover it, its principal's own first.

    Where these are possibly not all, ``found.unknown`` notes it.
    """
    wider, are_all = others.containing(row)
    if not are_all:
        found.unknown[row.acl.acl_id] = ()
    allowed = (other for other in wider if may_cover(other.acl, row.acl))
    return sorted(allowed, key=lambda other: other.acl.principal != row.acl.principal)


def _is_behind(row: Row, wider: Sequence[Row], all_wider: Mapping[str, Sequence[Row]]) -> bool:
    """Whether one ACL contains this one and is not merely its equal with a later id.

    The order is strict, because containment is transitive. So the chain from an ACL to the one
    before it always ends at an ACL that stays.
    """
    return any(
        other.acl.acl_id < row.acl.acl_id or row not in all_wider[other.acl.acl_id]
        for other in wider
    )


def _together(
    row: Row, others: OverlapIndex, stays: Counts, may_cover: MayCover, found: Removable
) -> tuple[Row, ...]:
    """Return those of the ACLs that stay that answer all that one answers, or nothing.

    At least one is of the same permission.
    """
    acl = row.acl

    def counts(other: Row) -> bool:
        return stays(other) and may_cover(other.acl, acl)

    cover = find_cover(row, others, operations_of(acl), counts)
    if cover.is_covered is None:
        found.unknown[acl.acl_id] = _acls(cover.hard)
    return cover.by if any(each.acl.is_allow == acl.is_allow for each in cover.by) else ()


def hardest(acls: Iterable[Acl]) -> list[Acl]:
    """Return the ACLs that have wildcards, those with most first: they make a question hard."""
    wild = {acl: sum(map(_wildcards, (acl.resource_name, acl.principal, acl.host))) for acl in acls}
    return sorted((acl for acl in wild if wild[acl]), key=lambda acl: (-wild[acl], acl.acl_id))


def _wildcards(text: str) -> int:
    return text.count("*") + text.count("?")


def _acls(rows: Iterable[Row]) -> tuple[Acl, ...]:
    return tuple(row.acl for row in rows)
