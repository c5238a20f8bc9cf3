"""A line of the authorizer log and the rulings of the past → does the one follow from the other?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aclkit.model.symbol import symbol_in
from aclkit.questions.usage.clock import Span, to_datetime
from aclkit.questions.usage.line import Statement
from aclkit.questions.usage.past import BEGINNING, ClusterPast, Held, Rulings, rule_texts
from aclkit.rules.decide.rules import MATCHING_ACL, Ruling

AGREE: Final = "agree"
MISMATCH: Final = "mismatch"
UNDETERMINED: Final = "undetermined"
UNREADABLE: Final = "unreadable"
VERDICTS: Final = (AGREE, MISMATCH, UNDETERMINED, UNREADABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a line is worth.

    Attributes:
        verdict: one of ``VERDICTS``.
        held: the ruling in force; where several may have been, the newest of them.
        acl_id: the ACL that the line names, where it is known.
        reason: why it does not agree.
    """

    verdict: str
    held: Held | None = None
    acl_id: str | None = None
    reason: str | None = None


def check(
    statement: Statement, span: Span, past: ClusterPast, rulings: Rulings, skew: int
) -> Verdict:
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
        return Verdict(verdict=UNDETERMINED, held=held, acl_id=named, reason=reason)
    if symbol := symbol_in(statement.request):
        reason = f"{symbol} stands for any other name here, so it cannot be decided as a name"
        return Verdict(verdict=UNDETERMINED, acl_id=named, reason=reason)
    if past.is_unknown(span):
        reason = "the ACLs at that time are unknown: that part of the log was not read"
        return Verdict(verdict=UNDETERMINED, acl_id=named, reason=reason)
    if span[1] > past.read_at:
        return Verdict(verdict=UNDETERMINED, held=held, acl_id=named, reason=_newer(past))
    if len({_outcome(one, statement) for one in possible}) > 1:
        unsure = [one for one in possible[1:] if one.since[0] < one.since[1]]
        is_listed = unsure and not any(one.runs for one in unsure)
        if is_listed and any(_says(one, statement) for one in possible):
            return Verdict(verdict=AGREE, held=held, acl_id=named)
        reason = _between(unsure) if unsure else _close(possible)
        return Verdict(verdict=UNDETERMINED, held=held, acl_id=named, reason=reason)
    if (statement.decision, statement.rule) != _outcome(held, statement):
        reason = f"the ACLs decide {held.ruling.decision} by {held.texts[-1]}"
        return Verdict(verdict=MISMATCH, held=held, acl_id=named, reason=reason)
    if statement.rule_text is not None and statement.rule_text not in held.texts:
        reason = f"the line names another ACL than {held.texts[-1]}"
        return Verdict(verdict=MISMATCH, held=held, acl_id=named, reason=reason)
    return Verdict(verdict=AGREE, held=held, acl_id=named)


def _outcome(held: Held, statement: Statement) -> tuple[str, str | None]:
    """Return what of a ruling a line can be compared with."""
    return held.ruling.decision, None if statement.rule is None else held.ruling.rule


def _says(held: Held, statement: Statement) -> bool:
    """Whether a ruling is the one that a line tells."""
    is_named = statement.rule_text is None or statement.rule_text in held.texts
    return is_named and (statement.decision, statement.rule) == _outcome(held, statement)


def _between(unsure: Sequence[Held]) -> str:
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


def _close(possible: tuple[Held, ...]) -> str:
    """Write which change lies too near."""
    since = possible[-1].since[1]
    rulings = [one.ruling for one in possible]
    either = " or ".join(dict.fromkeys(f"{r.decision} by {r.rule}" for r in rulings))
    return f"too close to the change at {_utc(since)}: {either}"


def _named_acl(statement: Statement, span: Span, past: ClusterPast, held: Held) -> str | None:
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
