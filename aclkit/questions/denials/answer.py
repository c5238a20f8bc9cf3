"""Refused accesses with their causes → the answer: grouped by cause, with what to do. Pure.

Those with many lines are findings too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from aclkit.answer.document import Answer, Heading, Item, Items, Part, Row, Sentence
from aclkit.model.acl import acl_words, quoted
from aclkit.model.cluster_rights import makes_of_client
from aclkit.model.findings import REFUSED_ACCESS, Finding
from aclkit.model.groups import grouped
from aclkit.model.phrases import few, number_of
from aclkit.questions.arguments import Denials
from aclkit.questions.denials.causes import (
    ALLOWED_NOW,
    CAUSES,
    DENIED_BY,
    LISTING,
    NO_ACL,
    NO_NAME,
    PROBLEMS,
    REMOVED,
    Denial,
    Refused,
)
from aclkit.questions.query.fixes import (
    Fix,
    fix_line,
    fixes_of,
    instead_words,
    next_deny_words,
)

COLUMNS: Final = (
    "cause", "principal", "operation", "resource_type", "resource_name", "requests", "hosts",
    "lines", "days", "first_at", "last_at", "is_new", "acl", "acl_id", "removed_offset",
    "removed_at", "exists", "least_acl", "command", "commands", "warning", "instead",
)  # fmt: skip

_HEADINGS: Final = {
    REMOVED: "An ACL that allowed it was removed",
    DENIED_BY: "A DENY applies",
    NO_ACL: "No ACL allows it",
    NO_NAME: "The topic does not exist",
    LISTING: "Left out of an answer only",
    ALLOWED_NOW: "Allowed by now",
}
_MOST_HOSTS: Final = 2


def is_selected(denial: Denial, asked: Denials) -> bool:
    """Whether a refused access is one of those that are asked for."""
    refused = denial.refused
    return (
        (asked.include_listings or denial.cause in PROBLEMS)
        and refused.lines >= asked.min_lines
        and (refused.is_new or not asked.only_new)
    )


def selected_denials(denials: Sequence[Denial], asked: Denials, way: str = "--all") -> Answer:
    """Return the answer with some of all refused accesses; a note counts the kinds left out.

    Args:
        denials: all of them.
        asked: which are shown.
        way: what shows those left out.
    """
    hidden = sum(each.cause not in PROBLEMS for each in denials)
    note = f"{way} shows {hidden:,} more: listings, or allowed by now."
    shown = [each for each in denials if is_selected(each, asked)]
    return denials_answer(shown, [note] if hidden and not asked.include_listings else [])


def denials_answer(denials: Sequence[Denial], notes: Sequence[str]) -> Answer:
    """Return refused accesses by cause, those that broke first."""
    return Answer(
        title="Refused accesses",
        columns=COLUMNS,
        rows=map(_row, denials),
        parts=lambda: _parts(denials),
        besides=lambda: [summary(denials)],
        notes=notes,
    )


def summary(denials: Sequence[Denial]) -> str:
    """Write how many accesses are refused, and how many of them are new."""
    problems = [each for each in denials if each.cause in PROBLEMS]
    if not problems:
        return "No access is refused."
    who = number_of(len({each.refused.principal for each in problems}), "principal")
    new = sum(each.refused.is_new for each in problems)
    tail = f", {new:,} of them new" if new else ""
    return f"{number_of(len(problems), 'access', 'accesses')} of {who} refused{tail}."


def denial_words(refused: Refused) -> str:
    """Write who is refused what, how often, from where and since when."""
    requests = f" ({', '.join(refused.requests)})" if refused.requests else ""
    times = number_of(refused.lines, "time")
    since = f", {_since(refused.first_at, refused.last_at)}" if refused.first_at else ""
    return (
        f"{refused.principal}: {refused.operation} on {refused.resource}{requests}, {times} from "
        f"{few(map(quoted, refused.hosts), _MOST_HOSTS)}{since}"
    )


def reason_words(denial: Denial) -> str | None:
    """Write what the ACLs tell about it; None where the cause is all."""
    after = [] if denial.next_deny is None else [next_deny_words(denial.next_deny)]
    return "; ".join([*_reasons(denial), *after]) or None


def _reasons(denial: Denial) -> Iterator[str]:
    if denial.acl is None:
        return
    words = acl_words(denial.acl)
    if denial.cause == REMOVED:
        when = f" ({_day(denial.removed_at)})" if denial.removed_at else ""
        yield f"{words} was removed at offset {denial.removed_offset}{when}"
    else:
        yield f"{words} {'applies' if denial.cause in (DENIED_BY, LISTING) else 'allows it'}"


def cause_heading(cause: str) -> str:
    """Return the words for a cause."""
    return _HEADINGS[cause]


def proposed_fixes(denial: Denial) -> list[Fix]:
    """Return what would allow an access, alternatives each; empty where nothing is wrong."""
    return _fixes_of(denial) if denial.cause in PROBLEMS else []


def _fixes_of(denial: Denial) -> list[Fix]:
    return fixes_of(denial.fixes, is_choice=denial.next_deny is not None)


def rather_words(denial: Denial) -> str | None:
    """Write what to do in place of an ACL that makes an administrator or a broker of a client."""
    is_problem = denial.cause in PROBLEMS
    return instead_words(denial.fixes, denial.refused.requests) if is_problem else None


def _parts(denials: Sequence[Denial]) -> Iterator[Part]:
    yield Sentence(summary(denials), "bad" if _has_problems(denials) else "good")
    by_cause = grouped((each.cause, each) for each in denials)
    for cause in CAUSES:
        if found := by_cause.get(cause):
            yield Heading(f"{cause_heading(cause)} ({len(found):,})")
            yield Items([_item(each) for each in found])


def _item(denial: Denial) -> Item:
    new = " (new)" if denial.refused.is_new else ""
    return Item(f"{denial_words(denial.refused)}{new}", under=[*_under(denial)])


def _has_problems(denials: Sequence[Denial]) -> bool:
    return any(each.cause in PROBLEMS for each in denials)


def _under(denial: Denial) -> Iterator[str]:
    if reason := reason_words(denial):
        yield reason
    if rather := rather_words(denial):
        yield rather
    yield from map(fix_line, proposed_fixes(denial))


def _since(first: datetime, last: datetime | None) -> str:
    if last is None or last.date() == first.date():
        return f"on {_day(first)}"
    return f"from {_day(first)} to {_day(last)}"


def _day(time: datetime | None) -> str:
    return "" if time is None else f"{time:%Y-%m-%d}"


def _row(denial: Denial) -> Row:
    refused, acl, fixes = denial.refused, denial.acl, _fixes_of(denial)
    warning = next(filter(None, (makes_of_client(fix.acls[0]) for fix in fixes)), None)
    # Nothing to choose, and nothing to be warned of: what a program can take as it is.
    is_plain = len(fixes) == 1 and warning is None and denial.next_deny is None
    plain = fixes[0] if is_plain else None
    return (
        denial.cause,
        refused.principal,
        refused.operation,
        *refused.resource,
        list(refused.requests),
        list(refused.hosts),
        refused.lines,
        refused.days,
        refused.first_at,
        refused.last_at,
        refused.is_new,
        None if acl is None else str(acl),
        None if acl is None else acl.acl_id or None,
        denial.removed_offset,
        denial.removed_at,
        denial.exists,
        str(plain.acls[0]) if plain and len(plain.acls) == 1 else None,
        plain.command if plain else None,
        [fix.command for fix in fixes if fix.command],
        warning,
        rather_words(denial),
    )


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
