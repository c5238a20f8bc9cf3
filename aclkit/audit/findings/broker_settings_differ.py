"""Settings that decide × what the brokers say → ``broker-settings-differ``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aclkit.model.broker_settings import ResolvedSettings
from aclkit.model.findings import Finding, Kind

BROKER_SETTINGS_DIFFER: Final = Kind(
    id="broker-settings-differ",
    severity="high",
    meaning=(
        "A live cluster's brokers do not have the super.users, the allow.everyone.if.no.acl.found "
        "or the authorizer that the run was told, or not all of them the same. What was told "
        "holds; without that, what the broker of the lowest id says. A broker may decide otherwise."
    ),
    fix="Give the brokers one configuration, and tell the run that one.",
)


def find_broker_settings_differ(resolved: ResolvedSettings) -> Iterator[Finding]:
    """Yield a finding for each setting that differs."""
    for key, message in resolved.differences:
        yield BROKER_SETTINGS_DIFFER.about(key, message)
