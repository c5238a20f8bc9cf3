"""Nodes of YAML → the texts, mappings and lists that a format wants, or why they are none. Pure.

What a format does not know is refused, never passed over: ``tpye: deny`` is an ALLOW to the tool
that ignores the key.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from aclkit.kafka.desired.fields import CAPITALS, Raw, Words, desired_acl
from aclkit.kafka.desired.formats import PartBuilder
from aclkit.kafka.desired.model import DesiredAcl, Document, NotJsonError
from aclkit.model.phrases import most_like
from aclkit.runtime.yaml_nodes import TEMPLATE, Mapping, Node, Scalar, Sequence, read_nodes

_MISREAD: Final = {"number": "a number", "boolean": "a boolean", "null": "nothing"}
_BRACES: Final = 'If {{ is part of the name, write "\\u007b{" in double quotes'
MOST_PROBLEMS: Final = 1_000
"""Problems of a file that are kept."""

LONGEST_QUOTE: Final = 60
"""Letters of a file that a message repeats."""


KAFKAS_OWN: Final = replace(CAPITALS, pattern_type={"LITERAL": "LITERAL", "PREFIXED": "PREFIXED"})
"""The enums of Kafka as tools in Java have them: without GLOB, which no release has."""


def _few(lines: Iterable[int]) -> str:
    unique = list(dict.fromkeys(lines))
    shown = ", ".join(map(str, unique[:8]))
    return shown if len(unique) <= 8 else f"{shown} and {len(unique) - 8:,} more"


@dataclass(slots=True)
class Fields(PartBuilder):
    """A file of YAML that is read."""

    def nodes(self) -> Iterator[Node]:
        """Yield the documents of the file, one after the other; an empty one is a null."""
        stars: list[int] = []
        yield from read_nodes(self.document.text, partial(PartBuilder.refuse, self), stars)
        if stars:
            lines = f"line {stars[0]}" if len(set(stars)) == 1 else f"lines {_few(stars)}"
            self.notes.append(
                f"{self.document.name}: a key * without quotes on {lines}. Strict YAML parsers "
                'refuse it; write "*":.'
            )

    def refuse(self, line: int, text: str, address: str = "") -> None:
        """Keep a problem; at most ``MOST_PROBLEMS`` are kept."""
        if len(self.problems) < MOST_PROBLEMS:
            PartBuilder.refuse(self, line, text, address)

    @property
    def is_full(self) -> bool:
        """Whether no more problems are kept, so that nothing more needs to be checked."""
        return len(self.problems) >= MOST_PROBLEMS

    def mapping(self, node: Node | None, called: str, line: int) -> Mapping | None:
        """Return a node that is a mapping; else refuse it.

        Args:
            node: the node.
            called: what the file calls it.
            line: where it should stand.
        """
        if isinstance(node, Mapping):
            return node
        self._refuse_kind(node, called, line, "a mapping")
        return None

    def sequence(self, node: Node | None, called: str, line: int) -> Sequence | None:
        """Return a node that is a list; else refuse it."""
        if isinstance(node, Sequence):
            return node
        self._refuse_kind(node, called, line, "a list")
        return None

    def operations(self, rule: Mapping) -> Iterator[tuple[int, str | None]]:
        """Yield line and word of each of a rule's operations; None where it is wrong."""
        line = rule.line_of("operations")
        operations = self.sequence(rule.get("operations"), "operations", line)
        if operations and not operations.items:
            self.refuse(line, "operations is empty, so the rule gives no ACL. Write one")
        for each in operations.items if operations else ():
            yield each.line, self.text(each, "operations", each.line)

    def text(self, node: Node | None, called: str, line: int) -> str | None:
        """Return a node that is a text; else refuse it, a number or boolean among others.

        An empty text is refused too: no format has a field that may be empty.
        """
        if not isinstance(node, Scalar) or node.kind == "null":
            self._refuse_kind(node, called, line, "a text")
        elif node.is_template:
            self.refuse(node.line, f"{called}: {TEMPLATE}. {_BRACES}")
        elif node.kind != "text":
            shown = quoted(node.text)
            self.refuse(
                node.line,
                f"{called} {shown} is read as {_MISREAD[node.kind]}, not as a text. "
                f'Quote it: "{shown[1:-1]}"',
            )
        elif not node.text:
            self.refuse(node.line, f"{called} is empty. Write a value")
        else:
            return node.text
        return None

    def known(self, mapping: Mapping, keys: Collection[str], called: str) -> None:
        """Refuse keys that a format does not know."""
        for key, _ in mapping.pairs:
            if key.text not in keys and not self.is_full:
                like = most_like(key.text, keys) or _same(key.text, keys)
                hint = f"Did you mean {like}?" if like else f"Known: {', '.join(keys)}"
                self.refuse(key.line, f"{_path(called, quoted(key.text))} is unknown. {hint}")

    def acl(
        self,
        raw: Raw,
        words: Words,
        lines: AnyMapping[str, int],
        line: int,
        cluster: str | None = None,
    ) -> DesiredAcl | None:
        """Return an ACL of words, or refuse each wrong word on its own line.

        Args:
            raw: the words.
            words: those of the format.
            lines: the line of each field, by what the file calls it.
            line: that of the ACL, and of fields that have no other.
            cluster: the cluster that it is for.
        """
        if self.is_full:
            return None
        made = desired_acl(raw, words, self.document.place(line), cluster)
        if isinstance(made, DesiredAcl):
            return made
        for problem in made:
            own = (at for name, at in lines.items() if problem.text.startswith(f"{name} "))
            place = self.document.place(next(own, line))
            self.problems.append(replace(problem, place=place))
        return None

    def _refuse_kind(self, node: Node | None, called: str, line: int, wanted: str) -> None:
        if node is None:
            self.refuse(line, f"{called} is missing. Write {wanted}")
        elif isinstance(node, Scalar) and node.is_template:
            self.refuse(node.line, f"{called}: {TEMPLATE}")
        elif isinstance(node, Scalar) and node.kind == "null":
            self.refuse(node.line, f"{called} has no value. Write {wanted}, or remove the key")
        else:
            self.refuse(node.line, f"{called} is {_kind(node)}. Write {wanted}")


def text_of(node: Node | None) -> str:
    """Return the letters of a scalar, and of anything else an empty text."""
    return node.text if isinstance(node, Scalar) else ""


def at(node: Node | None, *path: str) -> Node | None:
    """Return what stands at a path of keys, or None."""
    for key in path:
        node = node.get(key) if isinstance(node, Mapping) else None
    return node


def nodes(node: Node) -> Iterator[Node]:
    """Yield a node and all below it."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        if isinstance(each, Sequence):
            waiting += each.items
        elif isinstance(each, Mapping):
            waiting += [value for _, value in each.pairs]


def quoted(text: str) -> str:
    """Quote a text of a file, and not more of it than a message may hold."""
    return f"'{text[:LONGEST_QUOTE]}'"


def _kind(node: Node) -> str:
    if isinstance(node, Mapping):
        return "a mapping"
    return "a list" if isinstance(node, Sequence) else f"the text {quoted(node.text)}"


def _path(called: str, key: str) -> str:
    return f"{called}: the key {key}" if called else f"The key {key}"


def _same(word: str, keys: Collection[str]) -> str | None:
    return next((key for key in keys if key.lower() == word.lower()), None)


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
