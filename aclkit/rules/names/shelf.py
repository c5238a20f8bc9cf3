"""ACLs by the letters with which their names begin: those near to one are found at once. Pure."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator

from aclkit.model.semantics import Semantics
from aclkit.rules.names.rows import Row
from aclkit.rules.names.symbols import start_of_pattern


class Shelf:
    """ACLs that come and go."""

    def __init__(self, semantics: Semantics) -> None:
        """Begin with none."""
        self._semantics = semantics
        self._rows: dict[str, dict[Row, None]] = {}
        self._starts: list[str] = []

    def add(self, row: Row) -> None:
        """Put an ACL there."""
        start = self._start(row)
        if start not in self._rows:
            insort(self._starts, start)
        self._rows.setdefault(start, {})[row] = None

    def remove(self, row: Row) -> None:
        """Take an ACL away."""
        del self._rows[self._start(row)][row]

    def __iter__(self) -> Iterator[Row]:
        """Yield all of them."""
        for rows in self._rows.values():
            yield from rows

    def near(self, row: Row) -> Iterator[Row]:
        """Yield the others that can share a name with an ACL."""
        start = self._start(row)
        starts = [start[:end] for end in range(len(start))]
        for at in range(bisect_left(self._starts, start), len(self._starts)):
            if not self._starts[at].startswith(start):
                break
            starts.append(self._starts[at])
        for each in starts:
            yield from (other for other in self._rows.get(each, ()) if other is not row)

    def _start(self, row: Row) -> str:
        acl = row.acl
        return start_of_pattern(acl.pattern_type, acl.resource_name, self._semantics)
