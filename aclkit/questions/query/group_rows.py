"""Decisions → lines for people: operations together, and common access only once. Pure.

Common access is that of ``<any-other>``: all names that nothing names. A name has lines only for
access ``beyond`` that, and a name that ``lacks`` some of it has a line for that too. The tables of
who-can and what-can and the pages of ``serve`` use these functions, and the report's script does
the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from aclkit.model.acl import ANY_OTHER, ANY_OTHER_PRINCIPAL
from aclkit.model.groups import grouped
from aclkit.model.values import dataclass

ALL_HOSTS: Final = "*"


class Line(NamedTuple):
    """How one operation is decided from some hosts, and by what."""

    hosts: str
    operation: str
    decision: str
    rule: str = ""
    acl_id: str | None = None

    @property
    def ground(self) -> Line:
        """What lines share whose operations stand together: all but the operation."""
        return self._replace(operation="")


class Alike(NamedTuple):
    """Names of one kind with the same decisions in the whole answer, and their lines, sorted."""

    names: Sequence[str]
    lines: Sequence[Line]


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
    ground: Line
    kind: str = ""
    but: tuple[str, ...] = ()
    number: int = 0


def fold(
    groups: Sequence[Alike], names: Mapping[str, Sequence[str]], hosts: frozenset[str]
) -> list[Folded]:
    """Put operations with the same hosts and the same reason together.

    What ``<any-other>`` of a kind has, and most others exactly so, becomes one line for all of
    them, the last one. A name that has it from those hosts and others has it too.

    Args:
        groups: the answer; all with the decisions that are asked about.
        names: kind → all names that were asked about, those without a line too.
        hosts: all that were asked about.
    """
    shared = {
        kind: dict(_shared(groups, kind, all_names, hosts)) for kind, all_names in names.items()
    }
    kinds = {name: kind for kind, all_names in names.items() for name in all_names}
    own = []
    for group in groups:
        more = beyond(group.lines, shared[kinds[group.names[0]]])
        kept = grouped((line.ground, line.operation) for line in more)
        own += [(name, ground, done) for name in group.names for ground, done in kept.items()]
    own.sort(key=lambda found: found[0])
    parts = ((kind, line, but) for kind, lines in shared.items() for line, but in lines.items())
    together = grouped(((kind, line.ground, but), line.operation) for kind, line, but in parts)
    return [Folded(name, tuple(done), ground) for name, ground, done in own] + [
        Folded(None, tuple(done), ground, kind, but, len(names[kind]))
        for (kind, ground, but), done in together.items()
    ]


def beyond(own: Sequence[Line], usual: Mapping[Line, object] | Sequence[Line]) -> tuple[Line, ...]:
    """Return the lines that usual ones do not cover already."""
    return tuple(line for line in own if line not in usual)


def lacks(own: Sequence[Line], usual: Line, hosts: frozenset[str]) -> bool:
    """Whether a usual line does not hold, whatever the reason, from some of its hosts.

    >>> usual = Line("a,b", "READ", "ALLOWED")
    >>> lacks([Line("a", "READ", "ALLOWED")], usual, frozenset("abc"))
    True
    >>> lacks([Line("*", "READ", "ALLOWED")], usual, frozenset("abc"))
    False
    """
    if usual in own:
        return False
    found: set[str] = set()
    for line in own:
        if (line.operation, line.decision) == (usual.operation, usual.decision):
            found |= _listed(line.hosts, hosts)
    return not found >= _listed(usual.hosts, hosts)


def without_reasons(lines: Sequence[Line], hosts: frozenset[str]) -> tuple[Line, ...]:
    """Return lines without reasons: hosts of one operation and decision are together."""
    found: dict[tuple[str, str], str] = {}
    for line in lines:
        key = line.operation, line.decision
        found[key] = _together(found[key], line.hosts, hosts) if key in found else line.hosts
    return tuple(Line(where, *key) for key, where in found.items())


def _shared(
    groups: Sequence[Alike], kind: str, names: Sequence[str], hosts: frozenset[str]
) -> Iterator[tuple[Line, tuple[str, ...]]]:
    """Yield what all names of a kind have, and which of them have not."""
    other = f"{kind}:{ANY_OTHER}" if kind else ANY_OTHER_PRINCIPAL
    mine = set(names)
    groups = [group for group in groups if group.names[0] in mine]
    # In the order of the lines, so that an answer is the same each time.
    usual = next((group.lines for group in groups if other in group.names), ())
    nothing = mine.difference(*(group.names for group in groups))
    for line in usual:
        having = sum(len(group.names) for group in groups if line in group.lines)
        lacking = [group.names for group in groups if lacks(group.lines, line, hosts)]
        excepted = nothing.union(*lacking)
        if having > 1 and having > len(excepted):
            yield line, tuple(name for name in names if name in excepted)


def _together(some: str, more: str, hosts: frozenset[str]) -> str:
    found = _listed(some, hosts) | _listed(more, hosts)
    return ALL_HOSTS if found >= hosts else ",".join(sorted(found))


def _listed(hosts: str, known: frozenset[str]) -> frozenset[str]:
    return known if hosts == ALL_HOSTS else frozenset(hosts.split(","))
