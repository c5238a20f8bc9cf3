"""Which resources of Kubernetes hold ACLs of Kafka, or may hold them. Pure."""

from __future__ import annotations

import re
from typing import Final

from aclkit.kafka.desired.model import Document, NotJsonError
from aclkit.kafka.desired.yaml_fields import nodes, text_of
from aclkit.runtime.yaml_nodes import Mapping, Node, Scalar

_USER: Final = "KafkaUser"
_API: Final = r"""["']?\bapiVersion["']?[ \t]*:[ \t]*["']?"""
_KIND: Final = r"""["']?\bkind["']?[ \t]*:[ \t]*["']?"""
_HELD: Final = re.compile(
    rf"{_API}(?:kafka\.strimzi\.io|kafka\.banzaicloud\.io|cluster\.redpanda\.com|aiven\.io)/"
    rf"|{_API}[\w.-]{0, 200}kafka[\w.-]{0, 200}\.(?:crossplane|upbound)\.io/"
    rf"|{_KIND}KafkaUser",
    re.IGNORECASE,
)
_CODE: Final = re.compile(
    r"\A#!|^(?:resource|module|terraform|provider|variable|locals|data|output)\b[^\n:]*\{",
    re.MULTILINE,
)
"""Scripts and HCL, which may have a KafkaUser in a text."""

_INSIDE: Final = re.compile(rf"{_KIND}Kafka(?:User|PrincipalAuthorization|NativeACL|ACL)\b")
_HOLDERS: Final = frozenset((
    ("kafka.jikkou.io", "KafkaPrincipalAuthorization"),
    ("kafka.jikkou.io", "KafkaPrincipalAuthorizationList"),
    ("cluster.redpanda.com", "User"),
    ("cluster.redpanda.com", "RedpandaRole"),
    ("cluster.redpanda.com", "Group"),
))  # fmt: skip
_ACL_KIND: Final = re.compile(r"ACL|Acl(?![a-z])|AccessControl")
_DEFINITION: Final = "CustomResourceDefinition"


def holds_resources(document: Document) -> bool:
    """Whether a file holds KafkaUsers, or resources of other tools that stand for ACLs."""
    if document.text.lstrip().startswith("{"):
        try:
            return any(map(_is_resource, document.values))
        except NotJsonError:
            pass
    return _HELD.search(document.text) is not None and not _CODE.search(document.text)


def _is_resource(value: object) -> bool:
    """Whether a value of JSON is a resource of Kubernetes that may hold KafkaUsers."""
    if not isinstance(value, dict) or not isinstance(value.get("apiVersion"), str):
        return False
    kind, items = value.get("kind"), value.get("items")
    if kind in ("List", f"{_USER}List") and isinstance(items, list):
        return kind != "List" or any(map(_is_resource, items))
    written = f"apiVersion: {value['apiVersion']}\nkind: {kind}"
    return _HELD.search(written) is not None


def stands_for_acls(kind: str, group: str) -> bool:
    """Whether resources of a kind stand for ACLs of Kafka, be it another tool that makes them."""
    if group == "kafka.jikkou.io" and kind == _USER:
        return False  # The password of a user.
    about_kafka = "kafka" in f"{kind} {group}".lower() or group == "aiven.io"
    is_acl = _ACL_KIND.search(kind) is not None or kind == _USER
    return (group, kind) in _HOLDERS or (about_kafka and is_acl)


def has_user_inside(resource: Mapping, kind: str) -> bool:
    """Whether a resource of another kind has a KafkaUser inside, as a ConfigMap may.

    References to one are none, such as those of KafkaAccess, but a Kustomization changes what it
    refers to. A definition of the kind has none.
    """
    return kind != _DEFINITION and any(
        _is_user(node, is_enough=kind == "Kustomization")
        for name, value in resource.pairs
        if name.text not in ("kind", "metadata", "status")
        for node in nodes(value)
    )


def _is_user(node: Node, *, is_enough: bool) -> bool:
    """Whether a node is a KafkaUser or a text of one; a reference counts if that is enough."""
    if isinstance(node, Scalar):
        return _INSIDE.search(node.text) is not None
    if not isinstance(node, Mapping) or text_of(node.get("kind")) != _USER:
        return False
    return is_enough or node.get("apiVersion") is not None
