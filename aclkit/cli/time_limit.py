"""Spark at work for one question → the same, stopped when it takes too long."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from aclkit.cli.sandbox import too_long
from aclkit.errors import AclkitError
from aclkit.runtime.deadline import LONGEST, TimeUpError, alarm


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
    timer = threading.Timer(min(seconds, LONGEST), cancel)
    timer.daemon = True
    with alarm(seconds + _FOR_CANCELLING):
        timer.start()
        try:
            yield
        except TimeUpError:
            raise too_long(seconds) from None
        except (AclkitError, PySparkException, Py4JError) as error:
            if is_over.is_set():
                raise too_long(seconds) from error
            raise
        finally:
            timer.cancel()


_FOR_CANCELLING: Final = 5.0
"""Seconds in which a cancelled job has to end."""
