"""All patterns of a cluster and a name below ``*`` → how the broker's second scan ends for it.

StandardAuthorizerData looks at the ACLs of a type from the asked name downwards and, unless one
of them denied, once more from ``*`` downwards. For a name above ``*`` the second scan soon
ends. A name below it may be met again, and on the way the search can get lost: at an ACL whose
name only shares its beginning with the asked one it means to go on at what they share, but takes
that from ``*``. One letter of ``*`` leads back to where it began, two are not there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from aclkit.model.acl import Acl
from aclkit.rules.decide.order import WildcardLast, utf16

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
