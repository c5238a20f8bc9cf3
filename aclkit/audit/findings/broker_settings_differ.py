"""Settings that decide × what the brokers say → ``broker-settings-differ``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aclkit.model.broker_settings import ResolvedSettings
from aclkit.model.findings import Kind

if TYPE_CHECKING:  # a report knows this kind, and needs no Spark
    from aclkit.warehouse.run import Run

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


def note_resolved(run: Run, resolved: ResolvedSettings) -> None:
    """Note in a run how the settings that decide came about."""
    run.notes.extend(resolved.notes)
    run.findings.extend(
        BROKER_SETTINGS_DIFFER.about(key, message) for key, message in resolved.differences
    )
