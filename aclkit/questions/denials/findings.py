"""Refused accesses with many lines → findings. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from aclkit.model.findings import REFUSED_ACCESS, Finding
from aclkit.questions.denials.answer import (
    denial_words,
    proposed_fixes,
    rather_words,
    reason_words,
)
from aclkit.questions.denials.causes import PROBLEMS, Denial
from aclkit.questions.query.fixes import fix_line

LEAST_LINES: Final = 100
"""With fewer lines an access is refused too seldom for a finding, unless told otherwise."""


def find_refused(denials: Iterable[Denial], least: int = LEAST_LINES) -> Iterator[Finding]:
    """Yield each access that is refused in many lines of the log, and still not allowed."""
    for denial in denials:
        refused = denial.refused
        if denial.cause in PROBLEMS and refused.lines >= least:
            reason = reason_words(denial)
            rather = rather_words(denial) or ""
            ways = [rather.removesuffix("."), *map(fix_line, proposed_fixes(denial))]
            yield REFUSED_ACCESS.about(
                f"{refused.principal} {refused.operation} {refused.resource}",
                f"Brokers refuse {denial_words(refused)}.{f' {reason}.' if reason else ''}",
                fix="; ".join(filter(None, ways)) or None,
                acls=[denial.acl] if denial.acl else [],
                evidence=[f"refused in {refused.lines:,} lines on {refused.days:,} days"],
            )
