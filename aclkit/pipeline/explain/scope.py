"""What one materialize is about: the ACLs' texts, what is asked, and how ACLs are read. A value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from aclkit.model.semantics import BROKER, Semantics
from aclkit.pipeline.inventory.identity import PrincipalClasses, classify
from aclkit.pipeline.inventory.survey import Inventory, Texts


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What one materialize is about.

    Attributes:
        cluster_id: the cluster.
        texts: what its ACLs alive are made of.
        inventory: what is asked about.
        semantics: how ACLs are read.
        preset: the one that was taken for that; single settings may win over it.
        super_users: principals that are always allowed, symbols aside: the names that are no one's.
    """

    cluster_id: str
    texts: Texts
    inventory: Inventory
    semantics: Semantics
    super_users: frozenset[str]
    preset: str | None = None

    @property
    def principal_names(self) -> list[str]:
        """The principals asked about, in the order of their numbers."""
        return [entry.name for entry in self.inventory.principals]

    @property
    def host_names(self) -> list[str]:
        """The hosts asked about, in the order of their numbers."""
        return [entry.name for entry in self.inventory.hosts]

    @cached_property
    def classes(self) -> PrincipalClasses:
        """The principals asked about, in classes."""
        return classify(self.principal_names, self.texts.principals, self.semantics)

    @property
    def may_meet_wildcard_last(self) -> bool:
        """Whether a name below ``*`` may let the broker meet LITERAL ``*`` after other ACLs."""
        return self.semantics.deciding_acl == BROKER and any(
            entry.name < "*" for entry in self.inventory.resources
        )

    @property
    def acls(self) -> int:
        """How many ACLs are alive."""
        return sum(self.texts.counts)

    @property
    def pairs(self) -> int:
        """How many (principal, resource) are asked about."""
        return len(self.inventory.principals) * len(self.inventory.resources)
