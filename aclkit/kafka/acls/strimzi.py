"""ACLs → KafkaUser resources of Strimzi, and the ACLs that these cannot express. Pure.

Source: Strimzi's KafkaUser (authorization simple) and KafkaUserModel: a user without
authentication is the principal ``User:name``, one of ``tls-external`` is ``User:CN=name``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from aclkit.kafka.acls.command import pascal_case
from aclkit.kafka.acls.common import is_common, is_kubernetes_name
from aclkit.kafka.acls.quoting import comment, quote
from aclkit.model.acl import Acl

_TYPES: Final = {
    "TOPIC": "topic",
    "GROUP": "group",
    "CLUSTER": "cluster",
    "TRANSACTIONAL_ID": "transactionalId",
}
_PATTERNS: Final = {"LITERAL": "literal", "PREFIXED": "prefix"}
_TLS: Final = "CN="
_HEADER: Final = (
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
    lines = [*_HEADER, *(comment("Strimzi", acl) for acl in unsaid)]
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
        yield f"          type: {_TYPES[resource_type]}"
        if resource_type != "CLUSTER":
            yield f"          name: {_text(resource_name)}"
            yield f"          patternType: {_PATTERNS[pattern_type]}"


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
