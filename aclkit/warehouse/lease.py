"""One run per warehouse at a time where there is no flock: a lease row with an expiry.

Whoever holds the lease renews it in a thread of its own, so that a run may take as long as it
needs and a killed one's lease ends within ``TERM``.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from aclkit.errors import SurroundingsError
from aclkit.runtime.ending import before_end
from aclkit.runtime.frame import local_frame
from aclkit.warehouse.place import Place
from aclkit.warehouse.storage import newest_version
from aclkit.warehouse.store import table_at

LEASE: Final = "lease"
TERM: Final = timedelta(hours=1)
"""How long a lease lasts that nobody renews; its holder renews it three times as often."""

_FREE: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DDL: Final = "owner STRING, expires_at TIMESTAMP"
_JOIN_SECONDS: Final = 60

log = logging.getLogger(__name__)


class LeaseRow(Protocol):
    """The one row that says who holds a lease and until when; each change is atomic."""

    def take(self, owner: str, until: datetime) -> bool:
        """Write the owner if the row has expired; say whether it is the owner's now."""

    def extend(self, owner: str, until: datetime) -> bool:
        """Write a new expiry if the row is the owner's; say whether it was."""

    def release(self, owner: str) -> None:
        """Free the row if it is the owner's."""

    def expires_at(self) -> datetime:
        """Return when the row expires."""


def warehouse_lease(
    spark: SparkSession, warehouse: str, timeout_seconds: float
) -> AbstractContextManager[Callable[[], None]]:
    """Hold the lease of a warehouse on object storage; the errors are those of ``hold``."""
    row = _DeltaRow(spark, Place(warehouse))
    return hold(row, warehouse, timeout_seconds, stop_work=spark.sparkContext.cancelAllJobs)


@contextmanager
def hold(
    row: LeaseRow,
    warehouse: str,
    timeout_seconds: float,
    term: timedelta = TERM,
    stop_work: Callable[[], None] = lambda: None,
) -> Iterator[Callable[[], None]]:
    """Take a lease, renew it meanwhile, and hand out what insists that it is still held.

    Call that before anything becomes visible to others: it raises SurroundingsError when
    another run has taken the lease, as after a long sleep of this machine. A signal that ends the
    process gives the lease back, after ``stop_work``: it would last for ``term``.

    Raises:
        SurroundingsError: another run still holds the lease after ``timeout_seconds``.
    """
    owner = uuid.uuid4().hex
    deadline = time.monotonic() + timeout_seconds
    while not row.take(owner, until := datetime.now(UTC) + term):
        if time.monotonic() >= deadline:
            raise SurroundingsError(
                f"another run holds the lease of {warehouse}, at the latest until "
                f"{row.expires_at()}; waited {timeout_seconds:g} s. Let it end, or wait longer "
                "with --lock-timeout"
            )
        time.sleep(min(1.0, max(0.0, deadline - time.monotonic())))
    lease = _Lease(row, owner, warehouse, term, until)
    renewer = threading.Thread(target=lease.keep, name="aclkit-lease", daemon=True)
    renewer.start()

    def give_up() -> None:
        lease.lose()
        stop_work()
        _release(row, owner, warehouse)

    try:
        with before_end(give_up):
            yield lease.require
    finally:
        lease.ended.set()
        renewer.join(_JOIN_SECONDS)
        _release(row, owner, warehouse)


class _Lease:
    """A lease that was taken, and until when it surely is ours."""

    def __init__(
        self, row: LeaseRow, owner: str, warehouse: str, term: timedelta, until: datetime
    ) -> None:
        self._row, self._owner, self._warehouse = row, owner, warehouse
        self._term, self._until = term, until
        self._is_lost = False
        self._guard = threading.Lock()
        self.ended = threading.Event()

    def keep(self) -> None:
        """Renew the lease again and again; a renewal that fails is tried at the next turn."""
        while not self.ended.wait(self._term.total_seconds() / 3):
            try:
                self._renew()
            except (PySparkException, Py4JError) as error:
                log.warning("the lease of %s could not be renewed: %s", self._warehouse, error)

    def lose(self) -> None:
        """Let nothing more become visible."""
        self._is_lost = True

    def require(self) -> None:
        """Insist that the lease is held; one that was not renewed in time is renewed now."""
        if datetime.now(UTC) >= self._until:
            self._renew()
        if self._is_lost:
            raise SurroundingsError(
                f"another run has taken the lease of {self._warehouse} over, because this one did "
                "not renew it in time; nothing of this run is published"
            )

    def _renew(self) -> None:
        with self._guard:
            until = datetime.now(UTC) + self._term
            if self._row.extend(self._owner, until):
                self._until = until
            else:
                self._is_lost = True


def _release(row: LeaseRow, owner: str, warehouse: str) -> None:
    """Free the lease; what goes wrong here hides no error of the run, for it ends by itself."""
    try:
        row.release(owner)
    except (PySparkException, Py4JError) as error:
        log.warning("the lease of %s was not given back: %s", warehouse, error)


class _DeltaRow:
    """The row of a Delta table: of two updates of one row Delta lets only one commit."""

    def __init__(self, spark: SparkSession, place: Place) -> None:
        self._spark, self._path = spark, place.of_table(LEASE)
        if newest_version(place.files, LEASE) is None:
            free = local_frame(spark, [("", _FREE)], _DDL)
            free.write.format("delta").mode("ignore").save(self._path)

    def take(self, owner: str, until: datetime) -> bool:
        try:
            self._set(F.col("expires_at") < F.lit(datetime.now(UTC)), owner, until)
        except PySparkException as error:
            if "CONCURRENT" not in str(error).upper():
                raise
            return False
        return self._is_of(owner)

    def extend(self, owner: str, until: datetime) -> bool:
        self._set(F.col("owner") == owner, owner, until)
        return self._is_of(owner)

    def release(self, owner: str) -> None:
        self._set(F.col("owner") == owner, "", _FREE)

    def expires_at(self) -> datetime:
        found: datetime = self._spark.read.format("delta").load(self._path).collect()[0][1]
        return found

    def _set(self, condition: Column, owner: str, until: datetime) -> None:
        values = {"owner": F.lit(owner), "expires_at": F.lit(until)}
        table_at(self._spark, self._path).update(condition, values)

    def _is_of(self, owner: str) -> bool:
        rows = self._spark.read.format("delta").load(self._path)
        return bool(rows.where(F.col("owner") == owner).count())
