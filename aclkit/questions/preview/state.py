"""ACLs and settings before and after, and what is asked about: the inputs of a comparison. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from aclkit.model.acl import Acl
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.resource import Resource
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.rules.names.domain import domain_of
from aclkit.rules.names.rows import Rules
from aclkit.rules.patterns.match import (
    GLOB,
    LITERAL,
    effective_pattern_type,
    has_wildcard,
    names_exactly,
)
from aclkit.rules.patterns.ranges import asked_host


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What decides: the ACLs alive, by id, and the brokers' settings."""

    acls: Mapping[str, Acl]
    settings: BrokerSettings

    def with_acls(self, added: Iterable[Acl]) -> State:
        """Return the state with more ACLs."""
        acls = {**self.acls, **{acl.acl_id: acl for acl in added}}
        return State(acls=acls, settings=self.settings)

    def without(self, ids: Iterable[str]) -> State:
        """Return the state without some ACLs."""
        gone = set(ids)
        acls = {name: acl for name, acl in self.acls.items() if name not in gone}
        return State(acls=acls, settings=self.settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Two states, and how ACLs are read in both."""

    before: State
    after: State
    semantics: Semantics

    def __post_init__(self) -> None:
        """Give an ACL that takes the id of another one an id of its own: an id means one ACL.

        No controller gives an id twice, but a change set written by hand may.
        """
        then = self.before.acls
        if any(then.get(name, acl) != acl for name, acl in self.after.acls.items()):
            acls = (
                replace(acl, acl_id=f"{name} (another ACL)") if then.get(name, acl) != acl else acl
                for name, acl in self.after.acls.items()
            )
            after = State(acls={acl.acl_id: acl for acl in acls}, settings=self.after.settings)
            object.__setattr__(self, "after", after)

    @property
    def added(self) -> list[Acl]:
        """The ACLs that come, in the order of their ids."""
        return _only_in(self.after.acls, self.before.acls)

    @property
    def removed(self) -> list[Acl]:
        """The ACLs that go."""
        return _only_in(self.before.acls, self.after.acls)

    @property
    def affected(self) -> list[Acl]:
        """Both."""
        return [*self.added, *self.removed]

    @property
    def changes_settings(self) -> bool:
        """Whether the settings differ too: then everything is decided again."""
        return self.before.settings != self.after.settings

    @property
    def rules_before(self) -> Rules:
        """All that decides before."""
        return self._rules(self.before)

    @property
    def rules_after(self) -> Rules:
        """All that decides after."""
        return self._rules(self.after)

    def _rules(self, state: State) -> Rules:
        return Rules(
            acls=tuple(state.acls.values()), settings=state.settings, semantics=self.semantics
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Principals, hosts and resources to decide about."""

    principals: tuple[str, ...]
    hosts: tuple[str, ...]
    resources: tuple[Resource, ...]

    def with_more(
        self,
        principals: Iterable[str] = (),
        hosts: Iterable[str] = (),
        resources: Iterable[Resource] = (),
    ) -> Asked:
        """Return these and others, each once."""
        return Asked(
            principals=tuple(dict.fromkeys((*self.principals, *principals))),
            hosts=tuple(dict.fromkeys((*self.hosts, *hosts))),
            resources=tuple(dict.fromkeys((*self.resources, *resources))),
        )


def with_named(asked: Asked, change: Change) -> Asked:
    """Add the principals, hosts, ranges and resources that the ACLs of a change name.

    Who asks for an ACL asks about them, in the inventory or not.
    """
    semantics = change.semantics
    affected = change.affected
    return asked.with_more(
        (acl.principal for acl in affected if names_exactly(acl.principal, semantics)),
        (host for acl in affected if (host := asked_host(acl.host, semantics))),
        (
            Resource(acl.resource_type, acl.resource_name)
            for acl in affected
            if acl.resource_type in OPERATIONS_OF_TYPE and _is_name(acl, semantics)
        ),
    )


def _is_name(acl: Acl, semantics: Semantics) -> bool:
    """Whether an ACL's pattern is a name that a resource of the type can have."""
    if acl.resource_type == "CLUSTER" or not domain_of(acl.resource_type).holds(acl.resource_name):
        return False
    kind = effective_pattern_type(acl.pattern_type, semantics)
    if kind == LITERAL:
        return acl.resource_name not in ("", "*")
    return kind == GLOB and not has_wildcard(acl.resource_name)


def _only_in(some: Mapping[str, Acl], others: Mapping[str, Acl]) -> list[Acl]:
    return [acl for name, acl in sorted(some.items()) if others.get(name) != acl]
