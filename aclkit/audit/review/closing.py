"""The end of a review: whether it can be closed → its evidence, answer and page parts. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from aclkit.answer.document import Answer, Facts, Heading, Item, Items, Part, Sentence, Table
from aclkit.answer.html import MOST_ROWS
from aclkit.audit.review.answers import CARRIED, OPEN, note_words, state_of
from aclkit.audit.review.choosing import owner_words
from aclkit.audit.review.decisions import REMOVE, Decision
from aclkit.audit.review.document import Review
from aclkit.audit.review.evidence import Closing, Evidence, close
from aclkit.audit.review.folder import Stored
from aclkit.audit.review.items import Item as Access
from aclkit.audit.review.removal import Removal
from aclkit.audit.review.templates import (
    REQUIREMENT_OF,
    TITLES,
    due_days,
    gaps,
)
from aclkit.model.groups import grouped
from aclkit.model.phrases import capitalized, few, number_of

_COLUMNS: Final = ("item", "access", "decision", "reason", "by", "at")


def obstacles(stored: Stored, acknowledged_by: str) -> Iterator[str]:
    """Yield why a review cannot be closed: open items, and fields that its template asks for."""
    review, decisions = stored.review, stored.in_force
    left = [item for item in review.items if state_of(review, decisions, item) == OPEN]
    owners = grouped((review.about[item.item_id].owner, item) for item in left)
    for owner, items in sorted(owners.items()):
        yield f"{owner_words(owner)}: {number_of(len(items), 'item is', 'items are')} open"
    yield from gaps(review, acknowledged_by, is_closing=True)


def removed_items(review: Review, decisions: Mapping[str, Decision]) -> list[Access]:
    """Return the items that are to be removed."""
    return [item for item in review.items if state_of(review, decisions, item) == REMOVE]


def make_evidence(
    stored: Stored, removal: Removal, at: str, by: str, acknowledged_by: str, offset: int
) -> Evidence:
    """Return the evidence of a review that ends now.

    Args:
        stored: the review; nothing of it is open.
        removal: what is to be removed.
        at: now.
        by: who closes it.
        acknowledged_by: who acknowledges for the management; empty if nobody does.
        offset: the log offset of the state that ``removal`` is about.
    """
    review, decisions = stored.review, stored.in_force
    states = [state_of(review, decisions, item) for item in review.items]
    removed = states.count(REMOVE)
    closing = Closing(
        at=at,
        by=by,
        acknowledged_by=acknowledged_by,
        kept=len(states) - removed,
        removed=removed,
        carried=states.count(CARRIED),
        script=removal.script,
        effect=removal.effect,
        by_hand=removal.by_hand,
        offset=offset,
        previous="",
    )
    return close(review, stored.decisions, closing)


def closed_answer(evidence: Evidence, paths: Sequence[str]) -> Answer:
    """Return what was closed, what is to be removed, and where the evidence is."""
    closing = evidence.closing
    row = (
        evidence.review.name, closing.kept, closing.removed, closing.carried, closing.by,
        closing.acknowledged_by or None, evidence.hash, list(paths), list(closing.effect),
        list(closing.by_hand),
    )  # fmt: skip

    def parts() -> Iterator[Part]:
        yield Sentence(f"Review {evidence.review.name} is closed: {_counts(closing)}.", "good")
        yield from _effect(closing)
        yield Facts([("evidence hash", evidence.hash), *(("file", path) for path in paths)])
        yield Sentence(
            "Keep the hash elsewhere: it shows whether the evidence was made anew.", "note"
        )

    columns = (
        "review", "kept", "removed", "carried", "closed_by", "acknowledged_by", "hash", "files",
        "effect", "by_hand",
    )  # fmt: skip
    return Answer(title="Review", columns=columns, rows=[row], parts=parts)


def _counts(closing: Closing) -> str:
    carried = f", {closing.carried:,} of them carried over" if closing.carried else ""
    return f"{number_of(closing.kept, 'item')} to keep{carried}, {closing.removed:,} to remove"


def _effect(closing: Closing) -> Iterator[Part]:
    if closing.removed:
        yield Sentence("Removing them has this effect:")
        yield Items(map(_marked, closing.effect))
    if closing.by_hand:
        yield Sentence("To do by hand:")
        yield Items(map(Item, closing.by_hand))


def _marked(line: str) -> Item:
    mark, _, rest = line.partition(" ")
    return Item(rest, mark) if mark in ("+", "-", "~") else Item(line)


def evidence_parts(evidence: Evidence) -> Iterator[Part]:
    """Yield the page of a closed review."""
    review, closing = evidence.review, evidence.closing
    yield Sentence(f"Closed: {_counts(closing)}.", "good")
    yield Facts(list(_facts(evidence)))
    yield from _requirements(evidence)
    if review.notes:
        yield Heading("Notes")
        yield Items(map(Item, review.notes))
    yield Heading("What is removed")
    if not closing.removed:
        yield Sentence("Nothing.")
    yield from _effect(closing)
    yield Heading("Items")
    decisions = evidence.in_force
    by_owner = grouped((review.about[item.item_id].owner, item) for item in review.items)
    for owner, items in sorted(by_owner.items()):
        yield Heading(f"{owner_words(owner)} ({number_of(len(items), 'item')})", is_sub=True)
        for at in range(0, len(items), MOST_ROWS):
            some = items[at : at + MOST_ROWS]
            yield Table(_COLUMNS, [_decided(review, decisions, item) for item in some])


def _decided(review: Review, decisions: Mapping[str, Decision], item: Access) -> tuple[object, ...]:
    about, made = review.about[item.item_id], decisions.get(item.item_id)
    sign = made or about.carried
    because = few(item.because_words, 3)
    more = [
        f"Class: {about.account}." if about.account else "",
        f"Business need: {about.purpose}." if about.purpose else "",
        f"{capitalized(about.usage)}." if about.usage else "",
        f"{capitalized(about.until)}." if about.until else "",
        note_words(about),
    ]
    access = " ".join(filter(None, (f"{item.words}, {because}.", *more)))
    state = state_of(review, decisions, item)
    signed = (sign.reason, sign.by, sign.at) if sign else ("", "", "")
    return (item.item_id, access, state, *signed)


def _facts(evidence: Evidence) -> Iterator[tuple[str, str]]:
    review, closing = evidence.review, evidence.closing
    pins = review.pins
    yield "review", review.name
    yield "cluster", pins.cluster_id
    yield "log offset (exclusive)", f"{pins.log_offset:,}"
    yield "run", f"{pins.run_number} ({pins.run_id})"
    yield "data as of", pins.as_of or "unknown"
    yield "started", f"{review.started_at} by {review.started_by}"
    yield "closed", f"{closing.at} by {closing.by}"
    yield "acknowledged for the management", closing.acknowledged_by or "nobody"
    if review.since:
        yield "since", f"review {review.since[0]}, evidence hash {review.since[1]}"
    yield "digest of the items", review.digest
    yield "evidence hash", evidence.hash


def _requirements(evidence: Evidence) -> Iterator[Part]:
    review = evidence.review
    if not review.template:
        return
    yield Heading("PCI DSS 4.0.1")
    rows = []
    for requirement, due in sorted(due_days(review).items()):
        mine = [a for a in review.about.values() if REQUIREMENT_OF.get(a.account) == requirement]
        often = "6 months" if requirement == "7.2.4" else f"{review.frequency_days} days"
        when = due.isoformat() if due else "unknown"
        rows.append((requirement, TITLES[requirement], len(mine), often, when))
    yield Table(("requirement", "asks for", "items", "frequency", "next due"), rows)
    if review.risk_analysis:
        yield Sentence(f"Targeted risk analysis (12.3.1): {review.risk_analysis}")
    if evidence.closing.acknowledged_by:
        yield Sentence(
            f"{evidence.closing.acknowledged_by} acknowledges for the management that access that "
            "is kept remains appropriate, and that what is not appropriate is removed."
        )
