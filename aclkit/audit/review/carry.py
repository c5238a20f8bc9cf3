"""Items and an earlier review → what was signed off already, and what was to be removed. Pure.

A sign-off with ``keep`` is carried over while the same access is granted by no other ALLOW than
then, and limited by each DENY of then. It counts from the day on which it was made, however often
it is carried over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from aclkit.audit.review.decisions import KEEP, REMOVE, Decision
from aclkit.audit.review.document import About, Review, SignedOff
from aclkit.audit.review.items import Item

IsValid = Callable[[SignedOff, About], bool]
"""Whether a sign-off still holds today."""


def signed_off(review: Review, decisions: Mapping[str, Decision]) -> dict[str, SignedOff]:
    """Return what a closed review says of each item: its own decision, or one carried over."""
    found: dict[str, SignedOff] = {}
    for item in review.items:
        made = decisions.get(item.item_id)
        carried = review.about[item.item_id].carried
        if made is not None:
            found[item.item_id] = SignedOff(
                review=review.name,
                decision=made.decision,
                reason=made.reason,
                by=made.by,
                at=made.at,
            )
        elif carried is not None:
            found[item.item_id] = carried
    return found


def carry_over(
    items: Iterable[Item],
    about: Mapping[str, About],
    earlier: Review,
    signed: Mapping[str, SignedOff],
    is_valid: IsValid,
) -> dict[str, About]:
    """Return what is known of items, with what the earlier review says of them."""
    found = dict(about)
    for item in items:
        sign, then = signed.get(item.item_id), earlier.by_id.get(item.item_id)
        known = about[item.item_id]
        if sign is None or then is None:
            continue
        if sign.decision == REMOVE:
            found[item.item_id] = replace(known, again=sign)
        elif sign.decision == KEEP and is_same_access(item, then) and is_valid(sign, known):
            found[item.item_id] = replace(known, carried=sign)
    return found


def is_same_access(item: Item, then: Item) -> bool:
    """Whether an item allows no more than it did when it was signed off, by the same ACLs."""
    is_granted_alike = set(item.acls) <= set(then.acls)
    is_limited = set(then.limited_by) <= set(item.limited_by)
    is_certain = set(item.uncertain) <= set(then.uncertain)
    return item.identity == then.identity and is_granted_alike and is_limited and is_certain
