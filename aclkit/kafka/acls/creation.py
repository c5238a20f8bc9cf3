"""The host of a new ACL → whether a controller accepts it, or Kafka 4.4's reason why not. Pure.

A controller accepts ranges from metadata.version 4.4-IV1 on. Each broker's binary determines which
hosts are ranges (``aclkit.model.brokers``). Everything but ranges and the empty host passes, host
names too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from aclkit.model.brokers import CIDR_LEVEL, level_name
from aclkit.model.cidr import why_no_range
from aclkit.model.semantics import Semantics

_TOO_OLD: Final = "CIDR-based ACL host patterns require metadata version 4.4-IV1 or higher."


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationRules:
    """What a controller's check depends on.

    Attributes:
        level: the metadata.version in force; None where it is unknown.
        cidr_hosts: whether ranges decide, which stands in for an unknown level.
    """

    level: int | None
    cidr_hosts: bool

    @classmethod
    def of(cls, level: int | None, semantics: Semantics) -> CreationRules:
        """Return the rules under a metadata.version and semantics."""
        return cls(level=level, cidr_hosts=semantics.cidr_hosts)

    @property
    def takes_ranges(self) -> bool:
        """Whether an ACL with a range may be created."""
        return self.cidr_hosts if self.level is None else self.level >= CIDR_LEVEL

    @property
    def words(self) -> str:
        """Describe what is in force, for people."""
        if self.level is None:
            decide = "decide" if self.cidr_hosts else "are compared as text"
            return f"the version in force is unknown, and ranges {decide} here"
        return f"{level_name(self.level)} is in force"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a controller does not take an ACL.

    Attributes:
        message: Kafka's.
        is_of_version: a newer metadata.version may take it.
    """

    message: str
    is_of_version: bool = False


def refused_host(host: str, rules: CreationRules) -> Refusal | None:
    """Return why a controller refuses a host, by the first check that it fails; None if it passes.

    >>> refused_host("10.0.0.0/33", CreationRules(level=32, cidr_hosts=True)).message
    "Invalid CIDR notation '10.0.0.0/33': Value [33] not in range [0,32]"
    """
    if not host:
        return Refusal("Host pattern cannot be null or empty")
    if "/" not in host:
        return None
    if not rules.takes_ranges:
        return Refusal(_TOO_OLD, is_of_version=True)
    why = why_no_range(host)
    return None if why is None else Refusal(f"Invalid CIDR notation '{host}': {why}")
