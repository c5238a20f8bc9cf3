"""A warehouse that an older aclkit left → its tables in the format of this one.

Each step is a commit of its own and done only where it is not done yet, so a run that is killed in
between leaves what the next one begins with again: until a run is published, the newest one names
the old format.
"""

from __future__ import annotations

import logging
from typing import Final, NamedTuple

from aclkit.warehouse.formats import FORMAT, Step, steps_behind
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.shifted_times import put_times_right
from aclkit.warehouse.store import Store

log = logging.getLogger(__name__)

# The runs last: readers see the newest version of it, whatever is published.
_IN_ORDER: Final = (*sorted(set(TABLES) - {JOB_RUN}), JOB_RUN)


class Migrated(NamedTuple):
    """The notes of the steps that were taken, and notes on times found on the way."""

    steps: list[str]
    times: list[str]


def migrate(store: Store) -> Migrated | None:
    """Take the steps that the newest run of a warehouse lacks; none for a new warehouse.

    Returns:
        The notes, or None if no step was missing. After steps, tables may have other versions
        than the published ones.
    """
    if not store.runs or store.runs[-1].format_number == FORMAT:
        return None
    there = [name for name in _IN_ORDER if store.newest_version(name) is not None]
    taken, times = [], []
    for step in steps_behind(store.runs[-1].format_number):
        changed = [table for table in there if _take(store, step, table)]
        if changed:
            taken.append(step.says)
            log.info("Upgraded this warehouse of an older aclkit: %s", step.says)
        if step.puts_times_right:
            times += put_times_right(store)
    return Migrated(taken, times)


def _take(store: Store, step: Step, table: str) -> bool:
    """Take a step for one table; return whether there was anything to do."""
    has_changed = step.is_keeping and store.require_properties(table)
    known = store.columns(table) if table in step.columns else ()
    if lacking := [name for name in step.columns.get(table, ()) if name not in known]:
        store.add_columns(table, lacking)
        has_changed = True
    if has_changed and table in store.published:
        store.adopt(table)
    return has_changed
