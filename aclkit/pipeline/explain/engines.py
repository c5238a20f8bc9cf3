"""Where the units of a decision are done: in this process, in processes of this machine, in Spark.

Each finds the patterns that match a name, and does units in any order; what comes back is in the
order of the units. Processes and tasks map what they share into memory (``runtime/shared_work``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from aclkit.pipeline.explain.arrays import Numbers
from aclkit.pipeline.plan import Plan
from aclkit.rules.patterns.trie import PatternIndex
from aclkit.runtime.shared_work import in_processes, in_tasks

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

    def start(self, work: Work) -> AbstractContextManager[Do]:
        """See ``Engine.start``."""
        return nullcontext(partial(map, work.do))


@dataclass(frozen=True, slots=True)
class InProcesses(InThisProcess):
    """Does units in processes of this machine, which end with this one."""

    def start(self, work: Work) -> AbstractContextManager[Do]:
        """See ``Engine.start``."""
        return in_processes(work, _do, self.plan.workers, "decides")


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

    def start(self, work: Work) -> AbstractContextManager[Do]:
        """See ``Engine.start``."""
        return nullcontext(in_tasks(self.spark, work, _do))


def _do(work: Work, unit: Unit) -> Written:
    return work.do(unit)


_NAMES: Final = "place INT, resource_type STRING, resource_name STRING"
