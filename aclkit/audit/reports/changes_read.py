"""A published run, or all after another → what they changed of access, and what is not shown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from aclkit.answer.document import Answer
from aclkit.audit.reports.changes_answer import ChangedCell, RunChange, changes_answer
from aclkit.audit.reports.gather_past import read_changes, read_names
from aclkit.errors import UsageError
from aclkit.model.acl import Acl
from aclkit.model.groups import grouped
from aclkit.model.moment import parse_moment
from aclkit.model.resource import Resource
from aclkit.questions.query.decisions import Where
from aclkit.questions.query.run_order import in_order
from aclkit.warehouse.codecs import acl_of, acl_sql, behind_acl
from aclkit.warehouse.job_run import MATERIALIZING, PublishedRun
from aclkit.warehouse.published import Published
from aclkit.warehouse.reader import Tables
from aclkit.warehouse.sql import fetch


@dataclass(frozen=True, slots=True)
class ReadChanges:
    """What runs changed, and what a reader of it must know."""

    answer: Answer
    notes: Sequence[str]


def read_run_changes(where: Where, since: str | None = None) -> ReadChanges:
    """Read what the run that decided last changed, or all runs after a run or a time.

    Args:
        where: the warehouse and the cluster.
        since: the number of a run, or an ISO 8601 time.

    Raises:
        UsageError: ``since`` is neither, or there is no such run.
    """
    published = where.published
    after = None if since is None else _last_until(published, since)
    runs = _runs(published, where.cluster_id, after)
    notes = ["No run has made decisions since then."] if since is not None and not runs else []
    found: list[RunChange] = []
    for run in runs:
        found += _changes(where.tables, run, notes)
    if after is not None and (gone := _last_gone(published, after)) is not None:
        notes.append(
            f"Runs up to {gone} are not all kept any more (aclkit maintain). The changes of "
            "deleted runs are missing."
        )
    return ReadChanges(changes_answer(found, _since(published, runs, since)), notes)


def _since(published: Published, runs: Sequence[PublishedRun], since: str | None) -> str:
    """Write since when changes are shown."""
    if since is not None:
        return since if not since.isdigit() else f"run {since}"
    numbers = [run.run_number for run in published.runs if run.run_number < runs[-1].run_number]
    return f"run {max(numbers)}" if runs and numbers else "the first run"


def _last_until(published: Published, since: str) -> int:
    """Return the number of the newest run up to a run or a time; -1 where none is that old.

    Raises:
        UsageError: ``since`` is neither the number of a run nor a time.
    """
    try:
        moment = parse_moment(since)
    except UsageError:
        raise UsageError(
            f"Invalid --since {since!r}. Pass the number of a run, or a time such as "
            "2026-11-21T10:00:00Z."
        ) from None
    newest, runs = published.run.run_number, published.runs
    if isinstance(moment, datetime):
        # In their order: a clock may have been ahead.
        ended = zip(runs, in_order([run.ended for run in runs]), strict=True)
        return max((run.run_number for run, time in ended if time <= moment), default=-1)
    if moment > newest:
        raise UsageError(f"Run {moment} does not exist. The newest is {newest}.")
    return moment


def _runs(published: Published, cluster_id: str, after: int | None) -> list[PublishedRun]:
    """Return the runs that made decisions, the newest first: the last, or all after a run."""
    decided = [
        run
        for run in reversed(published.standing if after is None else published.runs)
        if run.cluster_id == cluster_id
        and run.job in MATERIALIZING
        and run.counts.get("decided_in_run", run.run_number) == run.run_number
    ]
    return decided[:1] if after is None else [r for r in decided if r.run_number > after]


def _last_gone(published: Published, after: int) -> int | None:
    """Return the newest run after another that is not kept, None where all are."""
    numbers = {run.run_number for run in published.runs}
    behind = range(published.run.run_number, after, -1)
    return next((number for number in behind if number not in numbers), None)


def _changes(tables: Tables, run: PublishedRun, notes: list[str]) -> Iterator[RunChange]:
    """Yield the changes of a run, the largest first, with each ACL that caused one; then names.

    What is counted and not read is noted.
    """
    found, number = read_changes(tables, run)
    if number > len(found):
        notes.append(
            f"Run {run.run_number}: showing the {len(found):,} largest of {number:,} changes. "
            "All are in the table access_change."
        )
    for change in found:
        yield from (RunChange(run, change, cause) for cause in change.causes or [None])
    for names in read_names(tables, run):
        if names.number > len(names.names):
            notes.append(
                f"Run {run.run_number}: showing the first {len(names.names):,} of "
                f"{names.number:,} names that are {'new' if names.is_new else 'gone'}. "
                "All are in the table access_change."
            )
        yield from (RunChange(run, name, None) for name in names.names)


def read_cells(tables: Tables, run: PublishedRun) -> list[ChangedCell]:
    """Read each access that the run which decided last gained or lost."""
    rows = fetch(tables, _CELLS, [run.cluster_id])
    ids = sorted({acl_id for row in rows for acl_id in row[6:8] if acl_id is not None})
    history = fetch(tables, _ACLS, [run.cluster_id, ids])
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
