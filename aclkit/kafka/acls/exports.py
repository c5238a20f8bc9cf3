"""ACLs → what other tools read: KafkaUsers of Strimzi, Terraform's resources, and JSON lines. Pure.

Each renderer also returns the ACLs that its tool cannot express. Sources: Strimzi's KafkaUser
(authorization simple) and KafkaUserModel: a user without authentication is the principal
``User:name``, one of ``tls-external`` is ``User:CN=name``. The conversions between texts and codes
of the provider Mongey/kafka (kafka_acls.go); HCL turns each string into Unicode's normal form C
(cty.NormalizeString). ``replay --source records:`` reads the JSON lines back to the same ACLs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from unicodedata import is_normalized

from aclkit.answer.rows import json_text
from aclkit.kafka.acls.command import pascal_case
from aclkit.kafka.acls.quoting import comment, quote, quote_hcl
from aclkit.model.acl import Acl, is_storable
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from aclkit.model.facts import ADD_ACL
from aclkit.model.resource import CLUSTER_NAME

_COMMON_TYPES: Final = ("TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID")
_LATER: Final = ("ANY", "CREATE_TOKENS", "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT")
"""Operations of a filter, and those that came with tokens of users and two-phase commits."""


def is_common(acl: Acl) -> bool:
    """Whether an ACL has only resources, patterns and operations that each such tool knows."""
    is_cluster = acl.resource_type == "CLUSTER"
    return (
        acl.resource_type in _COMMON_TYPES
        and acl.pattern_type in ("LITERAL", "PREFIXED")
        and acl.permission_type in ("ALLOW", "DENY")
        and AclOperation.is_known(acl.operation)
        and acl.operation not in _LATER
        and bool(acl.resource_name)
        and (not is_cluster or (acl.resource_name, acl.pattern_type) == (CLUSTER_NAME, "LITERAL"))
    )


def is_kubernetes_name(name: str) -> bool:
    """Whether Kubernetes allows a name (RFC 1123 subdomain)."""
    return len(name) <= 253 and _KUBERNETES.fullmatch(name) is not None


_LABEL: Final = r"[a-z0-9]+(?:-+[a-z0-9]+)*"
_KUBERNETES: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")


_STRIMZI_TYPES: Final = {
    "TOPIC": "topic",
    "GROUP": "group",
    "CLUSTER": "cluster",
    "TRANSACTIONAL_ID": "transactionalId",
}
_STRIMZI_PATTERNS: Final = {"LITERAL": "literal", "PREFIXED": "prefix"}
_TLS: Final = "CN="
_STRIMZI_HEADER: Final = (
    "# Before Strimzi 0.49 the apiVersion is kafka.strimzi.io/v1beta2.",
    "# Put the name of your Kafka resource in place of my-cluster.",
    "# A user without authentication is the principal User:NAME, and gets no credentials.",
)
_USER: Final = """\
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaUser
metadata:
  name: {name}
  labels:
    strimzi.io/cluster: my-cluster
spec:
"""
_AUTHORIZATION: Final = ("  authorization:", "    type: simple", "    acls:")


def render_kafka_users(acls: Iterable[Acl]) -> tuple[list[str], list[Acl]]:
    """Write one KafkaUser for each principal; and return the ACLs that none can express.

    Strimzi has no globs, no principals but users with a name that Kubernetes allows, and of
    resources and operations only some. Of ``User:a`` and ``User:CN=a`` it has one.
    """
    users: dict[tuple[str, str], list[Acl]] = {}
    unsaid: list[Acl] = []
    for acl in sorted(acls, key=lambda acl: acl.binding):
        user = _user(acl.principal)
        other = "tls-external" if user and not user[1] else ""
        if user is None or not is_common(acl) or (user[0], other) in users:
            unsaid.append(acl)
        else:
            users.setdefault(user, []).append(acl)
    lines = [*_STRIMZI_HEADER, *(comment("Strimzi", acl) for acl in unsaid)]
    for (name, authentication), own in sorted(users.items()):
        lines += _kafka_user(name, authentication, own)
    return lines, unsaid


def _text(text: str) -> str:
    """Write a text so that no tool that renders templates takes it for one."""
    return quote(text).replace("{{", "\\u007b{")


def _kafka_user(name: str, authentication: str, acls: Sequence[Acl]) -> Iterator[str]:
    yield from _USER.format(name=_text(name)).splitlines()
    if authentication:
        yield "  authentication:"
        yield f"    type: {authentication}"
    yield from _AUTHORIZATION
    rules: dict[tuple[str, ...], dict[str, None]] = {}
    for acl in acls:
        rule = *acl.pattern, acl.host, acl.permission_type
        rules.setdefault(rule, {})[pascal_case(acl.operation)] = None
    for (resource_type, pattern_type, resource_name, host, permission_type), names in rules.items():
        yield f"      - type: {permission_type.lower()}"
        yield f"        host: {_text(host)}"
        yield f"        operations: [{', '.join(names)}]"
        yield "        resource:"
        yield f"          type: {_STRIMZI_TYPES[resource_type]}"
        if resource_type != "CLUSTER":
            yield f"          name: {_text(resource_name)}"
            yield f"          patternType: {_STRIMZI_PATTERNS[pattern_type]}"


def owner_of(principal: str) -> str | None:
    """Return the name of the KafkaUser that owns all ACLs of a principal; None where none can.

    >>> owner_of("User:app"), owner_of("User:CN=app"), owner_of("User:*")
    ('app', 'app', None)
    """
    user = _user(principal)
    return user and user[0]


def _user(principal: str) -> tuple[str, str] | None:
    """Return name and authentication of the KafkaUser that is a principal, or None."""
    if not principal.startswith("User:"):
        return None
    name = principal.removeprefix("User:")
    is_tls = name.startswith(_TLS)
    name = name.removeprefix(_TLS)
    return (name, "tls-external" if is_tls else "") if is_kubernetes_name(name) else None


_TERRAFORM_TYPES: Final = {
    "TOPIC": "Topic",
    "GROUP": "Group",
    "CLUSTER": "Cluster",
    "TRANSACTIONAL_ID": "TransactionalID",
}
_TERRAFORM_PATTERNS: Final = {"LITERAL": "Literal", "PREFIXED": "Prefixed"}
_TERRAFORM_HEADER: Final = (
    "terraform {",
    "  required_providers {",
    '    kafka = { source = "Mongey/kafka" }',
    "  }",
    "}",
)


def render_terraform(acls: Iterable[Acl]) -> tuple[list[str], list[Acl]]:
    """Write one resource for each ACL, named for its id; and return those it cannot express.

    The provider knows topics, groups, transactional ids and the cluster; no globs and no
    operations on tokens or two-phase commits. Terraform normalizes texts (NFC), so it would manage
    another name in place of one that is not normal. An ACL that is there under two ids is one
    resource.
    """
    lines = list(_TERRAFORM_HEADER)
    unsaid: list[Acl] = []
    by_binding = {acl.binding: acl for acl in sorted(acls, key=lambda acl: acl.acl_id)}
    for acl in sorted(by_binding.values(), key=lambda acl: acl.binding):
        if is_common(acl) and all(map(_is_kept, (acl.resource_name, acl.principal, acl.host))):
            lines += ["", *_resource(acl)]
        else:
            unsaid.append(acl)
    lines += [comment("the provider", acl) for acl in unsaid]
    return lines, unsaid


def _is_kept(text: str) -> bool:
    """Whether Terraform manages a name as it is: not empty, storable, and in NFC."""
    return bool(text) and is_storable(text) and is_normalized("NFC", text)


def _resource(acl: Acl) -> list[str]:
    fields = (
        ("resource_name", acl.resource_name),
        ("resource_type", _TERRAFORM_TYPES[acl.resource_type]),
        ("resource_pattern_type_filter", _TERRAFORM_PATTERNS[acl.pattern_type]),
        ("acl_principal", acl.principal),
        ("acl_host", acl.host),
        ("acl_operation", pascal_case(acl.operation)),
        ("acl_permission_type", pascal_case(acl.permission_type)),
    )
    # An id may begin with a digit or '-', a name of HCL must not.
    head = f'resource "kafka_acl" {quote_hcl(f"acl_{acl.acl_id}")} {{'
    return [head, *(f"  {name:<28} = {quote_hcl(value)}" for name, value in fields), "}"]


def render_records(acls: Iterable[Acl], added_at: Mapping[str, datetime | None]) -> Iterator[str]:
    """Yield a record line for each ACL, in the order in which they were added.

    Offsets count from 0, because other records are not exported; ids and times are kept. The
    payload is what kafka-dump-log prints: codes as numbers, in the order of the schema.
    """

    def age(acl: Acl) -> tuple[datetime, str]:
        return added_at.get(acl.acl_id) or _EPOCH, acl.acl_id

    for offset, acl in enumerate(sorted(acls, key=age)):
        time = added_at.get(acl.acl_id)
        line: dict[str, object] = {"offset": offset}
        if time is not None:
            line["timestamp"] = (time - _EPOCH) // timedelta(milliseconds=1)
        line |= {"type": ADD_ACL, "version": 0, "data": _payload(acl)}
        yield json_text(line, separators=(",", ":"))


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _payload(acl: Acl) -> dict[str, object]:
    return {
        "id": acl.acl_id,
        "resourceType": ResourceType.code_of(acl.resource_type),
        "resourceName": acl.resource_name,
        "patternType": PatternType.code_of(acl.pattern_type),
        "principal": acl.principal,
        "host": acl.host,
        "operation": AclOperation.code_of(acl.operation),
        "permissionType": AclPermissionType.code_of(acl.permission_type),
    }
