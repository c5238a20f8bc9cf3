"""Words of the search box → the one page they mean, or the names that hold them, or near ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from aclkit.audit.serve.latest import Reading
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.questions.query.names import near_principals, near_resources
from aclkit.warehouse.sql import fetch

_T = TypeVar("_T")

MOST_WORDS: Final = 30
_PLAIN: Final = frozenset(("who", "what", "can", "may", "touch"))
_OPERATIONS: Final = {name.lower(): name for known in OPERATIONS_OF_TYPE.values() for name in known}


@dataclass(frozen=True, slots=True)
class Names:
    """All names of a cluster's inventory, sorted."""

    principals: tuple[str, ...]
    resources: tuple[Resource, ...]
    hosts: tuple[str, ...]
    low_principals: tuple[str, ...]
    low_resources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What a search comes to: one name where it is one, otherwise all that hold every word."""

    words: tuple[str, ...]
    operation: str | None
    principals: tuple[str, ...] = ()
    resources: tuple[Resource, ...] = ()
    is_one: bool = False
    near_principals: tuple[str, ...] = ()
    near_resources: tuple[str, ...] = ()


def read_names(reading: Reading) -> Names:
    """Read the inventory, once a run."""

    def read() -> Names:
        principals, resources, hosts = (
            fetch(reading.tables, text, [reading.cluster_id])
            for text in (_PRINCIPALS, _RESOURCES, _HOSTS)
        )
        who = tuple(name for (name,) in principals)
        what = tuple(Resource(*row) for row in resources)
        return Names(
            principals=who,
            resources=what,
            hosts=tuple(name for (name,) in hosts),
            low_principals=tuple(map(str.lower, who)),
            low_resources=tuple(str(resource).lower() for resource in what),
        )

    return reading.snapshot.kept(("names", reading.cluster_id), read)


def find(text: str, names: Names) -> Found:
    """Find what is meant: a whole name, with or without its type, or parts of names."""
    asked = text.strip().lower()
    if one := _whole(asked, names):
        return Found((asked,), None, *one, is_one=True)
    words = asked.split()[:MOST_WORDS]
    if words and words[0] in ("who", "what"):
        words = [word for word in words if word not in _PLAIN]
    operation = next((_OPERATIONS[word] for word in words if word in _OPERATIONS), None)
    words = [word for word in words if word not in _OPERATIONS]
    if len(words) == 1 and (one := _whole(words[0], names)):
        return Found(tuple(words), operation, *one, is_one=True)
    who = _holding(words, names.principals, names.low_principals)
    what = _holding(words, names.resources, names.low_resources)
    if who or what or not words:
        return Found(tuple(words), operation, who, what)
    word = " ".join(words)
    kind, colon, bare = word.partition(":")
    near = (
        near
        for resource_type in _types(kind if colon else "", names)
        for near in near_resources(
            Resource(resource_type, bare if colon else word), names.resources
        )
    )
    return Found(
        tuple(words),
        operation,
        near_principals=near_principals(word, names.principals),
        near_resources=tuple(dict.fromkeys(near)),
    )


def _whole(asked: str, names: Names) -> tuple[tuple[str, ...], tuple[Resource, ...]] | None:
    """Return the one name that is asked for; a bare name counts where only one thing has it."""
    who = [p for p, low in zip(names.principals, names.low_principals, strict=True) if low == asked]
    what = [r for r, low in zip(names.resources, names.low_resources, strict=True) if low == asked]
    if not who and not what:
        who = [p for p in names.principals if p.lower().partition(":")[2] == asked]
        what = [r for r in names.resources if r.resource_name.lower() == asked]
    return (tuple(who), tuple(what)) if asked and len(who) + len(what) == 1 else None


def _holding(words: Sequence[str], names: Sequence[_T], low: Sequence[str]) -> tuple[_T, ...]:
    return tuple(
        name
        for name, text in zip(names, low, strict=True)
        if words and all(word in text for word in words)
    )


def _types(kind: str, names: Names) -> Sequence[str]:
    known = dict.fromkeys(resource.resource_type for resource in names.resources)
    return [name for name in known if not kind or name.lower().replace("_", "-") == kind] or [
        *known
    ]


_PRINCIPALS: Final = "SELECT principal FROM principal WHERE cluster_id = ? ORDER BY principal"
_HOSTS: Final = "SELECT host FROM host WHERE cluster_id = ? ORDER BY host"
_RESOURCES: Final = (
    "SELECT resource_type, resource_name FROM resource WHERE cluster_id = ? "
    "ORDER BY resource_type, resource_name"
)
