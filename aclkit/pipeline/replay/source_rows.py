"""Work items → source rows that were read whole, though a broker rolls its files meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

from aclkit.errors import GoneError
from aclkit.model.facts import SPARK_DDL
from aclkit.pipeline.replay import facts
from aclkit.pipeline.replay.early import EarlyRows
from aclkit.pipeline.replay.intake import Intake
from aclkit.pipeline.replay.ranges import Range, plan
from aclkit.pipeline.sources.files import is_packed
from aclkit.pipeline.sources.items import WorkItem
from aclkit.pipeline.sources.metadata_log import listing_again
from aclkit.pipeline.sources.spark_source import read_sources
from aclkit.runtime.frame import ROWS_IN_A_PLAN, local_frame
from aclkit.runtime.progress import step
from aclkit.runtime.read_progress import followed, size_of
from aclkit.runtime.uri import shown


@contextmanager
def source_rows(
    spark: SparkSession, intake: Intake, is_news: Callable[[WorkItem], bool]
) -> Iterator[tuple[DataFrame, Collection[str], int | None]]:
    """Read items once and for all, and hand out their rows, which sources they are, and how many.

    How many rows is None where it is not known without counting them.

    Snapshots that tell nothing new are left out. Where a file has gone since it was listed, all
    is listed and read again.

    Args:
        spark: the session.
        intake: the items, as they were listed before the run began.
        is_news: whether an item may hold anything that is not known.

    Raises:
        UsageError: a source cannot be used.
        DataError: likewise.
        SurroundingsError: a source cannot be read, or goes as fast as it is listed.
    """
    listed: Sequence[WorkItem] | None = intake.items
    early = intake.early

    def read() -> tuple[DataFrame, frozenset[str], int | None]:
        nonlocal listed, early
        chosen = [item for item in (listed or intake.list_again()) if is_news(item)]
        with followed(map(_size_of, chosen)) as board:
            rows, count = _frame(spark, chosen, early, board)
            listed, early = None, None
            try:
                facts.raise_failures(rows)
            except GoneError:
                rows.unpersist()
                raise
        return rows, frozenset(shown(item.path) for item in chosen), count

    with step("Reading the source"):
        rows, sources, count = listing_again(read)
    try:
        yield rows, sources, count
    finally:
        rows.unpersist()


def _frame(
    spark: SparkSession, items: Sequence[WorkItem], early: EarlyRows | None, board: str | None
) -> tuple[DataFrame, int | None]:
    """Return the rows of items: those that were read while Spark started, or read by it now."""
    if not items:
        # As where something is only taken back: no job to read nothing, and it is known how much.
        return local_frame(spark, [], SPARK_DDL), 0
    read = early.of(items) if early is not None else None
    if read is None:
        return read_sources(spark, items, board).persist(), None
    rows = spark.createDataFrame(read, schema=SPARK_DDL)
    # A part of each plan costs less than a job, and than reading it from memory, while it is small.
    is_small = read.num_rows <= ROWS_IN_A_PLAN
    return rows if is_small else rows.persist(), read.num_rows


def _size_of(item: WorkItem) -> int | None:
    return None if is_packed(item.path) else size_of(item.path)


def news_filter(
    ranges: Sequence[Range], head: int | None, *, has_brokers: bool
) -> Callable[[WorkItem], bool]:
    """Return a test whether an item may hold anything that is not known.

    An older snapshot in a folder holds nothing new if the way through the known log covers it, as
    far as history has been computed. This does not count if an aclkit that skipped brokers read
    that log.
    """
    way = plan(ranges)

    def is_news(item: WorkItem) -> bool:
        end = item.only_below
        is_known = has_brokers and end is not None and end <= (head or 0) and way.knows(end)
        return not is_known

    return is_news
