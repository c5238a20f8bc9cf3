"""The explorer of a report → what the page's script reads: names said once, numbers packed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, TypeVar

from aclkit.audit.reports.data import AliveAcl, Explorer, HeatMap, NumberedRuling
from aclkit.model.acl import ANY_OTHER
from aclkit.model.facts import in_utc
from aclkit.model.operation import USE_OF_OPERATION
from aclkit.model.resource import WORD_OF_TYPE

_Name = TypeVar("_Name")
_DIGITS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_BITS: Final = 5
_MORE: Final = 1 << _BITS
"""A digit of packed numbers holds five bits, the lowest first, and whether more follow."""
_BEGINNING: Final = datetime(1, 1, 1, tzinfo=UTC)


def embed(explorer: Explorer, heat: HeatMap | None = None) -> dict[str, Any]:
    """Return names as lists, and as packed numbers whatever is meant many times.

    Rulesets are numbered anew, those of most pairs first: small numbers are short. A list within
    packed numbers is its length and then its members. A ruling is operation, host (0 is any
    other), ACL (0 is none), and twice the rule plus one where it is ALLOWED; hosts that fare as
    any other does are left out. The names of the heat maps' rows and columns are there as they
    are: on the page two may look alike.
    """
    types = sorted({kind for kind, _ in explorer.resources})
    type_of = numbered(types)
    operations = sorted({name for kind in types for name in explorer.operations[kind]})
    operation_of = numbered(operations)
    used = Counter(ruleset for _, _, ruleset in explorer.pairs)
    order = sorted(range(len(explorer.rulings)), key=lambda old: (-used[old], old))
    new = numbered(order)
    texts: dict[str, int] = {}
    return {
        "other": _place(explorer.principals, f"User:{ANY_OTHER}"),
        "otherTopic": _place(explorer.resources, "TOPIC", ANY_OTHER),
        "principals": [[name, kind, int(is_super)] for name, kind, is_super in explorer.principals],
        "hosts": list(explorer.hosts),
        "types": [WORD_OF_TYPE[kind] for kind in types],
        "resources": [[type_of[kind], name] for kind, name in explorer.resources],
        "operations": operations,
        "uses": [USE_OF_OPERATION[name] for name in operations],
        "known": [[operation_of[name] for name in explorer.operations[kind]] for kind in types],
        "aclIds": [alive.acl.acl_id for alive in explorer.acls],
        "acls": pack(n for alive in explorer.acls for n in _acl(alive, texts)),
        "texts": list(texts),
        "members": pack(n for old in order for n in _counted(explorer.rulesets[old])),
        "rulings": pack(n for old in order for n in _rulings(explorer.rulings[old], operation_of)),
        "rules": list(explorer.rules),
        "super": new.get(explorer.super_ruleset, -1),
        "classes": [pack(new.get(old, -1) + 1 for old in row) for row in explorer.classes],
        "pairs": pack(_pairs(explorer, new)),
        "heatPrincipals": list(heat.principals) if heat else [],
        "heatPrefixes": [prefix for prefix, _ in heat.prefixes] if heat else [],
    }


def pack(numbers: Iterable[int]) -> str:
    """Write numbers from zero up as letters, digits, ``-`` and ``_``.

    >>> pack([0, 31, 32])
    'AfgB'
    """
    return "".join(map(_packed, numbers))


def _packed(number: int) -> str:
    digits = ""
    while number >= _MORE:
        digits += _DIGITS[_MORE + number % _MORE]
        number >>= _BITS
    return digits + _DIGITS[number]


def _counted(numbers: Sequence[int]) -> Iterator[int]:
    yield len(numbers)
    yield from numbers


def _rulings(rulings: Sequence[NumberedRuling], operation_of: Mapping[str, int]) -> list[int]:
    """Return how many rulings there are, and each; those on operations of other types are not."""
    rest = {operation: tuple(said) for operation, host, *said in rulings if host < 0}
    kept = [
        (operation_of[operation], host + 1, acl + 1, rule * 2 + is_allowed)
        for operation, host, is_allowed, rule, acl in rulings
        if operation in operation_of
        and (host < 0 or (is_allowed, rule, acl) != rest.get(operation))
    ]
    return [len(kept), *(number for ruling in kept for number in ruling)]


def _pairs(explorer: Explorer, new: Mapping[int, int]) -> Iterator[int]:
    """Yield each principal's pairs as a list: twice the ruleset, plus one where the skip follows.

    A skip is the number of resources between a pair and the one before, where there are any.
    """
    own = {p: list(rows) for p, rows in groupby(sorted(explorer.pairs), key=itemgetter(0))}
    for place in range(len(explorer.principals)):
        numbers: list[int] = []
        after = 0
        for _, resource, ruleset in own.get(place, []):
            skip = resource - after
            numbers += (new[ruleset] * 2 + 1, skip) if skip else (new[ruleset] * 2,)
            after = resource + 1
        yield from _counted(numbers)


def _acl(alive: AliveAcl, texts: dict[str, int]) -> list[int]:
    """Return an ACL's fields by place in ``texts``, its offset + 1, and 0 or its time's second."""
    fields = [texts.setdefault(text, len(texts)) for text in alive.acl.binding]
    at = alive.added_at
    second = int((in_utc(at) - _BEGINNING).total_seconds()) + 1 if at else 0
    return [*fields, alive.added_offset + 1, second]


def _place(rows: Sequence[tuple[Any, ...]], *first: str) -> int:
    """Return the place of the row that begins so; -1 without one."""
    return next((place for place, row in enumerate(rows) if row[: len(first)] == first), -1)


def numbered(names: Iterable[_Name]) -> dict[_Name, int]:
    """Return name → its place."""
    return {name: place for place, name in enumerate(names)}
