"""ACLs by the letters with which their names begin → those that can share a name with one. Pure."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator

from aclkit.rules.names.rows import Row


class PrefixIndex:
    """ACLs by the beginning of the names that their patterns match."""

    def __init__(self) -> None:
        """Create an empty index."""
        self._rows: dict[str, dict[Row, None]] = {}
        self._starts: list[str] = []
        self._lengths: list[int] = []

    def add(self, start: str, row: Row) -> None:
        """Add an ACL whose names begin with some letters."""
        if start not in self._rows:
            insort(self._starts, start)
            if len(start) not in self._lengths:
                insort(self._lengths, len(start))
        self._rows.setdefault(start, {})[row] = None

    def remove(self, start: str, row: Row) -> None:
        """Remove an ACL."""
        del self._rows[start][row]

    def beginning(self, name: str) -> Iterator[Row]:
        """Yield those whose letters begin a name."""
        for length in self._lengths:
            if length > len(name):
                return
            yield from self._rows.get(name[:length], ())

    def near(self, start: str) -> Iterator[Row]:
        """Yield those that can share a name with what begins so."""
        yield from self.beginning(start)
        for at in range(bisect_right(self._starts, start), len(self._starts)):
            if not self._starts[at].startswith(start):
                return
            yield from self._rows[self._starts[at]]
