"""The tools tables and sql: what a statement can read, and its first rows."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from aclkit.answer.document import Answer, Row
from aclkit.audit.mcp.reply import MOST_LETTERS
from aclkit.errors import UsageError
from aclkit.model.phrases import most_like
from aclkit.runtime.deadline import start
from aclkit.warehouse.duck import Tables, fetch
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.location import Location
from aclkit.warehouse.published import Published, open_warehouse
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.storage import newest_version

VIEWS: Final = {
    "acl_current": "ACL in force",
    "explain": "decision: principal, host, operation and resource",
    "explain_acl": "the same, and each ACL that matches it",
    "finding_current": "finding in force",
    "access_by_day": "access of a day from the brokers' log",
    "access_change_cell": "decision that the last run changed",
}
"""View → what a row of it is."""


def tables_answer(tables: Tables, name: str | None) -> Answer:
    """Return what can be read.

    Raises:
        UsageError: there is no table of this name.
    """
    if name is None:
        every = [(table, _row_of(table), columns) for table, columns in fetch(tables, _ALL, [])]
        return Answer(title="Tables", columns=("table", "one_row_per", "columns"), rows=every)
    found = fetch(tables, _COLUMNS, [name])
    if not found:
        near = most_like(name, [table for table, _ in fetch(tables, _ALL, [])])
        meant = f" Did you mean {near}?" if near else ""
        raise UsageError(f"No table {name!r}.{meant}")
    meanings = _meanings(name)
    rows = [(column, kind, meanings.get(column)) for column, kind in found]
    return Answer(title=f"Columns of {name}", columns=("column", "type", "meaning"), rows=rows)


def _row_of(table: str) -> str:
    return VIEWS.get(table) or (TABLES[table].comment if table in TABLES else "")


def _meanings(table: str) -> dict[str, str]:
    """Return what columns mean; those of a view have the meaning that they have in a table."""
    own = (TABLES[table],) if table in TABLES else ()
    return {name: about for each in (*TABLES.values(), *own) for name, _, about in each.columns}


_ALL: Final = (
    "SELECT table_name, string_agg(column_name, ', ' ORDER BY ordinal_position) "
    "FROM information_schema.columns WHERE table_schema = 'main' GROUP BY ALL ORDER BY ALL"
)
_COLUMNS: Final = (
    "SELECT column_name, data_type FROM information_schema.columns "
    "WHERE table_schema = 'main' AND table_name = ? ORDER BY ordinal_position"
)


Ask = Callable[[str, Callable[[], bool]], Generator[str]]
"""Yields the rows of a statement as lines of JSON, in pieces that may break anywhere; it ends soon
after the second argument says that nobody waits any more."""

_TRIES: Final = 3
_STEP: Final = 0.02
"""Seconds between two looks; an interrupt is heard at each."""


@dataclass(frozen=True, slots=True)
class FoundRows:
    """The first rows of a statement.

    Attributes:
        published: what it was asked of.
        answer: the rows.
        has_more: others were not read.
    """

    published: Published
    answer: Answer
    has_more: bool


def ask_sql(warehouse: str, ask: Ask, statement: str, limit: int) -> FoundRows:
    """Run a statement; where a run is published meanwhile, once more, so that its age is known.

    Args:
        warehouse: its folder or URI.
        ask: runs a statement on what is published.
        statement: one SELECT.
        limit: so many rows are read.

    Raises:
        UsageError: it is no SELECT, takes too long or too much memory, or is refused.
        SurroundingsError: the warehouse cannot be read.
    """
    place = Location(warehouse)
    for _ in range(_TRIES):
        version = newest_version(place.files, JOB_RUN)
        published = open_warehouse(warehouse)
        rows, has_more = _wait(ask, statement, limit)
        if newest_version(place.files, JOB_RUN) == version:
            return FoundRows(published, _answer(rows), has_more)
    raise UsageError("Runs were published while the statement was at work. Ask again.")


def _wait(ask: Ask, statement: str, limit: int) -> tuple[list[dict[str, object]], bool]:
    """Read rows in a thread that no interrupt hits: it has a process to end in any case."""
    is_left = threading.Event()
    found = start(
        lambda: _first_rows(ask(statement, lambda: not is_left.is_set()), limit), "aclkit-sql"
    )
    try:
        while not found.done():
            time.sleep(_STEP)
    finally:
        is_left.set()
    return found.result()


def _first_rows(pieces: Generator[str], limit: int) -> tuple[list[dict[str, object]], bool]:
    """Read rows until there are enough; then the process is ended."""
    rows: list[dict[str, object]] = []
    rest, read = "", 0
    with closing(pieces):
        for piece in pieces:
            *lines, rest = (rest + piece).split("\n")
            for line in filter(None, lines):
                if len(rows) >= limit or read > MOST_LETTERS:
                    return rows, True
                rows.append(json.loads(line))
                read += len(line)
            if len(rest) > MOST_LETTERS:
                raise UsageError(f"A row has more than {MOST_LETTERS:,} letters. Select less.")
    return rows, False


def _answer(rows: list[dict[str, object]]) -> Answer:
    columns = tuple(rows[0]) if rows else ()
    cells: list[Row] = [tuple(row.values()) for row in rows]
    return Answer(title="Rows", columns=columns, rows=cells)
