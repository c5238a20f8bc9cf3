"""What was found about every name → the same, decided by the rule for the name that shows it.

Each answer about every name carries a name as its proof. Before one is shown, the rule decides it,
which shares no code with what found it.
"""

from __future__ import annotations

from dataclasses import dataclass

from aclkit.errors import AclkitError
from aclkit.model.acl import Request
from aclkit.model.semantics import BrokerSettings
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.decide.rules import ALLOWED, Ruling
from aclkit.rules.names.rows import Rules


class DisagreementError(AclkitError):
    """The rule decides a name otherwise than the answer says: a defect of aclkit."""


@dataclass(frozen=True, slots=True)
class Decider:
    """One state, ready to decide single requests."""

    index: AclIndex
    settings: BrokerSettings

    @classmethod
    def of(cls, rules: Rules) -> Decider:
        """Index the ACLs of a state."""
        return cls(AclIndex.of(rules.acls, rules.semantics), rules.settings)

    def confirm(self, request: Request, *, is_allowed: bool) -> Ruling:
        """Return how the rule decides a request of which the decision was found already.

        Raises:
            DisagreementError: it decides otherwise.
        """
        ruling = self.index.decide(request, self.settings)
        if (ruling.decision == ALLOWED) is not is_allowed:
            found = "allowed" if is_allowed else "denied"
            raise DisagreementError(
                f"{request.principal} {request.operation} {request.resource} from {request.host}: "
                f"found to be {found}, but the rule says {ruling.decision}; please report this"
            )
        return ruling
