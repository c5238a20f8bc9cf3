"""Items and an earlier review → what was signed off already, and what was to be removed. Pure.

A sign-off with ``keep`` is carried over while the item allows no more than it did then, which is
proven for every name. It counts from the day on which it was made, however often it is carried
over. Each review compares with the one before it, and what was carried over there was no wider
either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from aclkit.audit.review.decisions import KEEP, REMOVE, Decision
from aclkit.audit.review.document import About, Review, SignedOff
from aclkit.audit.review.growth import Moment, growth_words
from aclkit.audit.review.items import Item
from aclkit.rules.names.question import Budget

IsValid = Callable[[SignedOff, About], bool]
"""Whether a sign-off still holds today."""

_IS_DUE = "the sign-off is too old for the template"


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What an earlier review signed off.

    Attributes:
        review: the review.
        signed: the key of an item → what it says of it.
        then: what its items depend on.
    """

    review: Review
    signed: Mapping[str, SignedOff]
    then: Moment


def signed_off(review: Review, decisions: Mapping[str, Decision]) -> dict[str, SignedOff]:
    """Return what a closed review says of each item, by key: its own decision, or one carried."""
    found: dict[str, SignedOff] = {}
    for item in review.items:
        made = decisions.get(item.item_id)
        carried = review.about[item.item_id].carried
        if made is not None:
            found[item.key] = SignedOff(
                review=review.name,
                decision=made.decision,
                reason=made.reason,
                by=made.by,
                at=made.at,
            )
        elif carried is not None:
            found[item.key] = carried
    return found


def carry_over(
    items: Iterable[Item],
    about: Mapping[str, About],
    now: Moment,
    earlier: Earlier,
    is_valid: IsValid,
    budget: Budget,
) -> dict[str, About]:
    """Return what is known of items, with what the earlier review says of them.

    Args:
        items: those of today.
        about: what is known of each, by id.
        now: what they depend on.
        earlier: the earlier review.
        is_valid: which of its sign-offs still hold.
        budget: the search limit; a sign-off that it leaves open is not carried over.
    """
    found = dict(about)
    past = {item.key: item for item in earlier.review.items}
    for item in items:
        sign, then = earlier.signed.get(item.key), past.get(item.key)
        known = about[item.item_id]
        if sign is None or then is None:
            continue
        if sign.decision == REMOVE:
            found[item.item_id] = replace(known, again=sign)
        elif sign.decision == KEEP:
            why = _IS_DUE if not is_valid(sign, known) else growth_words(
                item, now, then, earlier.then, budget
            )  # fmt: skip
            found[item.item_id] = (
                replace(known, outgrown=sign, why=why) if why else replace(known, carried=sign)
            )
    return found
