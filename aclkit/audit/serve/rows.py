"""How names fare → rows of a page: one a name, operations as chips. Pure.

What everyone has is said once above them, and a row tells what its name has beyond that: where
what is denied is asked for too, everyone's lines are those of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from aclkit.model.acl import ANY_OTHER_PRINCIPAL
from aclkit.model.groups import grouped
from aclkit.model.operation import USE_OF_OPERATION, USES
from aclkit.questions.query.decisions import Decisions
from aclkit.questions.query.group_rows import ALL_HOSTS, Line, beyond, lacks, without_reasons
from aclkit.questions.query.table_words import ANY_HOST, few_hosts
from aclkit.rules.decide.rules import ALLOWED, SUPER_USER

Lines = tuple[Line, ...]

_WEIGHT: Final = dict(zip(USES, (100.0, 10.0, 1.0), strict=True))


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


@dataclass(frozen=True, slots=True)
class HostChips:
    """Chips of the same hosts; ``where`` names these, and nothing where they are all."""

    where: str
    chips: tuple[Chip, ...]


class PageRow(NamedTuple):
    """What one name has beyond everyone; ``rank`` is the lower, the graver it is."""

    rank: float
    name: str
    lines: Lines
    known: frozenset[str]
    is_super: bool

    @property
    def places(self) -> tuple[HostChips, ...]:
        """Its chips by hosts; made for the rows of a page only."""
        return _places(_chips(self.lines), self.known)


@dataclass(frozen=True, slots=True)
class Folded:
    """An answer for a page.

    Attributes:
        rows: the gravest first.
        everyone: what everyone has.
        lacking: names that do not have all of that.
        plain: how many other names have no more than that.
    """

    rows: tuple[PageRow, ...]
    everyone: tuple[HostChips, ...]
    lacking: tuple[str, ...] = ()
    plain: int = 0


def fold_who(found: Decisions, *, is_folded: bool) -> Folded:
    """Fold how principals fare with one resource; without ``is_folded`` every line stands."""
    everyones = (lines for names, lines, _ in _groups(found) if ANY_OTHER_PRINCIPAL in names)
    usual = next(everyones, ()) if is_folded else ()
    folded = _fold(found, dict.fromkeys(found.names, usual) if usual else {}, _chips(usual))
    # Who stands for all others is none of them.
    return replace(folded, plain=max(0, folded.plain - 1))


def fold_what(found: Decisions, usual: Mapping[str, Lines]) -> Folded:
    """Fold how one principal fares with resources, given what everyone has on each of them."""
    numbers = Counter(line.operation for own in usual.values() for line in own)
    chips = [Chip(operation, ALL_HOSTS, number=number) for operation, number in numbers.items()]
    return _fold(found, usual, chips)


def _fold(found: Decisions, usual: Mapping[str, Lines], everyone: Sequence[Chip]) -> Folded:
    """Fold names that have what everyone has, which is known of each."""
    rows, lacking = list[PageRow](), set(usual)
    for names, lines, is_super in _groups(found):
        for public, some in _by_lines(names, usual):
            if more := beyond(lines, public):
                rank = -sum(map(_weight, more))
                rows += (PageRow(rank, name, more, found.hosts, is_super) for name in some)
            if not any(lacks(lines, line, found.hosts) for line in public):
                lacking.difference_update(some)
    return Folded(
        rows=tuple(sorted(rows)),
        everyone=_places(everyone, found.hosts),
        lacking=tuple(sorted(lacking)),
        plain=len(found.names) - len(rows) if usual else 0,
    )


def lines_of(found: Decisions) -> dict[str, Lines]:
    """Return each name with its lines, whatever their reasons."""
    return {name: lines for names, lines, _ in _groups(found) for name in names}


def _groups(found: Decisions) -> Iterator[tuple[Sequence[str], Lines, bool]]:
    """Yield names that fare alike, their lines, and whether a super user's rule decides."""
    for names, lines in found.groups:
        is_super = any(line.rule == SUPER_USER for line in lines)
        yield names, without_reasons(lines, found.hosts), is_super


def _by_lines(
    names: Sequence[str], usual: Mapping[str, Lines]
) -> Iterable[tuple[Lines, list[str]]]:
    """Put names together for which everyone has the same: few are the lines, many the names."""
    found: dict[int, tuple[Lines, list[str]]] = {}
    for name in names:
        public = usual.get(name, ())
        found.setdefault(id(public), (public, []))[1].append(name)
    return found.values()


def in_words(places: Iterable[HostChips]) -> str:
    """Return chips in words, for CSV."""
    return "; ".join(
        f"{chip.word}{f' from {place.where}' if place.where else ''}"
        for place in places
        for chip in place.chips
    )


def _weight(line: Line) -> float:
    """Return how grave a line is; what is denied counts where nothing else differs."""
    return _WEIGHT[USE_OF_OPERATION[line.operation]] * (1 if line.decision == ALLOWED else 0.001)


def _chips(lines: Sequence[Line]) -> list[Chip]:
    return [Chip(line.operation, line.hosts, line.decision == ALLOWED) for line in lines]


def _places(chips: Sequence[Chip], known: frozenset[str]) -> tuple[HostChips, ...]:
    """Put chips of the same hosts together, those of every host first, the gravest first."""
    groups = grouped((chip.hosts, chip) for chip in sorted(chips, key=_order))
    ordered = sorted(groups.items(), key=lambda group: group[0] != ALL_HOSTS)
    return tuple(HostChips(_where(hosts, known), tuple(group)) for hosts, group in ordered)


def _where(hosts: str, known: frozenset[str]) -> str:
    where = ANY_HOST if hosts == ALL_HOSTS else few_hosts(hosts.split(","), sorted(known))
    return "" if where == ANY_HOST else where


def _order(chip: Chip) -> tuple[bool, int, str]:
    return not chip.is_allowed, USES.index(USE_OF_OPERATION[chip.operation]), chip.operation
