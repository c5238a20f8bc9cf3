"""Which facts or rejects: conditions as values, and as what an engine's columns make of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from aclkit.model.facts import OVERWRITTEN, RECORD, SNAPSHOT


@dataclass(frozen=True, slots=True)
class Outside:
    """Records that are not in the log, as far as is known.

    Attributes:
        cuts: see ``Lineage``.
    """

    cuts: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class OfSnapshots:
    """The entries of the snapshots with these end offsets."""

    end_offsets: Collection[int]


@dataclass(frozen=True, slots=True)
class Offsets:
    """Offsets ``start`` ≤ o < ``stop``, whatever they were read from."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Origin:
    """A source as ``acl_log.source`` names it, or the folder that it lies in."""

    source: str


@dataclass(frozen=True, slots=True)
class OfASource:
    """Rejects that a source has, in contrast to those of the replay; those of an item, if any."""

    item: Offsets | Origin | None = None


Condition = Outside | OfSnapshots | Offsets | Origin | OfASource
"""Which facts or rejects; a row of which it is unknown whether it is one is none."""


Expression = Any
"""A column or a condition in an engine's own form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """How an engine writes conditions: its columns compare with ``==`` and join with ``&``.

    Attributes:
        column: makes a column of its name.
        text: makes a text that is no column's name.
        nothing: makes a condition that holds for no row.
        settled: makes a condition that does not hold where it is unknown.
        is_in: whether a column is one of some numbers.
        starts_with: whether a column starts with a text.
    """

    column: Callable[[str], Expression]
    text: Callable[[str], Expression]
    nothing: Callable[[], Expression]
    settled: Callable[[Expression], Expression]
    is_in: Callable[[Expression, Collection[int]], Expression]
    starts_with: Callable[[Expression, Expression], Expression]

    def any_of(self, conditions: Iterable[Condition]) -> Expression:
        """Return whether some condition holds for a fact or a reject; unknown is no."""
        return self.settled(self._some(map(self._holds, conditions)))

    def _some(self, parts: Iterable[Expression]) -> Expression:
        return reduce(or_, parts, self.nothing())

    def _holds(self, condition: Condition) -> Expression:
        fact, offset = self.column("fact"), self.column("log_offset")
        if isinstance(condition, Outside):
            epoch, cuts = self.column("epoch"), sorted(condition.cuts.items())
            is_record = (fact == RECORD) | (fact == OVERWRITTEN)
            return is_record & self._some((epoch == e) & (offset >= cut) for e, cut in cuts)
        if isinstance(condition, OfSnapshots):
            ends = condition.end_offsets
            return (fact == SNAPSHOT) & (self.is_in(offset, ends) if ends else self.nothing())
        if isinstance(condition, Offsets):
            return (offset >= condition.start) & (offset < condition.stop)
        if isinstance(condition, OfASource):
            is_of = self.column("stage") == self.text("source")
            return is_of if condition.item is None else is_of & self._holds(condition.item)
        source, folder = self.column("source"), self.text(f"{condition.source.rstrip('/')}/")
        return (source == self.text(condition.source)) | self.starts_with(source, folder)
