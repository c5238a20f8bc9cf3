"""ALLOWs of two clusters on names without a counterpart → the access that they grant. Pure.

Each cluster is compared with itself, under its own names: once as it is, and once with these ALLOWs
for no principal. So access that a compared ACL grants as well is none of it, and resources stay
shut that the default would open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from aclkit.model.acl import Acl, Request
from aclkit.model.groups import grouped
from aclkit.model.resource import Resource
from aclkit.questions.clusters.difference import AccessDifference, Cause
from aclkit.questions.clusters.mapped_acls import NOBODY, SECOND
from aclkit.questions.state import State
from aclkit.rules.decide.confirm import Comparison
from aclkit.rules.names.change_lines import ChangeLine, change_lines, hosts_words, where_words
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.question import Budget
from aclkit.rules.names.region import openings


class LeftOut(NamedTuple):
    """Access without a counterpart, and whether this is all of it."""

    lines: tuple[AccessDifference, ...]
    is_known: bool


def find_left_out(
    clusters: Sequence[State], left_out: Sequence[Sequence[Acl]], budget: Budget
) -> LeftOut:
    """Find what principals can do in one cluster that has no counterpart in the other.

    Args:
        clusters: the first and the second.
        left_out: the ALLOWs of each for principals, or on resources, without a counterpart.
        budget: the search limit; each cluster may take as much.
    """
    lines: list[AccessDifference] = []
    is_known = True
    # The second first: as in all answers, what is more there comes before what is less.
    for at in sorted(range(len(clusters)), reverse=True):
        if left_out[at]:
            found = _comparison(clusters[at], left_out[at], _same(budget))
            is_known &= found.difference.is_known
            told = change_lines(openings(found.difference, _same(budget)))
            lines += _lines(clusters[at], at, told, found)
    return LeftOut(tuple(lines), is_known)


def _same(budget: Budget) -> Budget:
    return Budget(per_question=budget.per_question, total=budget.total)


def _comparison(cluster: State, left_out: Sequence[Acl], budget: Budget) -> Comparison:
    after = cluster.rules
    shut = {acl.acl_id: replace(acl, principal=NOBODY) for acl in left_out}
    before = replace(after, acls=tuple(shut.get(acl.acl_id, acl) for acl in after.acls))
    return Comparison.of(before, after, budget)


def _lines(
    cluster: State, at: int, told: Sequence[ChangeLine], found: Comparison
) -> Iterator[AccessDifference]:
    known = grouped(cluster.inventory.resources)
    decider = found.deciders[1]
    for line in told:
        party, resource = line.party, Resource(line.resource_type, line.shortest)
        request = Request.of(
            party.principals[0].name, party.hosts[0].name, party.operations[0], resource
        )
        ruling = decider.confirm(request, is_allowed=True)
        cause = Cause(ruling.decision, ruling.rule, cluster.acls.get(ruling.acl_id or ""))
        yield AccessDifference(
            kind=GAINED if at == SECOND else LOST,
            resource_type=line.resource_type,
            principals=party.principals,
            operations=party.operations,
            names=where_words(line, known.get(line.resource_type, ())),
            hosts=hosts_words(party.hosts),
            example=request,
            causes=(None, cause) if at == SECOND else (cause, None),
        )
