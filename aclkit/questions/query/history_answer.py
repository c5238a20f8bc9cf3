"""The history of an access → its answer: since when it is as it is, and what was before. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Final

from aclkit.answer.document import Answer, Part, Sentence, Table
from aclkit.answer.rows import as_objects
from aclkit.questions.query.history import History, Interval
from aclkit.questions.query.history_words import history_notes, history_sentence
from aclkit.questions.query.names import near_object
from aclkit.questions.query.table_words import short_reason
from aclkit.questions.query.why_answer import notes_on_unknown, ruling_object
from aclkit.questions.query.words import asked_words
from aclkit.warehouse.result_rows import Rows

HISTORY_COLUMNS: Final = (
    "as_of", "from_offset", "from_time", "to_offset", "to_time", "decision", "rule", "cause",
    "start_known", "deciding_acl", "acl_id", "changed_by", "changed_by_certainty",
)  # fmt: skip


def history_rows(answer: History) -> Rows:
    """Return a row for each interval in which a decision held, the newest first."""
    return Rows(HISTORY_COLUMNS, list(_intervals(answer)))


def _intervals(answer: History) -> Iterator[tuple[object, ...]]:
    following: Interval | None = None
    for interval in reversed(answer.intervals):
        acl = interval.ruling.acl
        yield (
            interval.as_of,
            interval.from_offset,
            interval.from_time,
            following.from_offset if following else None,
            following.from_time if following else None,
            interval.ruling.decision,
            interval.ruling.rule,
            interval.cause,
            interval.is_exact,
            str(acl) if acl else None,
            acl.acl_id if acl else None,
            "; ".join(filter(None, (by.names for by in interval.by))) or None,
            ", ".join(dict.fromkeys(by.certainty for by in interval.by)) or None,
        )
        following = interval


def history_object(answer: History) -> dict[str, object]:
    """Return the whole answer as one object."""
    since = answer.since
    return {
        "sentence": history_sentence(answer),
        **asdict(answer.request),
        **ruling_object(answer.intervals[-1].ruling),
        "since_offset": since.from_offset,
        "since_time": since.from_time,
        "since_known": since.is_exact,
        "intervals": as_objects(HISTORY_COLUMNS, history_rows(answer).rows),
        **near_object(answer.unknown),
        "notes": [*notes_on_unknown(answer.unknown), *history_notes(answer)],
    }


_TIME: Final = "%Y-%m-%d %H:%M:%S"


def history_answer(answer: History) -> Answer:
    """Return since when an access is as it is, and what it was before."""
    found = history_rows(answer)
    return Answer(
        title=f"History: {asked_words(answer.request)}",
        columns=found.columns,
        rows=found.rows,
        parts=lambda: _history_parts(answer),
        notes=tuple(history_notes(answer)),
        json=lambda: history_object(answer),
    )


def _history_parts(answer: History) -> Iterator[Part]:
    yield Sentence(history_sentence(answer))
    asked, rows = answer.request, []
    for interval in reversed(answer.intervals):
        decision, rule, acl = interval.ruling.decision, interval.ruling.rule, interval.ruling.acl
        reason = short_reason(decision, rule, acl, asked.principal, asked.resource_type)
        since = interval.from_time and f"{interval.from_time:{_TIME}}"
        cause = " ".join((interval.cause, "; ".join(by.words for by in interval.by))).strip()
        rows.append((since, interval.as_of, decision, cause, reason))
    found = history_rows(answer)
    columns = ("since (UTC)", "offset", "decision", "cause", "because")
    yield Table(columns, rows, Table(found.columns, found.rows), spare=("cause",))
