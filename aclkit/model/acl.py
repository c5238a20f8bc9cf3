"""One ACL of the log, with Kafka's own text forms, and the request it may answer."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Final

from aclkit.model.resource import Resource
from aclkit.model.values import dataclass

ANY_OTHER: Final = "<any-other>"
"""Stands, as host and resource, for what is in no ACL and no inventory."""

ANY_OTHER_PRINCIPAL: Final = f"User:{ANY_OTHER}"

LONGEST_TEXT: Final = 32_767
"""Bytes of UTF-8 that a string of a record may have: Kafka writes no longer one and reads none."""


def is_storable(text: str) -> bool:
    """Whether a record of Kafka's can hold a text as a name, principal or host."""
    return len(text) * 4 <= LONGEST_TEXT or len(text.encode(errors="replace")) <= LONGEST_TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class Acl:
    """An AccessControlEntryRecord; enum fields hold names, of unknown codes ``UNKNOWN(code)``.

    ``acl_id`` is the record's Uuid in Kafka's text form: URL-safe base64, 22 characters.
    """

    acl_id: str
    resource_type: str
    resource_name: str
    pattern_type: str
    principal: str
    host: str
    operation: str
    permission_type: str

    @property
    def is_allow(self) -> bool:
        """Whether this is an ALLOW; everything else denies (StandardAuthorizerData)."""
        return self.permission_type == "ALLOW"

    @property
    def pattern(self) -> tuple[str, str, str]:
        """The resource pattern: resource type, pattern type and name."""
        return self.resource_type, self.pattern_type, self.resource_name

    @property
    def binding(self) -> tuple[str, ...]:
        """The seven fields without the id: what Kafka calls an AclBinding."""
        return _binding_of(self)

    def render_pattern(self) -> str:
        """Write the resource pattern as Kafka does (ResourcePattern.toString)."""
        return (
            f"ResourcePattern(resourceType={self.resource_type}, name={self.resource_name}, "
            f"patternType={self.pattern_type})"
        )

    def render_entry(self) -> str:
        """Write principal, host, operation and permission as kafka-acls lists them."""
        return (
            f"(principal={self.principal}, host={self.host}, operation={self.operation}, "
            f"permissionType={self.permission_type})"
        )

    def __str__(self) -> str:
        """Write the ACL as Kafka does (AclBinding.toString)."""
        return f"(pattern={self.render_pattern()}, entry={self.render_entry()})"


BINDING: Final = Acl.__slots__[1:]
"""The names of the fields of ``Acl.binding``."""

_binding_of: Final[Callable[[Acl], tuple[str, ...]]] = attrgetter(*BINDING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A question: may this principal, from this host, do this to this resource?"""

    principal: str
    host: str
    operation: str
    resource_type: str
    resource_name: str

    @classmethod
    def of(cls, principal: str, host: str, operation: str, resource: Resource) -> Request:
        """Ask about a resource."""
        kind, name = resource
        return cls(
            principal=principal,
            host=host,
            operation=operation,
            resource_type=kind,
            resource_name=name,
        )

    @property
    def resource(self) -> Resource:
        """What is asked about."""
        return Resource(self.resource_type, self.resource_name)


@dataclass(frozen=True, slots=True)
class TypeRequest:
    """A question: may this principal, from this host, do this to some resource of a type?"""

    principal: str
    host: str
    operation: str
    resource_type: str

    def about(self, resource_name: str) -> Request:
        """Ask the same about one resource of the type."""
        resource = Resource(self.resource_type, resource_name)
        return Request.of(self.principal, self.host, self.operation, resource)
