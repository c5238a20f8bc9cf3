"""Which of several matching ACLs decides: named criteria, in an order that no offset can change.

A criterion is the key that compares two ACLs, the words that explain why one wins, and the name of
the column in which Spark compares the same. All code that ranks ACLs walks this list.

A broker's order depends on how its search ends. StandardAuthorizerData looks at the ACLs of a type
from the asked name downwards and, unless one of them denied, once more from ``*`` downwards. For a
name above ``*`` the second scan soon ends. A name below it may be met again, and on the way the
search can get lost: at an ACL whose name only shares its beginning with the asked one it means to
go on at what they share, but takes that from ``*``. One letter of ``*`` leads back to where it
began, two are not there (``BrokerRescan``).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from enum import Enum
from functools import partial
from typing import Any, Final, NamedTuple

from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from aclkit.model.operation import BY_ALL, EQUAL, IMPLIED, coverage
from aclkit.model.semantics import BROKER, Semantics
from aclkit.model.values import dataclass
from aclkit.rules.patterns.match import (
    NAME_EXACT,
    NAME_GLOB,
    NAME_RANGE,
    NAME_WILDCARD,
    Specificity,
    effective_pattern_type,
    host_specificity,
    pattern_specificity,
    principal_specificity,
)

PATTERN: Final = ("pattern_type", "resource_name")
"""The fields of a pattern within one resource type."""

WORD_OF_NAME: Final = {
    NAME_EXACT: "exact",
    NAME_RANGE: "range",
    NAME_GLOB: "glob",
    NAME_WILDCARD: "wildcard",
}
WORD_OF_COVER: Final = {EQUAL: "equal", IMPLIED: "implied", BY_ALL: "all"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One thing that ranks ACLs: of two that differ in it, the smaller key decides.

    Attributes:
        name: what it looks at, in words.
        fields: the fields of an ACL that it takes, in this order.
        key: (order, *values of the fields) → what is compared; of the order only operation and
            semantics count.
        reason: (order, values of the winner, values of the loser) → why the first one wins.
    """

    name: str
    fields: tuple[str, ...]
    key: Callable[..., Any]
    reason: Callable[[Order, Sequence[str], Sequence[str]], str]

    @property
    def column(self) -> str:
        """Return the name of the column that holds the key's rank in Spark."""
        return f"{self.name.replace(' ', '_')}_rank"

    def values(self, acl: Acl) -> tuple[str, ...]:
        """Return what the criterion takes of an ACL."""
        return tuple(getattr(acl, name) for name in self.fields)


def criteria_of(semantics: Semantics) -> tuple[Criterion, ...]:
    """Return the criteria by which ACLs are ranked, the first one that differs decides.

    ``most-specific`` (KIP-1042, made total): pattern, principal, host, then operation equal,
    implied, ALL, then the texts in code-point order, then the id. ``broker``: the order of
    StandardAcl.compareTo, texts by UTF-16 code unit and the resource name in descending order,
    then the id; the resource type is the same for all that match.
    """
    return _STANDARD_ACL if semantics.deciding_acl == BROKER else _MOST_SPECIFIC


class WildcardLast(NamedTuple):
    """Where a broker meets LITERAL ``*`` last, after every other ACL that reaches a name.

    For names above ``*`` that follows from the order of ACLs; for a name below ``*`` the wildcard
    is met by a second scan only (``BrokerRescan``).

    Attributes:
        denies: so it is among DENYs: for every name below ``*``.
        allows: so it is among ALLOWs: where the second scan ends at the wildcard.
    """

    denies: bool = False
    allows: bool = False

    @classmethod
    def of(cls, resource_name: str, *, wildcard_is_last: bool) -> WildcardLast:
        """Return it for a name; see ``BrokerRescan.wildcard_is_last``."""
        return cls(resource_name < "*", wildcard_is_last)


_NEVER_LAST: Final = WildcardLast()


@dataclass(frozen=True, slots=True)
class Order:
    """The order in which the ACLs that match a request decide it.

    Attributes:
        operation: what is asked for.
        semantics: how ACLs are read.
        wildcard_last: where a broker meets the wildcard last; of no account for ``most-specific``.
        known: keys that were worked out before, by the ACL's id, where many requests share them.
    """

    operation: str
    semantics: Semantics
    wildcard_last: WildcardLast = _NEVER_LAST
    known: dict[str, tuple[Any, ...]] | None = field(default=None, compare=False)

    def first(self, acls: Iterable[Acl]) -> Acl | None:
        """Return the ACL that decides among those that match, None without any.

        Any DENY, and whatever else is no ALLOW, decides before every ALLOW.
        """
        hits = list(acls)
        side = [acl for acl in hits if not acl.is_allow] or hits
        if len(side) < 2:
            return side[0] if side else None
        # A broker goes on over its ALLOWs to the last of them.
        pick = max if side[0].is_allow and self._is_broker else min
        return pick(side, key=self._key)

    def ranked(self, acls: Iterable[Acl]) -> list[Acl]:
        """Sort ACLs that match: whatever stands before would decide in place of the next."""
        denies: list[Acl] = []
        allows: list[Acl] = []
        for acl in acls:
            (allows if acl.is_allow else denies).append(acl)
        denies.sort(key=self._key)
        allows.sort(key=self._key, reverse=self._is_broker)
        return denies + allows

    def is_before(self, one: Acl, other: Acl) -> bool:
        """Whether a broker's scan meets one DENY before another."""
        return bool(self._key(one) < self._key(other))

    def reason(self, better: Acl, worse: Acl) -> str:
        """Return in words what ranks one matching ACL before another.

        >>> from aclkit.model.semantics import KIP_1042
        >>> ids = {"acl_id": "1", "resource_type": "TOPIC", "principal": "User:a", "host": "*"}
        >>> ids |= {"operation": "READ", "permission_type": "ALLOW"}
        >>> long = Acl(resource_name="pay-in", pattern_type="PREFIXED", **ids)
        >>> short = Acl(resource_name="pay", pattern_type="PREFIXED", **ids)
        >>> Order("READ", KIP_1042).reason(long, short)
        'longer pattern (6 letters, not 3)'
        """
        if worse.is_allow and not better.is_allow:
            return "a DENY beats every ALLOW"
        rule = ""
        if self._is_broker:
            met = "names the last ALLOW" if better.is_allow else "stops at the first DENY"
            rule = f"a broker {met} it meets; "
            if self._is_late(better) != self._is_late(worse):
                return f"{rule}here the pattern * comes last"
        for criterion in criteria_of(self.semantics):
            one, other = criterion.values(better), criterion.values(worse)
            if criterion.key(self, *one) != criterion.key(self, *other):
                return rule + criterion.reason(self, one, other)
        return f"{rule}no difference"

    @property
    def _is_broker(self) -> bool:
        return self.semantics.deciding_acl == BROKER

    def _is_late(self, acl: Acl) -> bool:
        is_wildcard = acl.pattern_type == "LITERAL" and acl.resource_name == "*"
        if acl.is_allow:
            return self.wildcard_last.allows and (is_wildcard or not acl.resource_name)
        return self.wildcard_last.denies and is_wildcard

    def _key(self, acl: Acl) -> tuple[Any, ...]:
        key = None if self.known is None else self.known.get(acl.acl_id)
        if key is None:
            key = tuple(
                criterion.key(self, *criterion.values(acl))
                for criterion in criteria_of(self.semantics)
            )
            if self.known is not None:
                self.known[acl.acl_id] = key
        return (self._is_late(acl), *key) if self._is_broker else key


def standard_acl_key(acl: Acl) -> tuple[Any, ...]:
    """Return a key that sorts ACLs as Kafka's own set does: StandardAcl.compareTo, then the id."""
    return (
        ResourceType.ordinal(acl.resource_type),
        *(criterion.key(None, *criterion.values(acl)) for criterion in _STANDARD_ACL),
    )


def utf16(text: str) -> bytes:
    """Return the bytes whose order is that of Java's strings: by UTF-16 code unit."""
    return text.encode("utf-16-be", "surrogatepass")


def _descending(text: str) -> tuple[int, ...]:
    """Return a key that sorts texts from the last to the first of Java's order."""
    units = utf16(text)
    return (*(-unit for unit in struct.unpack(f">{len(units) // 2}H", units)), 1)


def _cover(order: Order, operation: str, permission_type: str) -> int:
    cover = coverage(operation, permission_type, order.operation)
    return BY_ALL + 1 if cover is None else cover


def _pattern_reason(order: Order, better: Sequence[str], worse: Sequence[str]) -> str:
    (a, _), (b, _) = (
        pattern_specificity(kind, name, order.semantics) for kind, name in (better, worse)
    )
    if a != b:
        return _difference("pattern", a, b)
    kinds = [effective_pattern_type(each[0], order.semantics) for each in (better, worse)]
    return f"pattern type {kinds[0]}, not {kinds[1]}"


def _name_reason(
    what: str,
    specificity: Callable[[str, Semantics], tuple[int, Specificity]],
    order: Order,
    better: Sequence[str],
    worse: Sequence[str],
) -> str:
    a, b = (specificity(each[0], order.semantics) for each in (better, worse))
    if a[0] != b[0]:
        return f"{what} {WORD_OF_NAME[a[0]]}, not {WORD_OF_NAME[b[0]]}"
    if a[0] == NAME_RANGE:
        return f"narrower {what} range (/{-a[1].minus_letters}, not /{-b[1].minus_letters})"
    return _difference(what, a[1], b[1])


def _cover_reason(order: Order, better: Sequence[str], worse: Sequence[str]) -> str:
    words = [WORD_OF_COVER.get(_cover(order, *each), "not at all") for each in (better, worse)]
    return f"operation {words[0]}, not {words[1]}"


def _difference(what: str, a: Specificity, b: Specificity) -> str:
    """Return in words the first thing in which two specificities differ."""
    if a.minus_letters != b.minus_letters:
        return f"longer {what} ({-a.minus_letters} letters, not {-b.minus_letters})"
    if a.stars != b.stars:
        return f"fewer * in the {what} ({a.stars}, not {b.stars})"
    if a.minus_questions != b.minus_questions:
        return f"more ? in the {what} ({-a.minus_questions}, not {-b.minus_questions})"
    starts = -a.minus_literal_start, -b.minus_literal_start
    return f"longer literal start of the {what} ({starts[0]} letters, not {starts[1]})"


def _identity(
    name: str, specificity: Callable[[str, Semantics], tuple[int, Specificity]]
) -> Criterion:
    """Return the criterion of a principal or host."""
    return Criterion(
        name=name,
        fields=(name,),
        key=lambda order, text: specificity(text, order.semantics),
        reason=partial(_name_reason, name, specificity),
    )


def _text(name: str, field_name: str) -> Criterion:
    """Return the criterion of a text where all else is equal."""
    return Criterion(
        name=f"{name} text",
        fields=(field_name,),
        key=lambda _, text: text,
        reason=lambda *_: f"equally specific; its {name} is first in code-point order",
    )


def _standard(name: str, field_name: str, key: Callable[[str], Any], how: str = "") -> Criterion:
    """Return the criterion of a field as StandardAcl compares it."""
    return Criterion(
        name=name,
        fields=(field_name,),
        key=lambda _, value: key(value),
        reason=lambda *_: f"first in the broker's order by {name}{how}",
    )


_MOST_SPECIFIC: Final = (
    Criterion(
        name="pattern",
        fields=PATTERN,
        key=lambda order, kind, name: pattern_specificity(kind, name, order.semantics),
        reason=_pattern_reason,
    ),
    _identity("principal", principal_specificity),
    _identity("host", host_specificity),
    Criterion(
        name="operation", fields=("operation", "permission_type"), key=_cover, reason=_cover_reason
    ),
    _text("name", "resource_name"),
    _text("principal", "principal"),
    _text("host", "host"),
    _text("operation", "operation"),
    _text("id", "acl_id"),
)
_STANDARD_ACL: Final = (
    _standard("resource name", "resource_name", _descending, ", descending"),
    _standard("pattern type", "pattern_type", PatternType.ordinal),
    _standard("operation", "operation", AclOperation.ordinal),
    _standard("principal", "principal", utf16),
    _standard("host", "host", utf16),
    _standard("permission type", "permission_type", AclPermissionType.ordinal),
    _standard("id", "acl_id", str),
)


_LETTER: Final = 2
"""Bytes of a UTF-16 code unit: what Java calls a char."""


class Ending(Enum):
    """How the second scan ends."""

    AT_WILDCARD = "looks at LITERAL * and no more, so that it is the last ALLOW"
    AT_NAME = "looks at the ACLs that match the name once more"
    HANGS = "never ends"
    THROWS = "throws StringIndexOutOfBoundsException"


@dataclass(frozen=True, slots=True)
class BrokerRescan:
    """The names of ACLs below ``*``, in the order of the search.

    Attributes:
        below: resource type → names as UTF-16, the greatest first; where PREFIXED ``*`` ends
            every search before them, the type is left out.
    """

    below: dict[str, list[bytes]]

    @classmethod
    def of(cls, patterns: Iterable[tuple[str, str, str]]) -> BrokerRescan:
        """Take the (resource type, pattern type, name) of all ACLs of a cluster."""
        names: dict[str, set[bytes]] = {}
        ended: set[str] = set()
        for resource_type, pattern_type, name in patterns:
            if name < "*":
                names.setdefault(resource_type, set()).add(utf16(name))
            elif (pattern_type, name) == ("PREFIXED", "*"):
                ended.add(resource_type)
        return cls({kind: sorted(names[kind], reverse=True) for kind in names.keys() - ended})

    @classmethod
    def among(cls, acls: Iterable[Acl]) -> BrokerRescan:
        """Take all ACLs of a cluster."""
        return cls.of(acl.pattern for acl in acls)

    def wildcard_last(self, resource_type: str, name: str) -> WildcardLast:
        """Return where a broker meets LITERAL ``*`` last for a name."""
        is_last = self.wildcard_is_last(resource_type, name)
        return WildcardLast.of(name, wildcard_is_last=is_last)

    def wildcard_is_last(self, resource_type: str, name: str) -> bool:
        """Whether an ALLOW on LITERAL ``*`` is the last that the broker meets for a name.

        For names above ``*`` that follows from the order of ACLs; for those below, from here.
        """
        return name < "*" and self.ending(resource_type, name) is Ending.AT_WILDCARD

    def ending(self, resource_type: str, name: str) -> Ending:
        """Return how the search for a name ends where nothing denies.

        >>> search = BrokerRescan.of([("GROUP", "LITERAL", "#a"), ("GROUP", "PREFIXED", "$")])
        >>> [search.ending("GROUP", name).name for name in ("a", "#a", "$x", "!")]
        ['AT_WILDCARD', 'AT_WILDCARD', 'AT_NAME', 'AT_WILDCARD']
        >>> BrokerRescan.of([("GROUP", "LITERAL", "#a")]).ending("GROUP", "#b").name
        'HANGS'
        """
        if not name or name >= "*":
            return Ending.AT_WILDCARD
        asked, ending = utf16(name), Ending.AT_WILDCARD
        for other in self.below.get(resource_type, ()):
            if other[:_LETTER] != asked[:_LETTER]:
                break
            if not asked.startswith(other):
                is_one = other[: 2 * _LETTER] != asked[: 2 * _LETTER]
                return Ending.HANGS if is_one else Ending.THROWS
            ending = Ending.AT_NAME
        return ending
