"""The ACLs in force → every pair and every ruling of a cluster, decided and written.

The resources are decided in slices (``pairing``), in two rounds. The first finds the sets of groups
of each slice and writes its pairs; ids are hashes of content, so slices need not know each other.
The second decides each set once, in the slice that met it first, and writes rulesets and rulings.
A *unit* is a slice in one round. Units write files, in this process or in processes of this
machine, which map what they share into memory (``runtime/shared_work``); here they are committed.
Spark has no units but frames: ``on_spark``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from aclkit.pipeline.explain import rows
from aclkit.pipeline.explain.arrays import Numbers
from aclkit.pipeline.explain.pairing import Paired, Slice, cut, pair_up
from aclkit.pipeline.explain.prepared import Matched, Prepared, Resources, prepare
from aclkit.pipeline.explain.rows import default_rulesets, default_rulings
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.plan import Plan
from aclkit.rules.patterns.trie import PatternIndex
from aclkit.runtime.arrow import arrow_table
from aclkit.runtime.fail_points import fail_point
from aclkit.runtime.progress import step
from aclkit.runtime.shared_work import in_processes
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.location import Location
from aclkit.warehouse.new_files import NewFile, write_files
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.store import Store

_SETS: Final = 100_000
"""Of so many sets at once the content is looked up."""
_SETS_OF_A_UNIT: Final = 400_000
"""So many sets are decided in one unit: a slice may bring nearly all."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a unit has written, and found.

    Attributes:
        files: table → its files.
        ids: of the sets of its slice, in their order; none in the second round.
    """

    files: dict[str, list[NewFile]]
    ids: pa.Array


@dataclass(slots=True)
class Work:
    """What any process or task needs to do its units; pickled once for all of them.

    Attributes:
        prepared: what the slices share.
        resources: all of them.
        slices: the slices.
        place: the warehouse.
        allow_everyone: the decision for resources to which no ACL applies.
    """

    prepared: Prepared
    resources: Matched
    slices: Sequence[Slice]
    place: str
    allow_everyone: bool
    _last: tuple[int, Paired, pa.Table] | None = field(default=None, repr=False)

    def do(self, unit: Unit) -> Written:
        """Do one unit."""
        if unit.sets is None:
            return self._write_pairs(unit.number)
        return self._write_rulings(unit.number, unit.sets, is_first=unit.is_first)

    def _write_pairs(self, number: int) -> Written:
        paired, sets = self._pair(number)
        ids = _column(sets, "ruleset_id")
        pairs = rows.pair_rows(self.prepared, paired, ids)
        of_classes = rows.class_pair_rows(self.prepared, paired, ids)
        files = {
            "explain_pair": self._write("explain_pair", pairs),
            "explain_class_pair": self._write("explain_class_pair", [of_classes]),
        }
        return Written(files, ids)

    def _write_rulings(self, number: int, which: Numbers, *, is_first: bool) -> Written:
        """Write the rulesets and rulings of some sets; those without ACLs beside the first."""
        paired, sets = self._pair(number)
        ids = _column(sets, "ruleset_id")
        rulesets = [sets.take(pa.array(which))]
        rulings = rows.decided_rows(self.prepared, paired.sets, ids, which)
        if is_first:
            rulesets.append(self._defaults("ruleset", default_rulesets()))
            of_defaults = default_rulings(allow_everyone=self.allow_everyone)
            rulings = chain(rulings, [self._defaults("explain_ruling", of_defaults)])
        files = {
            "ruleset": self._write("ruleset", rulesets),
            "explain_ruling": self._write("explain_ruling", rulings),
        }
        return Written(files, ids[:0])

    def _pair(self, number: int) -> tuple[Paired, pa.Table]:
        """Return the pairs of a slice and the rows of its sets; those of the last are kept."""
        if self._last is None or self._last[0] != number:
            self._last = None
            paired = pair_up(self.prepared, self.resources.part(*self.slices[number]))
            parts = _parts(np.arange(len(paired.sets)), _SETS)
            sets = [rows.set_rows(self.prepared, paired.sets, part) for part in parts]
            self._last = number, paired, pa.concat_tables(sets).unify_dictionaries()
        return self._last[1:]

    def _defaults(self, table: str, values: Iterable[Sequence[object]]) -> pa.Table:
        whole = [(self.prepared.cluster_id, *row) for row in values]
        return arrow_table(whole, arrow_schema(table))

    def _write(self, table: str, batches: Iterable[pa.Table]) -> list[NewFile]:
        names = TABLES[table].column_names
        of_contract = (batch.select(names) for batch in batches)
        return list(write_files(Location(self.place), table, of_contract))


def decide(
    scope: Scope, acls: pa.Table, store: Store, engine: Engine, *, allow_everyone: bool
) -> dict[str, int]:
    """Pair and decide everything anew; write the explain tables but those of the inventory.

    Args:
        scope: what is asked about.
        acls: those in force, with the columns of an ``Acl``.
        store: where the tables go.
        engine: does the units.
        allow_everyone: the decision for resources to which no ACL applies.

    Returns:
        table → how many rows were written.

    Raises:
        DataError: there are more ACLs than can be distinguished.
    """
    counts: dict[str, int] = {}

    def replace_by(table: str, files: Sequence[NewFile]) -> None:
        store.take_over(table, files, scope.cluster_id)
        counts[table] = sum(file.rows for file in files)

    with step("Matching patterns and pairing"):
        prepared, resources = prepare(scope, acls), Resources.of(scope)
        matched = Matched.of(resources, engine.match(prepared.index, resources.keys))
        slices = cut(prepared, matched, engine.plan.entries, engine.plan.parts)
        work = Work(prepared, matched, slices, str(store.place), allow_everyone)
        group_rows = rows.group_rows(prepared).select(TABLES["ruleset_group"].column_names)
        replace_by("ruleset_group", [*write_files(store.place, "ruleset_group", [group_rows])])
    with engine.start(work) as do, step("Deciding"):
        paired = list(do([Unit(number) for number in range(len(slices))]))
        replace_by("explain_pair", _files(paired, "explain_pair"))
        replace_by("explain_class_pair", _files(paired, "explain_class_pair"))
        ruled = list(do(_units_of_sets(paired)))
        replace_by("ruleset", _files(ruled, "ruleset"))
        fail_point("between-pairs-and-rulings")
        replace_by("explain_ruling", _files(ruled, "explain_ruling"))
    return counts


def _units_of_sets(paired: Sequence[Written]) -> list[Unit]:
    """Return the units of the second round: each set in the slice that met it first."""
    ids = pa.chunked_array([each.ids for each in paired], pa.string()).combine_chunks()
    met = np.zeros(len(ids), bool)
    met[np.unique(ids.dictionary_encode().indices.to_numpy(), return_index=True)[1]] = True
    units, start = [], 0
    for number, each in enumerate(paired):
        end = start + len(each.ids)
        parts = _parts(np.flatnonzero(met[start:end]), _SETS_OF_A_UNIT)
        units += [Unit(number, part) for part in parts if len(part) or not number]
        start = end
    return [replace(units[0], is_first=True), *units[1:]]


def _files(written: Iterable[Written], table: str) -> list[NewFile]:
    return [file for each in written for file in each.files[table]]


def _parts(which: Numbers, most: int) -> list[Numbers]:
    return [which[start : start + most] for start in range(0, len(which), most)] or [which]


def _column(table: pa.Table, name: str) -> pa.Array:
    return table.column(name).combine_chunks()


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
