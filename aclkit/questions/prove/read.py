"""A warehouse at some moment, or a file → the side of a proof. Reads only."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from aclkit.errors import UsageError
from aclkit.model.semantics import BrokerSettings
from aclkit.questions.preview.change_set import read_change_set
from aclkit.questions.preview.state import State
from aclkit.questions.prove.proof_settings import LISTING, RECORDS, WAREHOUSE, Reading, Side
from aclkit.runtime.uri import shown

if TYPE_CHECKING:
    pass

EXPECTED = (
    "expected a warehouse, or a file with the output of kafka-acls --list or with records of "
    "the metadata log as JSON lines"
)


def read_file_side(path: str) -> Side:
    """Read a listing, or records that are replayed from an empty cluster.

    Raises:
        UsageError: there is no such file, or it is too large.
        DataError: it is neither, or holds a line that cannot be used.
    """
    read = read_change_set(path, State(acls={}, settings=BrokerSettings()))
    return Side(
        path=shown(path),
        form=LISTING if read.is_listing else RECORDS,
        acls=tuple(read.after.acls.values()),
        notes=read.notes,
    )


def read_warehouse_side(
    path: str | None,
    cluster: str | None,
    at: int | datetime | None = None,
) -> Side:
    """Read the published state of a cluster, or that of an offset or a time.

    Raises:
        UsageError: no warehouse, no such cluster, nothing was decided yet, or what held then is
            not known.
    """
    # Here, so that two files are compared without an engine.
    from aclkit.questions.preview.read import read_moment

    _refuse_other_folders(path)
    read = read_moment(path, cluster, at)
    return Side(
        path=shown(read.place),
        form=WAREHOUSE,
        acls=tuple(read.acls),
        own=Reading(
            settings=read.settings,
            semantics=read.semantics,
            source=f"run {read.run_number} of the warehouse",
        ),
        cluster_id=read.cluster_id,
        offset=read.offset,
        notes=read.notes,
        as_of=read.as_of,
    )


def _refuse_other_folders(path: str | None) -> None:
    """Refuse a folder that is no warehouse; the error names what is expected."""
    from aclkit.warehouse.job_run import JOB_RUN
    from aclkit.warehouse.location import Location
    from aclkit.warehouse.storage import newest_version

    if path is not None and newest_version(Location(path).files, JOB_RUN) is None:
        raise UsageError(f"{shown(path)}: {EXPECTED}; found a folder that is not a warehouse")
