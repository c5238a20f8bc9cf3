"""Sources → their imprint: one digest of all that a replay reads from them, and how it reads it.

A replay of the same bytes in the same way, of a cluster whose tables are unchanged since the
previous replay, changes nothing: it reads the same offsets again, and each fact is known. So a run
keeps the imprint of its sources among its settings, and the next run compares it with its own.
Any other imprint is news, and Spark finds out which:

- **A metadata log, a checkpoint, a dump, records, packed or not**: each file that would be read, in
  their order, by its path as given, its kind, the next segment, its size and a BLAKE2 digest of
  **every byte**. No time and no size is trusted: a file that came, went, shrank, grew (a half
  batch at its end too) or has other bytes of the same size gives another imprint. So do segments
  that a broker deletes: a log that begins later is read anew, and what is known of it stays known.
- **A listing** (``kafka-acls --list``, a live cluster): its content row by row, including rejects,
  whatever their order.
- **The way of reading**: high watermark, accepted holes, ``--strict``; the source of the packages
  that read and replay, and the format of the tables.

Every byte is hashed once a run, before Spark starts (0.9 s for a gigabyte on a disk; objects in a
bucket are read from there for it), and not when the log is read. So a file's identity, size,
modification time and change time are compared before hashing and after all reading. If the file
was written meanwhile, no imprint is kept, and the next run reads everything. An object has only its
size and modification time, in S3 to the second.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import astuple, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from aclkit.errors import AclkitError
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.pipeline.sources.files import open_stream, size_and_time
from aclkit.runtime.read_progress import ReadProgress, followed, size_of
from aclkit.runtime.source_digest import source_digest
from aclkit.runtime.uri import is_uri
from aclkit.warehouse.formats import FORMAT

if TYPE_CHECKING:
    from aclkit.pipeline.replay.intake import Intake

READING: Final = ("model", "pipeline/sources", "pipeline/replay")
"""The packages whose code makes tables of bytes."""


@dataclass(frozen=True, slots=True)
class Imprint:
    """What sources hold.

    Attributes:
        digest: of all of it.
        looks: file → how it looked before it was hashed.
    """

    digest: str
    looks: Mapping[str, tuple[int, ...]]

    def holds(self) -> bool:
        """Whether no file has been written since."""
        try:
            return all(_look(path) == look for path, look in self.looks.items())
        except (OSError, AclkitError):
            return False


def imprint_of(intake: Intake, options: ReplayOptions) -> Imprint | None:
    """Return the imprint of sources; None where there is none, or a file cannot be read.

    The reader reports what is wrong with a file. The end of a log has no imprint: it is news.
    """
    if not intake.sources or intake.tail is not None:
        return None
    looks: dict[str, tuple[int, ...]] = {}
    try:
        looks.update((item.path, _look(item.path)) for item in intake.items)
        told = [repr(options), _reading(), *map(repr, intake.sources), *_content(intake)]
    except (OSError, AclkitError):
        return None
    return Imprint(hashlib.blake2b("\n".join(told).encode(*_ANY_TEXT)).hexdigest()[:32], looks)


def _content(intake: Intake) -> Iterator[str]:
    if (listing := intake.listing) is not None:
        yield repr((sorted(listing.told), listing.cluster_id, listing.notes))
        yield from sorted(map(repr, listing.rows))
    sizes = [size_of(item.path) for item in intake.items]
    with followed(sizes, "Checking whether the source has anything new") as board:
        for number, item in enumerate(intake.items):
            with _opened(item.path) as file, closing(ReadProgress(board, number)) as told:
                digest, size = hashlib.blake2b(), 0
                while part := file.read(_PART):
                    digest.update(part)
                    size += len(part)
                    told.add(len(part))
                yield repr((*astuple(item), size, digest.hexdigest()))


def _opened(path: str) -> AbstractContextManager[BinaryIO]:
    return open_stream(path) if is_uri(path) else Path(path).open("rb")


@cache
def _reading() -> str:
    return source_digest(files("aclkit"), READING, f"format {FORMAT}")


def _look(path: str) -> tuple[int, ...]:
    if is_uri(path):
        return size_and_time(path)
    found = Path(path).stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{path}: not a plain file, so it may have no end")
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


_PART: Final = 1 << 20
_ANY_TEXT: Final = ("utf-8", "surrogatepass")
