"""The rulesets without ACLs, and their rulings: those of super users, and the defaults. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.model.acl import ANY_OTHER
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.rules.decide.rules import ALLOWED, DEFAULT_ALLOW, DEFAULT_DENY, DENIED, SUPER_USER
from aclkit.warehouse.views import SUPER_RULESET

NONE: Final = "none"
"""Before a resource type: of resources that no ACL reaches."""

OTHER: Final = "other"
"""Of those that only ACLs of others reach."""


def default_rulesets() -> Iterator[tuple[str, str | None, list[str], str | None]]:
    """Yield their rows of ``ruleset``, the cluster aside."""
    yield SUPER_RULESET, None, [], None
    for kind in (NONE, OTHER):
        for resource_type in OPERATIONS_OF_TYPE:
            yield f"{kind}:{resource_type}", resource_type, [], None


def default_rulings(*, allow_everyone: bool) -> Iterator[tuple[str, str, str, str, str, None]]:
    """Yield their rows of ``explain_ruling``, the cluster aside."""
    every = {operation for known in OPERATIONS_OF_TYPE.values() for operation in known}
    for ruleset_id, resource_type, *_ in default_rulesets():
        if resource_type is None:
            decided = ALLOWED, SUPER_USER
        elif allow_everyone and ruleset_id.startswith(f"{NONE}:"):
            decided = ALLOWED, DEFAULT_ALLOW
        else:
            decided = DENIED, DEFAULT_DENY
        for operation in OPERATIONS_OF_TYPE[resource_type] if resource_type else sorted(every):
            yield ruleset_id, ANY_OTHER, operation, *decided, None
