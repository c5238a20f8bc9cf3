"""Items and an earlier review → what was signed off already, and what was to be removed. Pure.

A sign-off with ``keep`` is carried over while the item allows no more than it did then, which is
proven for every name. It counts from the day on which it was made, however often it is carried
over. Each review compares with the one before it, and what was carried over there was no wider
either.

Growth is whether an item allows more now. It is written as the state of a cluster that has nothing
but this item. Then two moments are two states like any others, each with its own reading of ACLs,
and one operation compares them for every name (``rules/names/compare.py``). That also covers names
that did not exist then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from aclkit.audit.review.decisions import KEEP, REMOVE, Decision
from aclkit.audit.review.document import About, Review, SignedOff
from aclkit.audit.review.items import DEFAULT, GRANT, Item
from aclkit.model.acl import Acl, Request, quoted, type_words
from aclkit.model.principal import WILDCARD_PRINCIPAL
from aclkit.model.redpanda import has_unknown_members
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.rules.decide.confirm import Comparison
from aclkit.rules.names.compare import GAINED
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules, reads_alike

NEW_ALLOW: Final = "an ALLOW grants it that did not grant it then"
_LEFT_OPEN: Final = "the search limit left open whether it allows more now"
_NEW_MEMBERS: Final = "it holds for the members of a role or group now, who are not known here"
_NOT_KNOWN: Final = "the warehouse does not know all ACLs of that time, so it may allow more now"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What items of one moment depend on.

    Attributes:
        semantics: how ACLs were read.
        acls: all ACLs in force; None where they are not known.
    """

    semantics: Semantics
    acls: tuple[Acl, ...] | None = None


def growth_words(item: Item, now: Moment, then_item: Item, then: Moment, budget: Budget) -> str:
    """Write why an item may allow more than it did; empty where it is proven that it does not.

    Args:
        item: the item of today.
        now: today.
        then_item: the same item as it was, with the same identity.
        then: that time.
        budget: the search limit; what it leaves open counts as more.
    """
    if not set(item.acls) <= set(then_item.acls):
        return NEW_ALLOW
    if not set(item.uncertain) <= set(then_item.uncertain):
        return _LEFT_OPEN
    knew, knows = (has_unknown_members(item.principal, one.semantics) for one in (then, now))
    if knows and not knew:
        return _NEW_MEMBERS
    if _is_the_same(item, now, then_item, then):
        return ""
    before, after = _alone(then_item, then), _alone(item, now)
    if before is None or after is None:
        return _NOT_KNOWN
    found = Comparison.of(before, after, budget)
    for change in found.difference.of_kind(GAINED):
        return f"it allows more now, for example {_request_words(found.rulings(change)[0])}"
    return "" if found.difference.is_known else _LEFT_OPEN


def _is_the_same(item: Item, now: Moment, then_item: Item, then: Moment) -> bool:
    """Whether both are the same ACLs, read alike: then there is nothing to compare."""
    if item.kind != GRANT:
        return False
    acls = (*item.acls, *item.limited_by)
    return set(acls) == {*then_item.acls, *then_item.limited_by} and all(
        reads_alike(acl, now.semantics, then.semantics) for acl in acls
    )


def _alone(item: Item, moment: Moment) -> Rules | None:
    """Return a state that allows what the item allows, and nothing else; None if not known."""
    acls: tuple[Acl, ...] = (*item.acls, *item.limited_by)
    settings = BrokerSettings()
    if item.kind == DEFAULT:
        if moment.acls is None:
            return None
        # The default is for resources to which no ACL applies: each ACL shuts those it applies to.
        acls = tuple({acl.pattern: _shut(acl) for acl in moment.acls}.values())
        settings = BrokerSettings(allow_everyone=True)
    elif item.kind != GRANT:
        settings = BrokerSettings(super_users=frozenset((item.principal,)))
    return Rules(acls=acls, settings=settings, semantics=moment.semantics)


def _shut(acl: Acl) -> Acl:
    return replace(
        acl, principal=WILDCARD_PRINCIPAL, host="*", operation="ALL", permission_type="DENY"
    )


def _request_words(request: Request) -> str:
    where = f"{type_words(request.resource_type)} {quoted(request.resource_name)}"
    return f"{quoted(request.principal)} to {request.operation} {where} from {request.host}"


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
