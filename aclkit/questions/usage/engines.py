"""Where log files are read: in this process, in processes of this machine, in Spark's tasks."""

from __future__ import annotations

import multiprocessing
import pickle
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from aclkit.errors import SurroundingsError
from aclkit.pipeline.plan import Plan
from aclkit.questions.usage.file_reads import Chain, FileRead, Work
from aclkit.runtime.child import bound
from aclkit.runtime.scratch import scratch

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
        for chain in chains:
            yield from work.read(chain)
        return
    path = scratch() / f"work-{uuid.uuid4().hex}"
    path.write_bytes(pickle.dumps(work, protocol=pickle.HIGHEST_PROTOCOL))
    if plan.engine == "spark":
        # The file stays until this process ends: Spark gives it to executors that start later too.
        yield from _in_spark(start_spark(), path, chains)
        return
    try:
        yield from _in_processes(plan.workers, path, chains)
    finally:
        path.unlink()


def _in_processes(workers: int, path: Path, chains: Sequence[Chain]) -> Iterator[FileRead]:
    """Read in processes, which end with this one."""
    how = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, how, initializer=bound()) as pool:
        try:
            for found in pool.map(partial(_read, str(path)), chains):
                yield from found
        except BrokenProcessPool as error:
            raise SurroundingsError(_KILLED) from error
        except BaseException:
            for child in multiprocessing.active_children():
                child.kill()
            raise


def _in_spark(spark: SparkSession, path: Path, chains: Sequence[Chain]) -> Iterator[FileRead]:
    """Read in tasks, one for files that begin alike."""
    from aclkit.runtime.frame import local_frame

    spark.sparkContext.addFile(str(path))
    rows = [(place, pickle.dumps(chain)) for place, chain in enumerate(chains)]
    asked = local_frame(spark, rows, _CHAINS).repartitionByRange(len(chains), "place")
    for row in asked.mapInArrow(partial(_in_task, path.name), _CHAINS).toLocalIterator():
        yield from pickle.loads(row["content"])  # noqa: S301 -- the task's own


def _in_task(name: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    from pyspark import SparkFiles

    for batch in batches:
        chains = (pickle.loads(chain) for chain in batch.column("content").to_pylist())  # noqa: S301 -- the driver's own
        done = [pickle.dumps(_read(SparkFiles.get(name), chain)) for chain in chains]
        yield pa.RecordBatch.from_arrays(
            [batch.column("place"), pa.array(done, pa.binary())], ["place", "content"]
        )


def _read(path: str, chain: Chain) -> list[FileRead]:
    return _loaded(path).read(chain)


@lru_cache(maxsize=1)
def _loaded(path: str) -> Work:
    work: Work = pickle.loads(Path(path).read_bytes())  # noqa: S301 -- the driver's own
    return work


_CHAINS: Final = "place INT, content BINARY"
_KILLED: Final = (
    "A process that reads the authorizer log was killed, perhaps because the machine ran out of "
    "memory. Nothing is published. Run it again where more memory is free, or with "
    "--decide-with spark on a cluster."
)
