"""The Spark session of one command, and its errors as aclkit's own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from aclkit.errors import SurroundingsError
from aclkit.progress import step
from aclkit.settings import Settings
from aclkit.spark import build_session, spark_log


@contextmanager
def command_session(
    settings: Settings, command: str, *, is_small: bool = False
) -> Iterator[SparkSession]:
    """Start Spark for a command; what fails inside Spark ends with exit code 4 and no traceback.

    ``is_small``: the work is known to be little, so the JVM need not compile for speed.
    """
    if is_small:
        os.environ.setdefault("ACLKIT_FAST_JVM", "1")
    with step("starting Spark"):
        spark = build_session(f"aclkit {command}", verbose=settings.verbose)
    try:
        yield spark
    except (PySparkException, Py4JError) as error:
        log = spark_log()
        where = f"; Spark's own log is {log}" if log else ""
        raise SurroundingsError(f"Spark failed: {first_line(error)}{where}") from error


def first_line(error: Exception) -> str:
    """Return the first telling line of a Spark error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines or [type(error).__name__])[0][:500]
