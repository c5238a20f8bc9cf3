"""Grants and when each was last used → which were not used in the days that are judged. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.acl_words import acl_words
from aclkit.model.findings import Finding
from aclkit.model.log_findings import UNUSED_GRANT
from aclkit.questions.query.lifetimes import Lifetime
from aclkit.questions.usage.coverage import Coverage

USED: Final = "used"
MATCHED: Final = "matched"
UNUSED: Final = "unused"
UNKNOWN: Final = "unknown"
TOO_NEW: Final = "too-new"
USAGES: Final = (UNUSED, MATCHED, UNKNOWN, TOO_NEW, USED)
"""The verdicts on a grant. Matched: it would have allowed requests, but the broker named another
grant for each of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Use of one ACL in the log: the last line that names it, and how many in the window."""

    last: datetime
    lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A row of ``acl_usage``: see the table's columns."""

    acl: Acl
    usage: str
    last_used_at: datetime | None
    last_matched_at: datetime | None
    used_lines: int
    added_at: datetime | None
    window_from: datetime | None
    window_to: datetime | None
    covered: float


def judge_grants(
    lives: Iterable[Lifetime],
    uses: Mapping[str, Use],
    matches: Mapping[str, datetime],
    coverage: Coverage,
    days: float,
) -> list[Grant]:
    """Judge for each grant whether it was used in the ``days`` up to the newest line.

    Without any ALLOWED line the answer is ``unknown``. A grant that no line mentions is also
    ``unknown`` where a file of the window has no ALLOWED line, because its broker may have logged
    at INFO and allowed it; and where lines of a file could not be read, because these may have
    allowed it. A grant that is younger than the window is ``too-new`` to be judged. ``covered`` is
    the part of the window that the log covers: an ``unused`` grant was not used in that part.

    Args:
        lives: the grants in force, and since when.
        uses: what lines name, by ACL id; of duplicates any of them may be named.
        matches: when a line was last allowed that the ACL would have allowed too, by ACL id.
        coverage: of the log.
        days: length of the window.
    """
    lives = list(lives)
    by_binding = _by_binding(lives, uses)
    window = None if coverage.last is None else coverage.last - timedelta(days=days)
    covered = 0.0 if window is None else coverage.share(window)
    is_silent = window is not None and coverage.silent_share(window) > 1 - _WHOLE
    otherwise = UNKNOWN if is_silent or coverage.unread_files else UNUSED
    grants = []
    for life in lives:
        use = by_binding.get(life.acl.binding)
        matched = matches.get(life.acl.acl_id)
        grants.append(
            Grant(
                acl=life.acl,
                usage=_usage(life, use, matched, window if coverage.allowed_lines else None)
                or otherwise,
                last_used_at=use.last if use else None,
                last_matched_at=matched,
                used_lines=use.lines if use else 0,
                added_at=life.added_at,
                window_from=window,
                window_to=coverage.last,
                covered=covered,
            )
        )
    return sorted(grants, key=lambda g: (USAGES.index(g.usage), g.acl.principal, g.acl.binding))


def find_unused(grants: Iterable[Grant]) -> Iterator[Finding]:
    """Yield a finding for each unused grant, where the whole window is covered."""
    for grant in grants:
        if grant.usage != UNUSED or grant.covered < _WHOLE or grant.window_from is None:
            continue
        yield UNUSED_GRANT.about(
            str(grant.acl),
            f"{acl_words(grant.acl)} is unused: the authorizer log shows no use since "
            f"{grant.window_from:%Y-%m-%d}.",
            acls=(grant.acl,),
        )


def _usage(
    life: Lifetime, use: Use | None, matched: datetime | None, window: datetime | None
) -> str | None:
    """Return the verdict that lines give on a grant; None where no line decides."""
    if window is None:
        return UNKNOWN
    if life.added_at is None or life.added_at > window:
        return TOO_NEW
    if use is not None and use.last >= window:
        return USED
    return MATCHED if matched is not None and matched >= window else None


def _by_binding(lives: Iterable[Lifetime], uses: Mapping[str, Use]) -> dict[tuple[str, ...], Use]:
    """Put the uses of ACLs with the same seven fields together: a line cannot tell them apart."""
    together: dict[tuple[str, ...], Use] = {}
    for life in lives:
        use, other = uses.get(life.acl.acl_id), together.get(life.acl.binding)
        if use is not None:
            together[life.acl.binding] = (
                use
                if other is None
                else Use(last=max(use.last, other.last), lines=use.lines + other.lines)
            )
    return together


_WHOLE: Final = 0.999
