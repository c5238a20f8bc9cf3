"""Where an authorizer's ACLs come from, and how far what comes from there has been replayed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from aclkit.model.acl import Acl
from aclkit.model.semantics import BrokerSettings, Semantics


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """One state of a source.

    Attributes:
        acls: all ACLs alive.
        offset: as of which offset, exclusive; None where there are no offsets.
        high_watermark: up to where the log is known to be committed; None where it is unknown.
        settings: the brokers', where the source knows them.
        semantics: how the source's decisions read ACLs; None is as ``auto`` does, see
            ``model.semantics.AskedReading``.
        level: the metadata.version in force, where the source knows it.
    """

    acls: Sequence[Acl]
    offset: int | None = None
    high_watermark: int | None = None
    settings: BrokerSettings = field(default_factory=BrokerSettings)
    semantics: Semantics | None = None
    level: int | None = None

    @property
    def is_caught_up(self) -> bool:
        """Whether everything up to the high watermark has been replayed."""
        if self.offset is None or self.high_watermark is None:
            return True
        return self.offset >= self.high_watermark


class AclSource(Protocol):
    """Gives the newest state each time it is asked; it is asked from one thread at a time."""

    def load(self) -> Loaded:
        """Read the newest state."""
