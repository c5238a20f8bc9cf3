"""Grants, when each was last used, and what the log can show → which are unused. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from aclkit.model.acl import Acl, Request
from aclkit.model.acl_words import acl_words
from aclkit.model.findings import Finding
from aclkit.model.log_findings import UNUSED_GRANT
from aclkit.model.redpanda import has_unknown_members
from aclkit.model.semantics import KAFKA, Semantics
from aclkit.questions.query.lifetimes import Lifetime
from aclkit.questions.usage.use import TOO_NEW as ADDED_LATE
from aclkit.questions.usage.use import Unknown, Unused, Use, Used, judge_use
from aclkit.questions.usage.whole_log import Judgeable

USED: Final = "used"
MATCHED: Final = "matched"
UNUSED: Final = "unused"
UNKNOWN: Final = "unknown"
TOO_NEW: Final = "too-new"
USAGES: Final = (UNUSED, MATCHED, UNKNOWN, TOO_NEW, USED)
"""The verdicts on a grant. Matched: it would have allowed requests, but the broker named another
grant for each of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
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
    named: Mapping[str, Named],
    matches: Mapping[str, datetime],
    log: Judgeable,
    super_users: Collection[str] = (),
    semantics: Semantics = KAFKA,
) -> list[Grant]:
    """Judge for each grant whether it was used in the window of a log; see ``judge_use``.

    Args:
        lives: the grants in force, and since when.
        named: what lines name, by ACL id; of duplicates any of them may be named.
        matches: when a line was last allowed that the ACL would have allowed too, by ACL id.
        log: what the log can show.
        super_users: whose grants no line is about.
        semantics: how ACLs are read.
    """
    lives = list(lives)
    by_binding = _by_binding(lives, named)
    grants = []
    for life in lives:
        use = by_binding.get(life.acl.binding)
        matched = matches.get(life.acl.acl_id)
        times = [each for each in (use.last if use else None, matched) if each is not None]
        found = judge_use(
            life.acl,
            log,
            added_at=life.added_at,
            uses=[_any_use(life.acl, at) for at in times],
            is_super=life.acl.principal in super_users,
            has_members=has_unknown_members(life.acl.principal, semantics),
        )
        grants.append(
            Grant(
                acl=life.acl,
                usage=_usage(found, use, log),
                last_used_at=use.last if use else None,
                last_matched_at=matched,
                used_lines=use.lines if use else 0,
                added_at=life.added_at,
                window_from=log.window_from,
                window_to=log.window_to,
                covered=log.covered,
            )
        )
    return sorted(grants, key=lambda g: (USAGES.index(g.usage), g.acl.principal, g.acl.binding))


def find_unused(grants: Iterable[Grant], log: Judgeable) -> Iterator[Finding]:
    """Yield a finding for each unused grant: only a whole log shows any."""
    for grant in grants:
        if grant.usage == UNUSED and grant.window_from is not None:
            yield UNUSED_GRANT.about(
                str(grant.acl),
                f"{acl_words(grant.acl)} is unused: the authorizer log shows no use since "
                f"{grant.window_from:%Y-%m-%d} ({log.words}).",
                acls=(grant.acl,),
            )


def _any_use(acl: Acl, at: datetime) -> Use:
    """Return a use at a time; which request it was does not matter."""
    request = Request(
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        resource_type=acl.resource_type,
        resource_name=acl.resource_name,
    )
    return Use(request=request, last_at=at)


def _usage(found: Used | Unused | Unknown, named: Named | None, log: Judgeable) -> str:
    """Return the word of the table for a verdict."""
    if isinstance(found, Used):
        start = log.window_from
        is_named = named is not None and start is not None and named.last >= start
        return USED if is_named else MATCHED
    if isinstance(found, Unused):
        return UNUSED
    return TOO_NEW if found.missing[0].kind == ADDED_LATE else UNKNOWN


def _by_binding(
    lives: Iterable[Lifetime], uses: Mapping[str, Named]
) -> dict[tuple[str, ...], Named]:
    """Put the uses of ACLs with the same seven fields together: a line cannot tell them apart."""
    together: dict[tuple[str, ...], Named] = {}
    for life in lives:
        use, other = uses.get(life.acl.acl_id), together.get(life.acl.binding)
        if use is not None:
            together[life.acl.binding] = (
                use
                if other is None
                else Named(last=max(use.last, other.last), lines=use.lines + other.lines)
            )
    return together
