"""A decision, or its history → its answer: the verdict, and what would change it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.answer.document import Answer, Command, Heading, Item, Items, Part, Sentence, Table
from aclkit.kafka.acls.command import kafka_acls_command
from aclkit.model.acl_words import acl_words
from aclkit.questions.query import words
from aclkit.questions.query.answer_rows import history_rows, why_rows
from aclkit.questions.query.history import History
from aclkit.questions.query.kafka_request_words import passage_lines
from aclkit.questions.query.reason_words import short_reason
from aclkit.questions.query.why import Part as Taking
from aclkit.questions.query.why import Why
from aclkit.questions.query.why_json import history_object, why_object
from aclkit.rules.decide.rules import ALLOWED

_TIME: Final = "%Y-%m-%d %H:%M:%S"


def why_answer(answer: Why) -> Answer:
    """Return a decision and what it rests on."""
    found = why_rows(answer)
    return Answer(
        title=f"Why: {words.asked_words(answer.request)}",
        columns=found.columns,
        rows=found.rows,
        parts=lambda: _why_parts(answer),
        notes=(
            *words.why_caveats(answer),
            *words.otherwise_sentences(answer),
            *words.why_notes(answer),
        ),
        json=lambda: why_object(answer),
    )


def _why_parts(answer: Why) -> Iterator[Part]:
    is_allowed = answer.ruling.decision == ALLOWED
    yield Sentence(words.why_sentence(answer), "good" if is_allowed else "bad")
    yield from (Sentence(words.hosts_words(*there)) for there in answer.elsewhere)
    yield from _least(answer)
    yield from map(Sentence, passage_lines(answer))
    yield from map(Sentence, words.why_hints(answer))
    yield from _matching(answer)
    yield from _near(answer)


def _least(answer: Why) -> Iterator[Part]:
    """Yield the least ACL that would allow it, and the command that adds it."""
    if answer.least is None:
        return
    yield Sentence(f"To allow it, add {acl_words(answer.least)}:")
    command = kafka_acls_command(answer.least)
    yield Command(command) if command else Sentence("(kafka-acls cannot add this ACL.)")


def _matching(answer: Why) -> Iterator[Part]:
    """Yield the matching ACLs in order of precedence, if there are others than the deciding one."""
    if not answer.acls[1:]:
        return
    yield Heading("Matching ACLs; the first decides")
    rows = [
        (part.rank, _acl(answer, part), because_words(part), without_words(part))
        for part in answer.acls
    ]
    found = why_rows(answer)
    wide = Table(found.columns, found.rows)
    yield Table(("rank", "acl", "because", "without it"), rows, wide)


def _acl(answer: Why, part: Taking) -> str:
    return acl_words(part.acl, answer.request.principal, answer.request.resource_type)


def because_words(part: Taking) -> str:
    """Write why an ACL does not decide, or that it does."""
    return part.because or "decides"


def without_words(part: Taking) -> str:
    """Write what would be decided without an ACL."""
    return part.without.decision if part.changes else "no change"


def _near(answer: Why) -> Iterator[Part]:
    """Yield ACLs that come close to allowing what is denied."""
    close = [part for part in answer.near if part.acl.is_allow and _is_close(answer, part)]
    if not close:
        return
    yield Heading("ACLs that come close")
    more = answer.near_count - len(answer.near)
    rest = [Item(f"and {more:,} more")] if more > 0 else []
    yield Items([*(Item(f"{_acl(answer, part)}: {part.because}") for part in close), *rest])


def _is_close(answer: Why, part: Taking) -> bool:
    """Whether an ACL helps to see what is wrong: the principal's own, or for another host."""
    is_own = part.acl.principal == answer.request.principal
    return not answer.acls and (is_own or part.fit.operation is not None)


def history_answer(answer: History) -> Answer:
    """Return since when an access is as it is, and what it was before."""
    found = history_rows(answer)
    return Answer(
        title=f"History: {words.asked_words(answer.request)}",
        columns=found.columns,
        rows=found.rows,
        parts=lambda: _history_parts(answer),
        notes=tuple(words.history_notes(answer)),
        json=lambda: history_object(answer),
    )


def _history_parts(answer: History) -> Iterator[Part]:
    yield Sentence(words.history_sentence(answer))
    asked, rows = answer.request, []
    for interval in reversed(answer.intervals):
        decision, rule, acl = interval.ruling.decision, interval.ruling.rule, interval.ruling.acl
        reason = short_reason(decision, rule, acl, asked.principal, asked.resource_type)
        since = interval.from_time and f"{interval.from_time:{_TIME}}"
        rows.append((since, interval.as_of, decision, interval.cause, reason))
    found = history_rows(answer)
    columns = ("since (UTC)", "offset", "decision", "cause", "because")
    yield Table(columns, rows, Table(found.columns, found.rows), spare=("cause",))
