"""The options after ``kafka-acls --add`` or ``--remove`` → resource patterns and ACL entries.

Source: AclCommand of Kafka 4.1, with its messages. Where it would leave out in silence a part of
what was asked, or take more than was asked, this refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final, TypeVar

from aclkit.errors import UsageError
from aclkit.model.enums import AclOperation
from aclkit.model.filter import AccessControlEntryFilter, AclBindingFilter, ResourcePatternFilter
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.principal import java_trim, parse_principal
from aclkit.model.resource import CLUSTER_NAME
from aclkit.model.values import dataclass

PATTERN_TYPES: Final = ("literal", "prefixed", "glob", "any", "match")
"""Values of ``--resource-pattern-type``; the last two are for filters only."""

Entries = tuple[AccessControlEntryFilter, ...]
"""Entries in which every field has a value, so that each selects one and can be made one."""

_T = TypeVar("_T")
_PRODUCER: Final = {
    "TOPIC": ("WRITE", "DESCRIBE", "CREATE"),
    "TRANSACTIONAL_ID": ("WRITE", "DESCRIBE"),
}
_CONSUMER: Final = {"TOPIC": ("READ", "DESCRIBE"), "GROUP": ("READ",)}
_NO_RESOURCE: Final = (
    "You must provide at least one resource: --topic <topic> or --cluster or --group <group> or "
    "--delegation-token <Delegation Token ID>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AclOptions:
    """The options of kafka-acls, under its names; several values of one are several ACLs.

    Attributes:
        cluster_resource: kafka-acls' ``--cluster``: the CLUSTER resource.
        resource_pattern_type: one of ``PATTERN_TYPES``, in any case.
    """

    topic: Sequence[str] = ()
    group: Sequence[str] = ()
    cluster_resource: bool = False
    transactional_id: Sequence[str] = ()
    delegation_token: Sequence[str] = ()
    user_principal: Sequence[str] = ()
    resource_pattern_type: str = "literal"
    allow_principal: Sequence[str] = ()
    deny_principal: Sequence[str] = ()
    allow_host: Sequence[str] = ()
    deny_host: Sequence[str] = ()
    operation: Sequence[str] = ()
    producer: bool = False
    consumer: bool = False
    idempotent: bool = False


def resource_filters(options: AclOptions) -> tuple[ResourcePatternFilter, ...]:
    """Return the resource patterns that the options name; none named is none returned.

    Names are trimmed as kafka-acls trims them. As in kafka-acls, ``--cluster`` names nothing
    together with a pattern type other than literal (``drops_cluster``).

    Raises:
        UsageError: the pattern type is none of Kafka's.
    """
    pattern_type = _pattern_type(options.resource_pattern_type)
    return _distinct(
        ResourcePatternFilter(
            resource_type=resource_type,
            # kafka-acls trims all names but these.
            resource_name=name if resource_type == "TRANSACTIONAL_ID" else java_trim(name),
            pattern_type=pattern_type,
        )
        for resource_type, names in _names(options)
        for name in names
    )


def drops_cluster(options: AclOptions) -> bool:
    """Whether kafka-acls passes over ``--cluster``, in silence, for the pattern type's sake."""
    return options.cluster_resource and options.resource_pattern_type.lower() != "literal"


def entries_by_resource(options: AclOptions) -> dict[ResourcePatternFilter, Entries]:
    """Return what is asked for each resource pattern: its entries, all of them or none.

    Without a principal there are no entries: kafka-acls --remove then takes all ACLs of the
    resources. ``--producer`` and ``--consumer`` stand for the operations that such a client needs.

    Raises:
        UsageError: options that do not go together, no resource, a malformed principal, or an
            operation that the resource type does not have.
    """
    _check(options)
    resources = resource_filters(options)
    if not resources:
        raise UsageError(_NO_RESOURCE)
    asked: dict[ResourcePatternFilter, Entries] = {}
    for resource in resources:
        operations = _operations(options, resource.resource_type)
        if operations is not None:
            asked[resource] = tuple(_entries(options, operations))
    if options.idempotent:
        cluster = ResourcePatternFilter(
            resource_type="CLUSTER", resource_name=CLUSTER_NAME, pattern_type="LITERAL"
        )
        asked[cluster] = tuple(_entries(options, ("IDEMPOTENT_WRITE",)))
    return asked


def binding_filters(asked: Mapping[ResourcePatternFilter, Entries]) -> tuple[AclBindingFilter, ...]:
    """Return a filter for each entry of each resource pattern."""
    return tuple(
        AclBindingFilter(pattern=resource, entry=entry)
        for resource, entries in asked.items()
        for entry in entries
    )


def check_principals(texts: Iterable[str]) -> tuple[str, ...]:
    """Return principals as kafka-acls reads them: trimmed, each once.

    Raises:
        UsageError: one has no colon.
    """
    principals = _distinct(map(java_trim, texts))
    for principal in principals:
        parse_principal(principal)
    return principals


def _names(options: AclOptions) -> Iterator[tuple[str, Sequence[str]]]:
    yield "TOPIC", options.topic
    is_cluster = options.cluster_resource and not drops_cluster(options)
    yield "CLUSTER", (CLUSTER_NAME,) if is_cluster else ()
    yield "GROUP", options.group
    yield "TRANSACTIONAL_ID", options.transactional_id
    yield "DELEGATION_TOKEN", options.delegation_token
    yield "USER", options.user_principal


def _operations(options: AclOptions, resource_type: str) -> tuple[str, ...] | None:
    """Return the operations that are asked for a resource type; None leaves the resource out."""
    if options.producer or options.consumer:
        roles = [_PRODUCER] * options.producer + [_CONSUMER] * options.consumer
        return _distinct(op for role in roles for op in role.get(resource_type, ())) or None
    operations = _distinct(map(_operation, options.operation or ("ALL",)))
    known = OPERATIONS_OF_TYPE[resource_type]
    unknown = [op for op in operations if op not in (*known, "ALL")]
    if unknown:
        raise UsageError(
            f"ResourceType {resource_type} only supports operations [{', '.join(known)}, ALL], "
            f"found {', '.join(unknown)}"
        )
    return operations


def _operation(text: str) -> str:
    """Read an operation as kafka-acls does, ``DescribeConfigs``, or by its name in the log.

    >>> _operation(" describeConfigs"), _operation("DESCRIBE_CONFIGS"), _operation("Reed")
    ('DESCRIBE_CONFIGS', 'DESCRIBE_CONFIGS', 'Reed')
    """
    plain = java_trim(text).upper().replace("_", "")
    names = (name for name in AclOperation.__members__ if name.replace("_", "") == plain)
    return next(names, java_trim(text))


def _entries(options: AclOptions, operations: Sequence[str]) -> Iterator[AccessControlEntryFilter]:
    sides = (
        ("ALLOW", options.allow_principal, options.allow_host),
        ("DENY", options.deny_principal, options.deny_host),
    )
    for permission_type, principals, hosts in sides:
        names = check_principals(principals)
        places = _distinct(map(java_trim, hosts or ("*",)))
        for principal, operation, host in product(names, operations, places):
            yield AccessControlEntryFilter(
                principal=principal, host=host, operation=operation, permission_type=permission_type
            )


def _pattern_type(text: str) -> str:
    if text.lower() not in PATTERN_TYPES:
        raise UsageError(
            f"Unknown resource-pattern-type: {text}; expected {', '.join(PATTERN_TYPES)}"
        )
    return text.upper()


def _check(options: AclOptions) -> None:
    """Refuse options that do not go together (AclCommandOptions.checkArgs)."""
    for role in ("producer", "consumer"):
        for other in ("operation", "deny_principal", "deny_host"):
            if getattr(options, role) and getattr(options, other):
                option = other.replace("_", "-")
                raise UsageError(f'Option "[{role}]" can\'t be used with option "[{option}]"')
    if options.producer and not options.topic:
        raise UsageError("With --producer you must specify a --topic")
    if options.idempotent and not options.producer:
        raise UsageError("The --idempotent option is only available if --producer is set")
    if options.consumer and not _is_consumer(options):
        raise UsageError(
            "With --consumer you must specify a --topic and a --group and no --cluster or "
            "--transactional-id option should be specified."
        )
    _check_left_out(options)


def _is_consumer(options: AclOptions) -> bool:
    other = options.cluster_resource or options.transactional_id
    return bool(options.topic and options.group) and (options.producer or not other)


def _check_left_out(options: AclOptions) -> None:
    """Refuse what kafka-acls would leave out in silence."""
    if drops_cluster(options):
        raise UsageError(
            f"The cluster has only one name, {CLUSTER_NAME}. With --cluster pass "
            f"--resource-pattern-type literal, not {options.resource_pattern_type}."
        )
    if options.allow_host and not options.allow_principal:
        raise UsageError("--allow-host needs an --allow-principal")
    if options.deny_host and not options.deny_principal:
        raise UsageError("--deny-host needs a --deny-principal")


def _distinct(values: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(values))
