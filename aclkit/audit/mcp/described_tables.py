"""Tables of a run → the answer that lists them, or the columns of one with their meaning."""

from __future__ import annotations

from typing import Final

from aclkit.answer.document import Answer
from aclkit.errors import UsageError
from aclkit.model.phrases import most_like
from aclkit.warehouse.reader import Tables
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.sql import fetch

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
