"""A warehouse that a killed run left → tables as they were published, forgetting no version.

Nothing here asks how long ago a version was written. Each step is a commit of its own, and a run
that is killed between two of them leaves what the next one begins with again.
"""

from __future__ import annotations

import logging
import time

from deltalake.exceptions import DeltaError

from aclkit.errors import DamagedError, first_line
from aclkit.warehouse.column_types import arrow_schema
from aclkit.warehouse.commits import make_table
from aclkit.warehouse.damage import WAY_OUT
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.place import Place
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.storage import commit, newest_version
from aclkit.warehouse.store import Store

log = logging.getLogger(__name__)


def take_back_unpublished(store: Store) -> None:
    """Put every table that a killed run left ahead of its published version back to it.

    A table that was never published is emptied.

    Raises:
        DamagedError: the log does not hold the published version any more.
    """
    for name in sorted(set(TABLES) - {JOB_RUN}):
        newest = store.newest_version(name)
        if newest is None or newest == store.published.get(name):
            continue
        store.require_properties(name)
        if name in store.published:
            _restore(store, name, store.published[name])
        elif store.extent(name).files:
            store.empty(name)
        log.info("took back what an unfinished run left in %s", name)


def fence_tables(place: Place) -> None:
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
                make_table(place.of_table(name), arrow_schema(name))


def _restore(store: Store, name: str, version: int) -> None:
    """Put a table back to a version, and the properties back that it may not have had then."""
    newest = store.newest_version(name) or 0
    if newest < version:
        raise _lost(store.place, name, version, f"the newest is {newest}")
    try:
        store.restore(name, version)
    except DeltaError as error:
        raise _lost(store.place, name, version, first_line(error)) from error
    store.require_properties(name)
    store.adopt(name)


def _lost(place: Place, name: str, version: int, reason: str) -> DamagedError:
    return DamagedError(
        f"version {version} of {name} in {place} is published and cannot be restored: "
        f"{reason}. {WAY_OUT}"
    )
