"""Names of a listing other than ACLs × those that existed before → added and removed ones. Pure.

A topic is identified by its id, everything else by its name. If a listing has no id for a topic, it
is the existing topic of that name, or else gets an id made of the name. Such a topic stays the same
when a later listing has its id, because it was never seen deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from aclkit.model.facts import (
    ADD_DELEGATION,
    ADD_RESOURCE,
    ADD_SCRAM,
    ADD_TOPIC,
    DELEGATION,
    NOTE,
    REJECT,
    REMOVE_DELEGATION,
    REMOVE_RESOURCE,
    REMOVE_SCRAM,
    REMOVE_TOPIC,
    SourceRow,
)
from aclkit.model.phrases import number_of
from aclkit.model.unread import GROUPS, TOKENS, TOPICS, TRANSACTIONAL_IDS, USERS
from aclkit.pipeline.sources.listing import Listing


class Thing(NamedTuple):
    """A topic, a listed resource, a user or an owner of tokens; what it is not is None."""

    resource_type: str | None = None
    resource_name: str | None = None
    topic_id: str | None = None
    principal: str | None = None
    mechanism: str | None = None

    @property
    def part(self) -> str:
        """Which part of a listing tells of it."""
        if self.principal is not None:
            return TOKENS if self.mechanism == DELEGATION else USERS
        return _PART_OF_TYPE[self.resource_type or _TOPIC]

    @property
    def record_types(self) -> tuple[str, str]:
        """The record types of its coming and of its going."""
        if self.principal is not None:
            is_token = self.mechanism == DELEGATION
            return (ADD_DELEGATION, REMOVE_DELEGATION) if is_token else (ADD_SCRAM, REMOVE_SCRAM)
        is_topic = self.resource_type == _TOPIC
        return (ADD_TOPIC, REMOVE_TOPIC) if is_topic else (ADD_RESOURCE, REMOVE_RESOURCE)


def thing_of(row: SourceRow) -> Thing | None:
    """Return what a row of a listing names; None for an ACL and a reject."""
    if row.record_type == ADD_TOPIC:
        return Thing(_TOPIC, row.resource_name, row.topic_id)
    if row.record_type == ADD_RESOURCE:
        return Thing(row.resource_type, row.resource_name)
    if row.record_type in (ADD_SCRAM, ADD_DELEGATION):
        return Thing(principal=row.principal, mechanism=row.mechanism)
    return None


def changed_things(
    before: Iterable[Thing],
    listed: Iterable[Thing],
    told: frozenset[str],
    id_of: Callable[[str], str],
) -> tuple[list[Thing], list[Thing]]:
    """Return the added and the removed names, sorted.

    Args:
        before: what existed.
        listed: what the listing names.
        told: the parts that are complete in it; nothing of other parts is removed.
        id_of: makes the id of a topic without an id in the listing from its name.
    """
    alive = set(before)
    now = set(_with_ids(listed, {t.resource_name: t for t in alive if t.topic_id}, id_of))
    gone = (thing for thing in alive - now if thing.part in told)
    return sorted(now - alive, key=_order), sorted(gone, key=_order)


def _with_ids(
    listed: Iterable[Thing], topics: dict[str | None, Thing], id_of: Callable[[str], str]
) -> Iterator[Thing]:
    for thing in listed:
        known = topics.get(thing.resource_name)
        if thing.resource_type != _TOPIC:
            yield thing
        elif known and (
            thing.topic_id is None or known.topic_id == id_of(known.resource_name or "")
        ):
            yield known
        else:
            yield thing._replace(topic_id=thing.topic_id or id_of(thing.resource_name or ""))


def notes_on_listing(listing: Listing) -> Iterator[str]:
    """Yield what is missing of a listing."""
    yield from listing.notes
    yield from (row.reason for row in listing.rows if row.kind == NOTE and row.reason)
    refused = sum(row.kind == REJECT for row in listing.rows)
    if refused:
        yield (
            f"{number_of(refused, 'line')} of the listing cannot be used (see acl_reject). ACLs "
            "that only these lines contain count as removed."
        )


def _order(thing: Thing) -> tuple[str, ...]:
    return tuple(value or "" for value in thing)


_TOPIC: Final = "TOPIC"
_PART_OF_TYPE: Final = {
    _TOPIC: TOPICS,
    "GROUP": GROUPS,
    "TRANSACTIONAL_ID": TRANSACTIONAL_IDS,
    DELEGATION: TOKENS,
}
