"""A warehouse that a killed run left → tables as they were published, forgetting no version.

Nothing here asks how long ago a version was written. Each step is a commit of its own, and a run
that is killed between two of them leaves what the next one begins with again.
"""

from __future__ import annotations

import logging
from typing import Final

from deltalake.exceptions import DeltaError

from aclkit.errors import SurroundingsError
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.store import Store
from aclkit.warehouse.table_files import CHECKPOINT_EVERY, KEEPING

log = logging.getLogger(__name__)


def take_back_unpublished(store: Store) -> None:
    """Put every table that a killed run left ahead of its published version back to it.

    A table that was never published is emptied.

    Raises:
        SurroundingsError: the log does not hold the published version any more.
    """
    for name in sorted(set(TABLES) - {JOB_RUN}):
        newest = store.newest_version(name)
        if newest is None or newest == store.published.get(name):
            continue
        require_properties(store, name)
        if name in store.published:
            _restore(store, name, store.published[name])
        elif store.has_files(name):
            store.empty(name)
        log.info("took back what an unfinished run left in %s", name)


def _restore(store: Store, name: str, version: int) -> None:
    """Put a table back to a version, and the properties back that it may not have had then.

    With the table's old properties Spark would remove old log entries behind a checkpoint, those
    of this version among them, while readers still open it. So that commit is never one with
    which a checkpoint is written.
    """
    newest = store.newest_version(name) or 0
    if newest < version:
        raise _lost(store, name, version, f"the newest is {newest}")
    if _is_checkpoint_next(store, name):
        store.set_properties(name, KEEPING)
    try:
        store.restore(name, version)
    except DeltaError as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise _lost(store, name, version, reason) from error
    require_properties(store, name)
    store.adopt(name)


def _lost(store: Store, name: str, version: int, reason: str) -> SurroundingsError:
    return SurroundingsError(
        f"version {version} of {name} in {store.place} is published and cannot be restored: "
        f"{reason}. Bring the warehouse back from a backup, or replay into a new one"
    )


def require_properties(store: Store, name: str) -> bool:
    """Give a table the properties, where it lacks one; return whether it did.

    Behind a checkpoint Spark cleans up by the properties that the table had before: so the first
    commit that gives them puts off the checkpoint too.
    """
    if KEEPING.items() <= store.properties(name).items():
        return False
    if _is_checkpoint_next(store, name):
        store.set_properties(name, {**KEEPING, "delta.checkpointInterval": _LATER})
    store.set_properties(name, KEEPING)
    return True


def _is_checkpoint_next(store: Store, name: str) -> bool:
    """Whether Spark would write a checkpoint with the next commit; deltalake is told not to."""
    return store.place.is_uri and ((store.newest_version(name) or 0) + 1) % CHECKPOINT_EVERY == 0


_LATER: Final = "1000003"
"""A prime: no table gets so many commits."""
