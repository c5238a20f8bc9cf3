"""Spark at work for one question → the same, stopped when it takes too long."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from aclkit.cli.apart import too_long
from aclkit.errors import AclkitError


class _TimeUp(BaseException):
    """The time is over; no ``except Exception`` on the way may take it for its own."""


@contextmanager
def time_limit(spark: SparkSession, seconds: float) -> Iterator[None]:
    """Cancel Spark's jobs once the time is over, and soon after stop waiting for it.

    What is no job, such as planning, cannot be cancelled.

    Raises:
        UsageError: it took too long.
    """
    is_over = threading.Event()

    def cancel() -> None:
        is_over.set()
        spark.sparkContext.cancelAllJobs()

    # A thread of its own, because it talks to the JVM while this one waits for an answer.
    timer = threading.Timer(min(seconds, _LONGEST), cancel)
    timer.daemon = True
    with _alarm(seconds + _FOR_CANCELLING):
        timer.start()
        try:
            yield
        except _TimeUp:
            raise too_long(seconds) from None
        except (AclkitError, PySparkException, Py4JError) as error:
            if is_over.is_set():
                raise too_long(seconds) from error
            raise
        finally:
            timer.cancel()


_FOR_CANCELLING: Final = 5.0
"""Seconds in which a cancelled job has to end."""


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise in this thread after some time; only the main thread gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGALRM, _ring)
    timer = signal.setitimer(signal.ITIMER_REAL, min(seconds, _LONGEST))
    try:
        yield
    finally:
        # Somebody else's alarm goes on, if a little late.
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


def _ring(_: int, __: FrameType | None) -> None:
    raise _TimeUp


_LONGEST: Final = 10_000_000.0
"""Seconds, four months: not every system takes more."""
