"""One ACL of the log, with Kafka's own text forms and one short form for people; and requests.

Names stand in the short form as they are: who prints a sentence makes it visible
(``model.visible``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from operator import attrgetter
from typing import Final

from aclkit.model.operation import OPERATIONS_OF_TYPE, USE_OF_OPERATION, USES
from aclkit.model.resource import CLUSTER_NAME, Resource
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


_WILDCARD: Final = "*"
_MARKS: Final = frozenset("*?")


def acl_words(
    acl: Acl,
    principal: str | None = None,
    resource_type: str | None = None,
    *,
    has_any_host: bool = True,
) -> str:
    """Write an ACL for people.

    Args:
        acl: the ACL.
        principal: whose ACL the reader knows it to be; that principal is left out.
        resource_type: the resource type that the reader knows; it is left out.
        has_any_host: write "from any host" too; a table with a column of hosts leaves it out.

    >>> acl = Acl(acl_id="", resource_type="TOPIC", resource_name="payments.", host="*",
    ...           pattern_type="PREFIXED", principal="User:bob", operation="READ",
    ...           permission_type="ALLOW")
    >>> acl_words(acl)
    'ALLOW READ on topic payments.* (prefix) for User:bob from any host'
    >>> acl_words(acl, "User:bob", "TOPIC")
    'ALLOW READ on payments.* (prefix) from any host'
    """
    whom = "" if acl.principal == principal else f" for {quoted(acl.principal)}"
    text = f"{acl.permission_type} {acl.operation} on {pattern_words(acl, resource_type)}{whom}"
    if acl.host != _WILDCARD:
        return f"{text} from {quoted(acl.host)}"
    return f"{text} from any host" if has_any_host else text


def pattern_words(acl: Acl, resource_type: str | None = None) -> str:
    """Write the resources that an ACL applies to; a type that the reader knows is left out.

    >>> acl = Acl(acl_id="", resource_type="TRANSACTIONAL_ID", resource_name="*", host="*",
    ...           pattern_type="LITERAL", principal="User:bob", operation="WRITE",
    ...           permission_type="ALLOW")
    >>> pattern_words(acl)
    'all transactional ids'
    """
    kind, name = type_words(acl.resource_type), acl.resource_name
    if acl.pattern_type == "LITERAL":
        if name == _WILDCARD:
            return f"all {kind}s"
        if acl.resource_type == "CLUSTER" and name == CLUSTER_NAME:
            return "the cluster"
        # A star of a LITERAL name is a plain letter, and looks like a pattern.
        mark = " (literal)" if _MARKS.intersection(name) else ""
    elif acl.pattern_type == "PREFIXED":
        name, mark = f"{name}*", " (prefix)"
    else:
        mark = f" ({acl.pattern_type.lower()})"
    lead = "" if acl.resource_type == resource_type else f"{kind} "
    return f"{lead}{quoted(name)}{mark}"


def type_words(resource_type: str) -> str:
    """Write a resource type in a sentence: ``transactional id``."""
    return resource_type.lower().replace("_", " ")


def quoted(name: str) -> str:
    """Quote a name that could be taken for other words of a sentence."""
    return name if name and " " not in name else f"'{name}'"


Power = tuple[int, bool]
"""Sorts before what is less powerful: what it is for, and the cluster before all other types."""


def power_of(operations: Iterable[str], resource_type: str) -> Power:
    """Return the power of operations on a resource type: that of the most powerful of them.

    >>> power_of(["READ", "ALTER"], "TOPIC") < power_of(["WRITE"], "TOPIC")
    True
    """
    uses = (USES.index(USE_OF_OPERATION[each]) for each in operations if each in USE_OF_OPERATION)
    return min(uses, default=len(USES)), resource_type != "CLUSTER"


def operations_words(operations: Collection[str], resource_type: str | None) -> str:
    """Write operations in the order of their codes; all that the type has are ``every operation``.

    >>> operations_words(["WRITE", "READ"], "TOPIC")
    'READ, WRITE'
    """
    known = OPERATIONS_OF_TYPE.get(resource_type or "", ())
    if len(operations) > 1 and set(operations) == set(known):
        return "every operation"
    return ", ".join(sorted(operations, key=known.index) if known else operations)
