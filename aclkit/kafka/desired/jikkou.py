"""Resources of Jikkou → the ACLs that it would create. Pure.

A KafkaPrincipalAuthorization has ACLs of its own and those of its roles, which are
KafkaPrincipalRole documents of the same file. Words of Kafka are read in any case, as Jikkou does;
keys that it does not know it drops, so they are refused here.

Sources: io.jikkou.kafka.models, KafkaPrincipalAuthorizationTransformation,
LiteralKafkaAclBindingBuilder, TopicMatchingAclRulesBuilder and CoreAnnotations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from aclkit.kafka.desired.fields import Raw
from aclkit.kafka.desired.formats import Format
from aclkit.kafka.desired.model import DesiredAcl, Document, Part
from aclkit.kafka.desired.yaml_fields import (
    KAFKAS_OWN,
    Fields,
    at,
    has_user_inside,
    quoted,
    stands_for_acls,
    text_of,
)
from aclkit.model.phrases import most_like, number_of
from aclkit.runtime.yaml_nodes import Mapping, Node, Scalar, Sequence

NAME: Final = "jikkou"

MOST_ACLS: Final = 500_000
"""ACLs of a file: a small one can give one role to many principals."""

_GROUP: Final = "kafka.jikkou.io"
_AUTHORIZATION: Final = "KafkaPrincipalAuthorization"
_ROLE: Final = "KafkaPrincipalRole"
_KINDS: Final = (_AUTHORIZATION, f"{_AUTHORIZATION}List", _ROLE, f"{_ROLE}List")
_KEYS: Final = ("apiVersion", "kind", "metadata", "template", "spec", "status")
_DELETE: Final = "jikkou.io/delete"
_IGNORE: Final = "jikkou.io/ignore"
_PROVIDER: Final = "jikkou.io/provider"
_NAMES: Final = {
    "resource_type": "resource.type",
    "resource_name": "resource.pattern",
    "pattern_type": "resource.patternType",
    "principal": "metadata.name",
    "host": "host",
    "operation": "operations",
    "permission_type": "type",
}
_SOUND: Final = {
    "resource_type": "TOPIC",
    "resource_name": "a",
    "pattern_type": "LITERAL",
    "principal": "User:a",
    "host": "*",
    "permission_type": "ALLOW",
}
_ANY_OPERATION: Final = "ALL"
_HELD: Final = re.compile(
    r"""["']?\bapiVersion["']?[ \t]*:[ \t]*["']?kafka\.(?:aiven\.)?jikkou\.io/"""
    r"""|["']?\bkind["']?[ \t]*:[ \t]*["']?KafkaPrincipal(?:Authorization|Role)""",
    re.IGNORECASE,
)


def holds(document: Document) -> bool:
    """Whether a file holds resources of Jikkou for Kafka."""
    if document.text.lstrip().startswith("{") and document.objects:
        return any(str(each.get("apiVersion")).startswith(_GROUP) for each in document.objects)
    return _HELD.search(document.text) is not None


def read(document: Document) -> Part:
    """Read the authorizations of a file; other kinds of Jikkou hold no ACLs."""
    reading = _Resources(document)
    for node in reading.nodes():
        reading.read(node)
    made = (acl for each in reading.authorizations for acl in reading.acls_of(each))
    reading.acls += islice(made, MOST_ACLS)
    if next(made, None) is not None:
        reading.refuse(1, f"Roles give more than {MOST_ACLS:,} ACLs. Split the file")
    if reading.ignored:
        number = number_of(reading.ignored, _AUTHORIZATION)
        reading.notes.append(f"{document.name}: {number} with {_IGNORE} not read.")
    return reading.part(NAME, "asked")


@dataclass(frozen=True, slots=True)
class _Principal:
    """Whose ACLs are read: the name, None if it is wrong, its line, and the cluster."""

    name: str | None
    line: int
    provider: str | None


@dataclass(slots=True)
class _Resources(Fields):
    """What was read of a file up to here.

    Attributes:
        roles: each by its name.
        ignored: authorizations that Jikkou leaves out.
    """

    authorizations: list[Mapping] = field(default_factory=list)
    roles: dict[str, Mapping] = field(default_factory=dict)
    ignored: int = 0

    def read(self, node: Node) -> None:
        """Read a document, or an item of a list."""
        if isinstance(node, Scalar) and node.kind == "null":
            return
        resource = self.mapping(node, "A document", node.line)
        kind = resource and self.text(resource.get("kind"), "kind", resource.line)
        if resource is None or not isinstance(kind, str):
            return
        group, _, _ = text_of(resource.get("apiVersion")).rpartition("/")
        items = resource.get("items")
        if kind.endswith("List") and (isinstance(items, Sequence) or kind in _KINDS):
            found = self.sequence(items, "items", resource.line)
            for item in found.items if found else ():
                self.read(item)
        elif kind in _KINDS and group != _GROUP:
            given = quoted(text_of(resource.get("apiVersion")))
            self.refuse(
                resource.line_of("apiVersion"),
                f"apiVersion {given} is none of a {kind}. Write {_GROUP}/v1",
            )
        elif kind == _AUTHORIZATION:
            self.keep_authorization(resource)
        elif kind == _ROLE:
            self.keep_role(resource)
        else:
            self.pass_over(resource, kind, group)

    def pass_over(self, resource: Mapping, kind: str, group: str) -> None:
        """Count a resource that may hold ACLs; refuse one whose kind is misspelt."""
        if group == _GROUP and (like := most_like(kind, _KINDS, 0.85)):
            self.refuse(
                resource.line_of("kind"), f"kind {quoted(kind)} is unknown. Did you mean {like}?"
            )
        elif stands_for_acls(kind, group):
            self.unread[f"{kind[:60]} of {group[:60]}"] += 1
        elif has_user_inside(resource, kind):
            self.unread[kind[:60]] += 1

    def keep_authorization(self, resource: Mapping) -> None:
        if self.is_annotated(resource, _IGNORE):
            self.ignored += 1
        elif self.is_annotated(resource, _DELETE):
            self.refuse(
                resource.line,
                f"With {_DELETE} Jikkou removes these ACLs. Remove the document, and pass "
                "--scope principals or all to see what that removes",
            )
        else:
            self.authorizations.append(resource)

    def keep_role(self, resource: Mapping) -> None:
        name = self.name_of(resource)
        if name in self.roles:
            first = self.roles[name].line
            self.refuse(
                resource.line,
                f"The role {quoted(name)} occurs twice, on lines {first} and {resource.line}. "
                "Remove one of them",
            )
        elif name is not None:
            self.roles[name] = resource

    def is_annotated(self, resource: Mapping, name: str) -> bool:
        value = text_of(at(resource, "metadata", "annotations", name))
        return value.lower() in ("true", "yes", "on", "1")

    def name_of(self, resource: Mapping) -> str | None:
        metadata = self.mapping(resource.get("metadata"), "metadata", resource.line)
        if metadata is None:
            return None
        return self.text(metadata.get("name"), "metadata.name", metadata.line)

    def acls_of(self, resource: Mapping) -> Iterator[DesiredAcl]:
        """Yield the ACLs of an authorization, and those of its roles with its principal."""
        metadata = resource.get("metadata")
        line = metadata.line_of("name") if isinstance(metadata, Mapping) else resource.line
        self.known(resource, _KEYS, "")
        spec = self.mapping(resource.get("spec"), "spec", resource.line)
        if spec is None:
            return
        self.known(spec, ("acls", "roles"), "spec")
        provider = text_of(at(resource, "metadata", "annotations", _PROVIDER)) or None
        user = _Principal(self.name_of(resource), line, provider)
        names = [*self.roles_of(spec)]
        if spec.get("acls") is not None or not names:
            yield from self.rules_of(spec, user)
        for line, name in names:
            role = self.roles.get(name)
            if role is None:
                self.refuse(
                    line,
                    f"The role {quoted(name)} is in no {_ROLE} of this file. "
                    "Put the role into the same file",
                )
                continue
            self.known(role, _KEYS, "")
            rules = self.mapping(role.get("spec"), "spec", role.line)
            if rules is not None:
                self.known(rules, ("acls",), "spec")
                yield from self.rules_of(rules, user)

    def roles_of(self, spec: Mapping) -> Iterator[tuple[int, str]]:
        """Yield line and name of each role of an authorization, each once."""
        if spec.get("roles") is None:
            return
        roles = self.sequence(spec.get("roles"), "spec.roles", spec.line)
        names: dict[str, int] = {}
        for each in roles.items if roles else ():
            name = self.text(each, "spec.roles", each.line)
            if name is not None:
                names.setdefault(name, each.line)
        yield from ((line, name) for name, line in names.items())

    def rules_of(self, spec: Mapping, user: _Principal) -> Iterator[DesiredAcl]:
        rules = self.sequence(spec.get("acls"), "spec.acls", spec.line)
        for each in rules.items if rules else ():
            rule = self.mapping(each, "A rule of acls", each.line)
            if rule is not None:
                yield from self.read_rule(rule, user)

    def read_rule(self, rule: Mapping, user: _Principal) -> Iterator[DesiredAcl]:
        """Yield the ACLs of a rule, one for each operation."""
        self.known(rule, ("resource", "type", "operations", "host"), "acls")
        resource = self.mapping(rule.get("resource"), "resource", rule.line)
        words: dict[str, str | None] = {
            "principal": user.name,
            "permission_type": self.word(rule, "type", "type"),
            "host": "*"
            if rule.get("host") is None
            else self.text(rule.get("host"), "host", rule.line),
        }
        lines = {
            "metadata.name": user.line,
            "type": rule.line_of("type"),
            "host": rule.line_of("host"),
        }
        if resource is not None:
            words |= self.read_resource(resource)
            lines |= {f"resource.{key}": resource.line_of(key) for key in _RESOURCE}
        known = {name: word for name, word in words.items() if word is not None}
        is_whole = resource is not None and len(known) == len(words)
        for line, word in self.operations(rule):
            operation = word and _capitals(word)
            raw = Raw(operation=operation or _ANY_OPERATION, names=_NAMES, **(_SOUND | known))
            acl = self.acl(raw, KAFKAS_OWN, lines | {"operations": line}, line, user.provider)
            if acl is not None and is_whole and operation:
                yield acl

    def read_resource(self, resource: Mapping) -> dict[str, str | None]:
        self.known(resource, _RESOURCE, "resource")
        pattern_type = self.word(resource, "patternType", "resource.patternType")
        if pattern_type == "MATCH":
            self.refuse(
                resource.line_of("patternType"),
                "resource.patternType MATCH is a regular expression over the topics of a "
                "cluster, which the file does not name. Write LITERAL or PREFIXED",
            )
            pattern_type = None
        return {
            "resource_type": self.word(resource, "type", "resource.type"),
            "resource_name": self.text(resource.get("pattern"), "resource.pattern", resource.line),
            "pattern_type": pattern_type,
        }

    def word(self, mapping: Mapping, key: str, called: str) -> str | None:
        """Return a word of Kafka in capitals, None where it is wrong."""
        word = self.text(mapping.get(key), called, mapping.line)
        return word and _capitals(word)


def _capitals(word: str) -> str:
    return word.upper() if word.isascii() else word


_RESOURCE: Final = ("type", "pattern", "patternType")

FORMATS: Final = (
    Format(
        name=NAME, title="KafkaPrincipalAuthorizations of Jikkou (YAML)", holds=holds, read=read
    ),
)
