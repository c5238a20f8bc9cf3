"""Work items → source rows that were read whole, though a broker rolls its files meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Generic

from aclkit.model.facts import COMMITTED
from aclkit.pipeline.replay.asking import Frame
from aclkit.pipeline.replay.engine import Engine
from aclkit.pipeline.replay.intake import Intake
from aclkit.pipeline.replay.ranges import plan
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.sources.files import is_packed
from aclkit.pipeline.sources.items import WorkItem
from aclkit.pipeline.sources.metadata_log import listing_again
from aclkit.runtime.progress import step
from aclkit.runtime.read_progress import followed, size_of
from aclkit.runtime.uri import shown


@dataclass(frozen=True, slots=True)
class SourceRows(Generic[Frame]):
    """What was read of sources.

    Attributes:
        rows: of all of them.
        whole: the sources that were read, each as a whole.
        intake: the listing that was read: a later one where a file had gone from the first.
    """

    rows: Frame
    whole: Collection[str]
    intake: Intake


def source_rows(
    engine: Engine[Frame], intake: Intake, is_news: Callable[[WorkItem], bool]
) -> SourceRows[Frame]:
    """Read items once and for all.

    Snapshots that tell nothing new are left out. Where a file has gone since it was listed, all
    is listed and read again, and nothing that was taken from the listing before counts.

    Args:
        engine: reads them.
        intake: the items, as they were listed before the run began.
        is_news: whether an item may hold anything that is not known.

    Raises:
        UsageError: a source cannot be used.
        DataError: likewise.
        SurroundingsError: a source cannot be read, or goes as fast as it is listed.
        TooManyRowsError: see ``Engine.read``.
    """
    attempts = 0

    def read() -> SourceRows[Frame]:
        nonlocal attempts
        attempts += 1
        asked = intake if attempts == 1 else intake.listed_again()
        chosen = [item for item in asked.items if is_news(item)]
        with followed(map(_size_of, chosen)) as board:
            rows = engine.read(chosen, board)
            engine.raise_failures(rows)
        return SourceRows(rows, frozenset(shown(item.path) for item in chosen), asked)

    with step("Reading the source"):
        return listing_again(read)


def _size_of(item: WorkItem) -> int | None:
    return None if is_packed(item.path) else size_of(item.path)


def news_filter(
    ranges: Sequence[Range], head: int | None, *, has_brokers: bool
) -> Callable[[WorkItem], bool]:
    """Return a test whether an item may hold anything that is not known.

    An older snapshot in a folder holds nothing new if the way through the known log covers it, as
    far as history has been computed, and what it proves is known. This does not count if an aclkit
    that skipped brokers read that log.
    """
    way = plan(ranges)
    proven = {r.epoch: range(r.from_offset, r.to_offset) for r in ranges if r.fact == COMMITTED}

    def is_news(item: WorkItem) -> bool:
        end = item.only_below
        is_known = has_brokers and end is not None and end <= (head or 0) and way.knows(end)
        if is_known and end is not None and item.epoch is not None:
            is_known = end - 1 in proven.get(item.epoch, ())
        return not is_known

    return is_news
