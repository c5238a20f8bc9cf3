"""Work items → source rows that were read whole, though a broker rolls its files meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from pyspark.sql import DataFrame

from aclkit.errors import GoneError
from aclkit.pipeline.replay import tables
from aclkit.pipeline.replay.ranges import plan
from aclkit.pipeline.sources.files import shown
from aclkit.pipeline.sources.metadata_log import listing_again
from aclkit.pipeline.sources.readers import WorkItem
from aclkit.pipeline.sources.spark_source import read_sources
from aclkit.runtime.progress import step
from aclkit.warehouse.run import Run


@contextmanager
def source_rows(
    run: Run, items: Sequence[WorkItem], list_again: Callable[[], Sequence[WorkItem]]
) -> Iterator[tuple[DataFrame, Collection[str]]]:
    """Read items once and for all, and hand out their rows and which sources they are.

    Snapshots that tell nothing new are left out. Where a file has gone since it was listed, all
    is listed and read again.

    Args:
        run: the run; what its cluster is known to have read is looked up.
        items: as they were listed before the run began.
        list_again: lists them anew.

    Raises:
        UsageError: a source cannot be used.
        DataError: likewise.
        SurroundingsError: a source cannot be read, or goes as fast as it is listed.
    """
    listed: Sequence[WorkItem] | None = items
    is_news = _news_filter(run)

    def read() -> tuple[DataFrame, frozenset[str]]:
        nonlocal listed
        chosen = [item for item in (listed or list_again()) if is_news(item)]
        listed = None
        rows = read_sources(run.store.spark, chosen).persist()
        try:
            tables.raise_failures(rows)
        except GoneError:
            rows.unpersist()
            raise
        return rows, frozenset(shown(item.path) for item in chosen)

    with step("reading the source"):
        rows, sources = listing_again(read)
    try:
        yield rows, sources
    finally:
        rows.unpersist()


def _news_filter(run: Run) -> Callable[[WorkItem], bool]:
    """Return what says whether an item may hold anything that is not known.

    Of an older snapshot in a folder the way through the known log says so, as far as history has
    been computed.
    """
    way = plan(tables.read_ranges(run.store, run.cluster_id))
    before = run.previous()
    head = (before.head_offset or 0) if before else 0

    def is_news(item: WorkItem) -> bool:
        end = item.only_below
        return end is None or end > head or not way.knows(end)

    return is_news
