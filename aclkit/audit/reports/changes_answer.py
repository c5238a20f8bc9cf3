"""What runs changed of access → the answer: a line for whom and through which ACL."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from aclkit.answer.document import Answer, Item, Items, Part, Row, Sentence
from aclkit.audit.reports.data import Cause, ReportedChange
from aclkit.audit.reports.gather_past import read_changes, read_names
from aclkit.errors import UsageError
from aclkit.model.acl import Acl, acl_words
from aclkit.model.groups import grouped
from aclkit.model.moment import parse_moment
from aclkit.model.phrases import number_of
from aclkit.model.resource import Resource
from aclkit.questions.query.decisions import Where
from aclkit.questions.query.run_order import in_order
from aclkit.questions.query.table_words import few_hosts
from aclkit.rules.names.compare import GAINED
from aclkit.warehouse.codecs import acl_of, acl_sql, behind_acl
from aclkit.warehouse.duck import Tables, fetch
from aclkit.warehouse.job_run import MATERIALIZING, PublishedRun
from aclkit.warehouse.published import Published

COLUMNS: Final = (
    "run", "decided_at", "who", "resource", "gained", "lost", "cause", "offset", "at",
    "acl_change", "acl", "acl_id", "changed_by", "changed_by_certainty",
)  # fmt: skip
_HOST: Final = "host "
_NAMES: Final = ("came", "gone")
_CAUSES: Final = {
    "settings": "the brokers' settings changed",
    "inventory": "another host or principal is known now",
    "acl": "ACLs changed",
}


class RunChange(NamedTuple):
    """A change, the run that found it, and one of the ACLs behind it, if any."""

    run: PublishedRun
    change: ReportedChange
    cause: Cause | None


def changes_answer(found: Sequence[RunChange], since: str) -> Answer:
    """Return what runs changed.

    Args:
        found: the changes, a row for each ACL behind one.
        since: since when, in words: ``run 41``.
    """
    return Answer(
        title=f"Access changed since {since}",
        columns=COLUMNS,
        rows=[_row(*each) for each in found],
        parts=lambda: _parts(found, since),
    )


def _parts(found: Sequence[RunChange], since: str) -> Iterator[Part]:
    moved = {id(each.change): each.change for each in found if each.change.cause not in _NAMES}
    names = [each.change for each in found if each.change.cause in _NAMES]
    items = [*_moved_items(moved.values()), *map(_name_item, names)]
    if items:
        yield Items(items)
    gained, lost = (
        sum(getattr(each, kind) for each in moved.values()) for kind in ("gained", "lost")
    )
    if moved:
        accesses = number_of(gained, "access", "accesses")
        yield Sentence(f"{accesses} gained, {lost:,} lost since {since}.")
    else:
        yield Sentence(f"No access changed since {since}.", "good")


def _moved_items(changes: Iterable[ReportedChange]) -> Iterator[Item]:
    """Yield a line for each principal and cause, with all resources of it."""
    together = grouped(((each.who, each.cause, each.causes), each) for each in changes)
    for (who, cause, causes), same in together.items():
        gained, lost = sum(each.gained for each in same), sum(each.lost for each in same)
        mark = "~" if gained and lost else "+" if gained else "-"
        counts = ", ".join(
            f"{number_of(number, 'access', 'accesses')} {word}"
            for number, word in ((gained, "gained"), (lost, "lost"))
            if number
        )
        where = same[0].resource if len(same) == 1 else number_of(len(same), "resource")
        reasons = [_cause_words(each) for each in causes]
        yield Item(f"{who}: {counts} on {where}", mark, reasons or [_CAUSES.get(cause, cause)])


def _cause_words(cause: Cause) -> str:
    """Write which ACL was added or removed where, and by whom if that is known."""
    by = f" {cause.by.words}" if cause.by else ""
    return f"{acl_words(cause.acl)} {cause.what} at offset {cause.offset}{by}"


def _name_item(change: ReportedChange) -> Item:
    name = change.resource or change.who
    if change.cause == "gone":
        return Item(f"{name}: no longer exists, so not compared", "-")
    return Item(f"{name}: new{_next(change)}", "+")


def _next(change: ReportedChange) -> str:
    """Write how to see the access of a new name."""
    if change.resource:
        return f"; see: aclkit who-can ANY {shlex.quote(change.resource)}"
    if change.who.startswith(_HOST):
        return ""
    return f"; see: aclkit what-can {shlex.quote(change.who)}"


def _row(run: PublishedRun, change: ReportedChange, cause: Cause | None) -> Row:
    head = (
        run.run_number, run.finished_at, change.who, change.resource, change.gained,
        change.lost, change.cause,
    )  # fmt: skip
    if cause is None:
        return (*head, *[None] * 7)
    by = cause.by
    return (
        *head, cause.offset, cause.at, cause.what, str(cause.acl), cause.acl.acl_id,
        (by.names or None) if by else None, by.certainty if by else None,
    )  # fmt: skip


class ChangedCell(NamedTuple):
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


def cells_answer(cells: Sequence[ChangedCell]) -> Answer:
    """Return each access that the run which decided last gained or lost."""
    return Answer(
        title="Accesses that the last run changed",
        columns=ChangedCell._fields,
        rows=[
            (*cell[:4], str(cell.resource), *(acl and str(acl) for acl in cell[5:7]), *cell[7:])
            for cell in cells
        ],
        parts=lambda: _cell_parts(cells),
    )


def _cell_parts(cells: Sequence[ChangedCell]) -> Iterator[Part]:
    """Yield the accesses, the hosts and operations of one together."""
    if not cells:
        yield Sentence("No access changed.", "good")
        return
    hosts = grouped((cell._replace(host="", cause_offsets=None), cell.host) for cell in cells)
    operations = grouped(
        ((cell._replace(operation=""), few_hosts(where, ())), cell.operation)
        for cell, where in hosts.items()
    )
    yield Items(
        Item(
            f"{cell.principal}: {', '.join(done)} on {cell.resource} from {where}",
            "+" if cell.change == GAINED else "-",
            [_reason(cell)],
        )
        for (cell, where), done in operations.items()
    )


def _reason(cell: ChangedCell) -> str:
    acl = cell.acl_after or cell.acl_before
    return acl_words(acl) if acl else _CAUSES.get(cell.cause, cell.cause)


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
