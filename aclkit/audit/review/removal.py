"""What a review removes, and the published state → a script, who loses what, and the rest. Pure.

An ALLOW belongs to one item, so no kept item loses an ACL. But a kept item may grant some of what
is removed as well, and where allow.everyone.if.no.acl.found is on, the last ACL on a resource keeps
others out: both is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from aclkit.audit.review.decisions import KEEP, Decision
from aclkit.audit.review.document import Review
from aclkit.audit.review.items import DEFAULT, SUPER_USER, Item
from aclkit.kafka.acls.script import render_changes
from aclkit.model.acl import Acl, acl_words, operations_words, quoted
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS
from aclkit.model.groups import grouped
from aclkit.model.phrases import number_of
from aclkit.questions.difference.answer import effect_answer
from aclkit.questions.difference.change import Change
from aclkit.questions.difference.compared import preview
from aclkit.questions.state import State
from aclkit.rules.names.compare import GAINED
from aclkit.rules.names.question import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What is to be done after a review.

    Attributes:
        acls: the ALLOWs to remove that are still in force.
        script: the commands; a script that does nothing where there are none.
        effect: sentences of who loses what, and who keeps what was to go.
        by_hand: what no script does.
        opens: removing them also allows something.
    """

    acls: tuple[Acl, ...]
    script: str
    effect: tuple[str, ...]
    by_hand: tuple[str, ...]
    opens: bool


def plan_removal(
    review: Review, decisions: Mapping[str, Decision], removed: Sequence[Item], base: State
) -> Removal:
    """Return what removes items from the published state.

    Args:
        review: the review.
        decisions: on its items, by id.
        removed: the items to remove.
        base: the published state.
    """
    in_force = grouped((acl.binding, acl) for acl in base.acls.values())
    reasons: dict[Acl, str] = {}
    for item in removed:
        for acl in item.acls:
            for found in in_force.get(acl.binding, ()):
                reasons[found] = _reason(review, item, decisions[item.item_id])
    lines, unsaid = render_changes([], [reasons])
    effect, opens = _effect(base, reasons)
    gone = sum(acl.binding not in in_force for item in removed for acl in item.acls)
    if gone:
        effect.append(f"Already removed since the review began: {number_of(gone, 'ACL')}.")
    return Removal(
        acls=tuple(sorted(reasons, key=lambda acl: acl.binding)),
        script="".join(f"{line}\n" for line in lines),
        effect=(*effect, *_still_granted(review, decisions, removed)),
        by_hand=(
            *_by_hand(removed),
            *(f"kafka-acls cannot remove {acl_words(a)}." for a in unsaid),
        ),
        opens=opens,
    )


def _reason(review: Review, item: Item, decision: Decision) -> str:
    return f"Review {review.name}, item {item.item_id}, {decision.by}: {decision.reason}"


def _effect(base: State, reasons: Mapping[Acl, str]) -> tuple[list[str], bool]:
    """Return who loses what, and whether anything is allowed in addition."""
    if not reasons:
        return ["No ACL is removed."], False
    after = base.without(acl.acl_id for acl in reasons)
    change = Change(before=base, after=after)
    found = preview(change, base.inventory, Budget())
    effect = list(effect_answer(found, "").beside_rows())
    opens = found.has(GAINED)
    if opens:
        effect.append(
            "Removing these ACLs also allows access, see the lines with +. Do not run the script "
            f"before you have added a DENY or set {ALLOW_EVERYONE}=false."
        )
    return effect, opens


def _still_granted(
    review: Review, decisions: Mapping[str, Decision], removed: Sequence[Item]
) -> Iterator[str]:
    """Yield what a kept item grants of what is removed."""
    for item in removed:
        for other, operations in item.also:
            made, theirs = decisions.get(other), review.by_id[other]
            if made is None or made.decision == KEEP:
                words = operations_words(operations, item.resource_type)
                yield (
                    f"Item {item.item_id} is removed, but {words} stays: the kept item {other} "
                    f"grants it too ({theirs.words})."
                )


def _by_hand(removed: Sequence[Item]) -> Iterator[str]:
    for item in removed:
        if item.kind == SUPER_USER:
            yield f"Remove {quoted(item.principal)} from {SUPER_USERS} of all brokers."
        if item.kind == DEFAULT:
            yield f"Set {ALLOW_EVERYONE}=false on all brokers."
