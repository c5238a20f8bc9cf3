"""Settings that decide → ``super-users-unknown``: nobody said who is allowed everything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS
from aclkit.model.findings import Finding, Kind
from aclkit.model.semantics import BrokerSettings

SUPER_USERS_UNKNOWN: Final = Kind(
    id="super-users-unknown",
    severity="high",
    meaning=(
        "The run does not know the super users of the brokers: no option names them, and no broker "
        "told them. Kafka allows super users everything, whatever the ACLs say. So each answer "
        "DENIED is wrong for them, and each list of who can do something lacks them."
    ),
    fix=(
        "Pass the brokers' super.users with --super-users or --server-properties, or pass "
        "--no-super-users if there are none."
    ),
)


def find_super_users_unknown(settings: BrokerSettings) -> Iterator[Finding]:
    """Yield one finding where nobody knows the super users."""
    if SUPER_USERS not in settings.unknown:
        return
    known = ", ".join(sorted(settings.super_users))
    evidence = [f"{SUPER_USERS}: {f'known are {known}' if known else 'none is known'}"]
    if ALLOW_EVERYONE in settings.unknown:
        evidence.append(f"{ALLOW_EVERYONE}: unknown, too")
    yield SUPER_USERS_UNKNOWN.about(
        SUPER_USERS,
        "Super users are unknown, so each answer DENIED is wrong for a principal that is one.",
        evidence=evidence,
    )
