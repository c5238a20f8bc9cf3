"""Decisions that differ, in classes → cells gained, lost and redecided, counted, listed. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple

from aclkit.model.acl import Acl
from aclkit.model.groups import grouped
from aclkit.model.resource import Resource
from aclkit.questions.difference.access_change import KINDS, ResourceChanges
from aclkit.questions.query.decide_unlisted import Verdict


class ChangedCell(NamedTuple):
    """A decision that differs; ACLs as kafka-acls prints them, None where none decides."""

    principal: str
    host: str
    operation: str
    resource_type: str
    resource_name: str
    before: str
    after: str
    acl_before: str | None
    acl_after: str | None


class ChangedLine(NamedTuple):
    """The cells of a principal, operation and resource from hosts with the same decision."""

    principal: str
    hosts: tuple[str, ...]
    operation: str
    resource: Resource
    before: Verdict
    after: Verdict


class Count(NamedTuple):
    """How many cells of a principal or resource differ."""

    name: str
    gained: int
    lost: int
    redecided: int


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What differs among the cells asked about; rows are made when they are asked for.

    Attributes:
        parts: what differs, sorted by resource.
        acls: the ACLs of both states, by id.
    """

    parts: Sequence[ResourceChanges]
    acls: Mapping[str, Acl]

    def count(self, kind: str) -> int:
        """Return how many cells became so."""
        return self._total[KINDS.index(kind)]

    def count_lines(self, kind: str) -> int:
        """Return how many lines there are, without making them."""
        at = KINDS.index(kind)
        return sum(
            len(principals) * outcome.lines[at]
            for part in self.parts
            for principals, outcome in part.outcomes
        )

    def lines(self, kind: str) -> Iterator[ChangedLine]:
        """Yield what became so: by resource, principal and operation, hosts together."""
        at = KINDS.index(kind)
        for resource, outcomes in self.parts:
            mine = sorted(
                (name, number)
                for number, (principals, outcome) in enumerate(outcomes)
                if outcome.weights[at]
                for name in principals
            )
            for name, number in mine:
                for change in outcomes[number][1].changes:
                    if change.kind == kind:
                        where = change.hosts, change.operation, resource
                        yield ChangedLine(name, *where, change.before, change.after)

    def cells(self, kind: str) -> Iterator[ChangedCell]:
        """Return what became so, each cell."""
        return chain.from_iterable(map(self.cells_of, self.lines(kind)))

    def cells_of(self, line: ChangedLine) -> Iterator[ChangedCell]:
        """Yield the cells of a line, one for each host."""
        acls = self.render(line.before), self.render(line.after)
        decisions = line.before.decision, line.after.decision
        for host in line.hosts:
            yield ChangedCell(
                line.principal, host, line.operation, *line.resource, *decisions, *acls
            )

    def render(self, verdict: Verdict) -> str | None:
        """Write the deciding ACL of a verdict as kafka-acls prints it."""
        return str(self.acls[verdict.acl_id]) if verdict.acl_id is not None else None

    @cached_property
    def by_principal(self) -> list[Count]:
        """Count by principal, the most concerned first."""
        outcomes = chain.from_iterable(part.outcomes for part in self.parts)
        alike = grouped((outcome.weights, principals) for principals, outcome in outcomes)
        counts: dict[str, _Weights] = {}
        for weights, groups in alike.items():
            for name, times in Counter(chain.from_iterable(groups)).items():
                counts[name] = _plus(counts.get(name, _NONE), weights, times)
        return _sorted(counts)

    @cached_property
    def by_resource(self) -> list[Count]:
        """Count by resource, the most concerned first."""
        return _sorted(self._of_resources)

    @cached_property
    def _of_resources(self) -> dict[str, _Weights]:
        counts: dict[str, _Weights] = {}
        for part in self.parts:
            total = _NONE
            for principals, outcome in part.outcomes:
                total = _plus(total, outcome.weights, len(principals))
            counts[str(part.resource)] = total
        return counts

    @cached_property
    def _total(self) -> _Weights:
        total = _NONE
        for weights in self._of_resources.values():
            total = _plus(total, weights, 1)
        return total


_Weights = tuple[int, int, int]
_NONE: Final = (0, 0, 0)


def sorted_parts(parts: Iterable[ResourceChanges]) -> list[ResourceChanges]:
    """Sort parts by resource."""
    return sorted(parts, key=lambda part: part.resource)


def _plus(total: _Weights, weights: _Weights, times: int) -> _Weights:
    return (
        total[0] + weights[0] * times,
        total[1] + weights[1] * times,
        total[2] + weights[2] * times,
    )


def _sorted(counts: Mapping[str, _Weights]) -> list[Count]:
    found = [Count(name, *weights) for name, weights in counts.items()]
    return sorted(found, key=lambda c: (-c.gained - c.lost, -c.redecided, c.name))
