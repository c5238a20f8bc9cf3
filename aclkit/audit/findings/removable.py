"""ACLs → which of them no decision needs, each with those that answer in its place.

An ALLOW may go where other ALLOWs answer all that it answers, or a DENY does; a DENY where other
DENYs do. PatternKey, principal and host of what covers an ACL contain its own. Operations may be
shared out: READ here, WRITE there. Without globs nothing else can cover an ACL: of a name, a
principal and a host that stand in no other ACL, only what contains them answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from aclkit.audit.findings.containment import ContainmentIndex
from aclkit.model.acl import Acl
from aclkit.model.operation import OPERATIONS_OF_TYPE, coverage
from aclkit.model.semantics import Semantics
from aclkit.rules.patterns.contain import acl_contains, operation_contains

Covers = dict[str, tuple[Acl, ...]]
"""Id of an ACL that may go → the ACLs that answer in its place."""


def find_overridden_acls(rows: Iterable[Acl], containment: ContainmentIndex) -> Covers:
    """Return the ALLOWs that DENYs leave nothing of: DENY wins (StandardAuthorizerData)."""
    found: Covers = {}
    for acl in rows:
        operations = _operations(acl)
        if acl.is_allow and operations:
            cover = _share_out(operations, containment.containing(acl, allows=False))
            if cover:
                found[acl.acl_id] = cover
    return found


def operations_left(acl: Acl, containment: ContainmentIndex) -> frozenset[str]:
    """Return the operations that an ALLOW answers and that no DENY takes all of."""
    left = set(_operations(acl))
    for deny in containment.containing(acl, allows=False):
        left = {operation for operation in left if not _covers(deny, operation)}
    return frozenset(left)


def find_removable(
    rows: Sequence[Acl], containment: ContainmentIndex, overridden: Covers, semantics: Semantics
) -> Covers:
    """Return the ACLs that others of their own permission make unnecessary.

    Of ACLs that contain each other the first by id stays. Those that are named stay, so that all
    that is returned can go, alone or together; of what is left nothing can. Where it takes a DENY
    as well to answer for an ALLOW, it is among those named.
    """
    ordered = sorted(rows, key=lambda acl: acl.acl_id)
    going = {acl.acl_id for acl in ordered if _is_behind_another(acl, containment, semantics)}

    def stays(acl: Acl) -> bool:
        return acl.acl_id not in going and acl.acl_id not in overridden

    for acl in ordered:
        if stays(acl) and _cover(acl, containment, stays):
            going.add(acl.acl_id)

    def is_kept(acl: Acl) -> bool:
        return acl.acl_id not in going

    found = ((acl, _cover(acl, containment, is_kept)) for acl in ordered if acl.acl_id in going)
    return {acl.acl_id: cover for acl, cover in found}


def _is_behind_another(acl: Acl, containment: ContainmentIndex, semantics: Semantics) -> bool:
    """Whether one ACL contains this one and is not merely its equal with a later id.

    "Ahead" is a strict order, because containment is transitive: whoever follows it ends at an
    ACL that stays.
    """
    return any(
        other.acl_id != acl.acl_id
        and operation_contains(other, acl)
        and (other.acl_id < acl.acl_id or not acl_contains(acl, other, semantics))
        for other in containment.containing(acl, allows=acl.is_allow)
    )


def _cover(
    acl: Acl, containment: ContainmentIndex, stays: Callable[[Acl], bool]
) -> tuple[Acl, ...]:
    """Return those of the ACLs that stay that answer all that one answers, or nothing.

    One ACL where one does; otherwise a few, one of them at least of the same permission.
    """
    same = [
        other
        for other in containment.containing(acl, allows=acl.is_allow)
        if other.acl_id != acl.acl_id and stays(other)
    ]
    alone = next((other for other in same if operation_contains(other, acl)), None)
    if alone is not None:
        return (alone,)
    if not same:
        return ()
    denying = containment.containing(acl, allows=False) if acl.is_allow else ()
    cover = _share_out(_operations(acl), [*same, *denying])
    return cover if any(other.is_allow == acl.is_allow for other in cover) else ()


def _share_out(operations: Sequence[str], others: Iterable[Acl]) -> tuple[Acl, ...]:
    """Return ACLs that answer all the operations together, the first that do; nothing if none."""
    left, chosen = set(operations), list[Acl]()
    for other in others:
        answered = {operation for operation in left if _covers(other, operation)}
        if answered:
            chosen.append(other)
            left -= answered
        if not left:
            return tuple(chosen)
    return ()


def _operations(acl: Acl) -> tuple[str, ...]:
    """Return the operations of its resource type that an ACL answers."""
    return tuple(_operations_of(acl))


def _operations_of(acl: Acl) -> Iterator[str]:
    known = OPERATIONS_OF_TYPE.get(acl.resource_type, ())
    return (operation for operation in known if _covers(acl, operation))


def _covers(acl: Acl, operation: str) -> bool:
    return coverage(acl.operation, acl.permission_type, operation) is not None
