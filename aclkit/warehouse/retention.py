"""The published runs and a policy → the runs and table versions that stay, and the files that go.

A run that stays keeps its row of ``job_run`` and its rows of ``finding`` and ``access_change``;
what can still be asked about the tables as it left them depends on its versions.

Delta's own VACUUM and log cleanup ask how old something is; here only what a version needs counts.
The lock or lease of the warehouse must be held: then no run owns a file that no version names.
Where a needed version cannot be followed, its needs are unknown: nothing of that table is removed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Final

from deltalake.exceptions import DeltaError

from aclkit.errors import first_line
from aclkit.model.groups import grouped
from aclkit.runtime.fail_points import fail_point
from aclkit.warehouse.job_run import MATERIALIZING, PublishedRun, decided_and_before
from aclkit.warehouse.run import goes_on_from, versions_now
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.storage import DIGITS, LOG, Storage
from aclkit.warehouse.store import Store
from aclkit.warehouse.table_files import read_files


@dataclass(frozen=True, slots=True)
class Policy:
    """What a user wants to stay, beyond what is needed anyway.

    Attributes:
        keep_days: every run that readers saw within so many days.
        keep_runs: so many of the newest runs, however old they are.
    """

    keep_days: float
    keep_runs: int


@dataclass(frozen=True, slots=True)
class Kept:
    """What stays.

    Attributes:
        runs: the published runs, the oldest first.
        versions: table → its versions that are needed.
    """

    runs: tuple[PublishedRun, ...]
    versions: Mapping[str, frozenset[int]]


def keep(
    runs: Sequence[PublishedRun],
    policy: Policy,
    now: datetime,
    pinned: frozenset[str] = frozenset(),
) -> Kept:
    """Choose what stays of all published runs, the oldest first.

    The newest runs by the policy stay as they are. Of those before them only rows stay: of each
    cluster the newest run of each job, the run that decided and the one before it, and where a
    run that stays took its decisions over, the run that made them. They name the versions that
    maintenance has put in the place of theirs, whose own runs go. The runs that a later run opens
    keep their tables: the run that the next one goes on from, and those that ``_deciding`` returns.
    So do the runs whose ids are pinned.
    """
    first = _first_of_window(runs, policy, now)
    older, window = runs[:first], runs[first:]
    next_runs_open = (goes_on_from(runs, cluster_id) for cluster_id in {r.cluster_id for r in runs})
    opened = _deciding(runs) | {run.run_number for run in next_runs_open if run is not None}
    opened |= {run.run_number for run in runs if run.run_id in pinned}
    wanted = opened | {run.run_number for run in {(r.cluster_id, r.job): r for r in runs}.values()}
    staying = [*window, *(run for run in older if run.run_number in wanted)]
    taken_over = (run.decided_in for run in staying if run.job in MATERIALIZING)
    wanted |= {number for number in taken_over if number is not None}
    rest = [
        replace(run, table_versions=versions_now(older, run))
        for run in older
        if run.run_number in wanted
    ]
    readable = (*window, *(run for run in rest if run.run_number in opened))
    versions = grouped(pair for run in readable for pair in run.table_versions.items())
    return Kept((*rest, *window), {table: frozenset(found) for table, found in versions.items()})


def _first_of_window(runs: Sequence[PublishedRun], policy: Policy, now: datetime) -> int:
    """Return the place of the oldest run that the policy keeps.

    Readers saw a run until the next one was published. The order is that of the numbers, and a
    clock may have gone back: the oldest that was seen late enough counts, and all after it. A time
    in the future proves nothing: the run preceding it was seen as long as the one after it.
    """
    newest = max(0, len(runs) - policy.keep_runs)
    since = now - timedelta(days=policy.keep_days)
    ends = [run.ended for run in runs[1 : newest + 1]]
    first = next((place for place, end in enumerate(ends) if since < end <= now), newest)
    while first and ends[first - 1] > now:
        first -= 1
    return first


def _deciding(runs: Sequence[PublishedRun]) -> set[int]:
    """Return of each cluster the run that decided, and the one before it."""
    by_cluster = grouped((run.cluster_id, (run.run_number, run.job, run.counts)) for run in runs)
    found = (decided_and_before(of_cluster) for of_cluster in by_cluster.values())
    return {number for pair in found if pair for number in pair if number is not None}


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
        used = {
            file.name
            for version in versions
            for file in read_files(store.place, table, version).files
        }
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
