"""A narrower set and the ACLs in force → exactly what is lost, proven for every name. Pure.

The proof shares no code with what found the set: it compares the two states, and the rule decides
each used request on both sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from aclkit.errors import DataError
from aclkit.model.acl import Request, TypeRequest
from aclkit.questions.narrow.narrowing import Narrowed
from aclkit.questions.usage.use import Use
from aclkit.rules.decide.agreement import DisagreementError
from aclkit.rules.decide.any_of_type import authorize_any
from aclkit.rules.decide.confirm import Comparison, Counterexample, Decider
from aclkit.rules.decide.rules import ALLOWED
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules
from aclkit.rules.patterns.match import names_exactly, principal_matches


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """A narrower set with its proof.

    Attributes:
        narrowed: the set.
        comparison: of the ACLs before and after, for every name; nothing is gained.
        lost: what the principal loses, as much as is listed.
        uses: how many requests of the log were decided as before.
    """

    narrowed: Narrowed
    comparison: Comparison
    lost: Sequence[Counterexample]
    uses: int

    @property
    def is_known(self) -> bool:
        """Whether the search limit let the proof end."""
        return self.comparison.difference.is_known


def prove_narrowed(
    rules: Rules, narrowed: Narrowed, uses: Iterable[Use], budget: Budget, limit: int | None = None
) -> Proven:
    """Compare the ACLs before and after for every name, and decide each use on both sides.

    Args:
        rules: what decides before: the ACLs of all principals.
        narrowed: what comes of it.
        uses: what was used.
        budget: the search limit.
        limit: at most this many losses are listed, None for all.

    Raises:
        DisagreementError: something is gained, or a used request is decided otherwise, which is a
            defect of aclkit.
    """
    rules = _concerning(narrowed, rules)
    after = replace(rules, acls=narrowed.after(rules.acls))
    comparison = Comparison.of(rules, after, budget)
    for change in comparison.difference.of_kind(GAINED):
        _refuse(narrowed, f"gains {change.cell.about(change.name)}")
    then = Decider.of(rules)
    now = then.of_next(after)
    count = 0
    for use in uses:
        count += 1
        if then.allows(use.request) != now.allows(use.request) and not _is_still_open(use, after):
            _refuse(narrowed, f"no longer has the used {use.request}")
    telling = replace(budget, questions=0, states=0)
    lost = comparison.openings(LOST, telling, limit)[:limit]
    return Proven(
        narrowed=narrowed,
        comparison=comparison,
        lost=tuple(map(comparison.shown, lost)),
        uses=count,
    )


def _concerning(narrowed: Narrowed, rules: Rules) -> Rules:
    """Leave out the ACLs that cannot matter: those that do not apply to the principal.

    An ACL whose text names one principal decides nothing of another, unless ``allow.everyone`` is
    set: then any ACL that applies to a resource closes it to all that no ACL allows.
    """
    who, semantics = narrowed.principal, rules.semantics
    for acl in (*narrowed.removed, *narrowed.added):
        is_own = names_exactly(acl.principal, semantics)
        if not (is_own and principal_matches(acl.principal, who, semantics)):
            _refuse(narrowed, f"changes the ACL {acl}, which is not its own")
    if rules.settings.allow_everyone:
        return rules
    acls = (acl for acl in rules.acls if principal_matches(acl.principal, who, semantics))
    return replace(rules, acls=tuple(acls))


def _is_still_open(use: Use, after: Rules) -> bool:
    """Whether a line is about any resource of a type, and some resource of it is still open."""
    if not use.is_of_any:
        return False
    asked: Request = use.request
    of_type = TypeRequest(asked.principal, asked.host, asked.operation, asked.resource_type)
    acls = [acl for acl in after.acls if acl.resource_type == asked.resource_type]
    try:
        return authorize_any(acls, of_type, after.settings, after.semantics) == ALLOWED
    except DataError:  # the broker's check fails then too, or the search limit was reached
        return False


def _refuse(narrowed: Narrowed, what: str) -> None:
    raise DisagreementError(
        f"The narrower ACLs of {narrowed.principal} should only take away what was not used, but "
        f"in the proof it {what}. Nothing is printed. Please report this."
    )
