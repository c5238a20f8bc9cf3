"""Accesses → a table for people, which names the hosts that most rows share once. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from aclkit.answer.document import Part, Sentence, Table
from aclkit.questions.query.hosts import ANY_HOST


class AccessRow(NamedTuple):
    """Operations of one principal or on one resource, from hosts that are decided alike.

    Attributes:
        name: the principal or the resource.
        operations: in words.
        decision: of all of them.
        hosts: in words, see ``few_hosts``.
        because: what decides.
    """

    name: str
    operations: str
    decision: str
    hosts: str
    because: str


def access_parts(
    name: str,
    rows: Sequence[AccessRow],
    *,
    has_decision: bool,
    has_operations: bool = True,
    wide: Table | None = None,
) -> Iterator[Part]:
    """Yield a table of rows, before it the hosts that most of them have.

    Args:
        name: of the first column.
        rows: the rows; not empty.
        has_decision: the rows have different decisions.
        has_operations: the rows have different operations.
        wide: the table with every column.
    """
    usual = _usual_hosts(rows)
    if usual not in (None, ANY_HOST):
        rest = "" if all(row.hosts == usual for row in rows) else ", unless a row names others"
        yield Sentence(f"Client address: {_from_words(str(usual))}{rest}.")
    shown = {"operations": has_operations, "decision": has_decision}
    columns = (name, *(column for column, is_shown in shown.items() if is_shown), "because")
    cells = [
        (
            row.name,
            *([row.operations] if has_operations else []),
            *([row.decision] if has_decision else []),
            _because(row, usual),
        )
        for row in rows
    ]
    yield Table(columns, cells, wide)


def _usual_hosts(rows: Sequence[AccessRow]) -> str | None:
    """Return the hosts that at least half of the rows have."""
    ((usual, number),) = Counter(row.hosts for row in rows).most_common(1)
    return usual if number * 2 >= len(rows) else None


def _because(row: AccessRow, usual: str | None) -> str:
    """Write what decides, and the hosts unless the table or the ACL already names them."""
    if row.hosts == usual or row.because.endswith(f"{_FROM}{row.hosts}"):
        return row.because
    return f"{row.because}{_FROM}{_from_words(row.hosts)}"


def _from_words(hosts: str) -> str:
    if hosts == ANY_HOST:
        return "any host"
    return hosts.replace(_ANY_BUT, "any host but ", 1) if hosts.startswith(_ANY_BUT) else hosts


_FROM: Final = " from "
_ANY_BUT: Final = f"{ANY_HOST} but "
