"""One run per warehouse at a time on an object store: a file names the run that holds the lease.

Each change of the file is conditional on its old content, so only one of several runs gets it.
The holder renews it in a thread of its own, so a run may take as long as it needs and the turn of a
killed run ends within ``TERM``. A run that slept past its turn cannot know it, whatever it checks.
So a run that takes a turn that was not given back first writes a version of every table. A commit
of the sleeping run must follow the version that it saw, and therefore fails.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from aclkit.errors import DataError, SurroundingsError
from aclkit.runtime.deadline import Deadline
from aclkit.runtime.signals import before_end, pause
from aclkit.runtime.storage_settings import is_single_writer_assumed
from aclkit.warehouse.storage import Storage

LEASE: Final = ".aclkit.lease"
TERM: Final = timedelta(minutes=15)
"""How long a lease lasts without renewal; its holder renews it three times as often."""

_JOIN_SECONDS: Final = 60

log = logging.getLogger(__name__)


class Replaceable(Storage, Protocol):
    """Files whose content is also replaced: of those who replace the same one, one succeeds."""

    def read_tagged(self, path: str) -> tuple[bytes, str]:
        """Return the content of a file, and the tag by which it can be replaced."""

    def replace(self, path: str, content: bytes, tag: str) -> bool:
        """Put other content in the place of that with the tag; False where it is gone."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The content of a lease's file.

    Attributes:
        number: grows with every turn.
        owner: the run that holds it; none once it was given back.
        until: when it ends, by the owner's clock: none of another needs to be right.
    """

    number: int
    owner: str
    until: datetime

    def write(self) -> bytes:
        """Return it as the file holds it."""
        return json.dumps(asdict(self) | {"until": self.until.isoformat()}).encode()


def _read(content: bytes) -> Turn:
    try:
        said = json.loads(content)
        turn = Turn(int(said["number"]), str(said["owner"]), datetime.fromisoformat(said["until"]))
        if turn.until.tzinfo is None:
            raise ValueError("a time without a time zone")
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"The warehouse's file {LEASE} is not a valid lease ({error}). If no run is "
            "active, remove it."
        ) from error
    return turn


@contextmanager
def hold(
    storage: Replaceable,
    warehouse: str,
    timeout_seconds: float,
    fence: Callable[[], None],
    term: timedelta = TERM,
) -> Iterator[Callable[[], None]]:
    """Take a lease, renew it meanwhile, and hand out what insists that it is still held.

    Call that before anything is committed: it raises SurroundingsError when another run has taken
    the lease, as after a long sleep of this machine. A signal that ends the process gives the
    lease back: it would last for ``term``.

    Args:
        storage: the files of the warehouse.
        warehouse: how it is called.
        timeout_seconds: how long to wait for another run.
        fence: writes a version of every table; called where a turn was not given back.
        term: see ``TERM``.

    Raises:
        SurroundingsError: another run still holds the lease after ``timeout_seconds``.
    """
    lease = _Lease(storage, warehouse, term)
    deadline = Deadline(timeout_seconds)
    is_told = False
    while not lease.take():
        until = f"{lease.turn.until:%Y-%m-%d %H:%M:%S} UTC"
        if deadline.is_over:
            raise SurroundingsError(
                f"Another run holds the lease of {warehouse}, until {until} at the latest. "
                f"Waited {timeout_seconds:g} s. Let it end, or wait longer with --lock-timeout."
            )
        if not is_told:
            log.info("Waiting for another run to end, until %s at the latest …", until)
            is_told = True
        pause(min(1.0, deadline.left))
    renewer = threading.Thread(target=lease.keep, name="aclkit-lease", daemon=True)
    renewer.start()

    def give_up() -> None:
        lease.lose()
        _stop_spark()
        lease.release()

    try:
        with before_end(give_up):
            if lease.took_over:
                log.info(
                    "The previous run was interrupted. It can no longer write to this warehouse."
                )
                fence()
                lease.took_over = False
            yield lease.require
    finally:
        lease.ended.set()
        renewer.join(_JOIN_SECONDS)
        lease.release()


def lease_until(storage: Storage) -> datetime | None:
    """Return until when a run holds the lease, at the latest; None where no run does.

    Raises:
        DataError: the file contains no turn.
        OSError: it cannot be read.
    """
    try:
        turn = _read(storage.read(LEASE))
    except FileNotFoundError:
        return None
    return turn.until if turn.owner != _NOBODY and turn.until > datetime.now(UTC) else None


class _Lease:
    """The lease of a warehouse, as one run sees it.

    Attributes:
        turn: what the file last contained.
        took_over: whether the previous turn was not given back, and the tables have no fence yet.
            Then this turn is not given back either, so that the next run makes the fence.
        ended: set where the run has ended.
    """

    def __init__(self, storage: Replaceable, warehouse: str, term: timedelta) -> None:
        """Take the place of the file; nothing is asked yet."""
        self._storage, self._warehouse, self._term = storage, warehouse, term
        self._owner, self._tag = uuid.uuid4().hex, ""
        self._guard, self._is_lost = threading.Lock(), False
        self.turn = Turn(0, _NOBODY, datetime.now(UTC))
        self.took_over = False
        self.ended = threading.Event()

    def take(self) -> bool:
        """Take the turn if it is free or has ended; return whether it was taken."""
        with _plain_errors(self._warehouse):
            try:
                content, tag = self._storage.read_tagged(LEASE)
            except FileNotFoundError:
                return self._put(1, None)
            self.turn = _read(content)
            if self.turn.owner != _NOBODY and self.turn.until > datetime.now(UTC):
                return False
            self.took_over = self.turn.owner != _NOBODY
            return self._put(self.turn.number + 1, tag)

    def keep(self) -> None:
        """Renew the turn again and again; a renewal that fails is tried at the next time."""
        while not self.ended.wait(self._term.total_seconds() / 3):
            try:
                with self._guard:
                    self._renew()
            except OSError as error:
                log.warning("Cannot renew the lease of %s: %s", self._warehouse, error)

    def lose(self) -> None:
        """Let nothing more be committed."""
        self._is_lost = True

    def require(self) -> None:
        """Insist that it is still this run's turn, whatever has been remembered of it."""
        with self._guard, _plain_errors(self._warehouse):
            if not self._is_lost:
                if datetime.now(UTC) >= self.turn.until:
                    self._renew()
                else:
                    self._is_lost = not self._is_ours()
        if self._is_lost:
            raise SurroundingsError(
                f"Another run took over the lease of {self._warehouse}, because this run did "
                "not renew it in time. Nothing of this run is published."
            )

    def release(self) -> None:
        """Give the turn back; an error is only logged, because the lease expires anyway."""
        with self._guard, suppress(FileNotFoundError):
            try:
                if self._is_ours() and not self.took_over:
                    free = Turn(self.turn.number, _NOBODY, datetime.now(UTC))
                    self._storage.replace(LEASE, free.write(), self._tag)
            except OSError as error:
                log.warning("Cannot release the lease of %s: %s", self._warehouse, error)

    def _renew(self) -> None:
        is_ours = self._is_ours() and self._put(self.turn.number, self._tag)
        self._is_lost = self._is_lost or not is_ours

    def _is_ours(self) -> bool:
        try:
            content = self._storage.read(LEASE)
        except FileNotFoundError:
            return False
        return self.turn.owner == self._owner and content == self.turn.write()

    def _put(self, number: int, tag: str | None) -> bool:
        """Write a turn of ours in the place of the content with a tag, or of none.

        One that stands there was written, whatever was answered.
        """
        turn = Turn(number, self._owner, datetime.now(UTC) + self._term)
        failed: OSError | None = None
        try:
            if tag is None:
                self._storage.create(LEASE, turn.write())
            else:
                self._storage.replace(LEASE, turn.write(), tag)
        except OSError as error:
            failed = error
        content, tag = self._storage.read_tagged(LEASE)
        if content == turn.write():
            self.turn, self._tag = turn, tag
            return True
        if failed is not None:
            raise failed
        return False


@contextmanager
def _plain_errors(warehouse: str) -> Iterator[None]:
    """Raise a plain error where the store did not answer."""
    try:
        yield
    except OSError as error:
        raise SurroundingsError(f"Cannot request the lease of {warehouse}: {error}") from error


def require_conditional_puts(storage: Replaceable, warehouse: str) -> None:
    """Insist that a store honours the condition of a put: the lease depends on it.

    The check writes an object of its own and removes it again.

    Raises:
        SurroundingsError: the store ignores the condition.
    """
    if is_single_writer_assumed():
        return
    path = f"{LEASE}.trial-{uuid.uuid4().hex}"
    with _plain_errors(warehouse):
        storage.create(path, b"1")
        is_kept = not storage.create(path, b"2") and not storage.replace(path, b"3", _NO_TAG)
        storage.delete(path)
    if not is_kept:
        raise SurroundingsError(
            f"The object store of {warehouse} ignores If-None-Match and If-Match, so two runs "
            "could overwrite each other's work. Update the store, or make sure that only one "
            "run writes at a time and pass --assume-single-writer."
        )


def _stop_spark() -> None:
    """End what Spark is at, where it was started at all."""
    pyspark = sys.modules.get("pyspark")
    context = pyspark.SparkContext._active_spark_context if pyspark else None
    if context is not None:
        context.cancelAllJobs()


_NOBODY: Final = ""
_NO_TAG: Final = '"00000000000000000000000000000000"'
"""An ETag that no object has."""
