"""Where the units of a decision are done: in this process, in processes of this machine, in Spark.

Each finds the patterns that match a name, and does units in any order; what comes back is in the
order of the units. Processes and tasks map what they share (``runtime/mapped.py``) into memory.
"""

from __future__ import annotations

import multiprocessing
import pickle
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import pyarrow as pa

from aclkit.errors import SurroundingsError
from aclkit.pipeline.explain.arrays import Numbers
from aclkit.pipeline.plan import Plan
from aclkit.rules.patterns.trie import PatternIndex
from aclkit.runtime.child import bound
from aclkit.runtime.mapped import load_mapped, save_mapped
from aclkit.runtime.scratch import scratch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from aclkit.pipeline.explain.deciding import Work, Written

Keys = Sequence[tuple[str, str]]
"""Resource types and names."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A slice in one of two rounds; see ``deciding``.

    Attributes:
        number: of the slice.
        sets: in the second round, the sets that are decided; None in the first.
        is_first: of the second round.
    """

    number: int
    sets: Numbers | None = None
    is_first: bool = False


Do = Callable[[Sequence[Unit]], Iterable["Written"]]
"""Does units, and returns what each has written."""


class Engine(Protocol):
    """What decides a cluster."""

    @property
    def plan(self) -> Plan:
        """How large slices may be, and how many are done at once."""

    def match(self, index: PatternIndex, keys: Keys) -> Iterable[Sequence[int]]:
        """Return the patterns that match each resource."""

    def start(self, work: Work) -> AbstractContextManager[Do]:
        """Hand out what does the units of a work."""


def engine_of(plan: Plan, start_spark: Callable[[], SparkSession]) -> Engine:
    """Return the engine of a plan; Spark starts for its own alone."""
    if plan.engine == "spark":
        return InSpark(plan, start_spark())
    return InProcesses(plan) if plan.engine == "processes" else InThisProcess(plan)


@dataclass(frozen=True, slots=True)
class InThisProcess:
    """Does one unit after the other."""

    plan: Plan

    def match(self, index: PatternIndex, keys: Keys) -> Iterable[Sequence[int]]:
        """See ``Engine.match``."""
        return (index.matches(*key) for key in keys)

    @contextmanager
    def start(self, work: Work) -> Iterator[Do]:
        """See ``Engine.start``."""
        yield partial(map, work.do)


@dataclass(frozen=True, slots=True)
class InProcesses(InThisProcess):
    """Does units in processes of this machine, which end with this one."""

    @contextmanager
    def start(self, work: Work) -> Iterator[Do]:
        """See ``Engine.start``."""
        with _saved(work) as path:
            how = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(self.plan.workers, how, initializer=bound()) as pool:
                try:
                    yield partial(pool.map, partial(_do, str(path)))
                except BrokenProcessPool as error:
                    raise SurroundingsError(_KILLED) from error
                except BaseException:
                    for child in multiprocessing.active_children():
                        child.kill()
                    raise


@dataclass(frozen=True, slots=True)
class InSpark:
    """Matches names by the broadcast index, and does units in tasks."""

    plan: Plan
    spark: SparkSession

    def match(self, index: PatternIndex, keys: Keys) -> Iterable[Sequence[int]]:
        """See ``Engine.match``."""
        from aclkit.rules.patterns.columns import PATTERN_IDS

        found = self.matched(index, keys).toArrow().sort_by("place")
        of_places: list[list[int]] = found.column(PATTERN_IDS).to_pylist()
        return of_places

    def matched(self, index: PatternIndex, keys: Keys) -> DataFrame:
        """Return the places of resources with the patterns that match each, found in tasks."""
        from aclkit.rules.patterns.columns import PATTERN_IDS, with_matched_patterns
        from aclkit.runtime.frame import local_frame

        names = local_frame(self.spark, [(n, *key) for n, key in enumerate(keys)], _NAMES)
        spread = names.repartition(self.plan.workers, "place")
        return with_matched_patterns(spread, index).select("place", PATTERN_IDS)

    @contextmanager
    def start(self, work: Work) -> Iterator[Do]:
        """See ``Engine.start``."""
        # It stays until this process ends: Spark gives it to executors that start later too.
        path = _save(work)
        self.spark.sparkContext.addFile(str(path))
        yield partial(self._do, path.name)

    def _do(self, name: str, units: Sequence[Unit]) -> Iterator[Written]:
        from aclkit.runtime.frame import local_frame

        rows = [(place, pickle.dumps(unit)) for place, unit in enumerate(units)]
        asked = local_frame(self.spark, rows, _UNITS).repartitionByRange(len(units), "place")
        done = asked.mapInArrow(partial(_do_in_task, name), _UNITS).toArrow().sort_by("place")
        for written in done.column("content").to_pylist():
            yield pickle.loads(written)  # noqa: S301 -- the task's own


_KILLED: Final = (
    "A process that decides was killed, perhaps because the machine ran out of memory. Nothing is "
    "published. Run it again where more memory is free, or with --decide-with spark on a cluster."
)
_NAMES: Final = "place INT, resource_type STRING, resource_name STRING"
_UNITS: Final = "place INT, content BINARY"


def _do_in_task(name: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    from pyspark import SparkFiles

    for batch in batches:
        units = (pickle.loads(unit) for unit in batch.column("content").to_pylist())  # noqa: S301 -- the driver's own
        done = [pickle.dumps(_do(SparkFiles.get(name), unit)) for unit in units]
        yield pa.RecordBatch.from_arrays(
            [batch.column("place"), pa.array(done, pa.binary())], ["place", "content"]
        )


def _do(path: str, unit: Unit) -> Written:
    return _loaded(path).do(unit)


@lru_cache(maxsize=1)
def _loaded(path: str) -> Work:
    work: Work = load_mapped(Path(path))
    return work


def _save(work: Work) -> Path:
    path = scratch() / f"work-{uuid.uuid4().hex}"
    save_mapped(work, path)
    return path


@contextmanager
def _saved(work: Work) -> Iterator[Path]:
    """Save what units share, for as long as they are done."""
    path = _save(work)
    try:
        yield path
    finally:
        path.unlink()
