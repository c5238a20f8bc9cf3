"""A warehouse on a disk → whether Spark's workers write where the driver reads.

The workers of a cluster may have a folder of the same name that is another disk. Spark would write
there, and the tables would name files that the driver's machine does not have.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from aclkit.errors import SurroundingsError
from aclkit.runtime.atomic_file import write_atomically
from aclkit.warehouse.location import Location
from aclkit.warehouse.storage import DIGITS, LOG

NOT_SHARED: Final = "is not the same folder on every worker"


@dataclass(frozen=True, slots=True)
class Mark:
    """A file in a warehouse, with a word that only the run knows."""

    path: str
    word: str

    def insist(self) -> None:
        """Insist, in a task, that this machine sees the mark.

        Raises:
            SurroundingsError: it does not.
        """
        with suppress(OSError):
            if Path(self.path).read_text("utf-8") == self.word:
                return
        raise SurroundingsError(not_shared(str(Path(self.path).parent.parent)))


def not_shared(folder: str) -> str:
    """Return the error of a folder that workers do not share, with the way out."""
    return (
        f"{folder} {NOT_SHARED}. Nothing is published. Use a disk that the driver and all workers "
        "mount, or a bucket"
    )


@contextmanager
def marked(place: Location) -> Iterator[Mark | None]:
    """Leave a mark in a warehouse while tasks write there; a bucket is the same for all: None."""
    if place.is_remote:
        yield None
        return
    path = place.folder / _FOLDER / f"mark-{secrets.token_hex(8)}"
    path.parent.mkdir(parents=True, exist_ok=True)
    mark = Mark(str(path.absolute()), secrets.token_hex(16))
    try:
        write_atomically(path, mark.word, is_ours=True)
        yield mark
    finally:
        path.unlink(missing_ok=True)


def require_files_here(place: Location, table: str, version: int) -> int:
    """Insist that the files of a commit of Spark's lie here, as large as it says; return its rows.

    Raises:
        SurroundingsError: one does not.
    """
    rows = 0
    added: list[tuple[str, int]] = []
    for line in place.files.read(f"{table}/{LOG}/{version:0{DIGITS}}.json").splitlines():
        action = json.loads(line)
        if (info := action.get("commitInfo")) is not None:
            rows = int(info.get("operationMetrics", {}).get("numOutputRows", 0))
        if (file := action.get("add")) is not None:
            added.append((unquote(file["path"]), file["size"]))
    require_here(place, table, added)
    return rows


def require_here(place: Location, table: str, files: Iterable[tuple[str, int]]) -> None:
    """Insist that files that tasks wrote lie here, as large as they say: path and bytes of each.

    Raises:
        SurroundingsError: one does not.
    """
    for name, size in files:
        path = place.folder / table / name
        if not path.is_file() or path.stat().st_size != size:
            raise SurroundingsError(not_shared(str(place.folder)))


_FOLDER: Final = "_aclkit"
