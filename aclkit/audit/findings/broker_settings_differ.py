"""Settings in use × settings of the brokers → ``broker-settings-differ``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.model.broker_settings import ResolvedSettings
from aclkit.model.findings import Finding, Kind

BROKER_SETTINGS_DIFFER: Final = Kind(
    id="broker-settings-differ",
    severity="high",
    summary="broker settings that differ",
    meaning=(
        "The brokers of a live cluster differ from each other or from the options of the run. The "
        "difference is in super.users, allow.everyone.if.no.acl.found or the authorizer. aclkit "
        "uses the options of the run, or else the broker with the lowest id. So some brokers can "
        "decide differently than aclkit."
    ),
    fix=(
        "Configure all brokers alike, then pass the same settings to aclkit run, for example with "
        "--server-properties."
    ),
)


def find_broker_settings_differ(resolved: ResolvedSettings) -> Iterator[Finding]:
    """Yield a finding for each setting that differs."""
    for key, message in resolved.differences:
        yield BROKER_SETTINGS_DIFFER.about(key, message)
