"""Rows that the driver holds → a DataFrame, and a DataFrame → one that is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, cast

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from aclkit.runtime.arrow import arrow_table


def local_frame(
    spark: SparkSession, rows: Sequence[Sequence[Any]], schema: StructType | str
) -> DataFrame:
    """Make a DataFrame of driver-side rows, a local relation in Spark's plans; times are UTC.

    Through Arrow, and not by ``parallelize``: the rows travel once, as columns, and a join with
    them needs no job of its own.
    """
    struct = struct_of(schema) if isinstance(schema, str) else schema
    arrow = to_arrow_schema(struct, timezone="UTC")
    return spark.createDataFrame(arrow_table(rows, arrow), schema=struct)


@cache
def struct_of(ddl: str) -> StructType:
    """Return the columns that a text of SQL names; pyspark has the JVM parse it each time."""
    return cast(StructType, StructType.fromDDL(ddl))


def checkpoint(frame: DataFrame, *, is_large: bool = False) -> DataFrame:
    """Compute a frame once for all that builds on it.

    Where driver and executors are one process the way to it is forgotten too: half the time of
    a small run goes into planning what was planned before. Elsewhere an executor may be lost,
    and then the way is needed. A large frame is kept in columns, by what asks for it first: rows
    take several times their room in memory, and on a disk more.
    """
    return frame.persist() if is_large or not _is_local(frame) else frame.localCheckpoint()


@dataclass(frozen=True, slots=True)
class Steps:
    """Frames that were computed once for what builds on them, until they are forgotten."""

    frames: list[DataFrame] = field(default_factory=list)

    def checkpoint(self, frame: DataFrame, *, is_large: bool = False) -> DataFrame:
        """Compute a frame once; see ``checkpoint``."""
        self.frames.append(checkpoint(frame, is_large=is_large))
        return self.frames[-1]

    def __enter__(self) -> Steps:
        """Keep the frames for the length of a ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        """Free all of them."""
        self.forget()

    def forget(self) -> None:
        """Free all of them."""
        while self.frames:
            release(self.frames.pop())


@contextmanager
def shuffles_over(spark: SparkSession, parts: int) -> Iterator[None]:
    """Have shuffles go over at least so many parts, for the length of a ``with``."""
    before = str(spark.conf.get(_SHUFFLE))
    spark.conf.set(_SHUFFLE, max(int(before), parts))
    try:
        yield
    finally:
        spark.conf.set(_SHUFFLE, before)


_SHUFFLE: Final = "spark.sql.shuffle.partitions"


def broadcast_if_small(rows: DataFrame, count: int) -> DataFrame:
    """Have a frame broadcast, if it has few enough rows for that: a million."""
    return F.broadcast(rows) if is_small(count) else rows


def broadcast_if_few_texts(rows: DataFrame, count: int) -> DataFrame:
    """Have a frame of narrow rows, numbers and at most a short text, broadcast up to 4 million."""
    return F.broadcast(rows) if are_few_texts(count) else rows


def broadcast_if_few(rows: DataFrame, most: int) -> DataFrame:
    """Have a frame of at most so many rows broadcast, if it has few enough."""
    return F.broadcast(rows) if is_few(rows, most) else rows


def side_frame(spark: SparkSession, rows: Sequence[Sequence[Any]], ddl: str) -> DataFrame:
    """Make a frame of rows that the driver holds, broadcast into joins if they are few enough."""
    return broadcast_if_few_texts(local_frame(spark, rows, ddl), len(rows))


def join_known(
    rows: DataFrame, known: DataFrame, on: str, *, are_few: bool, how: str = "inner"
) -> DataFrame:
    """Join rows with what is known of a key, few of each.

    Where those are not few enough to be broadcast both are spread by the key; then keys that very
    many rows share, which one task would have to join, are broadcast apart: there are few of them.

    Args:
        rows: what is joined; with ``how`` "left" also those stay of whose key nothing is known.
        known: what is known.
        on: the key.
        are_few: whether what is known may be broadcast.
        how: "inner" or "left".
    """
    if are_few:
        return rows.join(F.broadcast(known), on=on, how=how)
    shared = rows.groupBy(on).count().where(F.col("count") > _SHARED_BY)
    hot = [key for (key,) in shared.orderBy(F.desc("count")).limit(_HOT).select(on).collect()]
    if not hot:
        return rows.join(known, on=on, how=how)
    is_hot = F.col(on).isin(*hot)
    apart = rows.where(is_hot).join(F.broadcast(known.where(is_hot)), on=on, how=how)
    return rows.where(~is_hot).join(known.where(~is_hot), on=on, how=how).unionByName(apart)


def is_few(rows: DataFrame, most: int) -> bool:
    """Whether a frame of at most so many rows is small."""
    return is_small(count_if_many(rows, most))


def count_if_many(rows: DataFrame, most: int) -> int:
    """Return how many rows a frame has at most: they are counted only where it matters."""
    return most if is_small(most) else rows.count()


def is_small(count: int) -> bool:
    """Whether so many rows are few enough to be broadcast."""
    return count <= _BROADCAST_ROWS


def are_few_texts(count: int) -> bool:
    """Whether so many narrow rows are few enough; see ``broadcast_if_few_texts``."""
    return count <= _BROADCAST_TEXTS


_BROADCAST_ROWS: Final = 1_000_000
_BROADCAST_TEXTS: Final = 4_000_000
_SHARED_BY: Final = 500_000
"""More rows than these of one key would be a long task."""
_HOT: Final = 1_000


def parts_by_hash(parts: int) -> list[int]:
    """Return numbers that Spark spreads over as many parts by hash, the n-th into the n-th part.

    So rows are put where the driver wants them, and Spark knows by which column they are there.
    """
    found: dict[int, int] = {}
    number = 0
    while len(found) < parts:
        found.setdefault(_hash_of(number) % parts, number)
        number += 1
    return [found[part] for part in range(parts)]


def _hash_of(number: int) -> int:
    """Return Spark's hash of an INT: Murmur3 in 32 bits, of seed 42, as a signed number."""
    mixed = _rotated(number * 0xCC9E2D51, 15) * 0x1B873593
    mixed = _rotated(42 ^ (mixed & _WORD), 13) * 5 + 0xE6546B64
    mixed = (mixed & _WORD) ^ 4  # bytes
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        mixed = (mixed ^ (mixed >> shift)) * factor & _WORD
    return mixed - (mixed >> 31 << 32)


def _rotated(word: int, bits: int) -> int:
    word &= _WORD
    return (word << bits | word >> (32 - bits)) & _WORD


_WORD: Final = 0xFFFFFFFF


def release(computed: DataFrame) -> None:
    """Free the memory of a computed frame, which Spark would do some time after it is forgotten."""
    plan = computed._jdf.logicalPlan()
    if plan.getClass().getSimpleName() == "LogicalRDD":
        # unpersist() knows frames of the cache only; a checkpoint is an RDD below the plan.
        plan.rdd().unpersist(False)  # noqa: FBT003 -- Java has no keywords
    else:
        computed.unpersist()


def _is_local(frame: DataFrame) -> bool:
    return str(frame.sparkSession.conf.get("spark.master")).startswith("local")
