"""A folder of reviews ↔ reviews: started whole, decisions appended one by one, closed at once.

One folder a review: ``review.json``, which never changes; ``decisions.jsonl``, a line a decision;
and once it is closed ``evidence.json``, the last file that is written. A lock lets one process
write at a time. A write that was killed leaves a line without an end: it counts for nothing, and
the next write removes it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final

from aclkit.answer.rows import json_text
from aclkit.audit.review.decisions import (
    BrokenChainError,
    Decision,
    Wanted,
    check_chain,
    extend,
    in_force,
    pretty,
    read_decision,
)
from aclkit.audit.review.document import Review, read_review
from aclkit.audit.review.evidence import EVIDENCE_PAGE, SCRIPT, Evidence, check_evidence
from aclkit.errors import AclkitError, DataError, SurroundingsError, UsageError
from aclkit.model.phrases import few
from aclkit.runtime.atomic_file import write_atomically
from aclkit.runtime.deadline import Deadline
from aclkit.runtime.fail_points import fail_point
from aclkit.runtime.notation import parse_json
from aclkit.runtime.permissions import make_folder
from aclkit.runtime.safe_read import LARGEST_DATA, read_file, read_text
from aclkit.runtime.uri import is_uri

REVIEW: Final = "review.json"
DECISIONS: Final = "decisions.jsonl"
EVIDENCE: Final = "evidence.json"
_SEAL: Final = "seal"
_LOCK: Final = ".lock"
_NEW: Final = ".new-"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_OPEN_LOCK: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_WAIT: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A review as its folder has it.

    Attributes:
        place: its folder.
        review: as it was started.
        decisions: all, in their order; their chain is whole.
        is_closed: it has evidence.
        is_torn: a write was killed, and left half of a line.
    """

    place: Path
    review: Review
    decisions: tuple[Decision, ...]
    is_closed: bool
    is_torn: bool

    @property
    def in_force(self) -> dict[str, Decision]:
        """The last decision on each item."""
        return in_force(self.decisions)

    @property
    def open_items(self) -> int:
        """How many items wait for a decision."""
        decided = self.in_force
        return sum(item.item_id not in decided for item in self.review.asked)


def now() -> str:
    """Return the time as decisions have it: UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def names_of(root: Path) -> list[str]:
    """Return the reviews of a folder by name; none where there is no such folder.

    Raises:
        SurroundingsError: the folder cannot be read.
    """
    with _plain_errors(root):
        if not root.exists():
            return []
        return sorted(
            entry.name
            for entry in root.iterdir()
            if _NAME.fullmatch(entry.name) and (entry / REVIEW).exists()
        )


def load(root: Path, name: str) -> Stored:
    """Read a review.

    Raises:
        UsageError: there is none of that name.
        DataError: a file of it was changed or is damaged.
        SurroundingsError: it cannot be read.
    """
    if not _NAME.fullmatch(name) or name not in names_of(root):
        known = few(names_of(root), 5) or "none"
        raise UsageError(f"{root} has no review {name!r}. It has: {known}.")
    place = root / name
    with _plain_errors(place):
        review = _read_review(place / REVIEW)
    decisions, is_torn = _read_decisions(place / DECISIONS, review)
    return Stored(
        place=place,
        review=review,
        decisions=decisions,
        is_closed=(place / EVIDENCE).exists(),
        is_torn=is_torn,
    )


def load_all(root: Path) -> list[Stored]:
    """Read all reviews of a folder, the oldest first; errors as in ``load``."""
    found = [load(root, name) for name in names_of(root)]
    return sorted(found, key=lambda each: (each.review.started_at, each.review.name))


def load_one(root: Path, name: str | None) -> Stored:
    """Read a review by name; without one, the only one that is open.

    Raises:
        UsageError: none is open, or several are.
    """
    if name is not None:
        return load(root, name)
    opened = [each for each in load_all(root) if not each.is_closed]
    if not opened:
        raise UsageError(
            f"No review is open in {root}. Next: aclkit review start --by NAME, or pass --review"
        )
    if len(opened) > 1:
        names = few((each.review.name for each in opened), 5)
        raise UsageError(f"Several reviews are open: {names}. Pass one: --review NAME")
    return opened[0]


def evidence_of(stored: Stored) -> Evidence:
    """Read the evidence of a closed review.

    Raises:
        UsageError: it is not closed.
        DataError: the evidence was changed.
    """
    if not stored.is_closed:
        raise UsageError(f"The review {stored.review.name} is not closed.")
    path = stored.place / EVIDENCE
    try:
        found = check_evidence(read_file(str(path), LARGEST_DATA))
    except BrokenChainError as error:
        raise DataError(f"{path}: {error}.") from None
    if found.review.seal != stored.review.seal or found.decisions != stored.decisions:
        raise DataError(f"{path} is the evidence of another review than {REVIEW} next to it.")
    return found


def create(root: Path, review: Review) -> Path:
    """Write a new review; it is there as a whole or not at all.

    Raises:
        UsageError: the name is no name of a folder, or is taken.
        SurroundingsError: it cannot be written.
    """
    if is_uri(str(root)):
        raise UsageError("Reviews are kept in a local folder. Pass --reviews DIR.")
    if not _NAME.fullmatch(review.name):
        raise UsageError(
            f"Invalid name {review.name!r}. Use letters, digits, '.', '_' and '-', at most 64."
        )
    with _plain_errors(root):
        make_folder(root)
        with _locked(root):
            if (root / review.name).exists():
                raise UsageError(f"The review {review.name} exists already. Pass another --name.")
            _remove_left(root)
            part = Path(tempfile.mkdtemp(prefix=_NEW, dir=root))
            part.chmod(root.stat().st_mode & 0o777)
            write_atomically(
                part / REVIEW, pretty({**review.said, _SEAL: review.seal}), is_ours=True
            )
            write_atomically(part / DECISIONS, "", is_ours=True)
            _sync_folder(part)
            part.rename(root / review.name)
            _sync_folder(root)
    return root / review.name


def decide(
    root: Path, name: str, choose: Callable[[Stored], Iterable[Wanted]], via: str
) -> list[Decision]:
    """Append decisions to an open review; the lock is held while they are chosen.

    Args:
        root: the folder of reviews.
        name: the review.
        choose: takes the review as it is now, and returns what is to be decided; an error of it
            leaves everything as it was.
        via: how the decisions came in.

    Raises:
        UsageError: the review is closed.
    """
    with changing(root, name) as stored:
        return append(stored, choose(stored), via)


@contextmanager
def changing(root: Path, name: str) -> Iterator[Stored]:
    """Hold the lock of an open review; errors as in ``load``.

    Raises:
        UsageError: it is closed.
    """
    load(root, name)
    with _plain_errors(root), _locked(root / name):
        stored = load(root, name)
        if stored.is_closed:
            raise UsageError(f"The review {name} is closed. No more decisions are accepted.")
        yield stored


def append(stored: Stored, wanted: Iterable[Wanted], via: str) -> list[Decision]:
    """Append decisions to a review whose lock is held; they are on the disk when this returns."""
    last = stored.decisions[-1] if stored.decisions else None
    previous, number = (last.hash, last.number) if last else (stored.review.seal, 0)
    entries = list(extend(previous, number, wanted, now(), via))
    text = "".join(f"{json_text(each.said())}\n" for each in entries)
    if entries:
        _append(stored.place / DECISIONS, text.encode())
    return entries


def write_closed(stored: Stored, evidence: Evidence, page: str) -> None:
    """Write what a closed review leaves; the evidence last, for it is what closes the review."""
    with _plain_errors(stored.place):
        write_atomically(stored.place / SCRIPT, evidence.closing.script, is_ours=True)
        write_atomically(stored.place / EVIDENCE_PAGE, page, is_ours=True)
        fail_point("before-evidence")
        write_atomically(stored.place / EVIDENCE, evidence.text, is_ours=True)
        _sync_folder(stored.place)


def _read_review(path: Path) -> Review:
    about = path.stat()
    return _parsed(path, (about.st_ino, about.st_size, about.st_mtime_ns))


@lru_cache(maxsize=4)
def _parsed(path: Path, _: tuple[int, int, int]) -> Review:
    """Read a review; it never changes, so a server reads it once."""
    try:
        said = parse_json(read_text(str(path), LARGEST_DATA), str(path))
        seal = said.pop(_SEAL)
        found = read_review(said)
    except (UsageError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path} is damaged or was changed: {error}") from None
    if found.seal != seal:
        raise DataError(f"{path} was changed: its content does not have its seal.")
    return found


def _read_decisions(path: Path, review: Review) -> tuple[tuple[Decision, ...], bool]:
    """Return the decisions, and whether half a line follows them."""
    data = read_file(str(path), LARGEST_DATA)
    *lines, rest = data.split(b"\n")
    try:
        entries = [
            read_decision(parse_json(line.decode(), str(path), number), f"Line {number}")
            for number, line in enumerate(lines, start=1)
        ]
        check_chain(review.seal, entries, review.by_id)
    except (BrokenChainError, UsageError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is damaged or was changed: {error}.") from None
    return tuple(entries), bool(rest)


def _append(path: Path, data: bytes) -> None:
    """Append whole lines, after the last whole one."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        size = os.fstat(descriptor).st_size
        whole = os.pread(descriptor, size, 0).rfind(b"\n") + 1 if size else 0
        if whole != size:
            os.ftruncate(descriptor, whole)
        os.lseek(descriptor, whole, os.SEEK_SET)
        half = len(data) // 2
        for part in (data[:half], data[half:]):
            _write(descriptor, part)
            fail_point("half-a-decision")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; it ends with the process."""
    descriptor = os.open(folder / _LOCK, _OPEN_LOCK, 0o666)
    try:
        deadline = Deadline(_WAIT)
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if deadline.is_over:
                raise SurroundingsError(f"Another process holds {folder / _LOCK}. Try again.")
            time.sleep(0.02)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _plain_errors(place: Path) -> Iterator[None]:
    """Raise a plain error where a folder cannot be read or written."""
    try:
        yield
    except AclkitError:
        raise
    except OSError as error:
        where = error.filename or place
        raise SurroundingsError(
            f"Cannot use the reviews in {where}: {error.strerror or error}"
        ) from None


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_left(root: Path) -> None:
    """Remove what killed starts left; the lock of the root is held."""
    for left in root.glob(f"{_NEW}*"):
        shutil.rmtree(left, ignore_errors=True)
