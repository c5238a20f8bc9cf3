"""The command changes: which access the last runs added or removed, and through which ACL."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import click
import duckdb

from aclkit.audit.reports.changes_answer import ChangedCell, cells_answer, read_run_changes
from aclkit.cli.context import Context, format_option, tell_state
from aclkit.cli.help import question
from aclkit.cli.options import option
from aclkit.cli.output import tell_all
from aclkit.errors import UsageError
from aclkit.model.acl import Acl
from aclkit.model.groups import grouped
from aclkit.model.resource import Resource
from aclkit.warehouse.codecs import acl_of, acl_sql, behind_acl
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.sql import fetch


@question("changes")
@option("--since", metavar="RUN|TIME", help="All runs after this run or ISO 8601 time.")
@click.option("--cells", is_flag=True, help="Each changed access of the last run.")
@format_option
@click.pass_obj
def changes(context: Context, since: str | None, *, cells: bool) -> None:
    """Show access gained and lost in the last run.

    \b
    Example:
      aclkit changes
      aclkit changes --since 2026-11-20T00:00:00Z --format jsonl
      aclkit changes --cells --format csv

    Each line names a principal (or several with the same ACLs), a resource, and the ACL that was
    added or removed. gained and lost count hosts × operations. Only names that both runs know are
    compared. A principal, host or resource that only one run knows has its own line, with the cause
    came or gone. With --since, all runs after a run number or a time are shown; runs without
    changes have no line.
    """
    if cells and since is not None:
        raise UsageError("--cells is about the last run only. Leave out --since.")
    with context.open() as opened:
        newest = opened.run
        notes: Sequence[str] = ()
        if cells:
            answer = cells_answer(_cells(opened.tables, newest))
        else:
            read = read_run_changes(opened.where, since)
            answer, notes = read.answer, read.notes
        tell_state(opened.published, newest)
    tell_all(notes)
    context.write(answer)


def _cells(connection: duckdb.DuckDBPyConnection, run: PublishedRun) -> list[ChangedCell]:
    """Read each access that the run which decided last gained or lost."""
    rows = fetch(connection, _CELLS, [run.cluster_id])
    ids = sorted({acl_id for row in rows for acl_id in row[6:8] if acl_id is not None})
    history = fetch(connection, _ACLS, [run.cluster_id, ids])
    lives = grouped((row[0], (acl_of(row), *behind_acl(row))) for row in history)
    return [
        ChangedCell._make(
            (
                *row[:4],
                Resource(*row[4:6]),
                _last_acl(lives.get(row[6], ()), row[9] or ()),
                _last_acl(lives.get(row[7], ())),
                *row[8:],
            )
        )
        for row in rows
    ]


_Life = tuple[Acl, int, int | None]
"""An ACL, where it took effect, and where it went."""


def _last_acl(lives: Sequence[_Life], moved_at: Collection[int] = ()) -> Acl | None:
    """Return the ACL that an id stood for last, None where no history has it.

    Before the change that is none that came at one of the offsets of the change: an id can stand
    for another ACL since.
    """
    found = [acl for acl, came_at, _ in lives if came_at not in moved_at]
    return found[-1] if found else None


_CELLS = (
    "SELECT change, principal, host, operation, resource_type, resource_name, acl_id_before, "
    "acl_id_after, cause, cause_offsets FROM access_change_cell WHERE cluster_id = ? ORDER BY ALL"
)
_ACLS = acl_sql(
    "FROM acl_history WHERE cluster_id = ? AND acl_id IN (SELECT unnest(CAST(? AS VARCHAR[]))) "
    "ORDER BY acl_id, effective_offset",
    "effective_offset",
    "removed_offset",
)
