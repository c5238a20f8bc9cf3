"""The options of kafka-acls → the ACLs that it would create, and the filters it would remove by.

A controller accepts ranges as hosts from metadata.version 4.4-IV1 on. Each broker's binary
determines which hosts are ranges (``aclkit.model.brokers``). Everything but ranges and the empty
host passes, host names too.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from aclkit.errors import UsageError
from aclkit.kafka.acls.options import AclOptions, Entries, binding_filters, entries_by_resource
from aclkit.model.acl import LONGEST_TEXT, Acl, is_storable
from aclkit.model.brokers import CIDR_LEVEL, level_name
from aclkit.model.cidr import why_no_range
from aclkit.model.filter import AclBindingFilter, ResourcePatternFilter
from aclkit.model.host import canonical_host
from aclkit.model.semantics import KIP_1042, Semantics
from aclkit.model.symbol import PRINCIPALS, RESOURCES, refuse_symbol
from aclkit.rules.patterns.match import has_wildcard, host_can_match

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


_WITHOUT_RANGES: Final = CreationRules(level=None, cidr_hosts=False)
_RANGES: Final = replace(KIP_1042, cidr_hosts=True)
_IN_ADDRESSES: Final = frozenset("0123456789abcdef.:*?")


def random_acl_id() -> str:
    """Return a new ACL's id as a controller makes it: a version 4 Uuid in Kafka's text form.

    Like ``Uuid.randomUuid`` it never begins with ``-``, which tools would take for an option.
    """
    while True:
        value = bytearray(secrets.token_bytes(16))
        value[6] = value[6] & 0x0F | 0x40
        value[8] = value[8] & 0x3F | 0x80
        text = base64.urlsafe_b64encode(value).decode("ascii").rstrip("=")
        if not text.startswith("-"):
            return text


def new_acls(
    options: AclOptions,
    new_id: Callable[[], str] = random_acl_id,
    rules: CreationRules = _WITHOUT_RANGES,
) -> tuple[Acl, ...]:
    """Return the ACLs that ``kafka-acls --add`` would create, each once, in the order asked.

    What a controller refuses is refused, and what a broker would store but could never match: a
    host name, an address that Java writes otherwise, a range of no address, wildcards in a
    LITERAL name.

    Raises:
        UsageError: the options make no ACLs; with Kafka's message where it has one.
    """
    pattern_type = options.resource_pattern_type
    if pattern_type.lower() in ("any", "match"):
        raise UsageError(
            f"A '--resource-pattern-type' value of '{pattern_type.upper()}' is not valid when "
            "adding acls."
        )
    asked = entries_by_resource(options)
    if not all(asked.values()):
        raise UsageError(
            "You must specify one of: --allow-principal, --deny-principal when trying to add ACLs."
        )
    for resource in asked:
        _check_name(resource)
    _check_lengths(asked)
    for principal in (entry.principal or "" for entries in asked.values() for entry in entries):
        refuse_symbol(PRINCIPALS, principal)
    for host in (entry.host or "" for entries in asked.values() for entry in entries):
        _check_host(host, rules)
    return tuple(one.as_acl(new_id()) for one in binding_filters(asked))


def acl_filters(options: AclOptions) -> tuple[AclBindingFilter, ...]:
    """Return the filters by which ``kafka-acls --remove`` would remove.

    Names, hosts and principals are taken as they are, so that whatever was stored can be removed.
    Without a principal all ACLs of the resources are meant; kafka-acls then ignores operations,
    hosts and roles, and so removes more than was asked: that is refused.

    Raises:
        UsageError: the options do not go together, no resource, a malformed principal.
    """
    asked = entries_by_resource(options)
    if not any(asked.values()):
        if options.operation or options.producer or options.consumer:
            raise UsageError(
                "--operation, --producer and --consumer need an --allow-principal or "
                "--deny-principal. Without one, kafka-acls removes all ACLs of the resources."
            )
        return tuple(AclBindingFilter(pattern=resource) for resource in asked)
    return binding_filters(asked)


def _check_lengths(asked: Mapping[ResourcePatternFilter, Entries]) -> None:
    texts = {resource.resource_name or "" for resource in asked}
    texts.update(e.principal or "" for entries in asked.values() for e in entries)
    if not all(map(is_storable, texts)):
        raise UsageError(
            f"Names and principals have at most {LONGEST_TEXT} bytes of UTF-8, because Kafka "
            "cannot store longer ones"
        )


def _check_name(resource: ResourcePatternFilter) -> None:
    name = resource.resource_name
    if not name:
        raise UsageError("Resource name should not be empty")
    if resource.pattern_type == "LITERAL":
        refuse_symbol(RESOURCES, name)
    if resource.pattern_type == "LITERAL" and name != "*" and has_wildcard(name):
        raise UsageError(
            f"Invalid name {name!r} of a {resource.resource_type}: a LITERAL name has no "
            "wildcards. For a pattern pass --resource-pattern-type glob, or prefixed without "
            "the wildcard."
        )


def _check_host(host: str, rules: CreationRules) -> None:
    refusal = refused_host(host, rules)
    if refusal is not None:
        known = f" ({rules.words})" if refusal.is_of_version else ""
        raise UsageError(f"Invalid host {host!r}: {refusal.message}{known}")
    address = host.partition("%")[0]
    can_match = host_can_match(host, _RANGES)
    if can_match and ("/" in host or _IN_ADDRESSES.issuperset(address)):
        return
    if "/" in host:
        raise UsageError(
            f"Invalid host {host!r}: it contains no address, because no range contains 0.0.0.0"
        )
    canonical = canonical_host(host)
    if canonical is None:
        raise UsageError(
            f"Invalid host {host!r}: expected an IP address such as 10.0.0.1, a range such as "
            "10.0.0.0/8, a glob such as 10.0.*, or *. Brokers compare addresses, never host "
            "names."
        )
    raise UsageError(
        f"Invalid host {host!r}: brokers write this address as {canonical!r}. Use that form."
    )
