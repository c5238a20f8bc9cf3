"""What runs changed of access → the answer: a line for whom and through which ACL. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from aclkit.answer.document import Answer, Item, Items, Part, Row, Sentence
from aclkit.audit.reports.data import Cause, ReportedChange
from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words
from aclkit.model.groups import grouped
from aclkit.model.phrases import number_of
from aclkit.model.resource import Resource
from aclkit.questions.query.table_words import few_hosts
from aclkit.rules.names.compare import GAINED
from aclkit.warehouse.job_run import PublishedRun

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
