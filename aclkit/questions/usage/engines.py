"""Where log files are read: in this process, in processes of this machine, in Spark's tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from aclkit.pipeline.plan import Plan
from aclkit.questions.usage.file_reads import Chain, FileRead, Work
from aclkit.runtime.shared_work import in_processes, in_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def read_all(
    work: Work, chains: Sequence[Chain], plan: Plan, start_spark: Callable[[], SparkSession]
) -> Iterator[FileRead]:
    """Read files where a plan has them read; Spark starts for its own alone.

    Raises:
        SurroundingsError: a file cannot be read, or a process was killed.
    """
    if plan.engine == "here" or not chains:
        yield from _joined(map(work.read, chains))
    elif plan.engine == "spark":
        # One task for files that begin alike.
        yield from _joined(in_tasks(start_spark(), work, Work.read)(chains))
    else:
        doing = "reads the authorizer log"
        with in_processes(work, Work.read, plan.workers, doing) as read:
            yield from _joined(read(chains))


def _joined(found: Iterable[Iterable[FileRead]]) -> Iterator[FileRead]:
    return chain.from_iterable(found)
