"""The Spark session of one command, and its errors as aclkit's own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aclkit.cli.context import Context
from aclkit.errors import SurroundingsError, first_line
from aclkit.runtime import signals
from aclkit.runtime.environment import full_disk, missing_package, not_installed, write_error
from aclkit.runtime.object_stores import is_s3
from aclkit.runtime.progress import step
from aclkit.runtime.reachable import require_reachable
from aclkit.warehouse.damage import is_of_spark
from aclkit.warehouse.location import Location
from aclkit.warehouse.run import Rebuild, Run, begin_run, hold

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def late_session(context: Context, command: str) -> Iterator[Callable[[], SparkSession]]:
    """Give a command what starts Spark, for when it is needed: what is small goes without.

    What fails inside Spark ends with exit code 4 and no traceback.

    Args:
        context: the command's.
        command: its name.
    """
    uris = [*_uris(context)]
    for uri in uris:
        if uri != context.warehouse or not context.is_reached:
            require_reachable(uri)

    @cache
    def start() -> SparkSession:
        # Imported here, so that what needs no Spark needs no pyspark.
        try:
            from aclkit.runtime.spark import build_session
        except ModuleNotFoundError as error:
            what = f"aclkit {command}, on so much data,"
            raise not_installed(what, missing_package(error)) from error

        with step("Starting Spark"):
            spark = build_session(f"aclkit {command}", verbose=context.verbose, uris=uris)
        signals.install()
        return spark

    try:
        yield start
    except Exception as error:
        if not is_of_spark(error):
            raise
        # Spark was started, so it is there.
        from aclkit.runtime.spark import spark_log

        plain = _disk_error(str(error), context.warehouse or ".")
        if plain is not None:
            raise plain from error
        log = spark_log()
        where = f"; Spark's own log is {log}" if log else ""
        raise SurroundingsError(f"Spark failed: {first_line(error)[:500]}{where}") from error


def _uris(context: Context) -> Iterator[str]:
    """Yield the warehouse, and all other arguments of the command that are on S3."""
    if context.warehouse is not None:
        yield context.warehouse
    asked = click.get_current_context(silent=True)
    for value in asked.params.values() if asked is not None else ():
        for one in value if isinstance(value, tuple) else (value,):
            text = str(one)
            yield from filter(is_s3, (text, text.partition(":")[2]))  # or KIND:URI


@contextmanager
def command_run(
    context: Context, job: str, lock_timeout: float, *, rebuild: Rebuild | None = None
) -> Iterator[Run]:
    """Begin a run of a command: the lock first, which may be another's; Spark starts if needed."""
    warehouse = context.require_warehouse()
    with (
        hold(warehouse, lock_timeout) as held,
        late_session(context, job) as start,
        begin_run(
            start, warehouse, job, lock_timeout=lock_timeout, held=held, rebuild=rebuild
        ) as run,
    ):
        yield run


def _disk_error(told: str, warehouse: str) -> SurroundingsError | None:
    """Return the error of a disk that could not be written, if that is what Spark reports.

    The full disk may be the warehouse's or that of Spark's own files. Access may be denied to any
    file or program: only files of the warehouse are reported here.
    """
    is_remote = Location(warehouse).is_remote
    place = warehouse if is_remote else str(Path(warehouse).absolute())
    scratch = tempfile.gettempdir()
    is_scratch = full_disk(scratch) and (is_remote or not full_disk(place))
    lines = (line for line in told.splitlines() if _DENIED not in line or place in line)
    return write_error(scratch if is_scratch else place, "\n".join(lines))


_DENIED = "Permission denied"
