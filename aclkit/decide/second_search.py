"""All patterns of a cluster and a name below ``*`` → how the broker's second search ends for it.

StandardAuthorizerData looks at the ACLs of a type from the asked name downwards and, unless one
of them denied, once more from ``*`` downwards. For a name above ``*`` the second search soon
ends. A name below it may be met again, and on the way the search can get lost: at an ACL whose
name only shares its beginning with the asked one it means to go on at what they share, but takes
that from ``*``. One letter of ``*`` leads back to where it began, two are not there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from aclkit.decide.order import utf16

_LETTER: Final = 2
"""Bytes of a UTF-16 code unit: what Java calls a char."""


class Ending(Enum):
    """How the second search ends."""

    AT_WILDCARD = "looks at LITERAL * and no more, so that it is the last ALLOW"
    AT_NAME = "looks at the ACLs that reach the name once more"
    HANGS = "never ends"
    THROWS = "throws StringIndexOutOfBoundsException"


@dataclass(frozen=True, slots=True)
class SecondSearch:
    """The names of ACLs below ``*``, in the order of the search.

    Attributes:
        below: resource type → names as UTF-16, the greatest first; where PREFIXED ``*`` ends
            every search before them, the type is left out.
    """

    below: dict[str, list[bytes]]

    @classmethod
    def of(cls, patterns: Iterable[tuple[str, str, str]]) -> SecondSearch:
        """Take the (resource type, pattern type, name) of all ACLs of a cluster."""
        names: dict[str, set[bytes]] = {}
        ended: set[str] = set()
        for resource_type, pattern_type, name in patterns:
            if name < "*":
                names.setdefault(resource_type, set()).add(utf16(name))
            elif (pattern_type, name) == ("PREFIXED", "*"):
                ended.add(resource_type)
        return cls({kind: sorted(names[kind], reverse=True) for kind in names.keys() - ended})

    def wildcard_is_last(self, resource_type: str, name: str) -> bool:
        """Say whether an ALLOW on LITERAL ``*`` is the last that the broker meets for a name.

        For names above ``*`` that follows from the order of ACLs; for those below, from here.
        """
        return name < "*" and self.ending(resource_type, name) is Ending.AT_WILDCARD

    def ending(self, resource_type: str, name: str) -> Ending:
        """Say how the search for a name ends where nothing denies.

        >>> search = SecondSearch.of([("GROUP", "LITERAL", "#a"), ("GROUP", "PREFIXED", "$")])
        >>> [search.ending("GROUP", name).name for name in ("a", "#a", "$x", "!")]
        ['AT_WILDCARD', 'AT_WILDCARD', 'AT_NAME', 'AT_WILDCARD']
        >>> SecondSearch.of([("GROUP", "LITERAL", "#a")]).ending("GROUP", "#b").name
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
