"""A line of the authorizer log and the rulings of the past → does the one follow from the other?

A broker writes the same few accesses again and again. Each is decided once, and its verdict can
differ only where time passes a moment at which one of its rulings, or what is known, changes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from aclkit.model.acl import Request
from aclkit.model.symbol import symbol_in
from aclkit.questions.usage.clock import Span, to_datetime
from aclkit.questions.usage.line import Statement
from aclkit.questions.usage.past import (
    BEGINNING,
    END,
    ClusterPast,
    HeldRuling,
    Rulings,
    rule_texts,
    rulings_of,
)
from aclkit.rules.decide.rules import MATCHING_ACL, Ruling

AGREE: Final = "agree"
MISMATCH: Final = "mismatch"
UNDETERMINED: Final = "undetermined"
UNREADABLE: Final = "unreadable"
VERDICTS: Final = (AGREE, MISMATCH, UNDETERMINED, UNREADABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineVerdict:
    """What a line is worth.

    Attributes:
        verdict: one of ``VERDICTS``.
        held: the ruling in force; where several may have been, the newest of them.
        acl_id: the ACL that the line names, where it is known.
        reason: why it does not agree.
    """

    verdict: str
    held: HeldRuling | None = None
    acl_id: str | None = None
    reason: str | None = None


def check(
    statement: Statement, span: Span, past: ClusterPast, rulings: Rulings, skew: int
) -> LineVerdict:
    """Compare a line with the ruling in force at its time: decision, rule and deciding ACL.

    A line within ``skew`` of a change that would alter this very decision, in decision or rule,
    is undetermined: brokers learn of a change a moment later. Where only the deciding ACL changes,
    the line agrees if it names either. A line is also undetermined if no state is known for its
    time, or if it is newer than the run that read the ACLs. If a line names no rule, only the
    decision is compared. Between two listings the ACLs changed at an unknown time, so a line
    agrees if it matches either of them. Between two runs that saw different settings of the
    brokers, a line on which these differ is undetermined. A name that is a symbol cannot be
    decided.

    Args:
        statement: the content of the line.
        span: its time; a time that the clock showed twice is both.
        past: the cluster's.
        rulings: on the line's request.
        skew: in microseconds.
    """
    possible = rulings.within((span[0] - skew, span[1] + skew))
    held = next((one for one in possible if statement.rule_text in one.texts), possible[-1])
    named = _named_acl(statement, span, past, held)
    if statement.pattern_type != "LITERAL":
        reason = (
            f"Kafka's authorizer decides only about LITERAL names, not {statement.pattern_type}"
        )
        return LineVerdict(verdict=UNDETERMINED, held=held, acl_id=named, reason=reason)
    if symbol := symbol_in(statement.request):
        reason = f"{symbol} stands for any other name here, so it cannot be decided as a name"
        return LineVerdict(verdict=UNDETERMINED, acl_id=named, reason=reason)
    if past.is_unknown(span):
        reason = "the ACLs at that time are unknown: that part of the log was not read"
        return LineVerdict(verdict=UNDETERMINED, acl_id=named, reason=reason)
    if span[1] > past.read_at:
        return LineVerdict(verdict=UNDETERMINED, held=held, acl_id=named, reason=_newer(past))
    if len({_outcome(one, statement) for one in possible}) > 1:
        unsure = [one for one in possible[1:] if one.since[0] < one.since[1]]
        is_listed = unsure and not any(one.runs for one in unsure)
        if is_listed and any(_says(one, statement) for one in possible):
            return LineVerdict(verdict=AGREE, held=held, acl_id=named)
        reason = _between(unsure) if unsure else _close(possible)
        return LineVerdict(verdict=UNDETERMINED, held=held, acl_id=named, reason=reason)
    if (statement.decision, statement.rule) != _outcome(held, statement):
        reason = f"the ACLs decide {held.ruling.decision} by {held.texts[-1]}"
        return LineVerdict(verdict=MISMATCH, held=held, acl_id=named, reason=reason)
    if statement.rule_text is not None and statement.rule_text not in held.texts:
        reason = f"the line names another ACL than {held.texts[-1]}"
        return LineVerdict(verdict=MISMATCH, held=held, acl_id=named, reason=reason)
    return LineVerdict(verdict=AGREE, held=held, acl_id=named)


def _outcome(held: HeldRuling, statement: Statement) -> tuple[str, str | None]:
    """Return what of a ruling a line can be compared with."""
    return held.ruling.decision, None if statement.rule is None else held.ruling.rule


def _says(held: HeldRuling, statement: Statement) -> bool:
    """Whether a ruling is the one that a line tells."""
    is_named = statement.rule_text is None or statement.rule_text in held.texts
    return is_named and (statement.decision, statement.rule) == _outcome(held, statement)


def _between(unsure: Sequence[HeldRuling]) -> str:
    """Write between which listings the ACLs changed, or between which runs the settings did."""
    runs = next((one.runs for one in unsure if one.runs), None)
    first, last = runs or unsure[0].since
    what, whose = ("broker settings", "runs") if runs else ("ACLs", "listings")
    when = f"between the {whose} of {_utc(first)} and {_utc(last)}"
    if first == BEGINNING:
        when = f"before {_utc(last)}"
    return f"the {what} changed at an unknown time {when}"


def _utc(time: int) -> str:
    return f"{to_datetime(time):%Y-%m-%dT%H:%M:%SZ}"


def _newer(past: ClusterPast) -> str:
    """Write that the ACLs were read before."""
    read = _utc(past.read_at)
    return f"newer than the last run, which read the ACLs at {read}; first run, then usage again"


def _close(possible: tuple[HeldRuling, ...]) -> str:
    """Write which change lies too near."""
    since = possible[-1].since[1]
    rulings = [one.ruling for one in possible]
    either = " or ".join(dict.fromkeys(f"{r.decision} by {r.rule}" for r in rulings))
    return f"too close to the change at {_utc(since)}: {either}"


def _named_acl(statement: Statement, span: Span, past: ClusterPast, held: HeldRuling) -> str | None:
    """Return the id of the ACL that a line names, of several the one that decides now, or lives."""
    if statement.rule != MATCHING_ACL:
        return None
    if statement.rule_text in held.texts and held.ruling.acl is not None:
        return held.ruling.acl.acl_id
    lives = [
        life
        for life in past.reaching(statement.request)
        if statement.rule_text in rule_texts(Ruling("ALLOWED", MATCHING_ACL, life.acl))
    ]
    lives.sort(key=lambda life: past.reached[life.effective_offset][1])
    alive = [life for life in lives if past.reached[life.effective_offset][1] <= span[1]]
    named = (alive or lives)[-1:]
    return named[0].acl.acl_id if named else None


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
