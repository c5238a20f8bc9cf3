"""Rows of the three inventories, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

LOG, ACL, FILE, SETTING, ALWAYS = "log", "acl", "file", "setting", "always"
"""Where an inventory row comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing to ask about.

    Attributes:
        name: principal, host, or resource name.
        resource_type: of a resource; empty otherwise.
        origin: where the row comes from.
        attributes: further columns of the user's file.
        witness: for the any-other row, a concrete name that it stands for.
    """

    name: str
    resource_type: str = ""
    origin: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    witness: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What no two rows of an inventory share."""
        return self.resource_type, self.name

    @property
    def is_any_other(self) -> bool:
        """Whether this row stands for all names that nothing names."""
        return self.witness is not None
