"""One run per warehouse at a time where there is no flock: a lease row with an expiry."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final

from pyspark.errors import PySparkException
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from aclkit.delta import newest_version, table_at
from aclkit.errors import SurroundingsError
from aclkit.frame import local_frame

LEASE: Final = "lease"
TERM: Final = timedelta(hours=6)
"""How long a run may take before another one may take its place."""

_FREE: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DDL: Final = "owner STRING, expires_at TIMESTAMP"


@contextmanager
def warehouse_lease(spark: SparkSession, warehouse: str, timeout_seconds: float) -> Iterator[None]:
    """Hold the lease row of a warehouse on object storage.

    Two takers cannot both win: Delta lets only one of two updates of one row commit. A killed
    run's lease ends by itself after ``TERM``.

    Raises:
        SurroundingsError: another run still holds the lease after ``timeout_seconds``.
    """
    path = f"{warehouse}/{LEASE}"
    if newest_version(path) is None:
        local_frame(spark, [("", _FREE)], _DDL).write.format("delta").mode("ignore").save(path)
    owner = uuid.uuid4().hex
    deadline = time.monotonic() + timeout_seconds
    while not _take(spark, path, owner):
        if time.monotonic() >= deadline:
            until = spark.read.format("delta").load(path).collect()[0]["expires_at"]
            raise SurroundingsError(
                f"another run holds the lease of {warehouse}, at the latest until {until} UTC; "
                f"waited {timeout_seconds:g} s. Let it end, or wait longer with --lock-timeout"
            )
        time.sleep(1)
    try:
        yield
    finally:
        _set(spark, path, F.col("owner") == owner, "", _FREE)


def _take(spark: SparkSession, path: str, owner: str) -> bool:
    now = datetime.now(UTC)
    try:
        _set(spark, path, F.col("expires_at") < F.lit(now), owner, now + TERM)
    except PySparkException:
        return False
    return bool(spark.read.format("delta").load(path).where(F.col("owner") == owner).count())


def _set(
    spark: SparkSession, path: str, condition: Column, owner: str, expires_at: datetime
) -> None:
    values = {"owner": F.lit(owner), "expires_at": F.lit(expires_at)}
    table_at(spark, path).update(condition, values)
