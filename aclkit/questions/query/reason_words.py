"""A decision → the few words that say what decides it. Pure, and without an engine."""

from __future__ import annotations

from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words
from aclkit.rules.decide.rules import ALLOWED, DEFAULT_ALLOW, DEFAULT_DENY, SUPER_USER, Ruling


def short_reason(
    decision: str,
    rule: str,
    acl: Acl | None,
    principal: str | None,
    resource_type: str | None,
    *,
    has_any_host: bool = True,
) -> str:
    """Write what decides: an ACL, or the rule; the other arguments are those of ``acl_words``."""
    if acl is not None:
        return acl_words(acl, principal, resource_type, has_any_host=has_any_host)
    if rule == SUPER_USER:
        return "super user"
    if rule not in ("", DEFAULT_ALLOW, DEFAULT_DENY):
        return rule
    return "no ACL applies to it" if decision == ALLOWED else "no ACL allows it"


def ruling_words(ruling: Ruling) -> str:
    """Write a decision with the ACL or the rule that makes it."""
    acl = ruling.acl
    decision = ruling.decision.lower()
    if acl is not None:
        return f"{decision} by {acl_words(acl)}"
    return f"{decision} ({short_reason(ruling.decision, ruling.rule, None, None, None)})"
