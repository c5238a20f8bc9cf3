"""Settings that decide → ``super-users-unknown``: the super users of the brokers are unknown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS
from aclkit.model.findings import Finding, Kind
from aclkit.model.semantics import BrokerSettings

SUPER_USERS_UNKNOWN: Final = Kind(
    id="super-users-unknown",
    severity="high",
    summary="super users that aclkit does not know",
    meaning=(
        "aclkit does not know the super users of the brokers: no option names them, and no broker "
        "reports them. Kafka allows super users everything, even against a DENY. So every answer "
        "DENIED is wrong for a super user, and every list of principals lacks the super users."
    ),
    fix=(
        "Pass the brokers' super.users with --super-users or --server-properties, or pass "
        "--no-super-users if there are none."
    ),
)


def find_super_users_unknown(settings: BrokerSettings) -> Iterator[Finding]:
    """Yield one finding where the super users are unknown."""
    if SUPER_USERS not in settings.unknown:
        return
    known = ", ".join(sorted(settings.super_users))
    evidence = [f"{SUPER_USERS}: {f'only {known} known' if known else 'none known'}"]
    if ALLOW_EVERYONE in settings.unknown:
        evidence.append(f"{ALLOW_EVERYONE}: also unknown")
    yield SUPER_USERS_UNKNOWN.about(
        SUPER_USERS,
        "Super users are unknown, so every answer DENIED is wrong for a super user.",
        evidence=evidence,
    )
