"""A warehouse at some moment, or a file → the side of a proof. Reads only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from aclkit.errors import UsageError
from aclkit.kafka.desired.answer import OWN_CHANGE, hidden_in
from aclkit.kafka.desired.read import Asked
from aclkit.model.acl import Acl
from aclkit.model.semantics import BrokerSettings
from aclkit.questions.preview.desired import apply_desired
from aclkit.questions.preview.desired_forms import read_wanted
from aclkit.questions.preview.scopes import Scope
from aclkit.questions.preview.state import State
from aclkit.questions.prove.proof_settings import FILES, LISTING, RECORDS, WAREHOUSE, Reading, Side
from aclkit.runtime.uri import shown

EXPECTED = (
    "expected a warehouse, or files in a format that aclkit desired show reads, such as the output "
    "of kafka-acls --list"
)


def read_file_side(
    path: str,
    asked: Asked,
    scope: Scope | None = None,
    *,
    with_operator: bool | None = False,
    onto: Sequence[Acl] | None = None,
) -> Side:
    """Read files of a team as one state.

    Args:
        path: a file, a folder or a glob.
        asked: what is read of it.
        scope: what files without a scope of their own replace.
        with_operator: Strimzi's User Operator runs; None where that is unknown.
        onto: the ACLs of the other side, on which the files are applied; without them the files
            are a whole state. Records are always replayed from an empty cluster.

    Raises:
        UsageError: there is no such file, it is too large, or it needs a scope.
        DataError: it is of no known format, or holds something that cannot be used.
    """
    desired = read_wanted([path], asked)
    is_records = all(part.form == RECORDS for part in desired.parts)
    notes, applied = list(desired.notes), None
    if onto is None or is_records:
        once = {each.binding: each.acl for each in desired.acls}.values()
        acls = tuple(replace(acl, acl_id=f"file-{n:04}") for n, acl in enumerate(once, 1))
        if any(part.reach == "change" for part in desired.parts):
            notes.append(f"{shown(path)}: {OWN_CHANGE}")
    else:
        before = State(acls={acl.acl_id: acl for acl in onto}, settings=BrokerSettings())
        applied = apply_desired(desired, before, scope, with_operator=with_operator)
        acls, notes = tuple(applied.after.acls.values()), [*applied.notes]
    return Side(
        path=shown(path),
        form=_form(part.form for part in desired.parts),
        acls=acls,
        notes=tuple(notes),
        fresh=frozenset(each.acl.principal for each in desired.acls if each.is_fresh),
        applied=applied,
        hidden=tuple(hidden_in(desired.parts)),
    )


def _form(forms: Iterable[str]) -> str:
    """Return what a side of files is called."""
    found = set(forms)
    return RECORDS if found == {RECORDS} else LISTING if found <= {"acls-list"} else FILES


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
