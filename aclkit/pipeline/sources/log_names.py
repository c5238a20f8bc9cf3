"""The names of a metadata log's files → the offsets in them. Pure.

Source: org.apache.kafka.storage.internals.log.LogFileUtils and org.apache.kafka.snapshot.Snapshots.
"""

from __future__ import annotations

import re
from typing import Final

END_OF_OFFSETS: Final = 1 << 62
"""No log reaches so far: what claims to be there is damaged."""


def first_offset(source: str) -> int | None:
    """Return the offset that a segment is named for, None if it is named otherwise."""
    found = _SEGMENT.fullmatch(source)
    return int(found[1]) if found and int(found[1]) < END_OF_OFFSETS else None


def parse_snapshot_name(name: str) -> tuple[int, int] | None:
    """Return the end offset (exclusive) and epoch in a snapshot's file name.

    >>> parse_snapshot_name("00000000000000000915-0000000001.checkpoint")
    (915, 1)
    >>> parse_snapshot_name("bootstrap.checkpoint")
    """
    found = _SNAPSHOT.fullmatch(name)
    if not found or int(found[1]) >= END_OF_OFFSETS or int(found[2]) >= _MAX_EPOCH:
        return None
    return int(found[1]), int(found[2])


_SEGMENT: Final = re.compile(r"(?:.*/)?([0-9]{20})\.log(?:\?.*)?", re.DOTALL)
_SNAPSHOT: Final = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint")
_MAX_EPOCH: Final = 1 << 31
