"""The text of Kafka's authorizer about one decision → its content; every way to read it.

Nothing in the text is escaped: principals, resource names and the ACL of the rule may hold any
text, the fixed words too. So the words alone do not count. A *head* is ``is Allowed operation =
… on resource = Topic:LITERAL:`` with a real operation, host and type in between; a *tail* is
``for request = … based on rule`` with a real request name, a number, and a whole rule up to the
end. The principal ends where a head begins and the name where a tail begins. Where only one head
stands before one tail, the text can be read in one way only. Where there are more, it is unknown
who was meant, and aclkit does not guess.

ZooKeeper's AclAuthorizer (Kafka 2.4 to 3.9) writes ``Operation = Read`` and no rule: its tail is
``for request = … with resourceRefCount = 1`` up to the end, and goes with a head of its own only.

Each candidate is looked at up to the next space or colon, so that the time is linear in the
length of the line; no regular expression is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from aclkit.kafka.acls.command import pascal_case
from aclkit.kafka.authorizer.audit import (
    BASED_ON,
    FOR_REQUEST,
    FROM_HOST,
    ON_RESOURCE,
    OPERATION_IS,
    PRINCIPAL_IS,
    VERBS,
    WITH_COUNT,
    Wording,
)
from aclkit.model.acl import Request
from aclkit.model.enums import AclOperation, ResourceType
from aclkit.rules.decide.rules import DEFAULT_ALLOW, DEFAULT_DENY, MATCHING_ACL, SUPER_USER


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The content of a line.

    Attributes:
        request: who asked for what.
        pattern_type: of the resource; Kafka's authorizer decides about LITERAL ones only.
        request_name: Kafka's name of the API.
        resource_ref_count: how often the request names the resource: decisions are batched.
        decision: ALLOWED or DENIED.
        rule: Kafka's rule name; None where AclAuthorizer wrote the line, which names none.
        rule_text: the rule as written, with the ACL where one decided; None as well.
    """

    request: Request
    pattern_type: str
    request_name: str
    resource_ref_count: int
    decision: str
    rule: str | None
    rule_text: str | None


def read_statement(text: str) -> list[Statement]:
    """Return every way to read a text, at most ``MOST_READINGS``; none where it is no such line.

    ``text`` begins with ``Principal = ``; what a log pattern puts after the message is ignored.

    >>> read_statement("Principal = User:a is Denied operation = READ from host = 10.0.0.1 on "
    ...     "resource = Topic:LITERAL:a:b for request = Fetch with resourceRefCount = 1 "
    ...     "based on rule DefaultDeny (kafka.authorizer.logger)")[0].request.resource_name
    'a:b'
    """
    if not text.startswith(PRINCIPAL_IS):
        return []
    tails = list(_tails(text))
    readings: list[Statement] = []
    for head in _heads(text):
        for tail in reversed(tails):
            if tail.start < head.end:
                break
            if head.has_rule == (tail.rule is None):
                continue
            readings.append(_statement(text, head, tail))
            if len(readings) == MOST_READINGS:
                return readings
    return readings


MOST_READINGS: Final = 2
"""Two are enough to know that a line is ambiguous."""


@dataclass(frozen=True, slots=True)
class _Head:
    """From the end of the principal to the resource's name."""

    start: int
    end: int
    decision: str
    operation: str
    host: str
    resource_type: str
    pattern_type: str
    has_rule: bool


@dataclass(frozen=True, slots=True)
class _Tail:
    """From the end of the resource's name to the end of the text."""

    start: int
    request_name: str
    count: int
    rule: str | None
    rule_text: str | None


def _statement(text: str, head: _Head, tail: _Tail) -> Statement:
    request = Request(
        principal=text[len(PRINCIPAL_IS) : head.start],
        host=head.host,
        operation=head.operation,
        resource_type=head.resource_type,
        resource_name=text[head.end : tail.start],
    )
    return Statement(
        request=request,
        pattern_type=head.pattern_type,
        request_name=tail.request_name,
        resource_ref_count=tail.count,
        decision=head.decision,
        rule=tail.rule,
        rule_text=tail.rule_text,
    )


def _heads(text: str) -> Iterator[_Head]:
    """Yield the places where a principal may end."""
    for decision, verb in VERBS.items():
        for has_rule, operation_is in ((True, OPERATION_IS), (False, _OLD_OPERATION_IS)):
            words = f" is {verb}{operation_is}"
            for start in _places(text, words):
                operation, at = _word(text, start + len(words), FROM_HOST)
                host, at = _word(text, at, ON_RESOURCE)
                operation = operation if has_rule else _OLD_OPERATIONS.get(operation, "")
                if at < 0 or not _is_operation(operation):
                    continue
                kind, at = _upto_colon(text, at)
                pattern, at = _upto_colon(text, at)
                if at >= 0 and kind in _TYPES and pattern.isalpha() and pattern.isupper():
                    named = (operation, host, _TYPES[kind], pattern)
                    yield _Head(start, at, decision, *named, has_rule)


def _tails(text: str) -> Iterator[_Tail]:
    """Yield the places where a resource's name may end."""
    closing = max(text.rfind("))"), text.rfind("])")) + 2
    for start in _places(text, FOR_REQUEST):
        request_name, at = _word(text, start + len(FOR_REQUEST), WITH_COUNT)
        if old := _old_tail(text, start, request_name, at):
            yield old
        count, at = _word(text, at, BASED_ON)
        if at < 0 or not _is_count(count):
            continue
        for rule, end in ((MATCHING_ACL, closing), *((name, 0) for name in _PLAIN_RULES)):
            end = end or at + len(rule)
            if _is_rule(text, rule, at, end) and _is_decoration(text, end):
                yield _Tail(start, request_name, int(count), rule, text[at:end])


def _old_tail(text: str, start: int, request_name: str, at: int) -> _Tail | None:
    """Return the tail of AclAuthorizer, if a line can end with it."""
    if at < 0:
        return None
    end = at
    while end < len(text) and end - at <= _MOST_DIGITS and text[end].isdigit():
        end += 1
    count = text[at:end]
    if not _is_count(count) or text.startswith(BASED_ON, end) or not _is_decoration(text, end):
        return None
    return _Tail(start, request_name, int(count), None, None)


def is_before_2_4(text: str) -> bool:
    """Whether a text has the words of Kafka up to 2.3, which end with the resource's name."""
    words = (f" is {verb}{_OLD_OPERATION_IS}" for verb in VERBS.values())
    return FOR_REQUEST not in text and any(
        word in text and FROM_HOST in text and ON_RESOURCE in text for word in words
    )


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS


def _places(text: str, words: str) -> Iterator[int]:
    at = text.find(words)
    while at >= 0:
        yield at
        at = text.find(words, at + 1)


def _word(text: str, at: int, then: str) -> tuple[str, int]:
    """Return what stands before the next space, and where ``then`` ends that must follow it."""
    end = text.find(" ", at) if at >= 0 else -1
    if end <= at or not text.startswith(then, end):
        return "", -1
    return text[at:end], end + len(then)


def _upto_colon(text: str, at: int) -> tuple[str, int]:
    end = text.find(":", at, at + _LONGEST_NAME) if at >= 0 else -1
    return (text[at:end], end + 1) if end >= 0 else ("", -1)


def _is_operation(word: str) -> bool:
    """Whether a word is, or in a later release may be, an AclOperation."""
    letters = word.replace("_", "")
    return letters.isascii() and letters.isalpha() and letters.isupper()


def _is_rule(text: str, rule: str, at: int, end: int) -> bool:
    """Whether a whole rule stands in a text: a name, or one with the ACL in brackets."""
    if rule != MATCHING_ACL:
        return text.startswith(rule, at)
    for brackets in (wording.value for wording in Wording):
        opening, closing = f"{rule}(acl=StandardAcl{brackets[0]}", f"{brackets[1]})"
        if text.startswith(opening, at) and text.startswith(closing, end - len(closing)):
            return text.find(_LAST_FIELD, max(at, end - _LONGEST_NAME), end) >= 0
    return False


def _is_decoration(text: str, at: int) -> bool:
    """Whether what follows a rule can be what a log pattern puts after the message.

    After a rule inside a name of an ACL, the ACL's other fields would follow.
    """
    after = text[at : at + _LONGEST_DECORATION + 1]
    is_short = len(after) <= _LONGEST_DECORATION
    return not after or (is_short and after[0].isspace() and "=" not in after)


_TYPES: Final = {
    pascal_case(kind.name): kind.name
    for kind in ResourceType
    if kind not in (ResourceType.UNKNOWN, ResourceType.ANY)
}
_OLD_OPERATION_IS: Final = " Operation = "
_OLD_OPERATIONS: Final = {
    pascal_case(operation.name): operation.name
    for operation in AclOperation
    if operation not in (AclOperation.UNKNOWN, AclOperation.ANY)
}
_PLAIN_RULES: Final = (SUPER_USER, DEFAULT_ALLOW, DEFAULT_DENY)
_LAST_FIELD: Final = ", permissionType="
_LONGEST_NAME: Final = 40
_LONGEST_DECORATION: Final = 200
_MOST_DIGITS: Final = 9
