"""Unknown settings of the brokers × a decision → what its reader must know. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS
from aclkit.model.semantics import BrokerSettings
from aclkit.model.super_users import alike

WITH_USERS: Final = "Pass --super-users or --no-super-users to the next run."
WITH_EVERYONE: Final = "Pass --allow-everyone or --no-allow-everyone to the next run."


def caveats_on_denial(
    settings: BrokerSettings, principal: str, *, is_unreached: bool
) -> Iterator[str]:
    """Yield why DENIED may be wrong for a principal, and which super users it is not.

    Args:
        settings: under which it was decided.
        principal: who is denied.
        is_unreached: no ACL applies to the resource, for any principal.
    """
    if SUPER_USERS in settings.unknown:
        yield f"Super users are unknown. If {principal} is one, this is allowed. {WITH_USERS}"
    if is_unreached and ALLOW_EVERYONE in settings.unknown:
        yield f"{ALLOW_EVERYONE} is unknown. If it is true, this is allowed. {WITH_EVERYONE}"
    for user in alike(principal, settings.super_users):
        yield (f"super.users has {user!r}, which is another principal: Kafka compares whole names.")


def caveats_on_answer(
    settings: BrokerSettings, principal: str | None, *, has_denied: bool, has_unreached: bool
) -> Iterator[str]:
    """Yield what a list of who can do something, or of what somebody can do, lacks.

    Args:
        settings: under which it was decided.
        principal: whose access is listed; None where the list is of principals.
        has_denied: the list has denials.
        has_unreached: it may be about a resource that no ACL applies to.
    """
    if has_denied:
        yield from caveats_on_list(settings, has_unreached=has_unreached)
        return
    if SUPER_USERS in settings.unknown:
        whom = "They can do this, too" if principal is None else f"{principal} may be one"
        yield f"Super users are unknown. {whom}. {WITH_USERS}"
    yield from _on_default(settings, has_unreached=has_unreached)


def caveats_on_list(settings: BrokerSettings, *, has_unreached: bool = True) -> Iterator[str]:
    """Yield what may be wrong in a list of decisions under unknown settings."""
    if SUPER_USERS in settings.unknown:
        yield f"Super users are unknown. They are allowed what is denied here. {WITH_USERS}"
    yield from _on_default(settings, has_unreached=has_unreached)


def _on_default(settings: BrokerSettings, *, has_unreached: bool) -> Iterator[str]:
    if has_unreached and ALLOW_EVERYONE in settings.unknown:
        yield (
            f"{ALLOW_EVERYONE} is unknown. If it is true, everything that no ACL applies to is "
            f"allowed. {WITH_EVERYONE}"
        )
