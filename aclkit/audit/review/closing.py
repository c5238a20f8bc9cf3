"""The end of a review: whether it can be closed → its evidence, answer and page parts. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from aclkit.answer.document import Answer, Facts, Heading, Item, Items, Part, Sentence, Table
from aclkit.answer.html import MOST_ROWS
from aclkit.audit.review.answers import CARRIED, note_words, open_of, state_of
from aclkit.audit.review.choosing import owner_words
from aclkit.audit.review.decisions import AT_CLOSE, REMOVE, Decision
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
    left = open_of(review, decisions, review.items)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What became of items: decided by owners, carried over, or only when the review was closed.

    Attributes:
        items: how many there are.
        decided: those that were decided while the review was open.
        carried: those that an earlier sign-off keeps.
        kept_undecided: those that were not decided, and are kept.
        removed_undecided: those that were not decided, and are to be removed.
        removed: all that are to be removed.
    """

    items: int
    decided: int
    carried: int
    kept_undecided: int
    removed_undecided: int
    removed: int

    @property
    def undecided(self) -> int:
        """How many were not decided."""
        return self.kept_undecided + self.removed_undecided


def tally(review: Review, decisions: Mapping[str, Decision], items: Sequence[Access]) -> Tally:
    """Count what became of items of a closed review."""
    states = [state_of(review, decisions, item) for item in items]
    made = [decisions[item.item_id] for item in items if item.item_id in decisions]
    left = Counter(each.decision == REMOVE for each in made if each.via == AT_CLOSE)
    return Tally(
        items=len(items),
        decided=len(made) - left.total(),
        carried=states.count(CARRIED),
        kept_undecided=left[False],
        removed_undecided=left[True],
        removed=states.count(REMOVE),
    )


_OWNED: Final = ("owner", "items", "decided", "carried", "not_decided", "removed")


def _by_owner(evidence: Evidence) -> list[dict[str, Any]]:
    review, decisions = evidence.review, evidence.in_force
    owners = grouped((review.about[item.item_id].owner, item) for item in review.items)
    found = ((name, tally(review, decisions, items)) for name, items in sorted(owners.items()))
    return [
        {"owner": owner_words(name), **asdict(each), "not_decided": each.undecided}
        for name, each in found
    ]


def _owners_table(evidence: Evidence) -> Table:
    rows = [[each[name] for name in _OWNED] for each in _by_owner(evidence)]
    return Table(_OWNED, rows, spare=("carried",))


def closed_answer(evidence: Evidence, paths: Sequence[str]) -> Answer:
    """Return what was closed, what is to be removed, and where the evidence is."""
    closing, total = evidence.closing, _tally_of(evidence)
    owners = [{name: each[name] for name in _OWNED} for each in _by_owner(evidence)]
    row = (
        evidence.review.name, closing.kept, closing.removed, closing.carried, total.decided,
        total.undecided, owners, closing.by, closing.acknowledged_by or None, evidence.hash,
        list(paths), list(closing.effect), list(closing.by_hand),
    )  # fmt: skip

    def parts() -> Iterator[Part]:
        yield _headline(evidence, f"Review {evidence.review.name} is closed")
        yield _owners_table(evidence)
        yield from _effect(closing)
        yield Facts([("evidence hash", evidence.hash), *(("file", path) for path in paths)])
        yield Sentence(
            "Keep the hash elsewhere: it shows whether the evidence was made again.", "note"
        )

    columns = (
        "review", "kept", "removed", "carried", "decided", "not_decided", "owners", "closed_by",
        "acknowledged_by", "hash", "files", "effect", "by_hand",
    )  # fmt: skip
    return Answer(title="Review", columns=columns, rows=[row], parts=parts)


def _tally_of(evidence: Evidence) -> Tally:
    return tally(evidence.review, evidence.in_force, evidence.review.items)


def _headline(evidence: Evidence, start: str) -> Sentence:
    """Write how many items were decided by owners, and what becomes of the others."""
    total = _tally_of(evidence)
    is_whole = not total.undecided
    return Sentence(
        f"{start}: {_decided_words(total)}. {total.items - total.removed:,} to keep, "
        f"{total.removed:,} to remove.",
        "good" if is_whole else "bad",
    )


def _decided_words(total: Tally) -> str:
    """Write it.

    >>> _decided_words(Tally(items=5, decided=4, carried=1, kept_undecided=0, removed_undecided=0,
    ...                      removed=0))
    '4 of 5 items were decided, 1 was carried over'
    """
    if total.decided == total.items:
        return f"all {number_of(total.items, 'item')} were decided"
    words = [f"{total.decided:,} of {number_of(total.items, 'item')} were decided"]
    if total.carried:
        words.append(f", {number_of(total.carried, 'was', 'were')} carried over")
    for number, then in (
        (total.kept_undecided, "kept"),
        (total.removed_undecided, "to be removed"),
    ):
        if number:
            was, is_ = ("was", "is") if number == 1 else ("were", "are")
            words.append(f"; {number:,} {was} not and {is_} {then}")
    return "".join(words)


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
    yield _headline(evidence, "Closed")
    yield _owners_table(evidence)
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
    yield "acknowledged for the management by", closing.acknowledged_by or "-"
    if review.since:
        yield "since", f"review {review.since[0]}, evidence hash {review.since[1]}"
    yield "digest of the items", review.digest


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
