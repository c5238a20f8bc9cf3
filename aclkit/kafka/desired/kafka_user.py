"""KafkaUser resources of Strimzi → the ACLs that its User Operator keeps. Pure.

An operator owns all ACLs of a user: those of ``User:NAME`` and of ``User:CN=NAME``, of which the
user has one by its authentication; the other one is emptied. A user without authorization has no
ACL, and a paused one is left as it is.

Sources: io.strimzi.api.kafka.model.user, KafkaUserModel, SimpleAclRule and SimpleAclOperator.
Strimzi's classes and its CRD let through what is refused here: unknown keys, which they drop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from aclkit.kafka.acls.exports import is_kubernetes_name
from aclkit.kafka.desired.fields import PASCAL, Raw, Words
from aclkit.kafka.desired.formats import Format
from aclkit.kafka.desired.model import DesiredAcl, Document, Owner, Part
from aclkit.kafka.desired.yaml_fields import (
    Fields,
    has_user_inside,
    holds_resources,
    quoted,
    stands_for_acls,
    text_of,
)
from aclkit.model.moment import parse_until
from aclkit.model.phrases import few, most_like, number_of
from aclkit.model.resource import CLUSTER_NAME
from aclkit.runtime.yaml_nodes import Mapping, Node, Scalar, Sequence

NAME: Final = "strimzi"

_GROUP: Final = "kafka.strimzi.io"
_VERSIONS: Final = ("v1", "v1beta2")
_OLD: Final = "v1beta2"
_USER: Final = "KafkaUser"
_KINDS: Final = (
    _USER, f"{_USER}List", "Kafka", "KafkaTopic", "KafkaConnect", "KafkaConnector", "KafkaBridge",
    "KafkaMirrorMaker", "KafkaMirrorMaker2", "KafkaRebalance", "KafkaNodePool", "KafkaConnectS2I",
)  # fmt: skip
_CLUSTER: Final = "strimzi.io/cluster"
_UNTIL: Final = "aclkit.io/until"
"""The annotation of a user whose ACLs end; Strimzi's schema has no place for one of an ACL."""

_PAUSE: Final = "strimzi.io/pause-reconciliation"
_AUTHENTICATIONS: Final = {"tls": "CN=", "tls-external": "CN=", "scram-sha-512": ""}
_LONGEST_COMMON_NAME: Final = 64
_LATER: Final = ("CREATE_TOKENS", "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT")
_WORDS: Final = Words(
    resource_type={
        "topic": "TOPIC",
        "group": "GROUP",
        "cluster": "CLUSTER",
        "transactionalId": "TRANSACTIONAL_ID",
    },
    pattern_type={"literal": "LITERAL", "prefix": "PREFIXED"},
    operation={word: name for word, name in PASCAL.operation.items() if name not in _LATER},
    permission_type={"allow": "ALLOW", "deny": "DENY"},
)
_NAMES: Final = {
    "resource_type": "resource.type",
    "resource_name": "resource.name",
    "pattern_type": "resource.patternType",
    "host": "host",
    "operation": "operations",
    "permission_type": "type",
}
_ANY_OPERATION: Final = "All"
_SOUND: Final = {
    "resource_type": "topic",
    "resource_name": "a",
    "pattern_type": "literal",
    "host": "*",
    "permission_type": "allow",
}


def read(document: Document) -> Part:
    """Read all KafkaUsers of a file; other kinds are passed over, or counted as unread."""
    reading = _Users(document)
    for node in reading.nodes():
        reading.read(node)
    reading.notes += reading.notes_on_users()
    return replace(reading.part(NAME, "owners"), owners=reading.owners, untouched=reading.untouched)


@dataclass(slots=True)
class _Users(Fields):
    """What was read of a file up to here.

    Attributes:
        seen: the line of each user, by cluster, namespace and name.
        paused: users that the operator leaves alone.
        unlabelled: users without the label of a cluster.
        singular: lines with ``operation``.
    """

    owners: list[Owner] = field(default_factory=list)
    untouched: list[Owner] = field(default_factory=list)
    seen: dict[tuple[str, str, str], int] = field(default_factory=dict)
    paused: list[str] = field(default_factory=list)
    unlabelled: list[str] = field(default_factory=list)
    singular: list[str] = field(default_factory=list)

    def read(self, node: Node) -> None:
        """Read a document, or an item of a list."""
        if isinstance(node, Scalar) and node.kind == "null":
            return
        resource = self.mapping(node, "A document", node.line)
        if resource is None or not (resource.get("kind") or resource.get("apiVersion")):
            if resource is not None:
                self.count(resource, "document without kind", "")
            return
        kind = self.text(resource.get("kind"), "kind", resource.line)
        group, _, version = text_of(resource.get("apiVersion")).rpartition("/")
        if kind is None:
            return
        if kind.endswith("List") and isinstance(resource.get("items"), Sequence):
            self.read_list(resource)
        elif kind == _USER and not version:
            self.text(resource.get("apiVersion"), "apiVersion", resource.line)
        elif kind == _USER and group == _GROUP:
            self.read_user(resource, version)
        else:
            self.pass_over(resource, kind, group)

    def read_list(self, resource: Mapping) -> None:
        items = resource.get("items")
        for item in items.items if isinstance(items, Sequence) else ():
            self.read(item)

    def pass_over(self, resource: Mapping, kind: str, group: str) -> None:
        """Count a resource that may hold ACLs; refuse one whose kind is misspelt."""
        line = resource.line_of("kind")
        if group == _GROUP and kind not in _KINDS:
            like = most_like(kind, _KINDS)
            if like and like.startswith(_USER):
                self.refuse(line, f"kind {quoted(kind)} is unknown. Did you mean {like}?")
        elif (kind == f"{_USER}List" and group == _GROUP) or (kind == "List" and not group):
            self.sequence(resource.get("items"), "items", resource.line)
        else:
            self.count(resource, kind, group)

    def count(self, resource: Mapping, kind: str, group: str) -> None:
        """Count a resource that may hold ACLs and is not read."""
        if stands_for_acls(kind, group):
            self.unread[f"{kind[:60]} of {group[:60]}"] += 1
        elif has_user_inside(resource, kind):
            self.unread[kind[:60]] += 1

    def read_user(self, resource: Mapping, version: str) -> None:
        """Read a KafkaUser."""
        line = resource.line
        if version not in _VERSIONS:
            self.refuse(
                resource.line_of("apiVersion"),
                f"apiVersion {quoted(f'{_GROUP}/{version}')} is not read. Write {_GROUP}/v1",
            )
        self.known(resource, ("apiVersion", "kind", "metadata", "spec", "status"), _USER)
        metadata = self.mapping(resource.get("metadata"), "metadata", line)
        spec = self.mapping(resource.get("spec"), "spec", line)
        if metadata is None or spec is None:
            return
        name = self.read_name(metadata)
        cluster = self.read_word(metadata, "labels", _CLUSTER)
        is_paused = (self.read_word(metadata, "annotations", _PAUSE) or "").lower() == "true"
        place = self.document.place(resource.line)
        rest = "authentication", "authorization", "quotas", "template"
        self.known(spec, rest, "spec")
        prefix = self.read_authentication(spec, name)
        until = self.read_until(metadata)
        acls = [
            replace(acl, until=until)
            for acl in self.read_authorization(spec, f"User:{prefix}{name}", cluster, version)
        ]
        if name is None:
            return
        self.refuse_twice(metadata, cluster, name, resource.line)
        owner = Owner((f"User:{name}", f"User:CN={name}"), place, cluster)
        if cluster is None:
            self.unlabelled.append(str(place))
        if is_paused:
            self.paused.append(str(place))
            self.untouched.append(owner)
        else:
            self.owners.append(owner)
            self.acls += acls

    def read_name(self, metadata: Mapping) -> str | None:
        if metadata.get("name") is None:
            self.known(metadata, _METADATA, "metadata")
        name = self.text(metadata.get("name"), "metadata.name", metadata.line)
        if name is not None and not is_kubernetes_name(name):
            self.refuse(
                metadata.line_of("name"),
                f"metadata.name {quoted(name)} is no name for Kubernetes. Write small letters, "
                "digits, - and . only, at most 253, a letter or digit first and last",
            )
            return None
        return name

    def read_word(self, metadata: Mapping, where: str, key: str) -> str | None:
        """Return a label or an annotation, None without it."""
        node = metadata.get(where)
        if node is None or (isinstance(node, Scalar) and node.kind == "null"):
            return None
        words = self.mapping(node, f"metadata.{where}", metadata.line)
        if words is None or words.get(key) is None:
            return None
        return self.text(words.get(key), f"metadata.{where}: {key}", words.line)

    def read_until(self, metadata: Mapping) -> datetime | None:
        """Return when the ACLs of a user end, where an annotation says so."""
        text = self.read_word(metadata, "annotations", _UNTIL)
        if text is None:
            return None
        try:
            return parse_until(text)
        except ValueError as error:
            annotations = metadata.get("annotations")
            line = annotations.line_of(_UNTIL) if isinstance(annotations, Mapping) else 0
            self.refuse(line, f"{_UNTIL}: {error}, found {quoted(text)}")
            return None

    def read_authentication(self, spec: Mapping, name: str | None) -> str:
        """Return what stands before the name in the principal of a user."""
        if spec.get("authentication") is None:
            return ""
        line = spec.line_of("authentication")
        node = self.mapping(spec.get("authentication"), "spec.authentication", line)
        if node is None:
            return ""
        kind = self.text(node.get("type"), "authentication.type", node.line)
        if kind is None:
            return ""
        line = node.line_of("type")
        if kind not in _AUTHENTICATIONS:
            self.refuse(
                line,
                f"authentication.type {quoted(kind)} is unknown. "
                f"Write one of: {', '.join(_AUTHENTICATIONS)}",
            )
        elif kind == "tls" and len(name or "") > _LONGEST_COMMON_NAME:
            self.refuse(
                line,
                f"With authentication tls a name has at most {_LONGEST_COMMON_NAME} letters. "
                "Shorten metadata.name",
            )
        return _AUTHENTICATIONS.get(kind, "")

    def read_authorization(
        self, spec: Mapping, principal: str, cluster: str | None, version: str
    ) -> Iterator[DesiredAcl]:
        if spec.get("authorization") is None:
            return
        line = spec.line_of("authorization")
        node = self.mapping(spec.get("authorization"), "spec.authorization", line)
        if node is None:
            return
        self.known(node, ("type", "acls"), "authorization")
        kind = self.text(node.get("type"), "authorization.type", node.line)
        if kind is not None and kind != "simple":
            self.refuse(
                node.line_of("type"),
                f"authorization.type {quoted(kind)} is unknown: a KafkaUser has simple only. "
                "Write simple; other types belong into the Kafka resource",
            )
            return
        rules = self.sequence(node.get("acls"), "authorization.acls", node.line)
        for rule in rules.items if rules else ():
            yield from self.read_rule(rule, principal, cluster, version)

    def read_rule(
        self, node: Node, principal: str, cluster: str | None, version: str
    ) -> Iterator[DesiredAcl]:
        """Yield the ACLs of a rule, one for each operation; none where a field is wrong."""
        rule = self.mapping(node, "A rule of acls", node.line)
        if rule is None:
            return
        self.known(rule, ("type", "resource", "host", "operations", "operation"), "acls")
        resource = self.mapping(rule.get("resource"), "resource", rule.line)
        words = {
            "permission_type": self.word(rule, "type", "type", "allow"),
            "host": self.word(rule, "host", "host", "*"),
            **(self.read_resource(resource) if resource else {}),
        }
        lines = {_NAMES[name]: rule.line_of(_NAMES[name]) for name in ("permission_type", "host")}
        lines |= {f"resource.{key}": (resource or rule).line_of(key) for key in _RESOURCE}
        known = {name: word for name, word in words.items() if word is not None}
        for line, operation in self.read_operations(rule, version):
            # With a word for each that cannot be read, so that all others are checked.
            raw = Raw(principal=principal, operation=operation, names=_NAMES, **(_SOUND | known))
            acl = self.acl(raw, _WORDS, lines | {"operations": line}, line, cluster)
            if acl is not None:
                yield acl

    def read_resource(self, resource: Mapping) -> dict[str, str | None]:
        self.known(resource, _RESOURCE, "resource")
        kind = self.word(resource, "type", "resource.type", None)
        default = CLUSTER_NAME if kind == "cluster" else None
        name = self.word(resource, "name", "resource.name", default)
        pattern = self.word(resource, "patternType", "resource.patternType", "literal")
        if kind == "cluster" and pattern == "prefix":
            self.refuse(
                resource.line_of("patternType"),
                "resource.patternType 'prefix' has no effect on the cluster. Remove it",
            )
        return {"resource_type": kind, "resource_name": name, "pattern_type": pattern}

    def word(self, mapping: Mapping, key: str, called: str, default: str | None) -> str | None:
        """Return the text of a key, without the key its default, and None where it is wrong."""
        node = mapping.get(key)
        if node is None and default is not None:
            return default
        return self.text(node, called, mapping.line)

    def read_operations(self, rule: Mapping, version: str) -> Iterator[tuple[int, str]]:
        """Yield line and word of each operation."""
        single = rule.get("operation")
        line = rule.line_of("operation")
        if single is not None and version != _OLD:
            self.refuse(
                line,
                f"operation is not read in {_GROUP}/v1, so the rule would give no ACL. "
                "Write operations: [Read]",
            )
        elif single is not None and rule.get("operations") is not None:
            self.refuse(line, "operation and operations exclude each other. Keep operations")
        elif single is not None:
            self.singular.append(str(self.document.place(line)))
            word = self.text(single, "operation", line)
            yield line, _ANY_OPERATION if word is None else word
        else:
            for each, word in self.operations(rule):
                yield each, _ANY_OPERATION if word is None else word

    def refuse_twice(self, metadata: Mapping, cluster: str | None, name: str, line: int) -> None:
        key = cluster or "", text_of(metadata.get("namespace")), name
        if key in self.seen:
            self.refuse(
                line,
                f"The KafkaUser {quoted(name)} occurs twice, on lines {self.seen[key]} and "
                f"{line}. Merge them: only one of them has an effect",
            )
        self.seen.setdefault(key, line)

    def notes_on_users(self) -> Iterator[str]:
        """Yield what a reader must know."""
        if self.paused:
            users = _users(self.paused, "is paused", "are paused")
            yield f"{users}, so the operator leaves their ACLs unchanged: {few(self.paused)}."
        if self.unlabelled:
            users = _users(self.unlabelled, "has", "have")
            yield (
                f"{users} no label {_CLUSTER}, without which most operators ignore them: "
                f"{few(self.unlabelled)}."
            )
        if self.singular:
            rules = number_of(len(self.singular), "rule")
            yield (
                f"{rules} with operation give no ACL from Strimzi 1.0 on: {few(self.singular)}. "
                "Write operations: [Read]."
            )


def _users(places: list[str], one: str, many: str) -> str:
    return f"{number_of(len(places), _USER)} {one if len(places) == 1 else many}"


_RESOURCE: Final = ("type", "name", "patternType")
_METADATA: Final = (
    "name", "namespace", "labels", "annotations", "generateName", "uid", "resourceVersion",
    "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
    "finalizers", "ownerReferences", "managedFields", "selfLink",
)  # fmt: skip

FORMATS: Final = (
    Format(
        name=NAME, title="KafkaUser resources of Strimzi (YAML)", holds=holds_resources, read=read
    ),
)
