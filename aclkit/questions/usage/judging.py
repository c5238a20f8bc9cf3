"""What a line of the authorizer log said → the verdict on it, for the whole time in which it holds.

A broker writes the same few accesses again and again. Each is decided once, and its verdict can
differ only where time passes a moment at which one of its rulings, or what is known, changes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from aclkit.model.acl import Request
from aclkit.questions.usage.check import check
from aclkit.questions.usage.clock import Span
from aclkit.questions.usage.line import Statement
from aclkit.questions.usage.past import BEGINNING, END, ClusterPast, Rulings, rulings_of
from aclkit.rules.decide.rules import MATCHING_ACL


class Judged(NamedTuple):
    """What lines say and what they are worth: columns of ``access_day``, in its order."""

    principal: str | None
    host: str | None
    operation: str | None
    resource_type: str | None
    resource_name: str | None
    request_name: str | None
    decision: str | None
    rule: str | None
    deciding_acl_id: str | None
    verdict: str
    expected_decision: str | None
    expected_rule: str | None
    expected_acl_id: str | None
    reason: str | None


_NOT_READ: Final = Judged(
    None, None, None, None, None, None, None, None, None, "", None, None, None, None
)


class Lasting(NamedTuple):
    """A verdict, and the microseconds from which and before which it holds."""

    start: int
    end: int
    judged: Judged


def not_read(verdict: str, reason: str | None) -> Judged:
    """Return what lines are worth of which it is not known what they say."""
    return _NOT_READ._replace(verdict=verdict, reason=reason)


@dataclass(frozen=True, slots=True)
class Judge:
    """Compares lines with a past, those that say the same together.

    Attributes:
        past: the cluster's.
        skew: in microseconds, see ``check``.
    """

    past: ClusterPast
    skew: int
    _rulings: dict[Request, Rulings] = field(default_factory=dict)
    _verdicts: dict[Statement, Verdicts] = field(default_factory=dict)

    def verdicts(self, statement: Statement) -> Verdicts:
        """Return the verdicts on what lines say, at all times."""
        found = self._verdicts.get(statement)
        if found is None:
            if len(self._verdicts) >= _MOST_KEPT:
                self._verdicts.clear()
            found = Verdicts(self, statement, self._rulings_on(statement.request))
            self._verdicts[statement] = found
        return found

    def _rulings_on(self, request: Request) -> Rulings:
        asked = self.past.representative(request)
        found = self._rulings.get(asked)
        if found is None:
            if len(self._rulings) >= _MOST_KEPT:
                self._rulings.clear()
            found = self._rulings[asked] = rulings_of(self.past, asked)
        return found


class Verdicts:
    """The verdicts on lines that say the same."""

    __slots__ = ("_breaks", "_cells", "_judge", "_rulings", "_statement")

    def __init__(self, judge: Judge, statement: Statement, rulings: Rulings) -> None:
        """Find the moments at which the verdict may change."""
        self._judge = judge
        self._statement = statement
        self._rulings = rulings
        self._breaks = sorted(set(_breaks(judge, statement, rulings)))
        self._cells: dict[int, Lasting] = {}

    def at(self, time: int) -> Lasting:
        """Return the verdict at a time."""
        first, last = bisect_left(self._breaks, time), bisect_right(self._breaks, time)
        found = self._cells.get(first + last)
        if found is None:
            start, end = time, time + 1
            if first == last:
                start = self._breaks[first - 1] + 1 if first else BEGINNING
                end = self._breaks[first] if first < len(self._breaks) else END
            found = Lasting(start, end, self.within((time, time)))
            self._cells[first + last] = found
        return found

    def within(self, span: Span) -> Judged:
        """Return the verdict on a line whose time is not known more exactly."""
        statement, judge = self._statement, self._judge
        request = statement.request
        found = check(statement, span, judge.past, self._rulings, judge.skew)
        expected = found.held.ruling if found.held else None
        return Judged(
            request.principal,
            request.host,
            request.operation,
            request.resource_type,
            request.resource_name,
            statement.request_name,
            statement.decision,
            statement.rule,
            found.acl_id,
            found.verdict,
            expected.decision if expected else None,
            expected.rule if expected else None,
            expected.acl.acl_id if expected and expected.acl else None,
            found.reason,
        )


def _breaks(judge: Judge, statement: Statement, rulings: Rulings) -> Iterator[int]:
    """Yield the times at which what ``check`` compares with changes; see there."""
    past = judge.past
    yield from (time - judge.skew for time in rulings.earliest)
    yield from (time + judge.skew for time in rulings.latest)
    yield from (end for span in past.unknown for end in span)
    yield past.read_at
    if statement.rule == MATCHING_ACL:  # of ACLs alike a line names the one alive
        reaching = past.reaching(statement.request)
        yield from (past.reached[life.effective_offset][1] for life in reaching)


_MOST_KEPT: Final = 100_000
