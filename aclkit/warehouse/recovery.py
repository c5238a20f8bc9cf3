"""A warehouse that a killed run or an older aclkit left → tables with which a run can begin.

What was not published is taken back, forgetting no version; then tables get the format of this
aclkit. Nothing here asks how long ago a version was written. Each step is a commit of its own and
done only where it is not done yet, so a run that is killed in between leaves what the next one
begins with again: until a run is published, the newest one names the old format.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

from deltalake import DeltaTable, Schema
from deltalake.exceptions import DeltaError

from aclkit.errors import DamagedError, first_line
from aclkit.runtime.fail_points import after_commit
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.commits import (
    KEEPING,
    describe_table,
    make_table,
    properties_of,
    with_properties,
)
from aclkit.warehouse.damage import WAY_OUT
from aclkit.warehouse.formats import FORMAT, OLDEST, STEPS, Step
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.location import Location
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.storage import LOG, commit, newest_version
from aclkit.warehouse.store import Store
from aclkit.warehouse.table_files import Extent, columns_of, read_files

log = logging.getLogger(__name__)


def take_back_unpublished(store: Store) -> None:
    """Put every table that a killed run left ahead of its published version back to it.

    A table that was never published is emptied.

    Raises:
        DamagedError: the log does not hold the published version any more, or ``job_run`` is lost.
    """
    if not store.runs:
        _require_one_writer(store)
    for name in sorted(set(TABLES) - {JOB_RUN}):
        newest = store.newest_version(name)
        if newest is None and name in store.published:
            raise _lost(store.place, name, store.published[name], "it does not exist")
        if newest is None or newest == store.published.get(name):
            continue
        _require_properties(store, name)
        if name in store.published:
            _restore(store, name, store.published[name])
        elif Extent.of(store.place, name).files:
            store.change(name, DeltaTable.delete)
        log.info("Undid the changes of an unfinished run to %s", name)


def _require_one_writer(store: Store) -> None:
    """Insist that what no run has published can be of a first run that was killed.

    Each run empties first what others left. So rows of two runs are those of published ones.
    """
    found = {name: _writers(store, name) for name in sorted(set(TABLES) - {JOB_RUN})}
    if len(frozenset().union(*found.values())) > 1:
        named = ", ".join(name for name, runs in found.items() if runs)
        raise DamagedError(
            f"{JOB_RUN} in {store.place} has no run, but several runs wrote {named}. {WAY_OUT}"
        )


def _writers(store: Store, table: str) -> frozenset[str]:
    """Return the runs that wrote the files of a table's newest version, according to its log."""
    newest, place = store.newest_version(table), store.place
    if newest is None:
        return frozenset()
    active = {file.name for file in read_files(place, table, newest).files}
    found = set()
    for name in place.files.list(f"{table}/{LOG}"):
        stem, _, kind = name.partition(".")
        if kind == "json" and stem.isdigit():
            entry = place.files.read(f"{table}/{LOG}/{name}")
            actions = [json.loads(line) for line in entry.splitlines()]
            if any(unquote(a["add"]["path"]) in active for a in actions if "add" in a):
                found |= {a["commitInfo"].get("userMetadata") for a in actions if "commitInfo" in a}
    return frozenset(run_id for run_id in found if run_id)


def fence_tables(place: Location) -> None:
    """Give every table a version that changes nothing, and make those that are not there yet.

    A commit must follow the version that its run saw last. So of a run that believes to hold the
    warehouse still, none is possible any more. It may have slept before its first commit, so that
    a place without any table has its fence too.
    """
    files = place.files
    said = {"timestamp": int(time.time() * 1000), "operation": "FENCE", "operationParameters": {}}
    for name in sorted(TABLES):
        while (newest := newest_version(files, name)) is None or not commit(
            files, name, newest + 1, [{"commitInfo": said}]
        ):
            if newest is None:
                # Somebody else may make it at this moment: then it is theirs, and is fenced next.
                make_table(place.of_table(name), name)


def _restore(store: Store, name: str, version: int) -> None:
    """Put a table back to a version, and restore properties that this version may lack."""
    newest = store.newest_version(name) or 0
    if newest < version:
        raise _lost(store.place, name, version, f"the newest version is {newest}")
    try:
        store.change(name, lambda found, **how: found.restore(version, **how))
    except DeltaError as error:
        raise _lost(store.place, name, version, first_line(error)) from error
    store.restored[name] = version
    _require_properties(store, name)
    store.adopt(name)


def _require_properties(store: Store, table: str) -> None:
    """Give a table the properties by which it forgets nothing, if it lacks one."""
    if not KEEPING.items() <= properties_of(store.place.of_table(table)).items():
        store.change(table, with_properties(KEEPING))


def _lost(place: Location, name: str, version: int, reason: str) -> DamagedError:
    return DamagedError(
        f"Version {version} of {name} in {place} is published and cannot be restored: "
        f"{reason}. {WAY_OUT}"
    )


# The runs last: readers see the newest version of it, whatever is published.
_IN_ORDER: Final = (*sorted(set(TABLES) - {JOB_RUN}), JOB_RUN)


def migrate(store: Store) -> list[str] | None:
    """Take the steps that the newest run of a warehouse lacks; none for a new warehouse.

    Returns:
        The notes of the steps that were taken; None if no step was missing. After steps, tables
        may have other versions than the published ones.
    """
    if not store.runs or store.runs[-1].format_number == FORMAT:
        return None
    there = [name for name in _IN_ORDER if store.newest_version(name) is not None]
    taken = []
    for step in STEPS[store.runs[-1].format_number - OLDEST :]:
        changed = [table for table in there if _take(store, step, table)]
        if changed:
            taken.append(step.says)
            log.info("Upgraded this warehouse of an older aclkit: %s", step.says)
    return taken


def _take(store: Store, step: Step, table: str) -> bool:
    """Take a step for one table; return whether there was anything to do."""
    has_changed = step.describes and describe_table(store.place, table, store.next_commit(table))
    if has_changed:
        after_commit()
    known = columns_of(store.place.of_table(table)) if table in step.columns else ()
    if lacking := [name for name in step.columns.get(table, ()) if name not in known]:
        add_columns(store, table, lacking)
        has_changed = True
    if has_changed and table in store.published:
        store.adopt(table)
    return has_changed


def add_columns(store: Store, table: str, columns: Sequence[str]) -> None:
    """Give a table columns of the contract that it lacks, in a commit of its own."""
    new = Schema.from_arrow(arrow_schema(table, columns)).fields
    store.change(table, lambda found, **how: found.alter.add_columns(new, **how))
