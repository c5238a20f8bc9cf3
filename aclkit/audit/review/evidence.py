"""A closed review ↔ the text of its evidence, in which every byte is checked. Pure.

The hash at the end is over all of it, each decision has its own in the chain, and the text must be
exactly the one that the content makes. Whoever can write the file can also make all hashes anew:
keep the last one elsewhere. The next review keeps it too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from aclkit.audit.review.decisions import (
    BrokenChainError,
    Decision,
    check_chain,
    hash_of,
    in_force,
    pretty,
    read_decision,
)
from aclkit.audit.review.document import Review, read_review
from aclkit.errors import UsageError
from aclkit.runtime.notation import parse_json

EVIDENCE_PAGE: Final = "evidence.html"
SCRIPT: Final = "removals.sh"
FILES: Final = (EVIDENCE_PAGE, SCRIPT)
"""What is written beside the evidence."""

_VERSION: Final = 1
_MEMBERS: Final = frozenset(("aclkit_evidence", "review", "decisions", "closing", "hash"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """The end of a review.

    Attributes:
        at: when, ISO 8601 in UTC.
        by: who closed it.
        acknowledged_by: who acknowledged for the management; empty if nobody did.
        kept: how many items stay; ``carried`` of them by an earlier sign-off.
        removed: how many are to be removed.
        carried: see ``kept``.
        script: the commands that remove them.
        effect: sentences of who loses what.
        by_hand: what no script does, such as a super user.
        offset: the log offset of the state that the effect is about.
        previous: the hash of the last decision, or of the review.
        files: the SHA-256 of each of ``FILES``, by name; None in evidence of older versions.
    """

    at: str
    by: str
    acknowledged_by: str
    kept: int
    removed: int
    carried: int
    script: str
    effect: tuple[str, ...]
    by_hand: tuple[str, ...]
    offset: int
    previous: str
    files: Mapping[str, str] | None = None

    @property
    def said(self) -> dict[str, Any]:
        """It as an object of JSON."""
        names = Closing.__dataclass_fields__
        found = {name: getattr(self, name) for name in names}
        if self.files is None:
            del found["files"]
        return {n: list(value) if isinstance(value, tuple) else value for n, value in found.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A review that was closed.

    Attributes:
        review: as it was started.
        decisions: all, in their order.
        closing: its end.
    """

    review: Review
    decisions: tuple[Decision, ...]
    closing: Closing

    @property
    def in_force(self) -> dict[str, Decision]:
        """The last decision on each item."""
        return in_force(self.decisions)

    @property
    def _content(self) -> dict[str, Any]:
        return {
            "aclkit_evidence": _VERSION,
            "review": self.review.said,
            "decisions": [entry.said() for entry in self.decisions],
            "closing": self.closing.said,
        }

    @property
    def hash(self) -> str:
        """The SHA-256 over all of it."""
        return hash_of(self._content)

    def with_files(self, files: Mapping[str, str]) -> Evidence:
        """Return it with the digests of what is written beside it."""
        return replace(self, closing=replace(self.closing, files=files))

    @property
    def text(self) -> str:
        """The evidence as it is written: one text for one content."""
        return pretty({**self._content, "hash": self.hash})


def close(review: Review, decisions: Sequence[Decision], closing: Closing) -> Evidence:
    """Return the evidence of a review that ends now; its chain ends in ``closing``."""
    previous = decisions[-1].hash if decisions else review.seal
    ended = replace(closing, previous=previous)
    return Evidence(review=review, decisions=tuple(decisions), closing=ended)


def check_evidence(data: bytes) -> Evidence:
    """Read evidence and insist that every byte is as it was written.

    Raises:
        BrokenChainError: it is not; its text says where.
    """
    text, said = _parse(data)
    review = _review(said["review"])
    decisions = said["decisions"] if isinstance(said["decisions"], list) else [None]
    entries = [read_decision(each, f"Decision {n}") for n, each in enumerate(decisions, start=1)]
    check_chain(review.seal, entries, review.by_id)
    closing = _closing(said["closing"])
    if closing.previous != (entries[-1].hash if entries else review.seal):
        raise BrokenChainError("The closing does not follow the last decision")
    found = Evidence(review=review, decisions=tuple(entries), closing=closing)
    if found.hash != said["hash"]:
        raise BrokenChainError("The hash at the end is not that of the content")
    if found.text != text:
        raise BrokenChainError(f"{_first_difference(found.text, text)} is not as it was written")
    return found


def _parse(data: bytes) -> tuple[str, Mapping[str, Any]]:
    try:
        text = data.decode()
        said = parse_json(text, "Line")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BrokenChainError(f"Line {line} holds bytes that are no UTF-8") from None
    except UsageError as error:
        raise BrokenChainError(str(error).replace("Line:", "Line ", 1)) from None
    if not isinstance(said, dict) or said.keys() != _MEMBERS or not isinstance(said["hash"], str):
        raise BrokenChainError(f"Expected an object with {', '.join(sorted(_MEMBERS))}")
    if said["aclkit_evidence"] != _VERSION or isinstance(said["aclkit_evidence"], bool):
        raise BrokenChainError(f"Expected version {_VERSION} in aclkit_evidence")
    return text, said


_OTHER_FIELDS: Final = "a field is missing, unknown, or of another type"


def _review(said: object) -> Review:
    if not isinstance(said, dict):
        raise BrokenChainError("The review is no object")
    try:
        return read_review(said)
    except ValueError as error:
        raise BrokenChainError(f"The review was changed: {error}") from None
    except (KeyError, TypeError, AttributeError, RecursionError):
        raise BrokenChainError(f"The review was changed: {_OTHER_FIELDS}") from None


def _closing(said: object) -> Closing:
    names = Closing.__dataclass_fields__
    if not isinstance(said, dict) or said.keys() | {"files"} != names.keys():
        raise BrokenChainError(f"The closing does not have the fields {', '.join(names)}")
    texts = ("at", "by", "acknowledged_by", "script", "previous")
    lists = ("effect", "by_hand")
    numbers = ("kept", "removed", "carried", "offset")
    is_sound = (
        all(isinstance(said[name], str) for name in texts)
        and all(type(said[name]) is int for name in numbers)
        and all(
            isinstance(said[name], list) and all(isinstance(each, str) for each in said[name])
            for name in lists
        )
    )
    if not is_sound:
        raise BrokenChainError("A field of the closing is of another type")
    if "files" in said:
        _check_digests(said["files"], said["script"])
    fields: dict[str, Any] = {**said, **{name: tuple(said[name]) for name in lists}}
    return Closing(**fields)


def _check_digests(files: object, script: str) -> None:
    if (
        not isinstance(files, dict)
        or files.keys() != set(FILES)
        or not all(isinstance(each, str) for each in files.values())
    ):
        raise BrokenChainError(f"The closing has no digests of {', '.join(FILES)}")
    if files[SCRIPT] != digest_of(script):
        raise BrokenChainError(f"The digest of {SCRIPT} is not that of the script")


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text as it is written to a file."""
    return hashlib.sha256(text.encode()).hexdigest()


def _first_difference(expected: str, found: str) -> str:
    pairs = zip(expected.split("\n"), found.split("\n"), strict=False)
    lines = (number for number, (one, other) in enumerate(pairs, start=1) if one != other)
    return f"Line {next(lines, 'after the last one')}"
