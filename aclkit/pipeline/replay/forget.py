"""A source or offsets → what was read of them is taken back: the way back for a wrong fact."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from aclkit.errors import UsageError
from aclkit.model.facts import RECORD, SNAPSHOT, UNREADABLE
from aclkit.pipeline.replay import tables
from aclkit.pipeline.replay.ranges import (
    END,
    Range,
    is_written_here,
    readable_again,
    without_offsets,
)
from aclkit.pipeline.replay.rejects import known_rejects
from aclkit.warehouse.readback import read_written
from aclkit.warehouse.run import Run


@dataclass(frozen=True, slots=True)
class Offsets:
    """Offsets ``start`` ≤ o < ``stop``, whatever they were read from."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Origin:
    """A source as ``acl_log.source`` names it, or the folder that it lies in."""

    source: str


def parse_forget(text: str) -> Offsets | Origin:
    """Read what is to be forgotten: ``FROM-TO`` (both included), ``FROM-`` or a source.

    Raises:
        UsageError: it is empty, or the offsets make no range.

    >>> parse_forget("12-19"), parse_forget("metadata-log:/kafka/0.log")
    (Offsets(start=12, stop=20), Origin(source='/kafka/0.log'))
    """
    if found := _OFFSETS.fullmatch(text):
        start, stop = int(found[1]), int(found[2]) + 1 if found[2] else END
        if not start < stop <= END:
            raise UsageError(f"bad --forget {text!r}: expected FROM-TO with FROM not above TO")
        return Offsets(start, stop)
    source = _KIND.sub("", text)
    if not source:
        raise UsageError("bad --forget: expected a source or offsets FROM-TO, found nothing")
    return Origin(source)


def forget(run: Run, wanted: Sequence[Offsets | Origin]) -> None:
    """Take back facts, ranges and rejects; the caller computes history again and publishes.

    What lies between two facts of a source was read from it too, so it counts as read no more.
    A fact is kept once, for the source that said it first; who has it from another one replays
    that again.

    Raises:
        UsageError: there is nothing of the kind, or aclkit itself wrote what there is.
    """
    ranges = tables.read_ranges(run.store, run.cluster_id)
    if ranges and is_written_here(ranges, lambda: tables.count_written(run)):
        raise UsageError(
            f"cluster {run.cluster_id!r} was written with acls add: take ACLs back with acls remove"
        )
    for item in wanted:
        _forget_one(run, item)


_OFFSETS: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,18})?")
_KIND: Final = re.compile(r"(?:metadata-log|dump-log|records|acls-list):")
_MOST_NAMED: Final = 10


def _forget_one(run: Run, item: Offsets | Origin) -> None:
    known = tables.read_ranges(run.store, run.cluster_id)
    spans, ends = _extent(run, item, known)
    gone, left = _mended(run, item)
    ranges = readable_again(without_offsets(known, spans, ends), gone, left)
    facts = _delete(run, "acl_log", _is_of(item))
    rejects = _delete(run, "acl_reject", (F.col("stage") == "source") & _is_of(item))
    if not facts and not rejects and set(ranges) == set(known):
        raise UsageError(f"nothing was read of {_named(item)}; {_sources(run)}")
    if set(ranges) != set(known):
        tables.write_ranges(run, ranges)
    run.counts["facts_forgotten"] = run.counts.get("facts_forgotten", 0) + facts
    where = tables.describe_spans(spans)
    run.notes.append(
        f"forgot {facts} facts and {rejects} rejects of {_named(item)}"
        + (f"; offsets {where} count as not read" if where else "")
    )


def _extent(
    run: Run, item: Offsets | Origin, known: Iterable[Range]
) -> tuple[list[tuple[int, int]], set[int]]:
    """Return the offsets whose records are forgotten, and the end offsets of snapshots.

    Of a source they are its facts and what lies between two of them and no other's.
    """
    if isinstance(item, Offsets):
        end = max((r.to_offset for r in known if r.fact in (RECORD, UNREADABLE)), default=0)
        span = (item.start, min(item.stop, end))
        ends = {r.to_offset for r in known if r.fact == SNAPSHOT}
        return [span] if span[0] < span[1] else [], {
            end for end in ends if item.start <= end < item.stop
        }
    folder = f"{item.source.rstrip('/')}/"
    asked = (item.source, len(folder), folder)
    with read_written(run.store, run.cluster_id, "acl_log") as read:
        spans = [(first, last + 1) for first, last in read.rows(_RUNS, *asked, RECORD)]
        return spans, {end for (end,) in read.rows(_ENDS, *asked, SNAPSHOT)}


_IS_OWN: Final = "coalesce(source = ? OR left(source, ?) = ?, false)"
_ENDS: Final = f"SELECT DISTINCT log_offset FROM acl_log WHERE {_IS_OWN} AND fact = ?"  # noqa: S608 -- a constant
_RUNS: Final = f"""\
SELECT min(log_offset), max(log_offset) FROM (
  SELECT log_offset, is_own,
    row_number() OVER (ORDER BY log_offset)
    - row_number() OVER (PARTITION BY is_own ORDER BY log_offset) AS stretch
  FROM (SELECT log_offset, {_IS_OWN} AS is_own FROM acl_log WHERE fact = ?) AS facts) AS stretches
WHERE is_own GROUP BY stretch ORDER BY 1"""  # noqa: S608 -- a constant


def _is_of(item: Offsets | Origin) -> Column:
    """Whether a row is of a source, or of offsets."""
    if isinstance(item, Offsets):
        return (F.col("log_offset") >= item.start) & (F.col("log_offset") < item.stop)
    folder = f"{item.source.rstrip('/')}/"
    return (F.col("source") == item.source) | F.col("source").startswith(folder)


def _mended(run: Run, item: Offsets | Origin) -> tuple[list[int], list[int]]:
    """Return the offsets of the rejects that go, and of those that stay."""
    rows = (
        known_rejects(run)
        .where("log_offset IS NOT NULL")
        .select("log_offset", _is_of(item).alias("goes"))
        .distinct()
        .collect()
    )
    return [r[0] for r in rows if r["goes"]], [r[0] for r in rows if not r["goes"]]


def _delete(run: Run, table: str, condition: Column) -> int:
    """Delete the cluster's rows of a table that a condition holds for; return how many."""
    count = run.store.cluster_rows(table, run.cluster_id).where(condition).count()
    if count:
        run.store.table(table).delete((F.col("cluster_id") == run.cluster_id) & condition)
        run.store.note_write(table)
    return count


def _named(item: Offsets | Origin) -> str:
    if isinstance(item, Origin):
        return item.source
    return f"offsets {item.start} and above" if item.stop == END else f"offsets {_words(item)}"


def _words(item: Offsets) -> str:
    """Write offsets as the option takes them."""
    return f"{item.start}-{item.stop - 1}"


def _sources(run: Run) -> str:
    """Tell what there is to forget."""
    with read_written(run.store, run.cluster_id, "acl_log", "acl_reject") as read:
        found = sorted(source for (source,) in read.rows(_SOURCES, _MOST_NAMED + 1))
    more = " and more" if len(found) > _MOST_NAMED else ""
    return f"sources are {', '.join(found[:_MOST_NAMED])}{more}" if found else "nothing is known"


_SOURCES: Final = """\
SELECT source FROM acl_log WHERE source IS NOT NULL
UNION SELECT source FROM acl_reject WHERE source IS NOT NULL ORDER BY 1 LIMIT ?"""
