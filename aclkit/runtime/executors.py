"""A session → how many tasks its cluster does at once, and how much memory Python has in each.

Spark is asked, not this machine: the driver may be smaller than an executor, or larger.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

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
