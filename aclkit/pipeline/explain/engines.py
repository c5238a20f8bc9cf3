"""Where the units of a decision are done: in this process, or in processes of this machine.

Each finds the patterns that match a name, and does units in any order; what comes back is in the
order of the units. Processes map what they share into memory (``runtime/shared_work``). Spark has
no units but frames: ``on_spark``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from aclkit.pipeline.explain.arrays import Numbers
from aclkit.pipeline.plan import Plan
from aclkit.rules.patterns.trie import PatternIndex
from aclkit.runtime.shared_work import in_processes

if TYPE_CHECKING:
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


def engine_of(plan: Plan) -> Engine:
    """Return the engine of a plan for this machine."""
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


def _do(work: Work, unit: Unit) -> Written:
    return work.do(unit)
