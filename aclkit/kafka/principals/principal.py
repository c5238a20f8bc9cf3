"""A principal with what its builder knew in addition to its name, and a builder's interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, runtime_checkable

from aclkit.model.principal import parse_principal

USER_TYPE: Final = "User"
"""The type of a principal unless another one is given (KafkaPrincipal.USER_TYPE)."""


@dataclass(frozen=True, slots=True)
class ChannelPrincipal:
    """The principal as the builder made it: KIP-111's ``channelPrincipal``.

    Attributes:
        name: the name of the connection before it was mapped, for example a distinguished name.
        attributes: the custom fields, which Kafka without KIP-111 would have lost.
    """

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KafkaPrincipal:
    """Type and name, by which ACLs match, and the channel principal, by which nothing matches.

    Two principals are equal when type and name are (KafkaPrincipal.equals).
    """

    principal_type: str
    name: str
    channel_principal: ChannelPrincipal | None = field(default=None, compare=False)

    @classmethod
    def parse(cls, text: str) -> KafkaPrincipal:
        """Read ``type:name``, split at the first colon.

        Raises:
            UsageError: the text has no colon.
        """
        return cls(*parse_principal(text))

    @property
    def attributes(self) -> Mapping[str, str]:
        """The custom fields; empty where no builder made the principal."""
        return self.channel_principal.attributes if self.channel_principal else {}

    def __str__(self) -> str:
        """Write the principal as ACLs do: ``type:name``."""
        return f"{self.principal_type}:{self.name}"


@runtime_checkable
class PrincipalBuilder(Protocol):
    """What ``--principal-builder module:Class`` names: a class without constructor arguments.

    - ``configure`` is called once, with the content of ``--principal-builder-properties``.
    - ``build_principal`` is KIP-111's ``buildPrincipal(Map)``: properties that a person typed, or
      the columns of a row, in their order.
    - ``build_principal_from_name`` is for who is known by one name only.

    A builder refuses with ``aclkit.errors.UsageError``; whatever else it raises is reported as
    its own fault.
    """

    def configure(self, properties: Mapping[str, str]) -> None:
        """Take the builder's properties."""

    def build_principal(self, properties: Mapping[str, str]) -> KafkaPrincipal:
        """Build a principal from properties."""

    def build_principal_from_name(self, name: str) -> KafkaPrincipal:
        """Build a principal from a name."""
