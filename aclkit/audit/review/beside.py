"""Evidence and what is written beside it → digests of these files, and whether they are still so.

The script that removes access, and the page for people. Both are made from the evidence, and are
what people run and read: the evidence says what they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from aclkit.audit.review.evidence import EVIDENCE_PAGE, SCRIPT, Evidence, digest_of
from aclkit.audit.review.page import evidence_page, with_hash, without_hash
from aclkit.errors import UsageError
from aclkit.runtime.safe_read import LARGEST_DATA, read_file

_OLDER: Final = (
    f"Pages not covered: the review was closed before evidence had the digest of {EVIDENCE_PAGE}."
)


class Checked(NamedTuple):
    """What the files beside the evidence show.

    Attributes:
        sound: the files that are as they were written.
        differences: sentences; none where no file differs.
        notes: what could not be checked.
    """

    sound: tuple[str, ...]
    differences: tuple[str, ...]
    notes: tuple[str, ...]


def finish(evidence: Evidence) -> tuple[Evidence, str]:
    """Return evidence with the digests of the files beside it, and the page."""
    page = evidence_page(evidence)
    digests = {EVIDENCE_PAGE: digest_of(page), SCRIPT: digest_of(evidence.closing.script)}
    whole = evidence.with_files(digests)
    return whole, with_hash(page, whole.hash)


def check_beside(evidence: Evidence, path: str) -> Checked:
    """Compare the files beside evidence with what it says of them.

    Args:
        evidence: the evidence.
        path: where it is.

    Raises:
        SurroundingsError: a file is there and cannot be read.
    """
    folder = path[: path.rfind("/") + 1]
    sound, differences, notes = [], [], []
    if evidence.closing.files is None:
        notes.append(_OLDER)
    for name in (SCRIPT, EVIDENCE_PAGE) if evidence.closing.files else (SCRIPT,):
        try:
            data = read_file(f"{folder}{name}", LARGEST_DATA)
        except UsageError as error:
            notes.append(f"{name} was not checked: {error}")
            continue
        found = list(_changed(evidence, name, data))
        differences += found
        sound += [] if found else [name]
    return Checked(tuple(sound), tuple(differences), tuple(notes))


def _changed(evidence: Evidence, name: str, data: bytes) -> Iterator[str]:
    """Yield that a file is not as it was written."""
    if name == SCRIPT:
        if data != evidence.closing.script.encode():
            line = _first_line(evidence.closing.script, data.decode(errors="replace"))
            yield f"{SCRIPT} was changed in line {line}. Do not run it."
        return
    page, digests = _page(evidence, data), evidence.closing.files or {}
    if page is None or digest_of(page) != digests[EVIDENCE_PAGE]:
        yield f"{EVIDENCE_PAGE} was changed. Do not rely on it."


def _page(evidence: Evidence, data: bytes) -> str | None:
    try:
        return without_hash(data.decode(), evidence.hash)
    except UnicodeDecodeError:
        return None


def _first_line(expected: str, found: str) -> int:
    """Return the first line of a text that is not as expected."""
    mine, theirs = expected.split("\n"), found.split("\n")
    pairs = zip(mine, theirs, strict=False)
    differing = (number for number, (one, other) in enumerate(pairs, 1) if one != other)
    return next(differing, min(len(mine), len(theirs)) + 1)
