"""The answers of why and history → rows, as programs read them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Final

from aclkit.questions.query.history import History, Interval
from aclkit.questions.query.why import Part, Why
from aclkit.warehouse.result_rows import Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyRow:
    """One ACL of an answer, its columns in their order; without an ACL the decision alone."""

    decision: str
    rule: str
    rank: int | None = None
    permission_type: str | None = None
    resource_type: str | None = None
    resource_name: str | None = None
    pattern_type: str | None = None
    pattern_match: str | None = None
    letters_skipped: int | None = None
    principal: str | None = None
    principal_match: str | None = None
    host: str | None = None
    host_match: str | None = None
    operation: str | None = None
    operation_match: str | None = None
    beaten_by: int | None = None
    because: str | None = None
    decision_without: str | None = None
    rule_without: str | None = None
    changes_without: bool | None = None
    added_offset: int | None = None
    added_at: datetime | None = None
    acl_id: str | None = None

    @classmethod
    def of(cls, answer: Why, part: Part) -> WhyRow:
        """Return the row of an ACL that takes part."""
        return cls(
            decision=answer.ruling.decision,
            rule=answer.ruling.rule,
            rank=part.rank,
            **asdict(part.acl),
            pattern_match=part.fit.pattern,
            letters_skipped=part.fit.skipped,
            principal_match=part.fit.principal,
            host_match=part.fit.host,
            operation_match=part.fit.operation,
            beaten_by=part.beaten_by,
            because=part.because,
            decision_without=part.without.decision,
            rule_without=part.without.rule,
            changes_without=part.changes,
            added_offset=part.life.added_offset,
            added_at=part.life.added_at,
        )


WHY_COLUMNS: Final = tuple(field.name for field in fields(WhyRow))
HISTORY_COLUMNS: Final = (
    "as_of", "from_offset", "from_time", "to_offset", "to_time", "decision", "rule", "cause",
    "start_known", "deciding_acl", "acl_id",
)  # fmt: skip


def why_rows(answer: Why) -> Rows:
    """Return a row for each ACL of an answer; without any, the decision alone."""
    found = [WhyRow.of(answer, part) for part in (*answer.acls, *answer.near)]
    alone = WhyRow(decision=answer.ruling.decision, rule=answer.ruling.rule)
    return Rows(WHY_COLUMNS, [tuple(asdict(row).values()) for row in found or [alone]])


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
        )
        following = interval
