"""What somebody wants to decide, and a review as it is now → decisions, or why not. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from aclkit.audit.review.attributes import names
from aclkit.audit.review.decisions import CHOICES, LONGEST, Decision, Wanted
from aclkit.audit.review.document import NO_OWNER, Review
from aclkit.audit.review.items import Item, key_of
from aclkit.errors import UsageError
from aclkit.model.phrases import few, listed

LEAST_PREFIX = 4
"""Characters of an id that name an item, if no other one begins so."""


def item_of(review: Review, text: str) -> Item:
    """Return the item whose id is, or begins with, a text.

    Raises:
        UsageError: none does, or several do.
    """
    if (found := review.find(text)) is not None:
        return found
    start = key_of(text)
    near = [item for item in review.items if item.key.startswith(start)]
    if len(start) < LEAST_PREFIX or not near:
        raise UsageError(
            f"The review {review.name} has no item {text!r}. To list them: aclkit review show"
        )
    if len(near) > 1:
        raise UsageError(f"Several items begin with {text!r}: {few(i.item_id for i in near)}.")
    return near[0]


def items_matching(review: Review, owner: str | None, principal: str | None) -> list[Item]:
    """Return the items of an owner, of principals that match a glob, or of both."""
    return [
        item
        for item in review.items
        if owner in (None, review.about[item.item_id].owner)
        and (principal is None or names(principal, item.principal))
    ]


def sound_text(text: str, what: str) -> str:
    """Return a reason or a name without blanks around it.

    Raises:
        UsageError: it is empty or too long.
    """
    found = text.strip()
    if not found:
        raise UsageError(f"Every decision needs {what}.")
    if len(found) > LONGEST:
        raise UsageError(f"Invalid {what}: at most {LONGEST:,} characters.")
    return found


def wanted_of(
    items: Iterable[Item],
    decision: str,
    reason: str,
    by: str,
    in_force: Mapping[str, Decision],
    *,
    replaces: bool,
) -> list[Wanted]:
    """Return the decisions to append; what is decided so already is left out.

    Raises:
        UsageError: an unknown decision, no reason, no name, or another decision is in force and
            ``replaces`` is not set.
    """
    if decision not in CHOICES:
        raise UsageError(f"Unknown decision {decision!r}. Expected {listed(CHOICES, 'or')}.")
    said = sound_text(reason, "a reason"), sound_text(by, "a name")
    found: list[Wanted] = []
    against: list[Decision] = []
    for item in items:
        made = in_force.get(item.item_id)
        wanted = Wanted(item.item_id, decision, *said)
        if made is None or made.decision != decision:
            found.append(wanted)
        if made is not None and made.decision != decision:
            against.append(made)
    if against and not replaces:
        raise UsageError(contradiction(against))
    return found


def contradiction(against: Sequence[Decision]) -> str:
    """Write that decisions in force say otherwise."""
    first = against[0]
    more = f" {len(against) - 1:,} more items are decided otherwise." if len(against) > 1 else ""
    return (
        f"Item {first.item} has the decision {first.decision} by {first.by} of {first.at}.{more} "
        "To change it, pass --replace."
    )


def other_signature(made: Decision, wanted: Wanted) -> str:
    """Write that the same was decided already, by someone else and for another reason."""
    return (
        f"item {made.item} has the decision {made.decision} by {made.by} of {made.at} already. "
        f"A reason of {wanted.by} does not replace it: leave the decision of this row empty."
    )


def owner_words(owner: str) -> str:
    """Write an owner; items without one are never left out."""
    return "No owner" if owner == NO_OWNER else owner
