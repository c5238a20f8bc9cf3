"""What Spark's tasks do: batches of Arrow → rows of the contract, by the kernel's own functions.

A partition is a slice of the resources, or some distinct sets of groups. A worker holds what it has
of a slice, cut so that it fits into the memory of a task (``pairing.cut``). No Spark here: these
functions map batches of columns to tables. Each Python worker imports what this module imports: no
DuckDB, no deltalake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from aclkit.pipeline.explain import rows
from aclkit.pipeline.explain.arrays import Flags, Lists, Numbers
from aclkit.pipeline.explain.groups import list_array
from aclkit.pipeline.explain.pairing import NO_SET, Paired, Sets, cut, entries_of, pair_up
from aclkit.pipeline.explain.prepared import Matched, Prepared, Resources
from aclkit.rules.patterns.columns import PATTERN_IDS
from aclkit.runtime.arrow import rows_of
from aclkit.runtime.shared_work import shared
from aclkit.warehouse.shared_folder import Mark

if TYPE_CHECKING:
    from pyspark import Accumulator

Batches = Iterable[pa.RecordBatch]
Task = Callable[["Shared", Batches], Iterator[pa.Table]]
"""Maps the batches of a partition."""

_ROWS_OF_A_BATCH: Final = 100_000
_TEXT, _INT, _LONG = pa.string(), pa.int32(), pa.int64()
_INTS: Final = pa.list_(pa.field("element", _INT))
# Schemas in Arrow: a task has no JVM that reads DDL.
ENTRIES: Final = pa.schema({"block": _INT, "entries": _LONG})
"""How many entries the names of a block have."""
SETS: Final = pa.schema(
    {
        "ruleset_id": _TEXT,
        "type_no": _INT,
        "met_last": _INT,
        "own": _INTS,
        "of_class": _INTS,
        "pairs": _LONG,
        "class_pairs": _LONG,
    }
)
"""Sets of groups in numbers, ``of_class`` empty for none; and for each slice a row of counts, which
has no type: its id is that of no ruleset."""
FILES: Final = pa.schema({"path": _TEXT, "size": _LONG, "modified": _LONG, "stats": _TEXT})
"""Files that tasks have written: the attributes of ``NewFile``."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What every task needs: one file, which all workers of an executor map into memory.

    Attributes:
        prepared: what the slices share; without the index, which travels with its UDF.
        entries: so many entries of a slice a worker holds at most.
        is_super: of each principal whether it is a super user.
        allow_everyone: the decision for resources to which no ACL applies.
    """

    prepared: Prepared
    entries: int
    is_super: Flags
    allow_everyone: bool


def do(
    task: Task, name: str, mark: Mark | None, schema: pa.Schema, batches: Batches
) -> Iterator[pa.RecordBatch]:
    """Map a partition; dictionaries become plain texts, which are all that Spark reads.

    Args:
        task: what is done.
        name: of what every task needs.
        mark: of the folder into which tasks must write.
        schema: of what comes out.
        batches: of the partition.
    """
    if mark is not None:
        mark.insist()
    for table in task(shared(name), batches):
        for start in range(0, len(table), _ROWS_OF_A_BATCH):
            part = table.select(schema.names).slice(start, _ROWS_OF_A_BATCH)
            yield from part.cast(schema).combine_chunks().to_batches()


def weigh(block_size: int, shared: Shared, batches: Batches) -> Iterator[pa.Table]:
    """Count the entries of the names of each block: of ``place // block_size``."""
    for batch in filter(len, batches):
        block = batch["place"].to_numpy() // block_size
        entries = entries_of(shared.prepared, _matched([batch]))
        first = int(block.min())
        sums = np.bincount(block - first, weights=entries).astype(np.int64)
        yield pa.table([np.arange(len(sums), dtype=np.int32) + first, sums], schema=ENTRIES)


def pairs(shared: Shared, batches: Batches) -> Iterator[pa.Table]:
    """Yield the rows of ``explain_pair`` of a slice."""
    for paired in slices(shared, batches):
        yield from rows.pair_rows(shared.prepared, paired, _ids(shared, paired))


def pair_files(folder: str, shared: Shared, batches: Batches) -> Iterator[pa.Table]:
    """Write the rows of ``explain_pair`` of a slice into the folder of a warehouse."""
    # Here: no other task needs deltalake.
    from aclkit.warehouse.column_types import arrow_schema
    from aclkit.warehouse.location import Location
    from aclkit.warehouse.new_files import write_files

    names = arrow_schema("explain_pair").names
    of_contract = (table.select(names) for table in pairs(shared, batches))
    for file in write_files(Location(folder), "explain_pair", of_contract):
        yield pa.Table.from_pylist([asdict(file)], FILES)


def class_pairs(shared: Shared, batches: Batches) -> Iterator[pa.Table]:
    """Yield the rows of ``explain_class_pair`` of a slice."""
    for paired in slices(shared, batches):
        yield rows.class_pair_rows(shared.prepared, paired, _ids(shared, paired))


def sets(shared: Shared, batches: Batches) -> Iterator[pa.Table]:
    """Yield the sets of a slice in numbers, and how many pairs it has."""
    for paired in slices(shared, batches):
        found, every = paired.sets, np.arange(len(paired.sets))
        holds = np.flatnonzero(found.of_class != NO_SET)
        counts = np.zeros(len(found), np.int64)
        counts[holds] = found.shared.counts[found.of_class[holds]]
        own = found.own.elements(every)[1]
        of_class = found.shared.elements(found.of_class[holds])[1]
        columns = [
            _ids(shared, paired),
            _ints(found.resource_type),
            _ints(found.met_last),
            list_array(_ints(found.own_group[own]), found.own.counts),
            list_array(_ints(found.shared_group[of_class]), counts),
            *(pa.nulls(len(found), _LONG) for _ in range(2)),
        ]
        yield pa.table(columns, schema=SETS)
        yield pa.Table.from_pylist([_counts(paired)], SETS)


def _counts(paired: Paired) -> dict[str, object]:
    (kind, name), *_ = paired.resources.keys
    return {
        "ruleset_id": f"counts of the slice from {kind} {name}",
        "pairs": int(paired.counts.sum()),
        "class_pairs": paired.class_set.size,
    }


def rulesets(shared: Shared, batches: Batches) -> Iterator[pa.Table]:
    """Yield the rows of ``ruleset`` of distinct sets."""
    for batch in filter(len, batches):
        found = _sets(shared.prepared, batch)
        yield rows.set_rows(shared.prepared, found, np.arange(len(found)))


def rulings(counted: Accumulator[int], shared: Shared, batches: Batches) -> Iterator[pa.Table]:
    """Yield the rows of ``explain_ruling`` of distinct sets, and count the rulings."""
    for batch in filter(len, batches):
        found, every = _sets(shared.prepared, batch), np.arange(len(batch))
        for part in rows.decided_rows(shared.prepared, found, batch["ruleset_id"], every):
            counted += len(part)
            yield part


def slices(shared: Shared, batches: Batches) -> Iterator[Paired]:
    """Pair the resources of a partition, as many at once as fit into memory."""
    matched = _matched([*filter(len, batches)])
    for start, end in cut(shared.prepared, matched, shared.entries) if len(matched) else ():
        yield pair_up(shared.prepared, matched.part(start, end))


def _ids(shared: Shared, paired: Paired) -> pa.Array:
    """Return the ids of the sets of a slice."""
    of_sets = rows.set_rows(shared.prepared, paired.sets, np.arange(len(paired.sets)))
    return of_sets["ruleset_id"].combine_chunks()


def _matched(batches: list[pa.RecordBatch]) -> Matched:
    """Take names with the patterns that match each, in their order."""
    if not batches:
        return Matched.of(Resources([], np.zeros(0, np.int64)), [])
    table = pa.Table.from_batches(batches)
    keys = list(rows_of([table["resource_type"], table["resource_name"]]))
    met_last = table["met_last"].to_numpy().astype(np.int64)
    return Matched.of(Resources(keys, met_last), table[PATTERN_IDS].to_pylist())


def _sets(p: Prepared, batch: pa.RecordBatch) -> Sets:
    """Read sets back; equal groups of classes, met in the same way, are one class set again."""
    met_last = batch["met_last"].to_numpy().astype(np.int64)
    own, own_group = _of_lists(batch["own"])
    of_class, group = _of_lists(batch["of_class"])
    holds = np.flatnonzero(of_class.counts)
    fingerprints = p.of_groups.take(group).of_runs(of_class.starts[holds])
    number, first = fingerprints.joined(p.of_met_last.take(met_last[holds])).numbered()
    class_of_set = np.full(len(batch), NO_SET)
    class_of_set[holds] = number
    row, at = of_class.elements(holds[first])
    return Sets(
        resource_type=batch["type_no"].to_numpy().astype(np.int64),
        met_last=met_last,
        own=own,
        own_group=own_group,
        of_class=class_of_set,
        class_met_last=met_last[holds[first]],
        shared=Lists.of(row, len(first)),
        shared_group=group[at],
    )


def _ints(values: Numbers) -> pa.Array:
    return pa.array(values.astype(np.int32))


def _of_lists(lists: pa.ListArray) -> tuple[Lists, Numbers]:
    counts = lists.value_lengths().to_numpy().astype(np.int64)
    return Lists(np.cumsum(counts) - counts, counts), lists.flatten().to_numpy().astype(np.int64)
