"""The attributes of a resource of Terraform → the ACL that it holds, or why it holds none. Pure.

Sources: Mongey/terraform-provider-kafka (kafka_acls.go, resource_kafka_acl.go) and
confluentinc/terraform-provider-confluent (resource_kafka_acl.go). Both match words exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from aclkit.kafka.desired.fields import CAPITALS, PASCAL, Raw, Words, desired_acl
from aclkit.kafka.desired.model import FRESH, DesiredAcl, Place, Problem
from aclkit.model.acl import BINDING


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of resource that holds an ACL.

    Attributes:
        name: of the type.
        provider: the last two parts of the provider's name, in lower case.
        attributes: our names of the seven fields → those of the resource.
        words: those of its fields.
    """

    name: str
    provider: str
    attributes: Mapping[str, str]
    words: Words


def _only(words: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    wanted = frozenset(names)
    return {word: name for word, name in words.items() if name in wanted}


_TYPES: Final = ("TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN")
_PATTERNS: Final = ("LITERAL", "PREFIXED")
_OPERATIONS: Final = (
    "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION",
    "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE",
)  # fmt: skip
"""What both providers know: no users, no globs, no operations on tokens or two-phase commits."""

MONGEY: Final = Kind(
    "kafka_acl",
    "mongey/kafka",
    {
        "resource_type": "resource_type",
        "resource_name": "resource_name",
        "pattern_type": "resource_pattern_type_filter",
        "principal": "acl_principal",
        "host": "acl_host",
        "operation": "acl_operation",
        "permission_type": "acl_permission_type",
    },
    Words(
        # The provider writes an abbreviation in capitals.
        _only(PASCAL.resource_type, _TYPES[:3])
        | {"TransactionalID": "TRANSACTIONAL_ID", "DelegationToken": "DELEGATION_TOKEN"},
        _only(PASCAL.pattern_type, _PATTERNS),
        _only(PASCAL.operation, _OPERATIONS),
        PASCAL.permission_type,
    ),
)
CONFLUENT: Final = Kind(
    "confluent_kafka_acl",
    "confluentinc/confluent",
    {name: name for name in BINDING} | {"permission_type": "permission"},
    Words(
        _only(CAPITALS.resource_type, _TYPES),
        _only(CAPITALS.pattern_type, _PATTERNS),
        _only(CAPITALS.operation, _OPERATIONS),
        CAPITALS.permission_type,
    ),
)
KINDS: Final = {kind.name: kind for kind in (MONGEY, CONFLUENT)}

_PERHAPS: Final = re.compile(
    r"(?:kafka|redpanda|_msk_).*(?:acl|permission)|kubernetes_manifest|kubectl_manifest"
)
_REDACTED: Final = re.compile(r"[(\[<{*_]+\s*(?:sensitive|redacted)\b", re.IGNORECASE)


def kind_of(resource: Mapping[str, object]) -> tuple[Kind | None, str]:
    """Return the kind of a managed resource, or what it is called if it can hold unread ACLs.

    Of a provider's name the last two parts count: the host is another one for OpenTofu, Terraform
    and each mirror.
    """
    kind_name, mode = resource.get("type"), resource.get("mode", "managed")
    if not isinstance(kind_name, str) or mode != "managed":
        return None, ""
    kind = KINDS.get(kind_name)
    if kind is None:
        unread = unread_kind(kind_name)
        return None, f"{unread} (KafkaUser)" if unread and _holds_user(resource) else unread
    provider = resource.get("provider_name")
    name = provider if isinstance(provider, str) else ""
    if "/".join(name.lower().split("/")[-2:]) == kind.provider:
        return kind, ""
    return None, f"{kind_name} of {name[:60] or 'an unnamed provider'}"


def unread_kind(kind_name: str) -> str:
    """Return a type of resource that can hold ACLs and is not read; empty for any other."""
    return kind_name[:60] if _PERHAPS.search(kind_name[:100]) else ""


def _holds_user(resource: Mapping[str, object]) -> bool:
    """Whether the manifest of a resource is a KafkaUser, as far as it can be seen."""
    change = as_mapping(resource.get("change"))
    for values in (change.get("after"), change.get("before"), resource.get("values")):
        if as_mapping(as_mapping(values).get("manifest")).get("kind") == "KafkaUser":
            return True
    return False


def as_mapping(value: object) -> Mapping[str, object]:
    """Return an object of JSON, an empty one for any other value."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """Return a list of JSON, an empty one for any other value."""
    return value if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class Side:
    """The attributes of a resource before or after a change.

    Attributes:
        values: the known ones.
        unknown: which are known after the apply only, as ``after_unknown`` is.
        sensitive: which are secret, as ``after_sensitive`` is.
    """

    values: object
    unknown: object = None
    sensitive: object = None

    def marks(self, marked: object, attribute: str) -> bool:
        """Whether a mark of Terraform's is on an attribute: on itself or on the whole resource."""
        return marked is True or as_mapping(marked).get(attribute) is True


def cluster_of(kind: Kind, side: Side) -> str | None:
    """Return the cluster that a resource names itself, as Confluent's can."""
    block = (as_list(as_mapping(side.values).get("kafka_cluster")) or [None])[0]
    name = as_mapping(block).get("id")
    return name if kind is CONFLUENT and isinstance(name, str) and name else None


def read_acl(
    kind: Kind,
    side: Side,
    place: Place,
    cluster: str | None = None,
    source: Callable[[], str | None] = lambda: None,
) -> DesiredAcl | list[Problem]:
    """Return the ACL of a resource, or all reasons why it has none.

    Args:
        kind: that of the resource.
        side: its attributes.
        place: its address.
        cluster: the cluster of the ACL.
        source: returns the address of what makes the principal, where that is unknown.
    """
    called = kind.attributes
    sensitive = frozenset(name for name in BINDING if side.marks(side.sensitive, called[name]))
    texts, faults, is_fresh = dict[str, str](), list[str](), False
    for name in BINDING:
        value = as_mapping(side.values).get(called[name])
        if side.marks(side.unknown, called[name]):
            made = source() if name == "principal" else None
            is_fresh = is_fresh or made is not None
            value = FRESH.format(made)
            faults += [] if made is not None else [_unknown(called[name], name)]
        fault = _fault(called[name], value, is_sensitive=name in sensitive)
        faults += [fault] if fault else []
        texts[name] = value if isinstance(value, str) else ""
    if faults:
        return [Problem(place, fault) for fault in faults]
    found = desired_acl(Raw(**texts, names=called), kind.words, place, cluster)
    if isinstance(found, list):
        hidden = [called[name] for name in sorted(sensitive)]
        return list(dict.fromkeys(_without_secrets(problem, hidden) for problem in found))
    return replace(found, sensitive=sensitive, is_fresh=is_fresh)


def _unknown(attribute: str, name: str) -> str:
    why = ", and no resource that this plan creates makes it" if name == "principal" else ""
    return (
        f"{attribute} is known after apply only{why}. Apply what makes it first (-target), and "
        "plan again"
    )


def _fault(attribute: str, value: object, *, is_sensitive: bool) -> str:
    if value is None and is_sensitive:
        return f"{attribute} is redacted. {_WHOLE}"
    if value is None:
        return f"{attribute} has no value. Write one"
    if not isinstance(value, str):
        return f"{attribute} is no text. Make the file with terraform show -json"
    if _REDACTED.match(value):
        return f"{attribute} is redacted. {_WHOLE}"
    return ""


_WHOLE: Final = "Pass the output of terraform show -json PLAN, without -json-redacted or masks"


def _without_secrets(problem: Problem, attributes: Iterable[str]) -> Problem:
    """Return a problem that quotes no value of a sensitive attribute."""
    for attribute in attributes:
        if problem.text.startswith(f"{attribute} "):
            return replace(
                problem,
                text=f"{attribute} is invalid. Its value is sensitive and not shown. Correct it",
            )
    return problem
