"""ACLs, requests and answers ↔ the bytes that StandardAuthorizerLoop.java reads and writes. Pure.

A message is one letter and what belongs to it. Every text is sent once, as UTF-16 code units,
since Java's strings hold any of them, lone surrogates too; after that it is a number.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from aclkit.kafka.acls.text import as_broker_sees
from aclkit.model.acl import Acl, Request
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from aclkit.model.semantics import BrokerSettings
from aclkit.rules.decide.order import utf16
from aclkit.rules.decide.rules import (
    ALLOWED,
    DEFAULT_ALLOW,
    DEFAULT_DENY,
    DENIED,
    MATCHING_ACL,
    SUPER_USER,
)

Binding = tuple[str, ...]
"""The seven fields of an ACL."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: ALLOWED or DENIED, the rule's name, and the ACL if one decided.

    Where Kafka gave none, ``decision`` is None and ``rule`` states what it did instead.
    """

    decision: str | None
    rule: str
    acl: Acl | None = None


def kafka_binding(acl: Acl) -> Binding:
    """Return an ACL's seven fields as a broker holds them: unknown codes are all alike.

    Two ACLs with the same fields are one to it, whatever their ids.
    """
    return as_broker_sees(acl).binding


def distinct(acls: Iterable[Acl]) -> list[Acl]:
    """Return the ACLs that a broker can tell apart, each the first of its kind."""
    kinds: dict[Binding, Acl] = {}
    for acl in acls:
        kinds.setdefault(kafka_binding(acl), acl)
    return list(kinds.values())


LOADED: Final = b"L"
ASKED: Final = b"A"
_THROWN: Final = 2
_ANSWER: Final = struct.Struct(">bi")
_RULES: Final = {-1: SUPER_USER, -2: DEFAULT_ALLOW, -3: DEFAULT_DENY}
_OPERATIONS: Final = {name: int(code) for name, code in AclOperation.__members__.items()}
_TYPES: Final = {name: int(code) for name, code in ResourceType.__members__.items()}


@dataclass(slots=True)
class TextNumbers:
    """The texts that the other side knows, by number, and those yet to be sent."""

    numbers: dict[str, int] = field(default_factory=dict)
    unsent: list[str] = field(default_factory=list)

    def number(self, text: str) -> int:
        """Return the number of a text."""
        number = self.numbers.get(text)
        if number is None:
            number = self.numbers[text] = len(self.numbers)
            self.unsent.append(text)
        return number

    def flush(self) -> bytes:
        """Return the texts that are new since the last time."""
        parts = [struct.pack(">i", len(self.unsent))]
        for text in self.unsent:
            units = utf16(text)
            parts += [struct.pack(">i", len(units) // 2), units]
        self.unsent = []
        return b"".join(parts)


def encode_load(acls: Sequence[Acl], settings: BrokerSettings, texts: TextNumbers) -> bytes:
    """Return the message that gives Kafka its configuration and all ACLs."""
    super_users = texts.number(";".join(sorted(settings.super_users)))
    rows = [
        struct.pack(
            ">bbbbiii",
            ResourceType.code_of(acl.resource_type),
            PatternType.code_of(acl.pattern_type),
            AclOperation.code_of(acl.operation),
            AclPermissionType.code_of(acl.permission_type),
            texts.number(acl.resource_name),
            texts.number(acl.principal),
            texts.number(acl.host),
        )
        for acl in acls
    ]
    head = struct.pack(">i?i", super_users, settings.allow_everyone, len(rows))
    return b"".join([LOADED, texts.flush(), head, *rows])


def encode_ask(requests: Sequence[Request], texts: TextNumbers) -> bytes:
    """Return the message that asks for decisions."""
    return ASKED + encode_requests(requests, texts)


def decode_answers(data: bytes, acls: Sequence[Acl]) -> Iterator[Reply]:
    """Yield the answers that are whole, in the order of the requests.

    Args:
        data: what was written so far.
        acls: those that were loaded.
    """
    known: dict[bytes, Reply] = {}
    at = 0
    while at + _ANSWER.size <= len(data):
        head = data[at : at + _ANSWER.size]
        at += _ANSWER.size
        kind, value = _ANSWER.unpack(head)
        if kind == _THROWN:
            text, at = data[at : at + value], at + value
            if at <= len(data):
                yield Reply(None, f"throws {text.decode()}")
            continue
        if head not in known:
            decision = ALLOWED if kind else DENIED
            known[head] = (
                Reply(decision, _RULES[value])
                if value < 0
                else Reply(decision, MATCHING_ACL, acls[value])
            )
        yield known[head]


def encode_requests(requests: Sequence[Request], texts: TextNumbers) -> bytes:
    """Return requests as messages hold them, after the texts that are new."""
    numbers = array("i")
    for request in requests:
        numbers.extend(
            (
                texts.number(request.principal),
                texts.number(request.host),
                _OPERATIONS[request.operation],
                _TYPES[request.resource_type],
                texts.number(request.resource_name),
            )
        )
    if sys.byteorder == "little":
        numbers.byteswap()
    return texts.flush() + struct.pack(">i", len(requests)) + numbers.tobytes()
