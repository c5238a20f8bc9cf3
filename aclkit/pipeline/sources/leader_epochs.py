"""The text of ``leader-epoch-checkpoint`` → where the epochs of a log begin, if its batches agree.

Source: org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile. It holds version 0,
the number of lines that follow, and for each epoch a line with its first offset. The first line of
a log that begins later than at 0 has the log's first offset.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from aclkit.errors import DataError
from aclkit.model.facts import TOLD, SourceRow, range_row
from aclkit.pipeline.sources.log_names import END_OF_OFFSETS

FILE_NAME: Final = "leader-epoch-checkpoint"

Told = tuple[int, int, int | None, str, int | None]
"""A range: the first offset of an epoch, the offset after its last, the epoch, and so on."""


def read_leader_epochs(text: str, source: str) -> Iterator[SourceRow]:
    """Yield for each epoch the range that the file says it has.

    Raises:
        DataError: it is not such a file, or a part of one.
    """
    lines = text.split("\n")
    said = [_LINE.fullmatch(line) for line in lines[2:-1]]
    starts = [(int(line[1]), int(line[2])) for line in said if line]
    if lines[:1] != ["0"] or lines[1:2] != [str(len(starts))] or len(lines) != len(starts) + 3:
        raise DataError(f"{source}: expected Kafka's list of leader epochs, whole")
    last = (_MAX_EPOCH, END_OF_OFFSETS)
    if not all(a < b and c < d for (a, c), (b, d) in pairwise([*starts, last])):
        raise DataError(f"{source}: expected epochs and offsets that increase")
    for (epoch, start), (_, end) in pairwise([*starts, last]):
        yield range_row(source, TOLD, start, end, epoch)


def epochs_of(told: Sequence[Told], read: Iterable[Told]) -> Sequence[tuple[int, int, int]]:
    """Return the beginnings of epochs that a file tells: offset, epoch, and the one it follows.

    There are none if a batch that was read beside the file has another epoch than it says.

    Args:
        told: what the file says of each epoch.
        read: the ranges of batches of the same folder.
    """
    epochs = sorted((start, end, epoch) for start, end, epoch, *_ in told if epoch is not None)
    spans = {epoch: (start, end) for start, end, epoch in epochs}
    for start, end, epoch, *_ in read:
        first, stop = spans.get(-1 if epoch is None else epoch, (END_OF_OFFSETS, 0))
        if start < first or end > stop:
            return ()
    return [(start, epoch, before) for (_, _, before), (start, _, epoch) in pairwise(epochs)]


_LINE: Final = re.compile(r"([0-9]{1,10}) ([0-9]{1,19})")
_MAX_EPOCH: Final = 1 << 31
