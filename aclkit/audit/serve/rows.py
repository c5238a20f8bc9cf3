"""Rows of who-can and what-can → rows of a page: one a name, operations as chips. Pure.

What everybody has is said once above them, and a row tells what its name has beyond that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from aclkit.model.operation import USE_OF_OPERATION, USES
from aclkit.questions.preview.words import few_hosts
from aclkit.questions.query.fold import ALL_HOSTS
from aclkit.rules.decide.rules import ALLOWED, SUPER_USER

Row = Sequence[str | None]
"""A row of an ``Access``."""

_WEIGHT: Final = dict(zip(USES, (100.0, 10.0, 1.0), strict=True))


class Line(NamedTuple):
    """A row of an answer without its name: what rows of two names may share."""

    hosts: str
    operation: str
    decision: str


@dataclass(frozen=True, slots=True)
class Chip:
    """An operation: what it is for, whether it is allowed, from where, and how often."""

    operation: str
    hosts: str
    is_allowed: bool = True
    number: int = 0

    @property
    def style(self) -> str:
        """The class that colours it."""
        return USE_OF_OPERATION[self.operation] if self.is_allowed else "denied"

    @property
    def host(self) -> str:
        """One of its hosts, to ask about; none where they are all."""
        return "" if self.hosts == ALL_HOSTS else self.hosts.partition(",")[0]

    @property
    def word(self) -> str:
        """What stands on it."""
        times = f" × {self.number:,}" if self.number else ""
        return f"{'' if self.is_allowed else 'no '}{self.operation}{times}"


class Lines(NamedTuple):
    """Name → its lines, and the names of super users."""

    of: Mapping[str, Sequence[Line]]
    supers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Place:
    """Chips of the same hosts; ``where`` names the first of them, nothing where they are all."""

    where: str
    chips: tuple[Chip, ...]


@dataclass(frozen=True, slots=True)
class PageRow:
    """What one name has beyond everybody, or lacks of that."""

    name: str
    lines: tuple[Line, ...]
    known: frozenset[str]
    is_super: bool

    @property
    def weight(self) -> float:
        """How grave it is; what is denied counts where nothing else differs."""
        return sum(
            _WEIGHT[USE_OF_OPERATION[line.operation]] * (1 if line.decision == ALLOWED else 0.001)
            for line in self.lines
        )

    @property
    def places(self) -> tuple[Place, ...]:
        """Its chips by hosts; made for the rows of a page only."""
        return _places(_chips(self.lines), self.known)

    @property
    def text(self) -> str:
        """The chips in words, for CSV."""
        return "; ".join(
            f"{chip.word}{f' {place.where}' if place.where else ''}"
            for place in self.places
            for chip in place.chips
        )


@dataclass(frozen=True, slots=True)
class Folded:
    """An answer for a page.

    Attributes:
        rows: the gravest first.
        everybody: what everybody has.
        lacking: names that do not have all of that.
        plain: how many names have just that.
    """

    rows: tuple[PageRow, ...]
    everybody: tuple[Place, ...]
    lacking: tuple[str, ...] = ()
    plain: int = 0


def fold_who(
    rows: Iterable[Row], other: str, names: Sequence[str], known: frozenset[str]
) -> Folded:
    """Fold an answer about one resource.

    Args:
        rows: of ``who_can``.
        other: the principal that stands for all that nothing names.
        names: all principals that were asked about.
        known: the hosts that were asked about.
    """
    lines, supers = lines_of(rows, known)
    # What it is denied, everybody is: that is not said of each.
    usual = lines.get(other, ())
    found = (_row(name, lines[name], usual, supers, known) for name in lines if name != other)
    kept = sorted((row for row in found if row.lines), key=_gravest)
    shown = {row.name for row in kept}
    return Folded(
        rows=tuple(kept),
        everybody=_places(_chips(_allowed(usual)), known),
        lacking=tuple(name for name in names if _lacks(lines.get(name, ()), usual)),
        plain=sum(name not in shown and name != other for name in lines),
    )


def fold_what(rows: Iterable[Row], everybodys: Lines, known: frozenset[str]) -> Folded:
    """Fold an answer about one principal, given that about the one that stands for all others."""
    (lines, supers), usual = lines_of(rows, known), everybodys.of
    found = [_row(name, own, usual.get(name, ()), supers, known) for name, own in lines.items()]
    kept = sorted((row for row in found if row.lines), key=_gravest)
    numbers = Counter(line.operation for own in usual.values() for line in _allowed(own))
    chips = [Chip(operation, ALL_HOSTS, number=number) for operation, number in numbers.items()]
    return Folded(
        rows=tuple(kept),
        everybody=_places(chips, known),
        lacking=tuple(name for name, own in usual.items() if _lacks(lines.get(name, ()), own)),
        plain=len(found) - len(kept),
    )


def lines_of(rows: Iterable[Row], known: frozenset[str]) -> Lines:
    """Return the lines of each name, hosts of one decision together, and who is a super user.

    Rows are told apart by the ACL that decides, which a page of chips does not name.
    """
    found: dict[str, dict[tuple[str, str], str]] = {}
    supers: set[str] = set()
    for row in rows:
        name, hosts, operation, decision, rule = map(str, row[:5])
        own = found.setdefault(name, {})
        key = operation, decision
        own[key] = _together(own[key], hosts, known) if key in own else hosts
        if rule == SUPER_USER:
            supers.add(name)
    lines = {name: [Line(hosts, *key) for key, hosts in own.items()] for name, own in found.items()}
    return Lines(lines, frozenset(supers))


def _together(some: str, more: str, known: frozenset[str]) -> str:
    hosts = {*some.split(","), *more.split(",")}
    return ALL_HOSTS if ALL_HOSTS in hosts or hosts >= known else ",".join(sorted(hosts))


def _allowed(lines: Iterable[Line]) -> list[Line]:
    return [line for line in lines if line.decision == ALLOWED]


def _row(
    name: str,
    own: Sequence[Line],
    usual: Sequence[Line],
    supers: frozenset[str],
    known: frozenset[str],
) -> PageRow:
    lines = tuple(line for line in own if line not in usual) if usual else tuple(own)
    return PageRow(name, lines, known, name in supers)


def _chips(lines: Iterable[Line]) -> list[Chip]:
    return [Chip(line.operation, line.hosts, line.decision == ALLOWED) for line in lines]


def _places(chips: Sequence[Chip], known: frozenset[str]) -> tuple[Place, ...]:
    """Put chips of the same hosts together, those of every host first, the gravest first."""
    groups: dict[str, list[Chip]] = {}
    for chip in sorted(chips, key=_order):
        groups.setdefault(chip.hosts, []).append(chip)
    ordered = sorted(groups.items(), key=lambda group: group[0] != ALL_HOSTS)
    return tuple(Place(_where(hosts, known), tuple(group)) for hosts, group in ordered)


def _where(hosts: str, known: frozenset[str]) -> str:
    if hosts == ALL_HOSTS:
        return ""
    listed = hosts.split(",")
    left = sorted(known.difference(listed))
    if 0 < len(left) <= _FEW < len(listed):
        return f"all hosts but {', '.join(left)}"
    return few_hosts(listed, ())


_FEW: Final = 3


def _order(chip: Chip) -> tuple[bool, int, str]:
    return not chip.is_allowed, USES.index(USE_OF_OPERATION[chip.operation]), chip.operation


def _gravest(row: PageRow) -> tuple[float, str]:
    return -row.weight, row.name


def _lacks(own: Sequence[Line], usual: Sequence[Line]) -> bool:
    """Whether a name lacks some of what everybody is allowed, from some host at least."""
    has = {(line.operation, line.decision): line.hosts for line in own}
    return any(
        not _holds(has.get((line.operation, ALLOWED), ""), line.hosts) for line in _allowed(usual)
    )


def _holds(hosts: str, others: str) -> bool:
    if hosts in (ALL_HOSTS, others):
        return True
    return others != ALL_HOSTS and {*hosts.split(",")} >= {*others.split(",")}
