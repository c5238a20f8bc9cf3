"""A warehouse that has lost files → one whose other tables a run can begin with, and what was lost.

Everything is checked before anything is changed. What no source and no table can restore is dropped
only where the user asked for that. A table that cannot be read is emptied. Where its log cannot be
read, the table is begun again above every version that a run names: a kill leaves versions that
still cannot be read, and never others in their place.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from aclkit.errors import DamagedError, UsageError, first_line
from aclkit.runtime.scratch import scratch
from aclkit.warehouse.commits import make_table
from aclkit.warehouse.damage import telling_damage
from aclkit.warehouse.duck_beside import ask_files
from aclkit.warehouse.job_run import DECIDED_IN, JOB_RUN, PublishedRun
from aclkit.warehouse.location import Location
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.storage import DIGITS, LOG, commit, newest_version
from aclkit.warehouse.store import Store
from aclkit.warehouse.table_files import Extent, read_files

FACTS: Final = ("acl_log", "log_range")
"""What was read of sources: one is of no use without the other."""

DECISIONS: Final = (
    *("principal", "host", "host_match", "resource", "ruleset_group", "ruleset"),
    *("explain_pair", "explain_class_pair", "explain_ruling"),
)

_LOGS: Final = ("access_day", "log_file")
"""What was read of authorizer logs, and how far: one is of no use without the other."""

_MADE: Final = ("acl_history", "resource_lifetime", "principal_lifetime", "broker")
"""The tables computed from facts, in addition to decisions."""

_HISTORY: Final[Mapping[str, str]] = {
    JOB_RUN: "all runs, with everything that was read, decided and found",
    "acl_log": "every ACL record that the sources no longer hold, of all clusters",
    "acl_reject": "rejected rows of sources that no longer exist",
    "access_change": "the access changes of earlier runs",
    "finding": "the findings of earlier runs, and since when each finding exists",
    "access_day": "the requests that usage has read",
    "log_file": "which authorizer logs usage has read, with all that it read of them",
    "acl_usage": "which ACLs usage has seen in use",
    "acl_change_by": "who changed ACLs, as the controllers' logs showed it",
    "setting": "since when the broker settings are in force",
}
"""Table → what is lost with it; all others are computed from these."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a run makes anew in addition to the tables of its cluster.

    Attributes:
        lost: the tables that could not be read.
    """

    lost: frozenset[str]

    @property
    def tables(self) -> frozenset[str]:
        """The tables that are empty now: the lost ones, and those of no use without them.

        With facts goes all that is known of how they were read and what they make. Decisions are
        the product of all their tables: what is left of one cluster's would be other decisions.
        Authorizer logs are read once: without what was read of them they must be read anew.
        """
        found = self.lost
        if not self.has_facts:
            found |= {*FACTS, "acl_reject", *_MADE, *DECISIONS}
        if not found.isdisjoint(_LOGS):
            found |= {*_LOGS}
        return found if found.isdisjoint(DECISIONS) else found | {*DECISIONS, "explain"}

    @property
    def has_facts(self) -> bool:
        """Whether what was read of sources is still there."""
        return self.lost.isdisjoint(FACTS)

    def rows(self, runs: Iterable[PublishedRun], cluster_id: str) -> list[PublishedRun]:
        """Return the rows of ``job_run`` that stay: none of them refers to lost rows as valid.

        Args:
            runs: the published runs.
            cluster_id: whose decisions are made anew.
        """
        found = [self.without_lost(run) for run in runs]
        if not self.has_facts:
            return [run for run in found if run.cluster_id == cluster_id]
        if self.tables.isdisjoint(DECISIONS):
            return found
        return [
            run if run.cluster_id == cluster_id else _undecided(run)
            for run in found
            if run.cluster_id == cluster_id or run.job != "materialize"
        ]

    def without_lost(self, run: PublishedRun) -> PublishedRun:
        """Return a run that names no version of a lost table."""
        stays = {t: v for t, v in run.table_versions.items() if t not in self.tables}
        return replace(run, table_versions=stays)

    def notes(self, runs: Iterable[PublishedRun], cluster_id: str) -> list[str]:
        """Return what a reader must know."""
        if not self.lost:
            return []
        said = [f"Computed again, because files were lost: {', '.join(sorted(self.lost))}."]
        others = sorted({run.cluster_id for run in runs} - {cluster_id})
        if others and not self.has_facts:
            said.append(f"Nothing is known about other clusters any more: {', '.join(others)}.")
        elif others and not self.tables.isdisjoint(DECISIONS):
            said.append(
                f"The decisions of other clusters are lost: {', '.join(others)}. The next run "
                "of each decides everything again."
            )
        return said


def open_to_rebuild(
    open_store: Callable[[], Store], place: Location, *, is_forced: bool
) -> tuple[Store, Rebuilt]:
    """Open a warehouse for a run that makes its tables anew; tables that cannot be read are empty.

    Raises:
        UsageError: history would be lost, and that was not asked for.
    """
    store, lost = None, dict.fromkeys(TABLES, "")
    try:
        with telling_damage(place):
            store = open_store()
        if store.runs or not (why := _rows_of_no_run(store)):
            lost = _unreadable(store)
        else:
            lost = dict.fromkeys(TABLES, why)
    except DamagedError as error:
        lost[JOB_RUN] = first_line(error)
    _require_forced(lost, is_forced=is_forced)
    if store is None:
        _begin_again(place, JOB_RUN, 0)
        store = open_store()
    rebuilt = Rebuilt(frozenset(lost) - {JOB_RUN})
    every = store.all_runs()
    for table in sorted(rebuilt.tables):
        named = [run.table_versions[table] for run in every if table in run.table_versions]
        if named or store.newest_version(table) is not None:
            store.require_held()
            _empty(store, table, max(named, default=0))
        store.drop(table)
    store.runs = tuple(map(rebuilt.without_lost, store.runs))
    return store, rebuilt


def _rows_of_no_run(store: Store) -> str:
    """Return a note if tables hold rows although ``job_run`` names no run; empty if none does.

    A first run that was killed leaves such tables too. Then a run without a rebuild is enough.
    """
    for table in sorted(set(TABLES) - {JOB_RUN}):
        if store.newest_version(table) is None:
            continue
        try:
            has_files = Extent.of(store.place, table).files > 0
        except (DeltaError, OSError):
            has_files = True
        if has_files:
            return f"it has no run, and {table} is not empty"
    return ""


def _require_forced(lost: Mapping[str, str], *, is_forced: bool) -> None:
    named = {"acl_log" if table in FACTS else table: why for table, why in lost.items()}
    history = [table for table in _HISTORY if table in named]
    if JOB_RUN in history:
        history = [JOB_RUN]
    if history and not is_forced:
        whys = "; ".join(f"{table} cannot be read ({named[table]})" for table in history)
        what = "; ".join(_HISTORY[table] for table in history)
        raise UsageError(
            f"{whys}. A rebuild loses for ever: {what}. Restore the files from a backup, or "
            "add --force. Nothing was changed."
        )


def _unreadable(store: Store) -> dict[str, str]:
    """Read all rows of every published table; return those that cannot be read, and why."""
    lost = {}
    for table in sorted(set(TABLES) - {JOB_RUN}):
        newest, version = store.newest_version(table), store.published.get(table)
        try:
            with telling_damage(store.place):
                if newest is not None:
                    DeltaTable(store.place.of_table(table), version=newest)
                if version is not None:
                    found = read_files(store.place, table, version)
                    ask_files("t", found, "SELECT sum(hash(t)) FROM t")
        except DamagedError as error:
            lost[table] = first_line(error.__cause__ or error)
    return lost


def _empty(store: Store, table: str, named: int) -> None:
    """Leave a table with its columns and no rows, in a version that no run names."""
    newest = store.newest_version(table)
    # Of a log that has lost its newest entries, or that a backup has put back, the next version
    # may be the published one.
    if newest is not None and newest >= named:
        with suppress(DeltaError, OSError):
            store.change(table, DeltaTable.delete)
            return
    _begin_again(store.place, table, named)


def _begin_again(place: Location, table: str, named: int) -> None:
    """Give a table a new log, whose first version that can be read is above all that were named.

    The versions below have an entry each, because a log has no gaps. These have no columns, so
    opening one fails, as before. The table's old files are left for maintenance.
    """
    files, folder = place.files, f"{table}/{LOG}"
    first = max(newest_version(files, table) or 0, named) + 1
    # First what points at a checkpoint, then the oldest: what is left of a log cannot be read.
    for name in sorted(files.list(folder), key=lambda name: (name[:1].isdigit(), name)):
        files.delete(f"{folder}/{name}")
    said = {"timestamp": int(time.time() * 1000), "operation": "REBUILD", "operationParameters": {}}
    for version in range(first):
        commit(files, table, version, [{"commitInfo": said}])
    commit(files, table, first, _actions_of_new(table))


def _actions_of_new(table: str) -> list[dict[str, object]]:
    """Return the content of the first entry of a new table's log."""
    folder = scratch() / "new" / table
    if not folder.exists():
        make_table(str(folder), table)
    text = (folder / LOG / f"{0:0{DIGITS}}.json").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _undecided(run: PublishedRun) -> PublishedRun:
    """Return what is left of a run whose decisions are lost: its replay."""
    counts = {name: count for name, count in run.counts.items() if name != DECIDED_IN}
    return replace(run, job="replay" if run.job == "run" else run.job, counts=counts)
