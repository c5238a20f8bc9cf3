"""Two states → the ACLs that differ, how they are read, and the names to ask about. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from aclkit.answer.masked import Hidden
from aclkit.model.acl import Acl
from aclkit.model.cidr import is_any_other
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.model.semantics import Semantics
from aclkit.pipeline.inventory.any_other import atom_witnesses
from aclkit.questions.state import Inventory, State
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.rows import reads_alike
from aclkit.rules.patterns.identity import asked_host
from aclkit.rules.patterns.match import (
    GLOB,
    LITERAL,
    effective_pattern_type,
    has_wildcard,
    names_one,
)


class ReadAnew(NamedTuple):
    """The text of an ACL that the second of two readings takes otherwise than the first."""

    text: str


Text = str | ReadAnew
"""A principal or host of an ACL, and by which reading it counts."""


class Way(NamedTuple):
    """ACLs, how they are read, and what marks their texts against those of the other reading."""

    acls: list[Acl]
    semantics: Semantics
    tag: Callable[[str], Text]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Two states.

    Attributes:
        before: the one.
        after: the other.
        second: ids of the ACLs of the second state that count by its own reading only; what both
            readings take alike counts by the first.
    """

    before: State
    after: State
    second: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Tell the ACLs apart that count in one state only."""
        self._tell_ids_apart()
        then, readings = self.before.acls, self.readings
        second = {
            name
            for name, acl in (self.after.acls.items() if len(set(readings)) > 1 else ())
            if name not in then or not reads_alike(acl, *readings)
        }
        object.__setattr__(self, "second", frozenset(second))

    def _tell_ids_apart(self) -> None:
        """Give an ACL that takes the id of another one an id of its own: an id means one ACL.

        No controller gives an id twice, but a change set written by hand may.
        """
        then = self.before.acls
        if any(then.get(name, acl) != acl for name, acl in self.after.acls.items()):
            acls = (
                replace(acl, acl_id=f"{name} (another ACL)") if then.get(name, acl) != acl else acl
                for name, acl in self.after.acls.items()
            )
            object.__setattr__(self, "after", self.after.with_only(acls))

    @property
    def added(self) -> list[Acl]:
        """The ACLs that come, in the order of their ids."""
        return _only_in(self.after.acls, self.before.acls)

    @property
    def removed(self) -> list[Acl]:
        """The ACLs that go."""
        return _only_in(self.before.acls, self.after.acls)

    @property
    def hidden(self) -> tuple[Hidden, ...]:
        """The sensitive values of both states, which people must not see."""
        return (*self.before.hidden, *self.after.hidden)

    @property
    def affected(self) -> list[Acl]:
        """Both."""
        return [*self.added, *self.removed]

    @property
    def readings(self) -> tuple[Semantics, Semantics]:
        """How ACLs are read, before and after."""
        return self.before.semantics, self.after.semantics

    @property
    def reread(self) -> list[Acl]:
        """The ACLs of both states that the two readings take otherwise, in the order of ids."""
        return [self.after.acls[name] for name in sorted(self.second & self.before.acls.keys())]

    @property
    def ways(self) -> Iterator[Way]:
        """Yield the ACLs of both states by the reading that they count by."""
        later = self.after.acls.items()
        first = {name: acl for name, acl in later if name not in self.second}
        yield Way([*{**self.before.acls, **first}.values()], self.readings[0], str)
        if self.second:
            only = [acl for name, acl in later if name in self.second]
            yield Way(only, self.readings[1], ReadAnew)

    def way_of(self, acl: Acl, at: int) -> int:
        """Return by which reading an ACL of a state counts."""
        return int(at > 0 and acl.acl_id in self.second)

    def host_of(self, acl: Acl, at: int) -> Text:
        """Return an ACL's host, and by which reading it counts."""
        return ReadAnew(acl.host) if self.way_of(acl, at) else acl.host

    @property
    def changes_settings(self) -> bool:
        """Whether the settings differ too: then everything is decided again."""
        return self.before.settings != self.after.settings

    @property
    def changes_everything(self) -> bool:
        """Whether everything is to be decided again: for other settings, or for another order."""
        then, now = self.readings
        return self.changes_settings or then.deciding_acl != now.deciding_acl


def with_named(asked: Inventory, change: Change) -> Inventory:
    """Add the principals, hosts, ranges and resources that the ACLs of a change name.

    Who asks for an ACL asks about them, in the inventory or not.
    """
    affected = [*change.affected, *change.reread]
    for semantics in dict.fromkeys(change.readings):
        named = (asked_host(acl.host, semantics) for acl in affected)
        hosts = {host for host in named if host is not None}
        asked = asked.with_more(
            (acl.principal for acl in affected if names_one(acl.principal, semantics)),
            sorted(hosts - _empty_atoms(hosts, asked, change, semantics)),
            (
                Resource(acl.resource_type, acl.resource_name)
                for acl in affected
                if acl.resource_type in OPERATIONS_OF_TYPE and _is_name(acl, semantics)
            ),
        )
    return asked


def _empty_atoms(
    hosts: Iterable[str], asked: Inventory, change: Change, semantics: Semantics
) -> set[str]:
    """Return those that stand for what ranges have alone, where they have nothing alone."""
    if not any(map(is_any_other, hosts)):
        return set()
    texts = {acl.host for acl in (*change.before.acls.values(), *change.after.acls.values())}
    witnesses = atom_witnesses(texts, asked.hosts, semantics)
    return {atom.name for atom, witness in witnesses if witness.name is None}


def _is_name(acl: Acl, semantics: Semantics) -> bool:
    """Whether an ACL's pattern is a name that a resource of the type can have."""
    if acl.resource_type == "CLUSTER" or not domain_of(acl.resource_type).holds(acl.resource_name):
        return False
    kind = effective_pattern_type(acl.pattern_type, semantics)
    if kind == LITERAL:
        return acl.resource_name != "*"
    return kind == GLOB and not has_wildcard(acl.resource_name)


def _only_in(some: Mapping[str, Acl], others: Mapping[str, Acl]) -> list[Acl]:
    return [acl for name, acl in sorted(some.items()) if others.get(name) != acl]
