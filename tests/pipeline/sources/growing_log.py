"""A metadata log as a broker writes it: appended to, rolled, cut and written anew, cleaned."""

from __future__ import annotations

import base64
from pathlib import Path

from aclkit.model.acl import Acl
from tests.factories import acl
from tests.pipeline.sources.log_bytes import NO_OP, acl_record, batch, control_batch


def numbered(number: int) -> Acl:
    """An ACL with an id as Kafka makes them, other than that of any other number."""
    acl_id = base64.urlsafe_b64encode(number.to_bytes(16, "big")).decode().rstrip("=")
    return acl(f"t{number}", acl_id=acl_id, principal=f"User:u{number}")


class GrowingLog:
    """A folder ``__cluster_metadata-0``; offsets count from 0, or where its oldest segment begins.

    ``batches`` are those of the log as it is now: base offset, epoch, bytes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.epoch = 1
        self.batches: list[list[tuple[int, bytes]]] = [[]]
        self.bases = [0]
        self._count = 0
        self._write()

    @property
    def end(self) -> int:
        """The offset that comes next."""
        return self._end

    _end = 0

    def path(self, base: int) -> Path:
        return self.folder / f"{base:020}.log"

    def append(self, *values: bytes, free: int = 0) -> None:
        """Write a batch, and so many zeros after it."""
        self.batches[-1].append((self._end, batch(self._end, *values, epoch=self.epoch)))
        self._end += len(values)
        self._write(free)

    def idle(self, number: int = 1) -> None:
        for _ in range(number):
            self.append(NO_OP)

    def add(self, free: int = 0) -> Acl:
        """Append the record of a new ACL."""
        self._count += 1
        made = numbered(self._count)
        self.append(NO_OP, acl_record(made), free=free)
        return made

    def tear(self, kept: int) -> None:
        """Let the last batch be there in part."""
        segment = self.batches[-1]
        if segment:
            whole = b"".join(data for _, data in segment)
            less = min(kept, len(segment[-1][1]) - 1)
            self.path(self.bases[-1]).write_bytes(whole[: len(whole) - len(segment[-1][1]) + less])

    def mend(self) -> None:
        """Write what was torn to its end."""
        self._write()

    def roll(self) -> None:
        """Begin a new segment."""
        if self.batches[-1]:
            self._write()
            self.bases.append(self._end)
            self.batches.append([])
            self._write()

    def cut(self, number: int) -> None:
        """Take back the last batches, as a replica does, and go on in a higher epoch."""
        for _ in range(number):
            if not self.batches[-1] and len(self.batches) > 1:
                self.path(self.bases.pop()).unlink()
                self.batches.pop()
            if self.batches[-1]:
                self._end = self.batches[-1].pop()[0]
        self.epoch += 1
        leader = control_batch(self._end, (b"\0\0\0\2", b"\0"), epoch=self.epoch)
        self.batches[-1].append((self._end, leader))
        self._end += 1
        self._write()

    def clean(self) -> None:
        """Delete the oldest segment, if there is another one."""
        if len(self.bases) > 1:
            self.path(self.bases.pop(0)).unlink()
            self.batches.pop(0)

    def _write(self, free: int = 0) -> None:
        whole = b"".join(data for _, data in self.batches[-1])
        self.path(self.bases[-1]).write_bytes(whole + bytes(free))
