"""A session → how many tasks its cluster does at once, and how much memory Python has in each.

Spark is asked, not this machine: the driver may be smaller than an executor, or larger.

Things of a session that need not wait for each other are done at once, each in a thread: planning
and committing are one thread's work, and the last tasks of a job leave cores free.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from pyspark import inheritable_thread_target

from aclkit.runtime.memory import bytes_of, heap_size, memory_limit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LEAST_OVERHEAD: Final = 384 << 20
_OVERHEAD_FACTOR: Final = 0.1
"""Of an executor's heap: so Spark sizes what lies outside it, Python's memory, by default."""
_HEAP_OF_EXECUTORS: Final = "1g"
_MEMORY_IF_UNKNOWN: Final = 4 << 30


@dataclass(frozen=True, slots=True)
class Executors:
    """What a cluster has for tasks.

    Attributes:
        tasks: so many are done at once.
        bytes_of_task: what the Python of each may take.
    """

    tasks: int
    bytes_of_task: int


def executors_of(session: SparkSession) -> Executors:
    """Return what a session's cluster has; local mode shares this machine with the driver."""
    context = session.sparkContext
    tasks = max(1, context.defaultParallelism)
    if is_local(context.master or ""):
        left = (memory_limit() or _MEMORY_IF_UNKNOWN) - heap_size(os.environ)
        return Executors(tasks, max(0, left) // tasks)
    settings = dict(context.getConf().getAll())
    return Executors(tasks, bytes_of_task(settings))


def is_local(master: str) -> bool:
    """Whether driver and executors are one process."""
    return master == "local" or master.startswith("local[")


def bytes_of_task(settings: Mapping[str, str]) -> int:
    """Return what the Python of a task may take by a cluster's settings.

    ``spark.executor.pyspark.memory`` where it is set, else the executor's overhead, for each of the
    tasks that an executor does at once.

    >>> bytes_of_task({"spark.executor.memory": "8g", "spark.executor.cores": "2"}) >> 20
    409
    """
    cores = int(settings.get("spark.executor.cores", "1"))
    own = settings.get("spark.executor.pyspark.memory") or settings.get(
        "spark.executor.memoryOverhead"
    )
    if own is not None:
        return bytes_of(own) // cores
    heap = bytes_of(settings.get("spark.executor.memory", _HEAP_OF_EXECUTORS))
    factor = float(settings.get("spark.executor.memoryOverheadFactor", _OVERHEAD_FACTOR))
    return max(_LEAST_OVERHEAD, int(heap * factor)) // cores


_Done = TypeVar("_Done")


class Begin(Protocol):
    """Begins something in a thread of its own."""

    def __call__(self, do: Callable[[], _Done], /) -> Future[_Done]:
        """Return what tells its end."""


@contextmanager
def at_once(spark: SparkSession, most: int) -> Iterator[Begin]:
    """Hand out what begins something of a session; the end waits for all that was begun.

    Where the body fails, what has not begun does not begin, and Spark ends the jobs of the rest.

    Args:
        spark: the session.
        most: so many are done at once, and no more are begun.
    """
    tag = f"aclkit-{uuid.uuid4().hex}"

    def begin(do: Callable[[], _Done]) -> Future[_Done]:
        def tagged() -> _Done:
            spark.addTag(tag)
            return do()

        return pool.submit(inheritable_thread_target(spark)(tagged))

    with ThreadPoolExecutor(most, thread_name_prefix="aclkit-spark") as pool:
        try:
            yield begin
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            spark.interruptTag(tag)
            raise
