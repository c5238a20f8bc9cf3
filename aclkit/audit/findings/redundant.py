"""ACLs → ``redundant-acl``, ``allow-shadowed``, ``deny-shadowed``: what other ACLs cover.

An ALLOW is overridden where DENYs leave nothing of it. An ACL may go where others of its permission
leave nothing of it, for an ALLOW together with DENYs. Others count together: patterns, operations,
principals and hosts may be shared out among them.

An ACL that is to go is no reason for another one to go: who followed both remedies would take away
an access that neither of them names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from aclkit.audit.findings.audit_input import AuditInput, Covers, Rows
from aclkit.audit.findings.escalation import ESCALATION, escalates
from aclkit.audit.findings.left_over import (
    INHERITED_ACCESS,
    ORPHAN_PRINCIPAL,
    ORPHAN_RESOURCE,
    inherited_lives,
    orphaned_principals,
    orphaned_resources,
)
from aclkit.audit.findings.never_matches import UNUSUAL_PRINCIPAL, why_unusual
from aclkit.audit.findings.public_access import ANY_HOST, PUBLIC_ACCESS, is_unbound, public_left
from aclkit.audit.findings.readings import DUPLICATE_FIX
from aclkit.audit.findings.sentences import acls_words
from aclkit.audit.findings.too_much import OVER_BROAD, broadly_reached
from aclkit.model.acl import Acl, acl_words
from aclkit.model.findings import Finding, Kind
from aclkit.rules.names.overlap_index import OverlapIndex
from aclkit.rules.names.redundancy import Counts, find_cover
from aclkit.rules.names.rows import Row, operations_of

REDUNDANT_ACL: Final = Kind(
    id="redundant-acl",
    severity="low",
    summary="ACLs that other ACLs make redundant",
    meaning=(
        "Other ACLs decide every request that the ACL matches, in the same way. So removing the "
        "ACL changes no decision. Either one ACL is equivalent, or several ACLs together leave "
        "nothing to it. For example, an ALL whose other operations are denied is redundant next to "
        "READ and WRITE. You can remove all redundant and shadowed ACLs of one audit at once. "
        "Redundant ACLs are misleading: if you remove one of two equal ACLs, you remove no access."
    ),
    fix=(
        "Remove the redundant ACL and keep the others. aclkit tidy --format kafka-acls writes the "
        "commands."
    ),
)


def find_redundant(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ACL that one equivalent ACL, or several together, make redundant."""
    covers = covers_of(audit)
    for acl in audit.acls:
        cover = covers.get(acl.acl_id)
        if cover and is_redundant(acl, cover, audit):
            yield REDUNDANT_ACL.about(
                acl,
                _message(acl, cover),
                fix=DUPLICATE_FIX if acl.binding == cover[0].binding else None,
                acls=cover,
            )


def is_redundant(acl: Acl, cover: Sequence[Acl], audit: AuditInput) -> bool:
    """Whether several ACLs, or one equal to it, cover an ACL; otherwise a wider one shadows it."""
    containing, _ = audit.others.containing(audit.rows[cover[0].acl_id])
    return len(cover) > 1 or audit.rows[acl.acl_id] in containing


def redundant_words(acl: Acl, cover: Sequence[Acl]) -> str:
    """Write that an ACL is redundant, and which other one covers it."""
    is_own = acl.principal == cover[0].principal
    other = f"its own {acl_words(cover[0], acl.principal)}" if is_own else acl_words(cover[0])
    return f"Redundant: {acl_words(acl)}; {other} already covers it."


def _message(acl: Acl, cover: Sequence[Acl]) -> str:
    if len(cover) > 1:
        others = f"{len(cover):,} other ACLs together already cover it ({acls_words(cover)})"
        return f"Redundant: {acl_words(acl)}; {others}."
    if acl.binding == cover[0].binding:
        return f"Redundant: {acl_words(acl)} exists more than once."
    return redundant_words(acl, cover)


ALLOW_SHADOWED: Final = Kind(
    id="allow-shadowed",
    severity="low",
    summary="ALLOW ACLs that another ACL already covers",
    meaning=(
        "A wider ALLOW grants all that the ALLOW grants, and more. So removing the ALLOW changes "
        "no decision, and it does not revoke the access: the wider ALLOW still grants it. An ALLOW "
        "that another finding asks to remove or narrow, for example one for User:*, does not count "
        "as wider. A READ or WRITE does not count for the DESCRIBE that kafka-acls adds with it."
    ),
    fix=(
        "If the wider ALLOW is intended, remove the redundant one. Otherwise, narrow the wider "
        "ALLOW. aclkit tidy --format kafka-acls writes the commands."
    ),
)
DENY_SHADOWED: Final = Kind(
    id="deny-shadowed",
    severity="low",
    summary="DENY ACLs that another ACL already covers",
    meaning=(
        "A wider DENY denies all that the DENY denies, and more. So removing the DENY changes no "
        "decision."
    ),
    fix=(
        "If the wider DENY is permanent, remove the redundant one. If the wider DENY is temporary, "
        "keep both."
    ),
)


def find_shadowed(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ACL that one wider ACL of the same permission contains entirely.

    The ACL that is named stays, so that all that is reported can be removed, alone or together.
    """
    covers = covers_of(audit)
    for acl in audit.acls:
        cover = covers.get(acl.acl_id)
        if cover and not is_redundant(acl, cover, audit):
            kind = ALLOW_SHADOWED if acl.is_allow else DENY_SHADOWED
            yield kind.about(acl, redundant_words(acl, cover), acls=cover)


Reasons = Callable[[Acl], frozenset[str]]
MayCover = Callable[[Acl, Acl], bool]
"""Whether the first ACL may be the reason for the second to go."""


@dataclass(slots=True)
class Removable:
    """What may go.

    Attributes:
        covers: see ``Covers``.
        unknown: id of an ACL that may have to stay, for the budget ended → what made it hard.
    """

    covers: Covers = field(default_factory=dict)
    unknown: dict[str, tuple[Acl, ...]] = field(default_factory=dict)


def covers_of(audit: AuditInput) -> Covers:
    """Return the ACLs that others of the same permission make redundant, each with those others.

    A DESCRIBE that kafka-acls wrote together with a READ or WRITE stays as long as that does.
    """
    return audit.once(_covers_of)


def _covers_of(audit: AuditInput) -> Covers:
    covers = removables_of(audit).covers
    staying = set(written_beside(audit.rows, covers))
    return {acl_id: by for acl_id, by in covers.items() if acl_id not in staying}


def removables_of(audit: AuditInput) -> Removable:
    """Return the ACLs that others of the same permission make unnecessary, and the unknown ones."""
    return audit.once(_removables_of)


def _removables_of(audit: AuditInput) -> Removable:
    reasons = reasons_to_go(audit)

    def may_cover(cover: Acl, covered: Acl) -> bool:
        """Not if a finding asks to remove or narrow the cover, but not the covered ACL."""
        return reasons(cover) <= reasons(covered)

    return find_removable(audit.rows, audit.others, audit.overridden, may_cover)


def reasons_to_go(audit: AuditInput) -> Reasons:
    """Return what tells which kinds of findings ask, or may ask, to remove or narrow an ACL.

    DENYs have none. Each ACL is looked at when it is first asked about.
    """
    return audit.once(_reasons_to_go)


def _reasons_to_go(audit: AuditInput) -> Reasons:
    audit = audit.supposing()
    lives_of = inherited_lives(audit)
    reasons: Mapping[str, Callable[[Acl], object]] = {
        PUBLIC_ACCESS.id: lambda acl: public_left(acl, audit),
        ESCALATION.id: lambda acl: escalates(acl, audit),
        INHERITED_ACCESS.id: lambda acl: lives_of(acl) is not None,
        OVER_BROAD.id: lambda acl: broadly_reached(acl, audit),
        ANY_HOST.id: lambda acl: is_unbound(acl, audit),
        ORPHAN_RESOURCE.id: orphaned_resources(audit),
        ORPHAN_PRINCIPAL.id: orphaned_principals(audit),
        UNUSUAL_PRINCIPAL.id: lambda acl: why_unusual(acl.principal, audit),
    }

    @cache
    def reasons_of(acl: Acl) -> frozenset[str]:
        if acl.acl_id not in audit.given:
            return frozenset()
        return frozenset(kind for kind, is_found in reasons.items() if is_found(acl))

    return reasons_of


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


_BESIDE: Final = ("READ", "WRITE")
"""kafka-acls writes DESCRIBE together with these, for --consumer and --producer."""
