"""What a search found about a request × what the rule decides on it → the same, or a defect."""

from __future__ import annotations

from aclkit.errors import AclkitError
from aclkit.model.acl import Request
from aclkit.rules.decide.rules import ALLOWED, Ruling


class DisagreementError(AclkitError):
    """The rule decides a name differently from the answer: a defect of aclkit."""


def insist(ruling: Ruling, request: Request, *, is_allowed: bool) -> Ruling:
    """Return how a request is decided, which was found already.

    Raises:
        DisagreementError: it is decided otherwise.
    """
    if (ruling.decision == ALLOWED) is not is_allowed:
        found = "allowed" if is_allowed else "denied"
        raise DisagreementError(
            f"The search found that {request.principal} {request.operation} {request.resource} "
            f"from {request.host} is {found}, but the rule decides {ruling.decision}. Please "
            "report this."
        )
    return ruling
