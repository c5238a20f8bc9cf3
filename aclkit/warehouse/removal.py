"""Tables and the versions of them that are needed → files and log entries that go.

Delta's own VACUUM and log cleanup ask how old something is; here only what a version needs counts.
The lock or lease of the warehouse must be held: then no run owns a file that no version names.
Where a needed version cannot be followed, its needs are unknown: nothing of that table is removed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from deltalake.exceptions import DeltaError

from aclkit.errors import first_line
from aclkit.model.groups import grouped
from aclkit.runtime.fail_points import fail_point
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.storage import DIGITS, LOG, Storage
from aclkit.warehouse.store import Store


@dataclass(frozen=True, slots=True)
class TableLog:
    """The files of a table's log.

    Attributes:
        names: version → the names of its files.
        commits: versions whose commit is there.
        checkpoints: versions of which there is a checkpoint in one file.
    """

    names: Mapping[int, Collection[str]]
    commits: frozenset[int]
    checkpoints: frozenset[int]

    @classmethod
    def of_names(cls, names: Collection[str]) -> TableLog:
        """Sort the names of a ``_delta_log`` folder, those of Hadoop's checksums too."""
        numbered = ((name.lstrip(".").partition(".")[0], name) for name in names)
        by_version = grouped(
            (int(n), name) for n, name in numbered if len(n) == DIGITS and n.isdecimal()
        )
        return cls(
            by_version,
            frozenset(v for v, found in by_version.items() if f"{v:0{DIGITS}}.json" in found),
            frozenset(
                v for v, found in by_version.items() if f"{v:0{DIGITS}}.checkpoint.parquet" in found
            ),
        )

    def base_of(self, version: int) -> int | None:
        """Return where reading a version begins: its checkpoint, or 0; None if it is lost."""
        base = max((v for v in self.checkpoints if v <= version), default=0)
        needed = range(base + 1 if base in self.checkpoints else base, version + 1)
        return base if self.commits.issuperset(needed) else None

    def lost(self, versions: Collection[int]) -> list[int]:
        """Return those of some versions that cannot be read any more."""
        return sorted(version for version in versions if self.base_of(version) is None)

    def obsolete(self, versions: Collection[int]) -> Iterator[str]:
        """Yield the names that no version of these is read by; none where one is lost."""
        bases = [-1 if (base := self.base_of(version)) is None else base for version in versions]
        for version in sorted(self.names):
            if version < min(bases, default=0):
                yield from sorted(self.names[version])


def remove_unneeded(store: Store, needed: Mapping[str, Collection[int]]) -> list[str]:
    """Remove what no needed version of a table is read from; the newest version is needed too.

    Nothing is removed of a version that is needed, and nothing that is not a Parquet file of the
    table's folder or an entry of its log. A kill leaves something to remove, and no harm.

    Returns:
        Notes on tables of which nothing could be removed.
    """
    told = []
    for table in TABLES:
        newest = store.newest_version(table)
        if newest is not None:
            versions = {newest, *needed.get(table, ())}
            why = _remove_of(store, table, versions)
            told += [_KEPT_BACK.format(table=table, why=why)] if why else []
    return told


def _remove_of(store: Store, table: str, versions: Collection[int]) -> str | None:
    """Remove what is not needed of a table; return why nothing was, where that is so."""
    files = store.place.files
    log = TableLog.of_names(files.list(f"{table}/{LOG}"))
    if lost := log.lost(versions):
        return f"its log no longer leads to version {', '.join(map(str, lost))}"
    try:
        used = {name for version in versions for name in store.files(table, version)}
    except DeltaError as error:
        return f"its log cannot be read: {first_line(error)}"
    found = [name for name in files.tree(table) if not name.startswith(f"{LOG}/")]
    # Held still: so nothing that was found is another run's.
    store.require_held()
    for name in found:
        if _is_ours(name) and _without_checksum(name) not in used:
            _remove(files, f"{table}/{name}")
    for name in log.obsolete(versions):
        _remove(files, f"{table}/{LOG}/{name}")
    return None


def _is_ours(name: str) -> bool:
    """Whether a file is one of Delta's: of rows, or of the log of a write before it was committed.

    Of such a log nothing is left where the write was committed, see ``new_files``.
    """
    path = PurePosixPath(_without_checksum(name))
    return path.suffix == ".parquet" or path.parent.name == LOG


def _without_checksum(name: str) -> str:
    """Return a file's name without what Hadoop adds for the checksum file next to it."""
    path = PurePosixPath(name)
    return path.with_name(path.name.removeprefix(".").removesuffix(".crc")).as_posix()


_KEPT_BACK: Final = (
    "No file of the table {table} was removed, because a kept run needs the table and {why}."
)


def _remove(files: Storage, path: str) -> None:
    # What stands for a folder is listed by an object store, and is no object of that name.
    with suppress(FileNotFoundError):
        files.delete(path)
    fail_point("while-removing")
