"""Words of the search box → the one page they mean, or the names that hold them, or near ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from aclkit.audit.serve.snapshot import Reading
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.questions.query.names import (
    near_principals,
    near_resources,
    read_hosts,
    read_principals,
    read_resources,
)

_T = TypeVar("_T")

MOST_WORDS: Final = 30
_PLAIN: Final = frozenset(("who", "what", "can", "may", "touch", "access"))
_OPERATIONS: Final = {name.lower(): name for known in OPERATIONS_OF_TYPE.values() for name in known}


@dataclass(frozen=True, slots=True)
class Names:
    """All names of a cluster's inventory, sorted; and by their letters in lower case.

    Attributes:
        whole: a name with its type → what has it.
        bare: the same without its type.
    """

    principals: tuple[str, ...]
    resources: tuple[Resource, ...]
    hosts: tuple[str, ...]
    low_principals: tuple[str, ...]
    low_resources: tuple[str, ...]
    whole: Mapping[str, Sequence[str | Resource]]
    bare: Mapping[str, Sequence[str | Resource]]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search comes to: one name where it is one, otherwise all that contain every word."""

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
        who = read_principals(reading.tables, reading.cluster_id)
        what = read_resources(reading.tables, reading.cluster_id)
        named: list[str | Resource] = [*who, *what]
        return Names(
            principals=who,
            resources=what,
            hosts=read_hosts(reading.tables, reading.cluster_id),
            low_principals=tuple(map(str.lower, who)),
            low_resources=tuple(str(resource).lower() for resource in what),
            whole=grouped((str(each).lower(), each) for each in named),
            bare=grouped((_bare(each).lower(), each) for each in named),
        )

    return reading.snapshot.memory.kept(
        ("names", reading.cluster_id), read, lambda names: 6 * (len(names.whole) + 1)
    )


def find(text: str, names: Names) -> SearchResult:
    """Find what is meant: a whole name, with or without its type, or parts of names."""
    asked = text.strip().lower()
    if one := _whole(asked, names):
        return SearchResult((asked,), None, *one, is_one=True)
    words = asked.split()[:MOST_WORDS]
    if words and words[0] in ("who", "what"):
        words = [word for word in words if word not in _PLAIN]
    operation = next((_OPERATIONS[word] for word in words if word in _OPERATIONS), None)
    words = [word for word in words if word not in _OPERATIONS]
    if len(words) == 1 and (one := _whole(words[0], names)):
        return SearchResult(tuple(words), operation, *one, is_one=True)
    who = _holding(words, names.principals, names.low_principals)
    what = _holding(words, names.resources, names.low_resources)
    if who or what or not words:
        return SearchResult(tuple(words), operation, who, what)
    word = " ".join(words)
    kind, colon, bare = word.partition(":")
    kinds = _types(kind if colon else "", names)
    alike = (Resource(each, bare if colon else word) for each in kinds)
    near = (near for each in alike for near in near_resources(each, names.resources))
    return SearchResult(
        tuple(words),
        operation,
        near_principals=near_principals(word, names.principals),
        near_resources=tuple(dict.fromkeys(near)),
    )


def _whole(asked: str, names: Names) -> tuple[tuple[str, ...], tuple[Resource, ...]] | None:
    """Return the one name that is asked for; without its type only if no other contains it."""
    found = names.whole.get(asked, ())
    if not found and asked in names.bare:
        every: tuple[str | Resource, ...] = (*names.principals, *names.resources)
        found = [each for each in every if asked in str(each).lower()]
    if not asked or len(found) != 1:
        return None
    (one,) = found
    return ((), (one,)) if isinstance(one, Resource) else ((one,), ())


def _bare(name: str | Resource) -> str:
    return name.resource_name if isinstance(name, Resource) else name.partition(":")[2]


def _holding(words: Sequence[str], names: Sequence[_T], low: Sequence[str]) -> tuple[_T, ...]:
    """Return the names that contain all words: first those that begin with the first of them."""
    found = [
        (_rank(words[0], text), text, name)
        for name, text in zip(names, low, strict=True)
        if words and all(word in text for word in words)
    ]
    found.sort(key=lambda each: each[:2])
    return tuple(name for _, _, name in found)


def _rank(word: str, text: str) -> int:
    """Rank a name, with and without its type: it is the word, begins with it, or contains it."""
    forms = (text, text.partition(":")[2])
    if word in forms:
        return 0
    return 1 if any(form.startswith(word) for form in forms) else 2


def _types(kind: str, names: Names) -> Sequence[str]:
    known = dict.fromkeys(resource.resource_type for resource in names.resources)
    meant = [name for name in known if not kind or name.lower().replace("_", "-") == kind]
    return meant or [*known]
