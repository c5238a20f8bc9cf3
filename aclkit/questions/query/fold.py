"""Rows of who-can and what-can → fewer for people: operations together, once what all have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL

ALL_HOSTS: Final = "*"


class Cell(NamedTuple):
    """A row of an answer: its operation apart, what two rows must share to be one."""

    name: str
    hosts: str
    operation: str
    decision: str
    rule: str
    acl_id: str | None


class Ground(NamedTuple):
    """What rows share whose operations stand together."""

    hosts: str
    decision: str
    rule: str
    acl_id: str | None


@dataclass(frozen=True, slots=True)
class Folded:
    """Operations of one name, or of all names of a kind but a few.

    Attributes:
        name: whose; None for all of ``kind``.
        kind: what the names are: before the colon of ``topic:x``; empty for principals.
        but: the names that are excepted from all.
        number: how many names of the kind there are.
    """

    name: str | None
    operations: tuple[str, ...]
    ground: Ground
    kind: str = ""
    but: tuple[str, ...] = ()
    number: int = 0


def fold(
    rows: Iterable[Cell], names: Mapping[str, Sequence[str]], hosts: frozenset[str]
) -> list[Folded]:
    """Put operations with the same hosts and the same reason together.

    What ``<any-other>`` of a kind has, and most others just so, is said once for all of them, the
    last of all. A name has it too that has more, from those hosts and others.

    Args:
        rows: the answer, sorted; all with the decisions that are asked about.
        names: kind → all names that were asked about, those without a row too.
        hosts: all that were asked about.
    """
    cells = list(rows)
    shared = {
        (kind, cell): but
        for kind, all_names in names.items()
        for cell, but in _shared(cells, kind, all_names, hosts)
    }
    kinds = {name: kind for kind, all_names in names.items() for name in all_names}
    kept: dict[tuple[str, Ground], list[str]] = {}
    for cell in cells:
        if (kinds[cell.name], cell._replace(name="")) not in shared:
            key = cell.name, Ground(cell.hosts, *cell[3:])
            kept.setdefault(key, []).append(cell.operation)
    own = [Folded(name, tuple(done), ground) for (name, ground), done in kept.items()]
    groups: dict[tuple[str, Ground, tuple[str, ...]], list[str]] = {}
    for (kind, cell), but in shared.items():
        groups.setdefault((kind, Ground(cell.hosts, *cell[3:]), but), []).append(cell.operation)
    return own + [
        Folded(None, tuple(done), ground, kind, but, len(names[kind]))
        for (kind, ground, but), done in groups.items()
    ]


def _shared(
    cells: Sequence[Cell], kind: str, names: Sequence[str], hosts: frozenset[str]
) -> Iterator[tuple[Cell, tuple[str, ...]]]:
    """Yield what all names of a kind have, and which of them have not."""
    mine = set(names)
    other = f"{kind}:{ANY_OTHER}" if kind else ANY_OTHER_PRINCIPAL
    # In the order of the rows, so that an answer is the same each time.
    usual = dict.fromkeys(cell._replace(name="") for cell in cells if cell.name == other)
    holders: dict[Cell, set[str]] = {cell: set() for cell in usual}
    from_where: dict[tuple[str, str, str], set[str]] = {}
    for cell in cells:
        if cell.name not in mine:
            continue
        nameless = cell._replace(name="")
        if nameless in usual:
            holders[nameless].add(cell.name)
        else:
            key = cell.name, cell.operation, cell.decision
            from_where.setdefault(key, set()).update(_listed(cell.hosts, hosts))
    for cell, having in holders.items():
        wanted = _listed(cell.hosts, hosts)
        but = [
            name
            for name in names
            if name not in having
            and not from_where.get((name, cell.operation, cell.decision), set()) >= wanted
        ]
        if len(having) > 1 and len(having) > len(but):
            yield cell, tuple(but)


def _listed(hosts: str, known: frozenset[str]) -> frozenset[str]:
    return known if hosts == ALL_HOSTS else frozenset(hosts.split(","))
