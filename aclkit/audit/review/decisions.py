"""Decisions of a review → entries of a hash chain, and whether a chain is whole. Pure.

The first entry names the hash of the review itself, every other one that of the entry before it.
So nothing can be changed, left out, put in or reordered without changing every hash after it. What
is hashed is the one text that stands for a value of JSON (``canonical``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final, NamedTuple

from aclkit.answer.rows import json_text


def canonical(value: object) -> str:
    r"""Write a value of JSON so that equal values have equal texts: keys sorted, ASCII, no blanks.

    >>> canonical({"b": 1, "a": "ä"})
    '{"a":"\\u00e4","b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def hash_of(value: object) -> str:
    """Return the SHA-256 of a value of JSON in its canonical form."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def pretty(value: object) -> str:
    """Write a value of JSON for people; one value has one text here too."""
    return json_text(value, is_sorted=True, indent=1) + "\n"


KEEP: Final = "keep"
REMOVE: Final = "remove"
CHOICES: Final = (KEEP, REMOVE)

COMMAND, CSV, PAGE, AT_CLOSE = "command", "csv", "page", "close"
"""How a decision came in: ``aclkit review decide``, ``import``, a page of serve, ``close``."""

LONGEST: Final = 2_000
"""Letters of a reason or a name."""


class Wanted(NamedTuple):
    """A decision that somebody wants to make."""

    item: str
    decision: str
    reason: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """An entry of the chain.

    Attributes:
        number: its place, from 1.
        item: the id of the item.
        decision: one of ``CHOICES``.
        reason: why.
        by: who decided.
        at: when, ISO 8601 in UTC.
        via: how it came in.
        previous: the hash of the entry before it, or of the review.
        hash: the SHA-256 of all other fields.
    """

    number: int
    item: str
    decision: str
    reason: str
    by: str
    at: str
    via: str
    previous: str
    hash: str

    def said(self) -> dict[str, object]:
        """Return it as an object of JSON."""
        return asdict(self)


class BrokenChainError(Exception):
    """A chain that is not whole; its text says where."""


def extend(
    previous: str, number: int, wanted: Iterable[Wanted], at: str, via: str
) -> Iterator[Decision]:
    """Yield the entries that go after one.

    Args:
        previous: its hash; that of the review, where it is the first.
        number: its number; 0 where it is the first.
        wanted: what is decided.
        at: when.
        via: how.
    """
    for number_, each in enumerate(wanted, start=number + 1):
        fields: dict[str, object] = {
            "number": number_, "item": each.item, "decision": each.decision,
            "reason": each.reason, "by": each.by, "at": at, "via": via, "previous": previous,
        }  # fmt: skip
        previous = hash_of(fields)
        yield Decision(
            number=number_, at=at, via=via, previous=str(fields["previous"]), hash=previous,
            **each._asdict(),
        )  # fmt: skip


def read_decision(said: object, where: str) -> Decision:
    """Read an entry from an object of JSON; ``where`` is for the message.

    Raises:
        BrokenChainError: it is none, or its own hash is another.
    """
    fields = said if isinstance(said, dict) else {}
    names = Decision.__dataclass_fields__
    texts = all(isinstance(fields.get(name), str) for name in names if name != "number")
    if fields.keys() != names.keys() or type(fields["number"]) is not int or not texts:
        raise BrokenChainError(f"{where} is no decision with the fields {', '.join(names)}")
    content = {name: value for name, value in fields.items() if name != "hash"}
    if hash_of(content) != fields["hash"]:
        raise BrokenChainError(f"{where} was changed: its content does not have its hash")
    if fields["decision"] not in CHOICES:
        raise BrokenChainError(f"{where}: the decision {fields['decision']!r} is unknown")
    return Decision(**fields)


def check_chain(seal: str, entries: Sequence[Decision], items: Mapping[str, object]) -> None:
    """Insist that entries are a whole chain on a review.

    Args:
        seal: the hash of the review.
        entries: in their order; each has its own hash already.
        items: the review's items, by id.

    Raises:
        BrokenChainError: one is missing, strange, or out of order.
    """
    previous = seal
    for number, entry in enumerate(entries, start=1):
        if entry.number != number or entry.previous != previous:
            what = "the review" if number == 1 else f"decision {number - 1}"
            raise BrokenChainError(f"Decision {number} does not follow {what}")
        if entry.item not in items:
            raise BrokenChainError(f"Decision {number} is about the unknown item {entry.item!r}")
        previous = entry.hash


def in_force(entries: Iterable[Decision]) -> dict[str, Decision]:
    """Return the last decision on each item that has one."""
    return {entry.item: entry for entry in entries}
