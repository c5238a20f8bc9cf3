"""What to write instead of a plan that takes ACLs away unseen: one text for each effect. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aclkit.model.phrases import few

_KEY: Final = re.compile(r'\[(?:"(?:[^"\\]|\\.)*"|-?[0-9]+)\]')
"""The key of an instance in an address."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one resource does to one ACL.

    Attributes:
        address: of the resource.
        operations: on this ACL, in their order.
        is_all: the resource does nothing else.
    """

    address: str
    operations: tuple[str, ...]
    is_all: bool


def of_twice(creating: Sequence[str]) -> str:
    """Advise on an ACL that several resources create."""
    return (
        f"Merge {_these(creating)} into one resource: all hold this ACL, "
        "and destroying one of them later removes the ACL."
    )


def of_needless(creating: Sequence[str], holding: Sequence[str]) -> str:
    """Advise on an ACL that is created although another resource holds it."""
    return (
        f"{_these(creating)} creates an ACL that {_these(holding)} already holds. Merge them "
        "into one resource, because destroying one of them later removes the ACL."
    )


def of_gap(replaced: Sequence[str]) -> str:
    """Advise on an ACL that is deleted and created again."""
    return (
        f"{_these(replaced)} deletes this ACL and then creates it again. Remove what forces the "
        "replacement (-replace, a tainted state, replace_triggered_by or another attribute), "
        "so that the ACL stays."
    )


def of_kept(deleting: Sequence[str], holding: Sequence[str]) -> str:
    """Advise on an ACL that is deleted although another resource holds it."""
    what = f"{_these(deleting)} removes the ACL that {_these(holding)} also holds."
    if any(_is_deposed(address) for address in deleting):
        return f"{what} Run plan and apply once more afterwards: that creates the ACL again."
    # Here: of all plans, few need it.
    from aclkit.kafka.acls.quoting import shell_word

    commands = few(f"terraform state rm {shell_word(address)}" for address in deleting)
    return (
        f"{what} To remove the ACL, remove {_these(holding)} too. To keep it, take the duplicate "
        f"out of the state instead of destroying it: {commands}"
    )


def of_replacement(replaced: Sequence[str]) -> str:
    """Advise on an ACL that is created and then deleted by one resource."""
    return (
        "Remove create_before_destroy from "
        f"{_these(replaced)} and from all resources that depend on it: the new ACL equals the "
        "old one, so deleting the old one removes both. Or remove what forces the replacement."
    )


def of_order(steps: Sequence[Step]) -> str:
    """Advise on an ACL that one resource deletes and another creates."""
    deleting = [step for step in steps if step.operations[-1] == "delete"]
    creating = [step for step in steps if step.operations[-1] == "create"]
    old, new = (
        list(dict.fromkeys(each.address for each in those)) for those in (deleting, creating)
    )
    what = f"{_these(old)} deletes this ACL and {_these(new)} creates it, in an undefined order."
    if len(steps) == 2 and all(step.is_all for step in steps) and _can_move(old[0], new[0]):
        return f"{what} Write a moved block from {old[0]} to {new[0]}."
    if any(_is_counted(address) for address in (*old, *new)):
        return (
            f"{what} A change of count shifts all entries that follow it. Use for_each with a "
            "fixed key for each ACL, and write a moved block for each ACL."
        )
    return (
        f"{what} Keep the ACL in one resource, or run two applies: the first one deletes it, the "
        "second one creates it."
    )


def _can_move(old: str, new: str) -> bool:
    """Whether a ``moved`` block can name both: two addresses of one type of resource."""
    is_deposed = _is_deposed(old) or _is_deposed(new)
    return old != new and _type(old) == _type(new) != "" and not is_deposed


def _is_deposed(address: str) -> bool:
    """Whether an address is of an object that waits for its deletion: those end so."""
    return address.endswith(")")


def _type(address: str) -> str:
    """Return the type of resource of an address.

    >>> _type('module.a["x.y"].kafka_acl.b["c.d"]')
    'kafka_acl'
    """
    words = _KEY.sub("", address).split(".")
    return words[-2] if len(words) > 1 else ""


def _is_counted(address: str) -> bool:
    """Whether the key of an instance is a number."""
    return address.endswith("]") and not address.endswith('"]')


def _these(addresses: Sequence[str]) -> str:
    return few(dict.fromkeys(addresses))
