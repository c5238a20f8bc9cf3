"""A work and its units → the units done in processes of this machine, or in Spark's tasks.

The work is saved once, and what does a unit maps it into memory. What comes back is in
the order of the units.

It is one file, made and read by this package's own code alone. The arrays within it lie behind each
other as they are, and processes that map the file share them.
"""

from __future__ import annotations

import mmap
import multiprocessing
import pickle
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from aclkit.errors import SurroundingsError
from aclkit.runtime.child import SAFE_PATH, bound
from aclkit.runtime.environment import environ
from aclkit.runtime.scratch import scratch

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_Work = TypeVar("_Work")
_Unit = TypeVar("_Unit")
_Done = TypeVar("_Done")


@contextmanager
def in_processes(
    work: _Work, do: Callable[[_Work, _Unit], _Done], workers: int, doing: str
) -> Iterator[Callable[[Iterable[_Unit]], Iterable[_Done]]]:
    """Hand out what does units in processes, which end with this one.

    Args:
        work: what the units share.
        do: does one of them; a function of a module.
        workers: how many processes.
        doing: what a process does, as the end of "A process that", for an error.

    Raises:
        SurroundingsError: a process was killed.
    """
    path = _save(work)
    try:
        how = multiprocessing.get_context("spawn")
        # multiprocessing starts them with -c, which looks for modules in the current folder first.
        with (
            environ(SAFE_PATH),
            ProcessPoolExecutor(workers, how, initializer=bound()) as pool,
        ):
            try:
                yield partial(pool.map, partial(_do, do, str(path)))
            except BrokenProcessPool as error:
                raise SurroundingsError(_KILLED.format(doing)) from error
            except BaseException:
                for child in multiprocessing.active_children():
                    child.kill()
                raise
    finally:
        path.unlink()


def in_tasks(
    spark: SparkSession, work: _Work, do: Callable[[_Work, _Unit], _Done]
) -> Callable[[Sequence[_Unit]], Iterator[_Done]]:
    """Return what does units in Spark's tasks, see ``in_processes``."""
    return partial(_do_all_in_tasks, spark, do, share(spark, work))


def share(spark: SparkSession, value: object) -> str:
    """Hand a value to the tasks of a session; return the name by which they know it."""
    # It stays until this process ends: Spark gives it to executors that start later too.
    path = _save(value)
    spark.sparkContext.addFile(str(path))
    return path.name


def shared(name: str) -> Any:  # noqa: ANN401 -- whatever was shared
    """Return, in a task, the value of a name; a worker maps it into memory once."""
    from pyspark import SparkFiles

    return _loaded(SparkFiles.get(name))


def _do_all_in_tasks(
    spark: SparkSession, do: Callable[[_Work, _Unit], _Done], name: str, units: Sequence[_Unit]
) -> Iterator[_Done]:
    from aclkit.runtime.frame import local_frame

    rows = [(place, pickle.dumps(unit)) for place, unit in enumerate(units)]
    asked = local_frame(spark, rows, _UNITS).repartitionByRange(len(units), "place")
    done = asked.mapInArrow(partial(_do_in_task, do, name), _UNITS).toArrow().sort_by("place")
    for content in done.column("content").to_pylist():
        yield pickle.loads(content)  # noqa: S301 -- the task's own


def _do_in_task(
    do: Callable[[_Work, _Unit], _Done], name: str, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch in batches:
        units = (pickle.loads(unit) for unit in batch.column("content").to_pylist())  # noqa: S301 -- the driver's own
        done = [pickle.dumps(do(shared(name), unit)) for unit in units]
        yield pa.RecordBatch.from_arrays(
            [batch.column("place"), pa.array(done, pa.binary())], ["place", "content"]
        )


def _do(do: Callable[[_Work, _Unit], _Done], path: str, unit: _Unit) -> _Done:
    return do(_loaded(path), unit)


@lru_cache(maxsize=1)
def _loaded(path: str) -> Any:  # noqa: ANN401 -- whatever was saved
    return load_mapped(Path(path))


def _save(work: object) -> Path:
    path = scratch() / f"work-{uuid.uuid4().hex}"
    save_mapped(work, path)
    return path


_UNITS: Final = "place INT, content BINARY"
_KILLED: Final = (
    "A process that {} was killed, perhaps because the machine ran out of memory. Nothing is "
    "published. Run it again where more memory is free, or with --decide-with spark on a cluster."
)


_ALIGNED: Final = 64
_WORD: Final = 8


def save_mapped(value: object, path: Path) -> None:
    """Write a value and its arrays."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    raws = [buffer.raw() for buffer in buffers]
    table = pickle.dumps((len(head), [len(raw) for raw in raws]))
    with path.open("xb") as file:
        file.write(len(table).to_bytes(_WORD, "little") + table + head)
        for raw in raws:
            file.write(b"\0" * (-file.tell() % _ALIGNED))
            file.write(raw)


def load_mapped(path: Path) -> Any:  # noqa: ANN401 -- whatever was saved
    """Return the value of a file; its arrays cannot be written to."""
    with path.open("rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
    start = _WORD + int.from_bytes(whole[:_WORD], "little")
    length, sizes = pickle.loads(whole[_WORD:start])  # noqa: S301 -- this package's own file
    at, buffers = start + length, []
    for size in sizes:
        at += -at % _ALIGNED
        buffers.append(whole[at : at + size])
        at += size
    return pickle.loads(whole[start : start + length], buffers=buffers)  # noqa: S301 -- its own
