"""Decisions that speak against an assertion, counted → does it hold? Pure.

They are counted for a subject: the whole assertion, but for ``at_most`` each resource and for
``separate`` each principal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from aclkit.questions.assertions.model import Assertion


class Hit(NamedTuple):
    """A decision that violates an assertion; of several the least is shown.

    Attributes:
        is_beyond: the principal, the host or the resource is not a known name.
        is_symbol: the principal or the resource is "any other".
        place: what decided: a ruleset of the tables; empty where it is beyond the inventory.
    """

    is_beyond: bool
    is_symbol: bool
    principal: str
    resource_type: str
    resource_name: str
    operation: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What speaks against an assertion about one subject.

    Attributes:
        count: (principal, operation, resource), of ``at_most`` principals.
        is_endless: one of the principals stands for any number of them.
        example: one of the decisions.
    """

    count: int
    is_endless: bool
    example: Hit


Tallies = Mapping[tuple[str, ...], Tally]
"""Subject → what speaks against the assertion about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """How many violations there are, and one of them.

    Attributes:
        violations: how many.
        hits: the decisions of one, each with the number of the duty that it is about.
        detail: what these do not show.
    """

    violations: int
    hits: tuple[tuple[int, Hit], ...] = ()
    detail: str | None = None


def judge(assertion: Assertion, duties: Sequence[Tallies]) -> Judgement:
    """Whether an assertion holds, by what speaks against each of its duties."""
    if assertion.kind == "separate":
        return _judge_duties(duties)
    (found,) = duties
    if assertion.kind == "at_most":
        return _judge_number(found, assertion.limit)
    return Judgement(
        violations=sum(counted.count for counted in found.values()),
        hits=tuple((0, counted.example) for counted in found.values()),
    )


def _judge_number(found: Tallies, limit: int) -> Judgement:
    """Too many principals on a resource; the worst resource is the example."""
    beyond = [counted for counted in found.values() if counted.is_endless or counted.count > limit]
    if not beyond:
        return Judgement(violations=0)
    worst = min(beyond, key=lambda counted: (-counted.is_endless, -counted.count, counted.example))
    number = "any number of" if worst.is_endless else f"{worst.count:,}"
    return Judgement(
        violations=len(beyond),
        hits=((0, worst.example),),
        detail=f"{number} principals, expected at most {limit:,}",
    )


def _judge_duties(duties: Sequence[Tallies]) -> Judgement:
    """No principal holds two of the duties; the first who does is the example."""
    holders: dict[tuple[str, ...], tuple[tuple[int, Hit], ...]] = {}
    for (first, one), (second, other) in combinations(enumerate(duties), 2):
        for subject in one.keys() & other.keys():
            hits = (first, one[subject].example), (second, other[subject].example)
            holders.setdefault(subject, hits)
    if not holders:
        return Judgement(violations=0)
    return Judgement(
        violations=len(holders),
        hits=min(holders.values(), key=lambda hits: [hit for _, hit in hits]),
        detail="the same principal has both duties",
    )
