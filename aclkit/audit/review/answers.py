"""A review and its decisions → answers: its items, how far it is, and all reviews. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Final

from aclkit.answer.document import Answer, Facts, Heading, Item, Items, Part, Row, Sentence, Table
from aclkit.audit.review.choosing import owner_words
from aclkit.audit.review.decisions import KEEP, REMOVE, Decision
from aclkit.audit.review.document import NO_OWNER, About, Review, SignedOff
from aclkit.audit.review.folder import Stored
from aclkit.audit.review.items import Item as Access
from aclkit.audit.review.items import whom_words
from aclkit.audit.review.templates import TITLES, day_of, due_days, gaps
from aclkit.model.groups import grouped
from aclkit.model.phrases import listed, number_of
from aclkit.model.resource import WORD_OF_TYPE

OPEN: Final = "open"
CARRIED: Final = "carried"
STATES: Final = (OPEN, KEEP, REMOVE, CARRIED)

ITEM_COLUMNS: Final = (
    "item", "state", "owner", "purpose", "class", "contact", "kind", "principal", "host",
    "operations", "resource_type", "pattern_type", "resource_name", "access", "because",
    "known_names", "usage", "until", "note", "reason", "decided_by", "decided_at",
)  # fmt: skip
_COUNTED: Final = ("owner", "items", OPEN, KEEP, REMOVE, CARRIED, "contact")
STATUS_COLUMNS: Final = ("review", "is_closed", *_COUNTED)
LIST_COLUMNS: Final = (
    "review", "state", "cluster_id", "log_offset", "started_at", "started_by", "days", "items",
    OPEN, "template", "digest",
)  # fmt: skip
_MARKS: Final = {KEEP: "+", REMOVE: "-", OPEN: "", CARRIED: "+"}


def state_of(review: Review, decisions: Mapping[str, Decision], item: Access) -> str:
    """Return one of ``STATES``; a decision of this review goes before one carried over."""
    if (made := decisions.get(item.item_id)) is not None:
        return made.decision
    return OPEN if review.about[item.item_id].carried is None else CARRIED


def open_of(
    review: Review, decisions: Mapping[str, Decision], items: Iterable[Access]
) -> list[Access]:
    """Return the items that nobody has decided."""
    return [item for item in items if state_of(review, decisions, item) == OPEN]


def note_words(about: About) -> str:
    """Write what an earlier review says of an item."""
    if about.again is not None:
        return f"Still there: {_sign(about.again)} decided to remove it: {about.again.reason}"
    if about.carried is not None:
        return f"Carried over: {_sign(about.carried)} decided to keep it: {about.carried.reason}"
    if about.outgrown is not None:
        return f"Asked again: {_sign(about.outgrown)} decided to keep it, but {about.why}."
    return ""


def _sign(sign: SignedOff) -> str:
    return f"{sign.by}, {day_of(sign.at).isoformat()}, review {sign.review},"


def items_answer(stored: Stored, items: Sequence[Access], *, shows_carried: bool = False) -> Answer:
    """Return items with what grants them, by owner; those without an owner come first."""
    review, decisions = stored.review, stored.in_force
    shown = [
        item for item in items if shows_carried or state_of(review, decisions, item) != CARRIED
    ]
    return Answer(
        title=f"Review {review.name}",
        columns=ITEM_COLUMNS,
        rows=(_row(review, decisions, item) for item in items),
        parts=lambda: _item_parts(review, decisions, shown, len(items) - len(shown)),
        notes=review.notes,
    )


def _row(review: Review, decisions: Mapping[str, Decision], item: Access) -> Row:
    about, made = review.about[item.item_id], decisions.get(item.item_id)
    sign = made or about.carried
    return (
        item.item_id, state_of(review, decisions, item), about.owner, about.purpose, about.account,
        about.contact, item.kind, item.principal, item.host, list(item.operations),
        item.resource_type, item.pattern_type, item.resource_name, item.words,
        item.because_words, about.today, about.usage, about.until, note_words(about),
        *((sign.reason, sign.by, sign.at) if sign else (None, None, None)),
    )  # fmt: skip


def _item_parts(
    review: Review, decisions: Mapping[str, Decision], items: Sequence[Access], hidden: int
) -> Iterator[Part]:
    by_owner = grouped((review.about[item.item_id].owner, item) for item in items)
    if not items:
        yield Sentence("No item is selected.")
    for owner in sorted(by_owner):
        mine = by_owner[owner]
        left = len(open_of(review, decisions, mine))
        yield Heading(f"{owner_words(owner)} ({number_of(len(mine), 'item')}, {left:,} open)")
        for principal, theirs in grouped((item.principal, item) for item in mine).items():
            yield Heading(whom_words(principal), is_sub=True)
            yield Items(_line(review, decisions, item) for item in theirs)
    if hidden:
        yield Sentence(f"{number_of(hidden, 'item')} carried over: --carried shows them.", "note")


def _line(review: Review, decisions: Mapping[str, Decision], item: Access) -> Item:
    about, made = review.about[item.item_id], decisions.get(item.item_id)
    under = item.because_words[:_MOST_BECAUSE]
    if more := len(item.because_words) - len(under):
        under.append(f"and {number_of(more, 'more ACL')}")
    if names := _names_words(item, about):
        under.append(names)
    under += filter(None, (about.usage, about.until))
    if about.purpose:
        under.append(f"purpose: {about.purpose}")
    under += [f"{listed(each.operations)} also by item {each.item}" for each in item.also[:2]]
    if note := note_words(about):
        under.append(note)
    if made is not None:
        under.append(f"{made.decision} by {made.by}, {day_of(made.at).isoformat()}: {made.reason}")
    return Item(
        f"{item.item_id} {item.access_words}", _MARKS[state_of(review, decisions, item)], under
    )


_MOST_BECAUSE: Final = 4


def _names_words(item: Access, about: About) -> str:
    """Write which known names a pattern matches; of one name nothing is to be said."""
    if not item.resource_type or about.names == (item.resource_name,):
        return ""
    word = WORD_OF_TYPE[item.resource_type].replace("-", " ")
    if item.resource_type == "CLUSTER":
        return ""
    more = f" and {about.today - len(about.names):,} more" if about.today > len(about.names) else ""
    shown = f": {', '.join(about.names)}{more}" if about.names else ""
    return f"today {number_of(about.today, word)}{shown}"


def status_answer(stored: Stored, today: date) -> Answer:
    """Return how many items are decided, by owner; those without an owner are never left out."""
    review, decisions = stored.review, stored.in_force
    by_owner = grouped((review.about[item.item_id].owner, item) for item in review.items)
    rows = []
    for owner in sorted(by_owner, key=lambda name: (name != NO_OWNER, name)):
        counts = Counter(state_of(review, decisions, item) for item in by_owner[owner])
        contacts = {review.about[item.item_id].contact for item in by_owner[owner]} - {""}
        numbers = [counts[state] for state in STATES]
        rows.append((owner_words(owner), counts.total(), *numbers, ", ".join(sorted(contacts))))
    named = (review.name, stored.is_closed)
    return Answer(
        title=f"Review {review.name}",
        columns=STATUS_COLUMNS,
        rows=[(*named, *row) for row in rows],
        parts=lambda: _status_parts(stored, rows, today),
        notes=tuple(_status_notes(stored)),
    )


def _status_parts(stored: Stored, rows: Sequence[Row], today: date) -> Iterator[Part]:
    review, left = stored.review, stored.open_items
    total = len(review.items)
    if stored.is_closed:
        yield Sentence(f"Review {review.name} is closed.", "good")
    elif left:
        yield Sentence(f"{left:,} of {number_of(total, 'item')} are open.", "bad")
    else:
        yield Sentence(f"All {number_of(total, 'item')} are decided. Next: aclkit review close")
    yield Table(_COUNTED, rows, spare=("contact", CARRIED))
    yield Facts(list(_facts(stored, today)))


def _facts(stored: Stored, today: date) -> Iterator[tuple[str, str]]:
    review = stored.review
    pins, days = review.pins, (today - day_of(review.started_at)).days
    yield "started", f"{review.started_at} by {review.started_by}"
    if not stored.is_closed:
        yield "open for", number_of(days, "day")
    yield "cluster", pins.cluster_id
    yield "log offset", f"{pins.log_offset:,}"
    yield "digest", review.digest
    if review.since:
        yield "since", f"review {review.since[0]}"
    if review.template:
        yield "template", review.template
        for requirement, due in due_days(review).items():
            when = "unknown" if due is None else due.isoformat()
            late = ", overdue" if due is not None and today > due else ""
            yield f"{requirement} next due", f"{when}{late} ({TITLES[requirement]})"


def _status_notes(stored: Stored) -> Iterator[str]:
    yield from torn_notes(stored)
    yield from (f"{gap}." for gap in gaps(stored.review, None, is_closing=False))


def torn_notes(stored: Stored) -> Iterator[str]:
    """Yield that a write was killed."""
    if stored.is_torn:
        yield (
            "The last decision was not written whole, because its process was ended. It does not "
            "count. Decide it again."
        )


def list_answer(reviews: Sequence[Stored], today: date) -> Answer:
    """Return all reviews of a folder, the oldest first."""
    rows = [
        (
            each.review.name, "closed" if each.is_closed else OPEN, each.review.pins.cluster_id,
            each.review.pins.log_offset, each.review.started_at, each.review.started_by,
            (today - day_of(each.review.started_at)).days, len(each.review.items),
            0 if each.is_closed else each.open_items, each.review.template or None,
            each.review.digest,
        )
        for each in reviews
    ]  # fmt: skip
    few = ("review", "state", "items", OPEN, "days", "started_at")
    places = [LIST_COLUMNS.index(name) for name in few]
    shown = Table(few, [[row[place] for place in places] for row in rows])
    nothing = Sentence("No review was started yet. Next: aclkit review start --by NAME")
    return Answer(
        title="Reviews",
        columns=LIST_COLUMNS,
        rows=rows,
        parts=lambda: [shown if rows else nothing],
    )


def started_answer(stored: Stored) -> Answer:
    """Return what a new review asks about."""
    review = stored.review
    owners = Counter(review.about[item.item_id].owner for item in review.asked)
    answer = status_answer(stored, day_of(review.started_at))

    def parts() -> Iterator[Part]:
        where = f"offset {review.pins.log_offset:,}"
        carried = len(review.items) - len(review.asked)
        more = f" {number_of(carried, 'item')} carried over." if review.since else ""
        asked = number_of(len(review.asked), "item")
        yield Sentence(f"Review {review.name} asks about {asked} as of {where}.{more}")
        again = sum(about.again is not None for about in review.about.values())
        if again:
            yield Sentence(f"{number_of(again, 'item')} should have been removed before.", "bad")
        grown = sum(about.outgrown is not None for about in review.about.values())
        if grown:
            words = number_of(grown, "item that was kept is", "items that were kept are")
            yield Sentence(f"{words} asked again, for the reason in their notes.", "bad")
        if nobody := owners.get(NO_OWNER, 0):
            yield Sentence(f"{number_of(nobody, 'item has', 'items have')} no owner: --owners FILE")
        yield Sentence(f"Next: aclkit review show --review {review.name}")

    return Answer(
        title=answer.title,
        columns=answer.columns,
        rows=answer.rows,
        parts=parts,
        notes=(*review.notes, *answer.notes),
    )
