"""A state → its tidy form, proven to decide every name alike. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from aclkit.rules.decide.confirm import DisagreementError
from aclkit.rules.names.budget import Budget
from aclkit.rules.names.compare import Difference, compare
from aclkit.rules.names.rows import Rules
from aclkit.rules.names.tidy import Reasons, Tidy, no_reasons, tidy


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """A tidy form, and what its proof came to.

    Attributes:
        found: the tidy form.
        proof: what differs: nothing, or it is not known.
        searching: what was spent on finding it,
        proving: and on its proof.
    """

    found: Tidy
    proof: Difference
    searching: Budget
    proving: Budget


def tidy_proven(
    rules: Rules,
    budget: Budget,
    *,
    reasons: Reasons = no_reasons,
    idle_denies: bool = False,
    keep_operations: bool = False,
) -> Proven:
    """Find the tidy form of a state, and compare the two for every name; see ``tidy``.

    At most half of the budget is for the search: what that leaves is worth nothing without proof.

    Raises:
        DisagreementError: they do not decide alike, which is a defect of aclkit.
    """
    searching = replace(budget, total=budget.total // 2)
    found = tidy(
        rules,
        searching,
        reasons=reasons,
        idle_denies=idle_denies,
        keep_operations=keep_operations,
    )
    proving = replace(budget, total=budget.total - searching.states)
    proof = compare(replace(rules, acls=found.before), replace(rules, acls=found.after), proving)
    for change in proof.changes:
        cell = change.cell
        raise DisagreementError(
            f"The tidied ACLs should decide the same, but in the proof {cell.principal.name} "
            f"{change.kind} {cell.operation} on {cell.resource_type} {change.name!r} from "
            f"{cell.host.name}. Nothing is printed. Please report this."
        )
    return Proven(found=found, proof=proof, searching=searching, proving=proving)
