"""Names of a question → the unknown ones, and the known names most like them.

A question about an unknown name is valid: the same ACLs decide it. But the answer for a misspelt
name would look like a fact, so every printed answer has a warning.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import nlargest
from typing import Final

from aclkit.model.acl import ANY_OTHER
from aclkit.model.confluent import integer_hint
from aclkit.model.phrases import listed
from aclkit.model.principal import split_principal
from aclkit.model.resource import WORD_OF_TYPE, Resource
from aclkit.model.unread import existence_hint
from aclkit.model.values import dataclass
from aclkit.warehouse.duck import Tables, fetch

MOST_NEAR: Final = 3
_LONGEST: Final = 256
_MOST_PAIRS: Final = 40
_MOST_COMPARED: Final = 32
_LIKE: Final = 0.6
"""What is less alike is no suggestion: as in difflib."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name of a question that no inventory holds, and the known ones most like it.

    Attributes:
        name: the name.
        near: the known names most like it.
        hint: what else it can be known as; empty where nothing hints at that.
    """

    name: str
    near: tuple[str, ...] = ()
    hint: str = ""


def read_principals(tables: Tables, cluster_id: str) -> tuple[str, ...]:
    """Read the principals of a cluster's inventory, sorted."""
    return tuple(name for (name,) in fetch(tables, _PRINCIPALS + "ORDER BY ALL", [cluster_id]))


def read_hosts(tables: Tables, cluster_id: str) -> tuple[str, ...]:
    """Read the hosts of a cluster's inventory, sorted."""
    return tuple(name for (name,) in fetch(tables, _HOSTS, [cluster_id]))


def read_resources(tables: Tables, cluster_id: str) -> tuple[Resource, ...]:
    """Read the resources of a cluster's inventory, sorted."""
    return tuple(Resource(*row) for row in fetch(tables, _RESOURCES + "ORDER BY ALL", [cluster_id]))


def is_principal(tables: Tables, cluster_id: str, name: str) -> bool:
    """Whether the inventory holds a principal."""
    return bool(fetch(tables, _PRINCIPALS + "AND principal = ? LIMIT 1", [cluster_id, name]))


def is_resource(tables: Tables, cluster_id: str, resource: Resource) -> bool:
    """Whether the inventory holds a resource."""
    return bool(fetch(tables, _RESOURCES + _ONE, [cluster_id, *resource]))


def unknown_names(
    tables: Tables,
    cluster_id: str,
    *,
    principal: str | None = None,
    host: str | None = None,
    resource: Resource | None = None,
    unread: Collection[str] = (),
) -> tuple[Unknown, ...]:
    """Return the unknown names of a question; for an address nothing is suggested.

    ``unread`` are the parts of a live cluster that were not read whole: a name of them may exist.
    """
    found = []
    if principal is not None and not is_principal(tables, cluster_id, principal):
        known = read_principals(tables, cluster_id)
        near, hint = near_principals(principal, known), integer_hint(principal, known, cluster_id)
        found.append(Unknown(principal, near, hint))
    if host not in (None, ANY_OTHER) and host not in read_hosts(tables, cluster_id):
        found.append(Unknown(str(host)))
    if resource is not None and not is_resource(tables, cluster_id, resource):
        near = near_resources(resource, read_resources(tables, cluster_id))
        found.append(Unknown(str(resource), near, existence_hint(resource.resource_type, unread)))
    return tuple(found)


def unknown_note(unknown: Sequence[Unknown]) -> str:
    """Write which names are unknown, and what the answer is then about."""
    names = "this name" if len(unknown) == 1 else "these names"
    return f"{not_known(unknown)} This is what the ACLs decide for {names}."


def not_known(unknown: Sequence[Unknown]) -> str:
    """Write which names are unknown, and which ones the user probably meant."""
    return " ".join(
        f"{each.name} is not known."
        + (f" Did you mean {listed(each.near, 'or')}?" if each.near else "")
        + (f" {each.hint}" if each.hint else "")
        for each in unknown
    )


def near_object(unknown: Sequence[Unknown]) -> dict[str, object]:
    """Return the same for programs."""
    return {
        "not_in_inventory": [each.name for each in unknown],
        "did_you_mean": {each.name: list(each.near) for each in unknown},
    }


def near_principals(asked: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the principals most like one; the letters before the colon are not compared.

    >>> near_principals("user:alcie", ["User:alice", "User:bob", "User:<any-other>"])
    ('User:alice',)
    """
    pairs = ((_name_of(each), each) for each in known)
    return _nearest(_name_of(asked), pairs)


def near_resources(asked: Resource, known: Iterable[Resource]) -> tuple[str, ...]:
    """Return the resources most like one: of its type, and of another one those of its very name.

    >>> known = [Resource("TOPIC", "payments"), Resource("GROUP", "paymets")]
    >>> near_resources(Resource("TOPIC", "paymets"), known)
    ('group:paymets', 'topic:payments')
    """
    name = asked.resource_name
    pairs = (
        (each.resource_name, str(each))
        for each in known
        if each.resource_type in WORD_OF_TYPE
        and (each.resource_type == asked.resource_type or each.resource_name == name)
    )
    return _nearest(name, pairs)


def _name_of(principal: str) -> str:
    parts = split_principal(principal)
    return parts[1] if parts else principal


def _nearest(asked: str, known: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return what is known under the names most like one, the most like it first.

    Of many names only those are compared letter by letter that have the most pairs of letters in
    common with it: some tenths of a second for 100,000. Of long names the beginnings count.
    """
    word = asked[:_LONGEST].lower()
    if not word:
        return ()
    places = range(0, max(len(word) - 1, 1), 1 + len(word) // _MOST_PAIRS)
    pairs = {word[place : place + 2] for place in places}
    likely = nlargest(_MOST_COMPARED, _scored(word, pairs, known))
    compared = ((_likeness(word, name), name, shown) for _, name, shown in likely)
    best = sorted((-like, name, shown) for like, name, shown in compared if like >= _LIKE)
    return tuple(shown for _, _, shown in best[:MOST_NEAR])


def _scored(
    word: str, pairs: set[str], known: Iterable[tuple[str, str]]
) -> Iterator[tuple[float, str, str]]:
    for name, shown in known:
        if name and name != ANY_OTHER and len(name) <= 4 * len(word) + _SHORT:
            lower = name[:_LONGEST].lower()
            common = sum(map(lower.__contains__, pairs))
            yield common / (len(pairs) + len(lower)), lower, shown


_SHORT: Final = 16


def _likeness(word: str, name: str) -> float:
    """Return how alike two names are, from 0 to 1; the beginning of a name is like the name."""
    # Imported here: only an unknown name needs it.
    from difflib import SequenceMatcher

    likeness = SequenceMatcher(None, word, name, autojunk=False)
    if likeness.real_quick_ratio() < _LIKE or likeness.quick_ratio() < _LIKE:
        return 0.0 if not name.startswith(word) else _LIKE
    return max(likeness.ratio(), _LIKE if name.startswith(word) else 0.0)


_PRINCIPALS: Final = "SELECT principal FROM principal WHERE cluster_id = ? "
_HOSTS: Final = "SELECT host FROM host WHERE cluster_id = ? ORDER BY host"
_RESOURCES: Final = "SELECT resource_type, resource_name FROM resource WHERE cluster_id = ? "
_ONE: Final = "AND resource_type = ? AND resource_name = ? LIMIT 1"
