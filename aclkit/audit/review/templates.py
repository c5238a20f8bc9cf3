"""The template pci-dss: what requirements 7.2.4 and 7.2.5.1 of PCI DSS 4.0.1 ask of a review. Pure.

In our own words. 7.2.4: all accounts of users, of third parties too, and their access are reviewed
at least every six months; access stays appropriate for the job; what is inappropriate is
addressed; management acknowledges that the access stays appropriate. 7.2.5.1: access of
application and system accounts is reviewed periodically, as often as the entity's targeted risk
analysis says (12.3.1); access stays appropriate for the function; the same two last points.
"""

from __future__ import annotations

from calendar import monthrange
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Final

from aclkit.audit.review.attributes import APPLICATION, PERSON, SYSTEM, THIRD_PARTY
from aclkit.audit.review.document import About, Review, SignedOff
from aclkit.model.facts import in_utc
from aclkit.model.phrases import number_of

PCI_DSS: Final = "pci-dss"
TEMPLATES: Final = (PCI_DSS,)

USERS: Final = "7.2.4"
ACCOUNTS: Final = "7.2.5.1"
REQUIREMENT_OF: Final[Mapping[str, str]] = {
    PERSON: USERS, THIRD_PARTY: USERS, APPLICATION: ACCOUNTS, SYSTEM: ACCOUNTS,
}  # fmt: skip
"""Class of an account → the requirement by which its access is reviewed."""

MONTHS: Final = 6
"""Users' access is reviewed at least every so many months (7.2.4)."""

TITLES: Final = {
    USERS: "user accounts, third parties too, at least every six months",
    ACCOUNTS: "application and system accounts, as often as the targeted risk analysis requires",
}


def day_of(time: str) -> date:
    """Return the day of a time of a review."""
    return in_utc(datetime.fromisoformat(time)).date()


def add_months(day: date, months: int) -> date:
    """Return the same day some months later, or the last one of a shorter month.

    >>> add_months(date(2026, 8, 31), 6)
    datetime.date(2027, 2, 28)
    """
    years, month = divmod(day.month - 1 + months, 12)
    year = day.year + years
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def next_due(day: date, account: str, frequency_days: int | None) -> date | None:
    """Return by when access that was reviewed on a day is reviewed again; None if not known."""
    requirement = REQUIREMENT_OF.get(account)
    if requirement == USERS:
        return add_months(day, MONTHS)
    if requirement == ACCOUNTS and frequency_days is not None:
        return day + timedelta(days=frequency_days)
    return None


def is_still_valid(sign: SignedOff, about: About, today: date, frequency_days: int | None) -> bool:
    """Whether an earlier sign-off need not be asked for again yet."""
    due = next_due(day_of(sign.at), about.account, frequency_days)
    return due is not None and today < due


def due_days(review: Review) -> dict[str, date | None]:
    """Return by when the next review of each requirement must be, of those that have items.

    A sign-off that was carried over counts from the day on which it was made.
    """
    found: dict[str, date | None] = {}
    for about in review.about.values():
        requirement = REQUIREMENT_OF.get(about.account)
        if requirement is None:
            continue
        time = review.started_at if about.carried is None else about.carried.at
        due = next_due(day_of(time), about.account, review.frequency_days)
        known = found.get(requirement, due)
        found[requirement] = None if due is None or known is None else min(known, due)
    return found


def gaps(review: Review, acknowledged_by: str | None, *, is_closing: bool) -> Iterator[str]:
    """Yield the fields that the template asks for and the review does not have.

    Args:
        review: the review; one without a template has no gaps.
        acknowledged_by: who acknowledges for the management.
        is_closing: the acknowledgement is due now.
    """
    if review.template != PCI_DSS:
        return
    classes = Counter(about.account for about in review.about.values())
    if unknown := classes.get("", 0):
        yield (
            f"{number_of(unknown, 'item has', 'items have')} no class, so it is unknown whether "
            f"{USERS} or {ACCOUNTS} applies. Next: a class in --owners"
        )
    if any(REQUIREMENT_OF.get(each) == ACCOUNTS for each in classes):
        if review.frequency_days is None:
            yield f"{ACCOUNTS}: the frequency is missing. Next: start --frequency DAYS"
        if not review.risk_analysis:
            yield (
                f"{ACCOUNTS}: the targeted risk analysis (12.3.1) is missing. Next: start "
                "--risk-analysis TEXT"
            )
    if is_closing and not acknowledged_by:
        yield (
            f"{USERS}, {ACCOUNTS}: the management's acknowledgement is missing. Next: close "
            "--acknowledged-by NAME"
        )
