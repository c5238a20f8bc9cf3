"""A decided access → what it would be for a member of a role whose members are unknown. Pure.

With Redpanda's authorizer an ACL of ``RedpandaRole:ops`` decides on all members of that role, and
nothing here shows who they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aclkit.model.acl import acl_words
from aclkit.model.redpanda import has_unknown_members
from aclkit.rules.decide.counterfactual import Case
from aclkit.rules.decide.rules import ALLOWED, Ruling


def caveats_on_members(case: Case, ruling: Ruling) -> Iterator[str]:
    """Yield that a role or group may turn a decision, with the ACL that would do it.

    A DENY that already decides is turned by none.

    Args:
        case: the access, and the ACLs that apply to its resource.
        ruling: how it is decided.
    """
    principal, by_id = case.request.principal, {acl.acl_id: acl for acl in case.reaching}
    members = [
        replace(acl, principal=principal)
        if has_unknown_members(acl.principal, case.semantics)
        else acl
        for acl in case.reaching
    ]
    there = replace(case, reaching=members).decide()
    if there.decision == ruling.decision or there.acl is None:
        return
    acl = by_id[there.acl.acl_id]
    verb = "add" if there.decision == ALLOWED else "take away"
    yield (
        f"Roles and groups may {verb} access: {acl_words(acl)} decides for each member of "
        f"{acl.principal}, and members are not known here."
    )
