"""A filter and an ACL → is the ACL selected? What kafka-acls lists and removes by.

Sources: ResourcePatternFilter, AccessControlEntryFilter and AclBindingFilter of Kafka; GLOB
patterns after KIP-1042. A filter's ``*`` is a text like any other: only MATCH looks at what a
pattern means. ``UNKNOWN`` in a filter selects every unknown code, ``UNKNOWN(code)`` only its own.
"""

from __future__ import annotations

from dataclasses import asdict, field

from aclkit.errors import DataError
from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation, AclPermissionType, CodedEnum, PatternType, ResourceType
from aclkit.model.glob import glob_matches
from aclkit.model.semantics import Semantics
from aclkit.model.values import dataclass


class UnsupportedPatternTypeError(DataError):
    """A MATCH filter met an ACL whose pattern type it cannot read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourcePatternFilter:
    """Selects by resource type, name and pattern type; ``resource_name`` None is any name.

    LITERAL, PREFIXED and GLOB select that very pattern, ANY the name under every pattern type,
    MATCH all patterns that affect the name.
    """

    resource_type: str = "ANY"
    resource_name: str | None = None
    pattern_type: str = "ANY"

    def matches(self, acl: Acl, semantics: Semantics) -> bool:
        """Whether the ACL's resource pattern is selected (ResourcePatternFilter.matches).

        Raises:
            UnsupportedPatternTypeError: MATCH with a name met an unknown pattern type.
        """
        name = self.resource_name
        if not _selects(ResourceType, self.resource_type, acl.resource_type):
            return False
        is_same = _is_same(PatternType, self.pattern_type, acl.pattern_type)
        if not is_same and self.pattern_type not in ("ANY", "MATCH"):
            return False
        if name is None:
            return True
        if is_same or self.pattern_type == "ANY":
            return name == acl.resource_name
        return _affects(acl, name, semantics)

    @property
    def is_unknown(self) -> bool:
        """Whether a field is UNKNOWN: brokers refuse such a filter."""
        return not (
            ResourceType.is_known(self.resource_type) and PatternType.is_known(self.pattern_type)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessControlEntryFilter:
    """Selects by principal, host, operation and permission; None and ANY select all.

    ``User:*``, host ``*`` and operation ALL are values here, not wildcards; nothing is implied.
    """

    principal: str | None = None
    host: str | None = None
    operation: str = "ANY"
    permission_type: str = "ANY"

    def matches(self, acl: Acl) -> bool:
        """Whether the ACL's entry is selected (AccessControlEntryFilter.matches)."""
        return (
            self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and _selects(AclOperation, self.operation, acl.operation)
            and _selects(AclPermissionType, self.permission_type, acl.permission_type)
        )

    @property
    def is_unknown(self) -> bool:
        """Whether a field is UNKNOWN: brokers refuse such a filter."""
        return not (
            AclOperation.is_known(self.operation)
            and AclPermissionType.is_known(self.permission_type)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AclBindingFilter:
    """Selects by both; without arguments it selects every ACL (AclBindingFilter.ANY)."""

    pattern: ResourcePatternFilter = field(default_factory=ResourcePatternFilter)
    entry: AccessControlEntryFilter = field(default_factory=AccessControlEntryFilter)

    def matches(self, acl: Acl, semantics: Semantics) -> bool:
        """Whether the ACL is selected; the pattern is looked at first, as in Kafka."""
        return self.pattern.matches(acl, semantics) and self.entry.matches(acl)

    @property
    def is_unknown(self) -> bool:
        """Whether a field is UNKNOWN: brokers refuse such a filter."""
        return self.pattern.is_unknown or self.entry.is_unknown

    def as_acl(self, acl_id: str) -> Acl:
        """Return the one ACL that a filter selects of which every field has a value."""
        return Acl(acl_id=acl_id, **asdict(self.pattern), **asdict(self.entry))


def _affects(acl: Acl, name: str, semantics: Semantics) -> bool:
    """Whether an ACL's pattern affects a name, as MATCH sees it.

    Unlike the authorizer MATCH knows no defect of LITERAL ``*``, and refuses unknown types.
    """
    pattern = acl.resource_name
    if acl.pattern_type == "LITERAL":
        return pattern in (name, "*")
    if acl.pattern_type == "PREFIXED":
        return name.startswith(pattern)
    if acl.pattern_type == "GLOB" and semantics.glob_patterns:
        return not pattern or glob_matches(pattern, name)
    kafkas = acl.pattern_type if acl.pattern_type in ("ANY", "MATCH") else "UNKNOWN"
    raise UnsupportedPatternTypeError(
        f"Unsupported PatternType: {kafkas} (a MATCH filter met ACL {acl.acl_id} with pattern "
        f"type {acl.pattern_type}; select it by pattern type ANY)"
    )


def _selects(enum: type[CodedEnum], wanted: str, found: str) -> bool:
    return wanted == "ANY" or _is_same(enum, wanted, found)


def _is_same(enum: type[CodedEnum], wanted: str, found: str) -> bool:
    return wanted == found or (wanted == "UNKNOWN" and not enum.is_known(found))
