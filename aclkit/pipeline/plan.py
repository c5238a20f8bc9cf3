"""What a run has before it → where its work is done: the only code that chooses an engine.

Asked once, at the top, from what is known beforehand, and handed down: no code below counts rows
to choose. All engines write the same rows.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Final, Literal

from aclkit.model.values import dataclass
from aclkit.runtime import memory

Engine = Literal["here", "processes", "spark"]
"""In this process; in processes of this machine; in the tasks of Spark."""

DecideWith = Literal["auto", "local", "spark"]
DECIDE_WITH: Final[tuple[DecideWith, ...]] = ("auto", "local", "spark")
"""The values of ``--decide-with``."""

_PAIRS_HERE: Final = 40_000_000
"""Up to so many (principal, resource) one process decides, within some seconds."""

_BYTES_OF_ENTRY: Final = 200
"""What an entry of a slice takes while it is decided (``explain.pairing``), and written."""
_BYTES_OF_ACL: Final = 1_000
"""What an ACL takes while all are ranked and grouped; afterwards it is a third of that."""
_MOST_ENTRIES: Final = 8_000_000
_LEAST_ENTRIES: Final = 100_000
_ENTRIES_OF_A_FILE: Final = 2_000_000
"""Of a slice that Spark writes: about as many pairs are a file of ``explain_pair``."""
_ROWS_OF_A_TASK: Final = 8_000_000
"""Of the dense table: some files, written in half a minute."""
_ENTRIES_OF_A_TASK: Final = 200_000
"""So many are worth a task of their own."""
_PARTS_OF_A_WORKER: Final = 4
_BYTES_REPLAYED_HERE: Final = 24 << 20
"""Of the files to read: even where all of them are ACLs, 400,000, one core reads them in half a
minute and this process takes 1.5 GiB. Of a usual log it is ten times as many records."""
_FACTS_REPLAYED_HERE: Final = 300_000
"""Of a cluster, known before: compared with as many they take 1.5 GiB."""
_PART_OF_A_DRIVER: Final = 3
"""A driver of Spark has less memory to spare: it replays a third of that, within 0.5 GiB. A plan of
Spark takes as long for ten records as for a million."""
ROWS_REPLAYED_HERE: Final = 500_000
"""A damaged or hostile file may have more rows than its size suggests: Spark reads it."""
_ROWS_READ_BACK_HERE: Final = 100_000_000
"""Pairs and rulings of tables that Spark wrote, which this process reads back in some minutes; at
least eight rulings are a ruleset's, which takes 80 bytes: 1 GiB (``explain.counted``)."""
_PAIRS_READ_BACK_HERE: Final = 4_000_000_000
"""(principal, resource) asked about then: a bit for each, 0.5 GiB."""
_SLICES_READ_BACK_HERE: Final = 4
_SLICES_OF_A_BOUND: Final = 8
"""Of more rows than that this process reads some slices, each an eighth of what it may read."""
_BYTES_OF_LOGS_HERE: Final = 32 << 30
"""Of authorizer logs, unpacked: 100 million lines, which one core reads in seven minutes. What they
take in memory is what differs in their lines, however many these are."""
_BYTES_FOR_ONE: Final = 64 << 20
"""Up to so many bytes of logs one process reads before another one has started."""
_MEMORY_IF_UNKNOWN: Final = 4 << 30


@dataclass(frozen=True, slots=True)
class Plan:
    """Where a cluster is decided.

    Attributes:
        engine: what decides it.
        workers: how many processes or tasks do so at the same time.
        entries: how many entries of a slice each holds at most; see ``explain.pairing.cut``.
        parts: at least how many slices there are, so that all workers have some.
    """

    engine: Engine = "here"
    workers: int = 1
    entries: int = _MOST_ENTRIES
    parts: int = 1


def plan_deciding(
    asked: DecideWith,
    *,
    acls: int,
    pairs: int,
    available: int | None = None,
    processors: int | None = None,
) -> Plan:
    """Choose what decides a cluster.

    Spark's tasks do where the job was submitted to Spark, or where the user asks for it: with
    ``auto`` a machine of its own decides any cluster that its memory holds the ACLs of, slice by
    slice, and no Spark on the same machine would do it in less.

    Args:
        asked: what the user asks for.
        acls: how many are in force.
        pairs: how many (principal, resource) are asked about.
        available: bytes of memory; by default what this machine or container has.
        processors: by default those that this process may use.
    """
    bytes_here = available or memory.memory_limit() or _MEMORY_IF_UNKNOWN
    processors = processors or len(os.sched_getaffinity(0))
    is_submitted = asked == "auto" and not memory.IS_OURS
    workers = processors if pairs > _PAIRS_HERE else 1
    # Half of the memory: what is read and written takes its share, and others live here too.
    left = bytes_here // 2 - acls * _BYTES_OF_ACL
    by_memory = left // (workers * _BYTES_OF_ENTRY)
    entries = max(_LEAST_ENTRIES, min(_MOST_ENTRIES, by_memory))
    if asked == "spark" or is_submitted:
        return Plan("spark")
    if workers > 1:
        return Plan("processes", workers, entries, workers * _PARTS_OF_A_WORKER)
    return Plan("here", 1, entries)


def entries_of_task(bytes_of_task: int) -> int:
    """Return how many entries a task of Spark holds at most, by what its Python may take.

    >>> entries_of_task(400 << 20)
    1048576
    """
    by_memory = bytes_of_task // 2 // _BYTES_OF_ENTRY
    return max(_LEAST_ENTRIES, min(_MOST_ENTRIES, by_memory))


def cut_for_tasks(entries: Sequence[int], tasks: int) -> list[int]:
    """Cut blocks of names into slices of about equally many entries; return where each begins.

    There are as many as make files of the size that questions like to read, but where it pays as
    many as tasks are done at once.

    Args:
        entries: of each block.
        tasks: so many are done at once.

    >>> cut_for_tasks([100_000] * 8, tasks=4)
    [0, 2, 4, 6]
    """
    total = sum(entries)
    size = max(-(-total // _ENTRIES_OF_A_FILE), min(tasks, total // _ENTRIES_OF_A_TASK), 1)
    starts, before = [0], 0
    for block, more in enumerate(entries):
        # A block lies in the slice in which its middle does.
        if (before + more // 2) * size // max(1, total) >= len(starts) and block:
            starts.append(block)
        before += more
    return starts


def cut_evenly(blocks: int, rows: int, tasks: int) -> list[int]:
    """Cut blocks into slices of equally many, for so many rows of the dense table; see above.

    >>> cut_evenly(8, 1_000, tasks=2)
    [0, 4]
    """
    size = max(1, min(blocks, max(tasks, rows // _ROWS_OF_A_TASK)))
    return [block * blocks // size for block in range(size)]


def reads_back_here(engine: Engine, *, pairs: int, rows: int) -> bool:
    """Whether this process reads back what was decided; otherwise Spark does, and it reads slices.

    What was decided on this machine is read back here, however large it is.

    Args:
        engine: what has decided.
        pairs: how many (principal, resource) were asked about.
        rows: of pairs, of pairs of classes and of rulings that were written.

    >>> reads_back_here("spark", pairs=1_000_000_000, rows=100_000_000)
    True
    >>> reads_back_here("spark", pairs=1_000_000_000, rows=100_000_001)
    False
    """
    return engine != "spark" or (pairs <= _PAIRS_READ_BACK_HERE and rows <= _ROWS_READ_BACK_HERE)


def slices_to_read(*, pairs: int, rows: int, resources: int) -> tuple[int, int]:
    """Return how many of how many slices of the resources this process reads of large tables.

    >>> slices_to_read(pairs=1_000_000_000, rows=1_000_000_000, resources=10_000)
    (4, 80)
    """
    times = max(pairs / max(1, _PAIRS_READ_BACK_HERE), rows / max(1, _ROWS_READ_BACK_HERE))
    slices = max(1, min(resources, math.ceil(times * _SLICES_OF_A_BOUND)))
    return min(_SLICES_READ_BACK_HERE, slices), slices


def replays_here(asked: DecideWith, *, source_bytes: int | None, known_facts: int) -> bool:
    """Whether this process replays a source, by DuckDB; otherwise Spark does.

    Where Spark decides, this process is its driver.

    Args:
        asked: what the user asks for.
        source_bytes: of the files to read; None where that is unknown.
        known_facts: rows of ``acl_log`` of the cluster.

    >>> replays_here("auto", source_bytes=5_000_000, known_facts=20_000)
    True
    >>> replays_here("auto", source_bytes=None, known_facts=0)
    False
    >>> [replays_here("spark", source_bytes=size << 20, known_facts=0) for size in (8, 9)]
    [True, False]
    """
    if asked == "local":
        return True
    part = 1 if asked == "auto" and memory.IS_OURS else _PART_OF_A_DRIVER
    is_small = source_bytes is not None and source_bytes <= _BYTES_REPLAYED_HERE // part
    return is_small and known_facts <= _FACTS_REPLAYED_HERE // part


def plan_reading(asked: DecideWith, sizes: Sequence[int], *, processors: int | None = None) -> Plan:
    """Choose what reads authorizer logs, each file of them by itself.

    Args:
        asked: what the user asks for.
        sizes: bytes of the files, unpacked.
        processors: by default those that this process may use.

    >>> plan_reading("auto", [5_000_000]).engine, plan_reading("spark", [5_000_000]).engine
    ('here', 'spark')
    """
    processors = processors or len(os.sched_getaffinity(0))
    is_large = sum(sizes) > _BYTES_OF_LOGS_HERE
    is_sparks = asked == "auto" and (is_large or not memory.IS_OURS)
    if asked == "spark" or is_sparks:
        return Plan("spark", max(1, len(sizes)))
    workers = min(processors, len(sizes))
    if workers > 1 and sum(sizes) > _BYTES_FOR_ONE:
        return Plan("processes", workers)
    return Plan()
