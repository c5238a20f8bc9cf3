"""The command changes: whose access the last nights gave or took, and through which ACL."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import starmap
from typing import NamedTuple

import click
import duckdb

from aclkit.audit.reports.data import Cause, ReportedChange
from aclkit.audit.reports.gather_past import read_changes, read_names
from aclkit.cli.context import Context, format_option, tell_state
from aclkit.cli.options import option, parse_moment
from aclkit.cli.output import tell
from aclkit.cli.table import Table
from aclkit.errors import UsageError
from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words
from aclkit.model.groups import grouped
from aclkit.model.resource import Resource
from aclkit.questions.preview.words import few_hosts
from aclkit.questions.query.run_order import in_order
from aclkit.warehouse.codecs import acl_of, acl_sql, behind_acl
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import Published
from aclkit.warehouse.sql import fetch
from aclkit.warehouse.standing import MATERIALIZING

COLUMNS = (
    "run", "decided_at", "who", "resource", "gained", "lost", "cause", "offset", "at",
    "acl_change", "acl", "acl_id",
)  # fmt: skip
CELL_COLUMNS = (
    "change", "principal", "host", "operation", "resource", "acl_before", "acl_after", "cause",
    "cause_offsets",
)  # fmt: skip


@click.command("changes")
@option("--since", metavar="RUN|TIME", help="All behind that run, or that ISO 8601 time.")
@click.option("--cells", is_flag=True, help="Each access that the newest of them changed.")
@format_option
@click.pass_obj
def changes(context: Context, since: str | None, *, cells: bool) -> None:
    """Say what access the last run gave and took: from whom, through which ACL, and when.

    \b
    Example:
      aclkit changes
      aclkit changes --since 2026-11-20T00:00:00Z --format jsonl
      aclkit changes --cells --format csv

    A line per principal, or class of principals, resource and ACL that came or went; gained and
    lost count hosts × operations. Compared are names that both runs know. A principal, host or
    resource that only one of them knows has a line of its own, with the cause came or gone.
    Without --since it is about the run that decided last; runs
    that changed nothing have no line. --since takes the number of a run or a time.
    """
    with context.open() as opened:
        published, newest = opened.published, opened.run
        runs = _runs(published, opened.cluster_id, since)
        if cells and since is not None:
            raise UsageError("--cells is about the run that decided last: leave --since out")
        tell_state(published, newest)
        if cells:
            _print_cells(context, _cells(opened.tables, newest))
        else:
            _print(context, [each for run in runs for each in _changes(opened.tables, run)])
    if not runs:
        tell("no run decided since then")
    if since is not None and (gone := _last_gone(published, since)) is not None:
        tell(
            f"runs up to {gone} are not all kept any more (aclkit maintain): what they changed "
            "is missing here"
        )


def _runs(published: Published, cluster_id: str, since: str | None) -> list[PublishedRun]:
    """Return the runs that are asked about: those that made decisions, the newest first.

    Raises:
        UsageError: ``since`` is neither the number of a run nor a time.
    """
    decided = [
        run
        for run in reversed(published.standing if since is None else published.runs)
        if run.cluster_id == cluster_id
        and run.job in MATERIALIZING
        and run.counts.get("decided_in_run", run.run_number) == run.run_number
    ]
    if since is None:
        return decided[:1]
    try:
        moment = parse_moment(since)
    except UsageError:
        raise UsageError(
            f"bad --since {since!r}: expected the number of a run, or a time such as "
            "2026-11-21T10:00:00Z"
        ) from None
    if isinstance(moment, datetime):
        ended = _ends(published)
        return [run for run in decided if ended[run.run_number] > moment]
    if moment > published.run.run_number:
        raise UsageError(f"there is no run {moment}: the newest is {published.run.run_number}")
    return [run for run in decided if run.run_number > moment]


def _last_gone(published: Published, since: str) -> int | None:
    """Return the newest run behind a moment that is not kept, None where all are."""
    moment = parse_moment(since)
    runs = published.runs
    if isinstance(moment, datetime):
        before = [number for number, time in _ends(published).items() if time <= moment]
        moment = max(before, default=-1)
    numbers = {run.run_number for run in runs}
    behind = range(published.run.run_number, max(moment, -1), -1)
    return next((number for number in behind if number not in numbers), None)


def _ends(published: Published) -> dict[int, datetime]:
    """Return when each run ended, in their order: a clock may have been ahead."""
    runs = published.runs
    times = in_order([run.ended for run in runs])
    return {run.run_number: time for run, time in zip(runs, times, strict=True)}


_Found = tuple[PublishedRun, ReportedChange, Cause | None]


def _changes(connection: duckdb.DuckDBPyConnection, run: PublishedRun) -> Iterator[_Found]:
    """Yield the changes of a run, the largest first, and each ACL behind one; then names."""
    found, number = read_changes(connection, run)
    if number > len(found):
        tell(
            f"run {run.run_number}: the {len(found):,} largest of {number:,} changes; all are in "
            "the table access_change"
        )
    for change in found:
        yield from ((run, change, cause) for cause in change.causes or [None])
    for names in read_names(connection, run):
        if names.number > len(names.names):
            tell(
                f"run {run.run_number}: the first {len(names.names):,} of {names.number:,} names "
                f"that {'came' if names.is_new else 'went'}; all are in the table access_change"
            )
        yield from ((run, name, None) for name in names.names)


def _print(context: Context, found: Sequence[_Found]) -> None:
    rows = list(starmap(_row, found))
    few = list(starmap(_few, found))
    columns = ("run", "who", "resource", "gained", "lost", "because")
    context.write(COLUMNS, rows, table=lambda: [Table(columns, few, Table(COLUMNS, rows))])


def _row(run: PublishedRun, change: ReportedChange, cause: Cause | None) -> Sequence[object]:
    head = (
        run.run_number, run.finished_at, change.who, change.resource, change.gained,
        change.lost, change.cause,
    )  # fmt: skip
    if cause is None:
        return (*head, None, None, None, None, None)
    return (*head, cause.offset, cause.at, cause.what, str(cause.acl), cause.acl.acl_id)


def _few(run: PublishedRun, change: ReportedChange, cause: Cause | None) -> Sequence[object]:
    because = _named_once(change) or change.cause
    if cause is not None:
        because = f"{acl_words(cause.acl)} {cause.what} at offset {cause.offset}"
    return run.run_number, change.who, change.resource, change.gained, change.lost, because


def _named_once(change: ReportedChange) -> str | None:
    """Say that one of two runs alone knows a name, and how to see the access of a new one."""
    if change.cause == "gone":
        return "no longer known, so not compared"
    if change.cause != "came":
        return None
    if change.resource:
        return f"new; see: aclkit who-can ANY {shlex.quote(change.resource)}"
    if change.who.startswith(_HOST):
        return "new"
    return f"new; see: aclkit what-can {shlex.quote(change.who)}"


class _Changed(NamedTuple):
    """One access that a run changed."""

    change: str
    principal: str
    host: str
    operation: str
    resource: Resource
    acl_before: Acl | None
    acl_after: Acl | None
    cause: str
    cause_offsets: list[int] | None


def _cells(connection: duckdb.DuckDBPyConnection, run: PublishedRun) -> list[_Changed]:
    """Read each access that the run which decided last gained or lost."""
    rows = fetch(connection, _CELLS, [run.cluster_id])
    ids = sorted({acl_id for row in rows for acl_id in row[6:8] if acl_id is not None})
    history = fetch(connection, _ACLS, [run.cluster_id, ids])
    lives = grouped((row[0], (acl_of(row), *behind_acl(row))) for row in history)
    return [
        _Changed._make(
            (
                *row[:4],
                Resource(*row[4:6]),
                _acl_before(lives.get(row[6], ()), row[9] or ()),
                _acl_after(lives.get(row[7], ())),
                *row[8:],
            )
        )
        for row in rows
    ]


_Life = tuple[Acl, int, int | None]
"""An ACL, where it took effect, and where it went."""


def _acl_before(lives: Sequence[_Life], moved_at: Collection[int]) -> Acl | None:
    """Return the ACL that an id stood for before the change; None where no history has it now.

    An id can stand for another ACL since, which came at one of the offsets of the change.
    """
    found = [life for life in lives if life[1] not in moved_at]
    return found[-1][0] if found else None


def _acl_after(lives: Sequence[_Life]) -> Acl | None:
    """Return the ACL that an id stands for now, or stood for last."""
    return lives[-1][0] if lives else None


def _print_cells(context: Context, cells: Sequence[_Changed]) -> None:
    rows = [
        (*cell[:4], str(cell.resource), *(acl and str(acl) for acl in cell[5:7]), *cell[7:])
        for cell in cells
    ]
    context.write(CELL_COLUMNS, rows, table=lambda: [_cell_table(cells, Table(CELL_COLUMNS, rows))])


def _cell_table(cells: Iterable[_Changed], wide: Table) -> Table:
    """Return the accesses for people: hosts and operations that fare alike together."""
    hosts = grouped((cell._replace(host="", cause_offsets=None), cell.host) for cell in cells)
    operations: dict[tuple[_Changed, str], list[str]] = {}
    for cell, where in hosts.items():
        key = cell._replace(operation=""), few_hosts(where, ())
        operations.setdefault(key, []).append(cell.operation)
    rows = [
        (cell.change, cell.principal, ", ".join(done), where, str(cell.resource), _reason(cell))
        for (cell, where), done in operations.items()
    ]
    return Table(("change", "principal", "operations", "host", "resource", "because"), rows, wide)


def _reason(cell: _Changed) -> str:
    acl = cell.acl_after or cell.acl_before
    return acl_words(acl, cell.principal, cell.resource.resource_type) if acl else cell.cause


_HOST = "host "
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
