"""Services and roles of a state file of kafka-gitops → the ACLs that it derives of them. Pure.

Sources: the classes of com.devshawn.kafka.gitops.domain.state.service, and RoleService.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from aclkit.kafka.desired.yaml_fields import Fields, quoted
from aclkit.model.phrases import most_like
from aclkit.model.resource import CLUSTER_NAME
from aclkit.runtime.yaml_nodes import Mapping, Scalar

Given = tuple[int, str, str, str, str, str]
"""Line, principal, resource type, pattern type, name and operation of an ALLOW from any host."""

_Named = tuple[int, str]
"""Line and name of a topic."""

_KEYS: Final = {
    "application": ("type", "principal", "group-id", "produces", "consumes"),
    "kafka-connect": (
        "type",
        "principal",
        "group-id",
        "storage-topics",
        "produces",
        "connectors",
    ),
    "kafka-streams": ("type", "principal", "application-id", "produces", "consumes"),
}
_STORAGE: Final = {"config": "configs", "offset": "offsets", "status": "status"}
_INTERNAL: Final = (
    "READ", "WRITE", "DESCRIBE", "DELETE", "CREATE", "ALTER", "ALTER_CONFIGS", "DESCRIBE_CONFIGS",
)  # fmt: skip
_ROLES: Final = {
    "reader": (("TOPIC", "*", "READ"), ("GROUP", "*", "READ")),
    "writer": (("TOPIC", "*", "WRITE"),),
    "operator": (
        ("CLUSTER", CLUSTER_NAME, "DESCRIBE"),
        ("TOPIC", "*", "DESCRIBE"),
        ("TOPIC", "*", "DESCRIBE_CONFIGS"),
        ("GROUP", "*", "READ"),
        ("GROUP", "*", "DESCRIBE"),
    ),
}


def of_role(fields: Fields, role: str, line: int, principal: str | None) -> Iterator[Given]:
    """Yield the ACLs of a role of a user; roles are read in any case."""
    acls = _ROLES.get(role.lower())
    if acls is None:
        fields.refuse(line, f"roles {quoted(role)} is unknown. Write one of: {', '.join(_ROLES)}")
    elif principal is not None:
        for kind, name, operation in acls:
            yield line, principal, kind, "LITERAL", name, operation


def of_service(
    fields: Fields, key: Scalar, service: Mapping, *, describes: bool
) -> Iterator[Given]:
    """Yield the ACLs of a service.

    Args:
        fields: the file.
        key: the name of the service.
        service: what it is.
        describes: whether it may describe its topics.
    """
    kind = fields.text(service.get("type"), "type", key.line)
    if kind is None:
        return
    if kind not in _KEYS:
        like = most_like(kind, _KEYS)
        hint = f"Did you mean {like}?" if like else f"Write one of: {', '.join(_KEYS)}"
        fields.refuse(service.line_of("type"), f"type {quoted(kind)} is unknown. {hint}")
        return
    fields.known(service, _KEYS[kind], f"services: {quoted(key.text)}")
    principal = fields.text(service.get("principal"), "principal", key.line)
    own = _Service(fields, key, service, describes)
    acls = {
        "application": own.application,
        "kafka-connect": own.connect,
        "kafka-streams": own.streams,
    }[kind]()
    for acl in acls:
        if principal is not None:
            yield acl[0], principal, *acl[1:]


_Acl = tuple[int, str, str, str, str]


@dataclass(frozen=True, slots=True)
class _Service:
    """A service of a state file, as ``of_service`` has it."""

    fields: Fields
    key: Scalar
    node: Mapping
    describes: bool

    def application(self) -> Iterator[_Acl]:
        """Yield the ACLs of an application that reads and writes topics."""
        consumes = self.topics(self.node, "consumes")
        yield from self.data(self.topics(self.node, "produces"), consumes)
        group = self.text("group-id")
        if consumes and group:
            yield group[0], "GROUP", "LITERAL", group[1], "READ"

    def connect(self) -> Iterator[_Acl]:
        """Yield the ACLs of a Connect cluster and its connectors."""
        yield from self.data(self.topics(self.node, "produces"), [])
        storage = [*self.storage()]
        for operation in ("READ", "WRITE"):
            yield from ((line, "TOPIC", "LITERAL", name, operation) for line, name in storage)
        if group := self.text("group-id"):
            yield group[0], "GROUP", "LITERAL", group[1], "READ"
        connectors = self.mapping("connectors")
        for name, value in connectors.pairs if connectors else ():
            called = f"connectors: {quoted(name.text)}"
            connector = self.fields.mapping(value, called, name.line)
            if connector is None:
                continue
            self.fields.known(connector, ("produces", "consumes"), called)
            consumes = self.topics(connector, "consumes")
            yield from self.data(self.topics(connector, "produces"), consumes)
            if consumes:
                yield name.line, "GROUP", "LITERAL", f"connect-{name.text}", "READ"

    def streams(self) -> Iterator[_Acl]:
        """Yield the ACLs of an application of Kafka Streams, with its internal topics."""
        produces, consumes = (self.topics(self.node, key) for key in ("produces", "consumes"))
        yield from self.data(produces, consumes)
        application = self.text("application-id")
        if application is None:
            return
        line, name = application
        yield from ((line, "TOPIC", "PREFIXED", name, operation) for operation in _INTERNAL)
        for operation in ("READ", "DESCRIBE", "DELETE"):
            yield line, "GROUP", "LITERAL", name, operation
        yield line, "CLUSTER", "LITERAL", CLUSTER_NAME, "DESCRIBE_CONFIGS"

    def data(self, produces: list[_Named], consumes: list[_Named]) -> Iterator[_Acl]:
        """Yield the ACLs on topics that are written and read."""
        yield from ((line, "TOPIC", "LITERAL", name, "WRITE") for line, name in produces)
        yield from ((line, "TOPIC", "LITERAL", name, "READ") for line, name in consumes)
        if self.describes:
            each = {name: line for line, name in [*consumes, *produces]}
            yield from ((line, "TOPIC", "LITERAL", name, "DESCRIBE") for name, line in each.items())

    def topics(self, node: Mapping, key: str) -> list[_Named]:
        """Return the topics of a list, with their lines."""
        value = node.get(key)
        if value is None:
            return []
        topics = self.fields.sequence(value, key, node.line_of(key))
        items = topics.items if topics else ()
        found = ((each.line, self.fields.text(each, key, each.line)) for each in items)
        return [(line, name) for line, name in found if name is not None]

    def storage(self) -> Iterator[_Named]:
        """Yield the topics in which a Connect cluster keeps its own data."""
        given = self.mapping("storage-topics")
        if given is not None:
            self.fields.known(given, _STORAGE, "storage-topics")
        for name, default in _STORAGE.items():
            value = given.get(name) if given is not None else None
            if given is None or value is None:
                yield self.key.line, f"connect-{default}-{self.key.text}"
            elif text := self.fields.text(value, f"storage-topics: {name}", given.line):
                yield given.line_of(name), text

    def mapping(self, key: str) -> Mapping | None:
        """Return a mapping that may be missing."""
        value = self.node.get(key)
        return None if value is None else self.fields.mapping(value, key, self.node.line_of(key))

    def text(self, key: str) -> _Named | None:
        """Return a text and its line; without it the name of the service; None if it is wrong."""
        if self.node.get(key) is None:
            return self.key.line, self.key.text
        text = self.fields.text(self.node.get(key), key, self.node.line)
        return None if text is None else (self.node.line_of(key), text)
