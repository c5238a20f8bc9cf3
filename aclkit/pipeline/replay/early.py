"""Small sources → their rows, read while Spark starts: who needs both waits for the longer."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import pyarrow as pa

from aclkit.model.facts import SourceRow
from aclkit.pipeline.sources.arrow import to_record_batch
from aclkit.pipeline.sources.files import is_packed
from aclkit.pipeline.sources.items import WorkItem

MOST_BYTES: Final = 8 << 20
"""Of all files together: one core reads them in the two seconds that a JVM takes to start."""

MOST_ROWS: Final = 100_000
"""A damaged or hostile file may have more rows than its size suggests: Spark's tasks read it."""


@dataclass(frozen=True, slots=True)
class EarlyRows:
    """Rows that are being read, or have been.

    Attributes:
        reading: item → its rows; None where these are too many, or a reader broke.
    """

    reading: Future[dict[WorkItem, list[SourceRow]] | None]

    def of(self, items: Sequence[WorkItem]) -> pa.Table | None:
        """Wait for the rows of some items; None where they have to be read again.

        What an item could not be read for stands among them, as a row.
        """
        rows = self.reading.result()
        if rows is None or not rows.keys() >= {*items}:
            return None
        return pa.Table.from_batches([to_record_batch([row for i in items for row in rows[i]])])


def read_early(items: Sequence[WorkItem]) -> EarlyRows | None:
    """Begin to read items in a thread, if their files are on this machine, plain and small.

    The thread is none that the end of the process waits for: nothing of it is needed then.
    """
    if not items or not _are_small(items):
        return None
    early = EarlyRows(Future())
    threading.Thread(
        target=_read, args=(items, early.reading), name="aclkit-reading", daemon=True
    ).start()
    return early


def _are_small(items: Iterable[WorkItem]) -> bool:
    try:
        sizes = [Path(item.path).stat().st_size for item in items if not is_packed(item.path)]
    except OSError:  # at a URI, or gone: who reads it tells
        return False
    return len(sizes) == len([*items]) and sum(sizes) <= MOST_BYTES


def _read(
    items: Iterable[WorkItem], reading: Future[dict[WorkItem, list[SourceRow]] | None]
) -> None:
    rows = None
    with suppress(Exception):  # what breaks a reader breaks a task of Spark, which tells it
        rows = _rows(items)
    reading.set_result(rows)


def _rows(items: Iterable[WorkItem]) -> dict[WorkItem, list[SourceRow]] | None:
    # Imported here, so that a run with nothing new does not load the decoders.
    from aclkit.pipeline.sources.readers import read_or_tell

    found: dict[WorkItem, list[SourceRow]] = {}
    left = MOST_ROWS
    for item in items:
        found[item] = list(islice(read_or_tell(item), left + 1))
        left -= len(found[item])
        if left < 0:
            return None
    return found
