"""ACLs → which of them no decision needs, each with those that answer in its place.

An ALLOW is overridden where DENYs leave nothing of it. An ACL may go where others of its permission
leave nothing of it, for an ALLOW together with DENYs. Others count together: patterns, operations,
principals and hosts may be shared out among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from aclkit.audit.findings.others import Counts, Left, Others, View, operations_of
from aclkit.model.acl import Acl
from aclkit.rules.names.rows import Row

Covers = dict[str, tuple[Acl, ...]]
"""Id of an ACL that may go → the ACLs that answer in its place."""

_MOST_TRIED: Final = 60
"""Of so many ACLs that answer together it is tried which are not needed for it."""


@dataclass(slots=True)
class Removable:
    """What may go.

    Attributes:
        covers: see ``Covers``.
        unknown: id of an ACL that may have to stay, for the budget ended → what made it hard.
    """

    covers: Covers = field(default_factory=dict)
    unknown: dict[str, tuple[Acl, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Leftover:
    """What DENYs leave of an ALLOW.

    Attributes:
        given: operation → for each least class what is left; of each the shortest name.
        by: the DENYs that leave nothing, where they do.
        unknown: operations of which nobody knows whether something is left.
        hard: the ACLs that made it so.
    """

    given: Mapping[str, tuple[View, str]]
    by: tuple[Row, ...] = ()
    unknown: frozenset[str] = frozenset()
    hard: tuple[Acl, ...] = ()


def find_leftovers(others: Others) -> dict[str, Leftover]:
    """Return by id what DENYs leave of each ALLOW that can match."""
    rows = (row for row in others.rows.values() if row.acl.is_allow)
    return {row.acl.acl_id: leftover_of(row, others) for row in rows}


def leftover_of(row: Row, others: Others) -> Leftover:
    """Return what DENYs leave of one ALLOW: DENY wins (StandardAuthorizerData)."""
    classes, is_complete = others.who(row)
    views = [View(others, (row,), who) for who in classes]
    given: dict[str, tuple[View, str]] = {}
    by: dict[str, Row] = {}
    hard: dict[str, Acl] = {}
    unknown = set[str]()
    for operation in sorted(operations_of(row.acl)):
        all_left = [(view, view.left(operation)) for view in views]
        found = [(view, left.name) for view, left in all_left if left.name is not None]
        if found:
            given[operation] = min(found, key=lambda each: (len(each[1]), each[1]))
            continue
        by.update((each.acl.acl_id, each) for _, left in all_left for each in left.by)
        if not is_complete or any(not left.is_known for _, left in all_left):
            unknown.add(operation)
            hard.update((each, by[each].acl) for each in by)
    if given or unknown:
        return Leftover(given, (), frozenset(unknown), tuple(hard.values()))
    return Leftover({}, _fewest(row, views, by))


def find_overridden(leftovers: Mapping[str, Leftover]) -> Covers:
    """Return the ALLOWs that DENYs leave nothing of."""
    return {
        acl_id: tuple(each.acl for each in left.by) for acl_id, left in leftovers.items() if left.by
    }


def find_removable(others: Others, overridden: Covers) -> Removable:
    """Return the ACLs that others of their own permission make unnecessary.

    Of ACLs that contain each other the first by id stays. Those that are named stay, so that all
    that is returned can go, alone or together; of what is left nothing can. Where it takes a DENY
    as well to answer for an ALLOW, it is among those named.
    """
    found = Removable()
    wider = {row.acl.acl_id: _wider(row, others, found) for row in others.rows.values()}
    going = {
        acl_id for acl_id, rows in wider.items() if _is_behind(others.rows[acl_id], rows, wider)
    }

    def stays(row: Row) -> bool:
        return row.acl.acl_id not in going and row.acl.acl_id not in overridden

    for row in others.rows.values():
        if stays(row) and _together(row, others, stays, found):
            going.add(row.acl.acl_id)
    for acl_id in (each for each in others.rows if each in going):
        row = others.rows[acl_id]
        alone = next((other for other in wider[acl_id] if other.acl.acl_id not in going), None)
        cover = (alone,) if alone else _together(row, others, stays, found)
        found.covers[acl_id] = tuple(each.acl for each in cover)
    found.unknown = {each: hard for each, hard in found.unknown.items() if each not in going}
    return found


def _wider(row: Row, others: Others, found: Removable) -> list[Row]:
    """Return the ACLs that contain one, and note where they may not be all."""
    wider, are_all = others.containing(row)
    if not are_all:
        found.unknown[row.acl.acl_id] = ()
    return wider


def _is_behind(row: Row, wider: Sequence[Row], all_wider: Mapping[str, Sequence[Row]]) -> bool:
    """Whether one ACL contains this one and is not merely its equal with a later id.

    "Ahead" is a strict order, because containment is transitive: whoever follows it ends at an
    ACL that stays.
    """
    return any(
        other.acl.acl_id < row.acl.acl_id or row not in all_wider[other.acl.acl_id]
        for other in wider
    )


def _together(row: Row, others: Others, stays: Counts, found: Removable) -> tuple[Row, ...]:
    """Return those of the ACLs that stay that answer all that one answers, or nothing.

    At least one is of the same permission.
    """
    allows = (True, False) if row.acl.is_allow else (False,)
    classes, is_complete = others.who(row)
    views = [View(others, (row,), who, allows=allows) for who in classes]
    by: dict[str, Row] = {}
    is_known = is_complete
    for operation in sorted(operations_of(row.acl)):
        for view in views:
            left: Left = view.left(operation, stays)
            if left.name is not None:
                return ()
            is_known &= left.is_known
            by.update((each.acl.acl_id, each) for each in left.by)
    if not is_known:
        found.unknown[row.acl.acl_id] = tuple(each.acl for each in by.values())
        return ()
    cover = _fewest(row, views, by)
    return cover if any(each.acl.is_allow == row.acl.is_allow for each in cover) else ()


def _fewest(row: Row, views: Sequence[View], by: Mapping[str, Row]) -> tuple[Row, ...]:
    """Drop one after another what is not needed to leave nothing."""
    kept = dict(sorted(by.items()))
    for acl_id in list(kept) if 1 < len(kept) <= _MOST_TRIED else ():
        if _is_enough(kept.keys() - {acl_id}, row, views):
            del kept[acl_id]
    return tuple(kept.values())


def _is_enough(ids: Set[str], row: Row, views: Sequence[View]) -> bool:
    def counts(other: Row) -> bool:
        return other.acl.acl_id in ids

    return all(
        view.left(operation, counts).is_nothing
        for operation in operations_of(row.acl)
        for view in views
    )


def hardest(acls: Iterable[Acl]) -> list[Acl]:
    """Return the ACLs that have wildcards, those with most first: they make a question hard."""
    wild = {acl: sum(map(_wildcards, (acl.resource_name, acl.principal, acl.host))) for acl in acls}
    return sorted((acl for acl in wild if wild[acl]), key=lambda acl: (-wild[acl], acl.acl_id))


def _wildcards(text: str) -> int:
    return text.count("*") + text.count("?")
