"""What a published run was asked → the same answer again; it never changes, so it stays true."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from aclkit.warehouse.reader import Answer, Tables

_Made = TypeVar("_Made")

MOST_KEPT: Final = 2_000_000
"""So many names and values of a run are kept, less than 100 bytes each; then the oldest go."""

_LARGEST: Final = MOST_KEPT // 2
"""What is larger alone is not kept, so that it does not drive out all else."""

_LONG: Final = 8
"""A statement about a longer list of names is hardly ever asked twice."""


@dataclass(slots=True)
class ResultCache:
    """Answers by key, with how much each holds; for all threads."""

    _kept: OrderedDict[Hashable, tuple[Any, int]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    held: int = 0

    def kept(
        self, key: Hashable, make: Callable[[], _Made], size: Callable[[Any], int] = len
    ) -> _Made:
        """Return what was made before under a key, or make it; ``size`` says what it holds."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                found: _Made = self._kept[key][0]
                return found
        made = make()
        holds = size(made)
        if holds <= _LARGEST:
            with self._lock:
                self.held += holds - self._kept.pop(key, (None, 0))[1]
                self._kept[key] = made, holds
                while self.held > MOST_KEPT:
                    self.held -= self._kept.popitem(last=False)[1][1]
        return made


@dataclass(frozen=True, slots=True)
class CachedTables:
    """Tables of a run that ask each statement once, as long as its answer is kept."""

    tables: Tables
    memory: ResultCache

    def execute(self, query: str, parameters: object = None, /) -> Answer:
        """See ``Tables.execute``."""
        values = [
            tuple(value) if isinstance(value, list) else value
            for value in (parameters if isinstance(parameters, Sequence) else ())
        ]
        if any(isinstance(value, tuple) and len(value) > _LONG for value in values):
            return self.tables.execute(query, parameters)

        def ask() -> _Found:
            return _Found(self.tables.execute(query, parameters).fetchall())

        return self.memory.kept((query, *values), ask, lambda found: sum(map(_size, found.rows)))


@dataclass(frozen=True, slots=True)
class _Found:
    """The rows of a statement; whoever reads them leaves them as they are."""

    rows: list[Any]

    def fetchall(self) -> list[Any]:
        """See ``Answer.fetchall``."""
        return self.rows


def _size(row: tuple[object, ...]) -> int:
    """Return how many values a row has, those in its lists too."""
    return 1 + sum(len(value) if isinstance(value, (list, dict)) else 1 for value in row)
