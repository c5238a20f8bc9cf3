"""Plans and state files of kafka-gitops → ACLs. Pure.

A plan names each ACL and what becomes of it. A state file names ACLs of users and services, and
roles and topics from which kafka-gitops derives others. It owns the whole cluster: what a state
file does not give, it removes, unless it runs with ``--no-delete``.

Sources: com.devshawn.kafka.gitops.StateManager, RoleService, the classes of domain.state and
PlanManager, at 8f3afc9.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field
from typing import Final

from aclkit.kafka.desired.fields import Raw, desired_acl
from aclkit.kafka.desired.formats import Format, PartBuilder
from aclkit.kafka.desired.gitops_services import Given, of_role, of_service
from aclkit.kafka.desired.model import (
    DesiredAcl,
    Document,
    NotJsonError,
    Part,
    Place,
    ResourceChange,
    json_values,
)
from aclkit.kafka.desired.yaml_fields import KAFKAS_OWN, Fields, at, quoted
from aclkit.runtime.notation import key_twice
from aclkit.runtime.yaml_nodes import TEMPLATE, Mapping, Node, Scalar

PLAN: Final = "kafka-gitops-plan"
STATE: Final = "kafka-gitops"

_NAMES: Final = {
    "resource_type": "type",
    "resource_name": "name",
    "pattern_type": "pattern",
    "permission_type": "permission",
}
_DETAILS: Final = {
    "resource_type": "type",
    "resource_name": "name",
    "pattern_type": "pattern",
    "principal": "principal",
    "host": "host",
    "operation": "operation",
    "permission_type": "permission",
}
"""Our name of each field, and that of kafka-gitops."""

_TOP: Final = (
    "settings", "services", "topics", "users", "customServiceAcls", "customUserAcls", "schemas",
)  # fmt: skip
_PLAN_TEXT: Final = re.compile(r'"(?:aclPlans|topicPlans)"[ \t\r\n]*:')
_CUSTOM: Final = re.compile(r"""^["']?custom(?:User|Service)Acls?\b""", re.MULTILINE)
_SECTION: Final = re.compile(r"""^["']?(?:users|services)["']?:[ \t\r]*$""", re.MULTILINE)
_ENTRY: Final = re.compile(
    r"""^[ \t]+(?:type:[ \t]*["']?(?:application|kafka-connect|kafka-streams)["']?[ \t\r]*$"""
    r"""|principal:[ \t]*["']?User:|roles:[ \t]*\[[ \t"']*(?:reader|writer|operator)\b"""
    r"""|-[ \t]*["']?(?:reader|writer|operator)["']?[ \t\r]*$)""",
    re.MULTILINE,
)
_FILES: Final = re.compile(
    r"^settings:[ \t\r]*\n(?:[ \t].*\n)*?[ \t]+files:[ \t\r]*\n[ \t]+(?:services|users|topics):",
    re.MULTILINE,
)
_KUBERNETES: Final = re.compile(r"^apiVersion:", re.MULTILINE)


def holds_plan(document: Document) -> bool:
    """Whether a file is a plan in JSON."""
    if not document.text.lstrip().startswith("{"):
        return False
    try:
        values = document.values
    except NotJsonError:
        return _PLAN_TEXT.search(document.text) is not None
    return any(isinstance(each, dict) and "aclPlans" in each for each in values)


def holds_state(document: Document) -> bool:
    """Whether a file is a state file: it has users, services or ACLs of its own."""
    text = document.text
    if text.lstrip().startswith("{"):
        keys = {key for each in document.objects for key in each}
        return not keys.isdisjoint(("customUserAcls", "customServiceAcls"))
    if _CUSTOM.search(text):
        return True
    if _FILES.search(text):
        return True
    has_entries = _SECTION.search(text) is not None and _ENTRY.search(text) is not None
    return has_entries and _KUBERNETES.search(text) is None


def read_plan(document: Document) -> Part:
    """Read what a plan adds, removes and keeps."""
    reading = _Plan(document)
    for value in reading.values():
        reading.read(value)
    after = (change.creates or change.keeps for change in reading.changes)
    reading.acls += filter(None, after)
    return reading.part(PLAN, "change")


@dataclass(slots=True)
class _Plan(PartBuilder):
    """What was read of a plan up to here."""

    names: Counter[str] = field(default_factory=Counter)
    addresses: set[str] = field(default_factory=set)

    def values(self) -> list[object]:
        """Return the JSON values of the file; a key twice is refused."""
        found: list[object] = []
        decoder = json.JSONDecoder(object_pairs_hook=self.unique)
        try:
            for value in json_values(self.document, decoder):
                found.append(value)
        except NotJsonError as error:
            text = "Not valid JSON. Write the plan anew: kafka-gitops plan -o FILE"
            self.refuse(error.line, text)
        return found

    def unique(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        if (key := key_twice(pairs)) is not None:
            self.refuse(0, f"The key {quoted(key)} occurs twice in one object. Remove one of them")
        return dict(pairs)

    def read(self, value: object) -> None:
        plans = value.get("aclPlans") if isinstance(value, dict) else None
        if not isinstance(plans, list):
            self.refuse(0, "aclPlans is no list. Write the plan anew: kafka-gitops plan -o FILE")
            return
        for plan in plans:
            if isinstance(plan, dict):
                self.read_acl_plan(plan)
            else:
                self.refuse(0, "An entry of aclPlans is no object. Write the plan anew")

    def read_acl_plan(self, plan: AnyMapping[str, object]) -> None:
        """Read what becomes of one ACL."""
        name, action, details = plan.get("name"), plan.get("action"), plan.get("aclDetails")
        address = self.address(name if isinstance(name, str) and name else "ACL without name")
        if not isinstance(details, dict):
            self.refuse(0, "aclDetails is no object. Write the plan anew", address)
            return
        acl = self.acl(details, address)
        if not isinstance(action, str) or action not in _ACTIONS:
            shown = quoted(action) if isinstance(action, str) else "no text"
            self.refuse(0, f"action {shown} is unknown. Known: {', '.join(_ACTIONS)}", address)
        elif acl is not None:
            self.changes.append(_ACTIONS[action](self.document.place(address=address), acl))

    def acl(self, details: AnyMapping[str, object], address: str) -> DesiredAcl | None:
        values = {name: details.get(key) for name, key in _DETAILS.items()}
        texts = {name: value for name, value in values.items() if isinstance(value, str)}
        for name in values.keys() - texts.keys():
            self.refuse(0, f"{_DETAILS[name]} is no text. Write the plan anew", address)
        if len(texts) < len(values):
            return None
        made = desired_acl(
            Raw(names=_NAMES, **texts), KAFKAS_OWN, self.document.place(address=address)
        )
        if isinstance(made, DesiredAcl):
            return made
        self.problems += made
        return None

    def address(self, name: str) -> str:
        """Return a name that no other entry has: kafka-gitops calls all that it removes alike."""
        address = name
        while address in self.addresses:
            self.names[name] += 1
            address = f"{name} ({self.names[name] + 1})"
        self.addresses.add(address)
        return address


_ACTIONS: Final[dict[str, Callable[[Place, DesiredAcl], ResourceChange]]] = {
    "ADD": lambda place, acl: ResourceChange(place=place, actions=("ADD",), creates=acl),
    "REMOVE": lambda place, acl: ResourceChange(place=place, actions=("REMOVE",), deletes=acl),
    "NO_CHANGE": lambda place, acl: ResourceChange(place=place, actions=("NO_CHANGE",), keeps=acl),
}


def read_state(document: Document) -> Part:
    """Read the ACLs that a state file names, and those that kafka-gitops derives of it."""
    fields = Fields(document)
    for number, node in enumerate([*fields.nodes()]):
        if number:
            fields.refuse(
                node.line,
                "kafka-gitops reads the first document of a file only. Write another file",
            )
        elif not (isinstance(node, Scalar) and node.kind == "null"):
            root = fields.mapping(node, "A state file", node.line)
            fields.acls += _State(fields, root).acls() if root else ()
    return fields.part(STATE, "asked")


@dataclass(slots=True)
class _State:
    """A state file."""

    fields: Fields
    root: Mapping

    def acls(self) -> Iterator[DesiredAcl]:
        """Yield the ACLs, those of services first, as kafka-gitops does."""
        self.fields.known(self.root, _TOP, "")
        describes = self.settings()
        services, users = self.section("services"), self.section("users")
        for name, service in services.items():
            yield from self.made(of_service(self.fields, name, service, describes=describes))
        yield from self.custom("customServiceAcls", "services", dict.fromkeys(services))
        principals: dict[Scalar, str | None] = {}
        for name, user in users.items():
            principals[name] = self.principal(name, user)
            yield from self.roles(user, principals[name])
        yield from self.custom("customUserAcls", "users", principals)
        self.refuse_same(services, users)

    def settings(self) -> bool:
        """Whether services may describe their topics; what leads out of the file is refused."""
        settings = self.root.get("settings")
        for key in ("ccloud", "confluent"):
            enabled = at(settings, key, "enabled")
            if isinstance(enabled, Scalar) and enabled.text.lower() != "false":
                self.fields.refuse(
                    enabled.line,
                    f"With settings.{key} the principals are service accounts of Confluent Cloud, "
                    "whose ids are not in the file. Pass the plan: kafka-gitops plan -o FILE",
                )
        for key in ("services", "users"):
            other = at(settings, "files", key)
            if isinstance(other, Scalar) and other.kind != "null":
                self.fields.refuse(
                    other.line,
                    f"settings.files.{key} names another file, which is not read. Write its "
                    f"{key} into this file, or pass the plan: kafka-gitops plan -o FILE",
                )
        describes = at(settings, "services", "acls", "describeTopicEnabled")
        return isinstance(describes, Scalar) and describes.text.lower() == "true"

    def section(self, name: str) -> dict[Scalar, Mapping]:
        """Return the entries of a section with their keys."""
        node = self.root.get(name)
        if node is None or (isinstance(node, Scalar) and node.kind == "null"):
            return {}
        section = self.fields.mapping(node, name, self.root.line_of(name))
        found: dict[Scalar, Mapping] = {}
        for key, value in section.pairs if section else ():
            if key.is_template:
                self.fields.refuse(key.line, f"{name}: {TEMPLATE}")
            entry = self.fields.mapping(value, f"{name}: {quoted(key.text)}", key.line)
            if entry is not None:
                found[key] = entry
        return found

    def principal(self, name: Scalar, user: Mapping) -> str | None:
        self.fields.known(user, ("principal", "roles"), f"users: {quoted(name.text)}")
        return self.fields.text(user.get("principal"), "principal", user.line)

    def roles(self, user: Mapping, principal: str | None) -> Iterator[DesiredAcl]:
        if user.get("roles") is None:
            return
        roles = self.fields.sequence(user.get("roles"), "roles", user.line_of("roles"))
        for each in roles.items if roles else ():
            role = self.fields.text(each, "roles", each.line)
            if role is not None:
                yield from self.made(of_role(self.fields, role, each.line, principal))

    def made(self, given: Iterator[Given]) -> Iterator[DesiredAcl]:
        """Make ACLs of derived ones."""
        for line, principal, kind, pattern, name, operation in given:
            raw = Raw(
                resource_type=kind,
                resource_name=name,
                pattern_type=pattern,
                principal=principal,
                host="*",
                operation=operation,
                permission_type="ALLOW",
                names=_NAMES,
            )
            acl = self.fields.acl(raw, KAFKAS_OWN, {}, line)
            if acl is not None:
                yield acl

    def custom(
        self, section: str, owners: str, principals: AnyMapping[Scalar, str | None]
    ) -> Iterator[DesiredAcl]:
        """Yield the ACLs that users or services have beside derived ones."""
        by_name = {key.text: principal for key, principal in principals.items()}
        for key, entries in self.section(section).items():
            if key.text not in by_name:
                self.fields.refuse(
                    key.line,
                    f"{section}: {quoted(key.text)} is not in {owners}, so kafka-gitops makes no "
                    f"ACL of it. Add it to {owners}",
                )
                continue
            for name, node in entries.pairs:
                acl = self.custom_acl(name, node, by_name[key.text], is_user=owners == "users")
                if acl is not None:
                    yield acl

    def custom_acl(
        self, key: Scalar, node: Node, principal: str | None, *, is_user: bool
    ) -> DesiredAcl | None:
        entry = self.fields.mapping(node, quoted(key.text), key.line)
        if entry is None:
            return None
        self.fields.known(entry, _DETAILS.values(), quoted(key.text))
        defaults = {"host": "*", "permission_type": "ALLOW"}
        words: dict[str, str | None] = {}
        for name, called in _DETAILS.items():
            if entry.get(called) is not None or (name not in defaults and name != "principal"):
                words[name] = self.fields.text(entry.get(called), called, key.line)
            elif name in defaults:
                words[name] = defaults[name]
            elif is_user:
                words[name] = principal
            else:
                words[name] = self.fields.text(None, called, key.line)
        known = {name: word for name, word in words.items() if word is not None}
        lines = {called: entry.line_of(called) for called in _DETAILS.values()}
        raw = Raw(names=_NAMES, **(_SOUND | known))
        acl = self.fields.acl(raw, KAFKAS_OWN, lines, key.line)
        return acl if len(known) == len(words) else None

    def refuse_same(
        self, services: AnyMapping[Scalar, Mapping], users: AnyMapping[Scalar, Mapping]
    ) -> None:
        """Refuse a name of a user that a service has: kafka-gitops stops at it."""
        lines = {key.text: key.line for key in services}
        for key in users:
            if key.text in lines:
                self.fields.refuse(
                    key.line,
                    f"{quoted(key.text)} is a service and a user, on lines {lines[key.text]} and "
                    f"{key.line}; kafka-gitops gives their ACLs the same names. Rename one",
                )


_SOUND: Final = {
    "resource_type": "TOPIC",
    "resource_name": "a",
    "pattern_type": "LITERAL",
    "principal": "User:a",
    "host": "*",
    "operation": "READ",
    "permission_type": "ALLOW",
}
"""In place of what cannot be read, so that all other fields are checked."""

FORMATS: Final = (
    Format(name=PLAN, title="a plan of kafka-gitops (JSON)", holds=holds_plan, read=read_plan),
    Format(
        name=STATE, title="a state file of kafka-gitops (YAML)", holds=holds_state, read=read_state
    ),
)
