"""ACLs asked for, and those alive → what to add and what to remove. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from aclkit.model.acl import Acl
from aclkit.model.filter import AclBindingFilter
from aclkit.model.semantics import Semantics


@dataclass(frozen=True, slots=True, kw_only=True)
class AclChange:
    """What a request comes to.

    Attributes:
        added: ACLs that are not there yet.
        removed: ACLs that are alive and go.
        existing: asked for and there already, under whatever id: no record is written of them.
    """

    added: tuple[Acl, ...] = ()
    removed: tuple[Acl, ...] = ()
    existing: tuple[Acl, ...] = ()


def add_to(alive: Iterable[Acl], wanted: Iterable[Acl]) -> AclChange:
    """Add ACLs as AclControlManager.createAcls does: equal bindings are there once."""
    known = {acl.binding for acl in alive}
    added: dict[tuple[str, ...], Acl] = {}
    existing: list[Acl] = []
    for acl in wanted:
        if acl.binding in known:
            existing.append(acl)
        else:
            added.setdefault(acl.binding, acl)
    return AclChange(added=tuple(added.values()), existing=tuple(existing))


def remove_from(
    alive: Iterable[Acl],
    filters: Sequence[AclBindingFilter],
    semantics: Semantics,
    only: Collection[str] | None = None,
) -> AclChange:
    """Remove each ACL that a filter selects, once; of those in ``only``, where that is given."""
    return AclChange(
        removed=tuple(
            acl
            for acl in alive
            if (only is None or acl.acl_id in only)
            and any(wanted.matches(acl, semantics) for wanted in filters)
        )
    )
