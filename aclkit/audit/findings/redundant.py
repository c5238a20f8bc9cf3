"""ACLs → ``redundant-acl``: which ones say only what others say as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from aclkit.audit.findings.facts import AuditInput
from aclkit.audit.findings.readings import DUPLICATE_FIX
from aclkit.model.acl import Acl
from aclkit.model.findings import Finding, Kind

REDUNDANT_ACL: Final = Kind(
    id="redundant-acl",
    severity="low",
    meaning=(
        "Other ACLs answer every request that this one answers, in the same way, so no decision "
        "changes without it: one ACL that says exactly the same, or several together that leave "
        "nothing to it, such as READ and WRITE beside an ALL whose other operations are denied. "
        "All ACLs that an audit reports so, and as shadowed, can go at once. They mislead: who "
        "takes away one of two equal ACLs has taken away nothing."
    ),
    fix="Remove this ACL, keep those that are named.",
)


def find_redundant(audit: AuditInput) -> Iterator[Finding]:
    """Yield each ACL that one says again, or that several make unnecessary together."""
    for acl in audit.acls:
        cover = audit.removable.get(acl.acl_id)
        if cover and is_redundant(acl, cover, audit):
            yield REDUNDANT_ACL.about(
                str(acl),
                _message(cover),
                fix=DUPLICATE_FIX if acl.binding == cover[0].binding else None,
                acls=(acl, *cover),
            )


def is_redundant(acl: Acl, cover: Sequence[Acl], audit: AuditInput) -> bool:
    """Whether it is said again; otherwise a single wider ACL shadows it."""
    containing, _ = audit.others.containing(audit.rows[cover[0].acl_id])
    return len(cover) > 1 or audit.rows[acl.acl_id] in containing


def _message(cover: Sequence[Acl]) -> str:
    if len(cover) == 1:
        whom = f"The ACL {cover[0]} already answers"
    else:
        whom = f"{len(cover)} other ACLs together already decide"
    return (
        f"{whom} every request that this one answers, so without this one no decision changes; "
        "this holds for every possible name."
    )
