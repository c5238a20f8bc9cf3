"""What one materialize is about: the ACLs' texts, what is asked, and how ACLs are read. A value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

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
        super_users: principals that are always allowed.
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

    @property
    def class_pairs(self) -> int:
        """How many (principal class, resource) there are."""
        return len(self.classes.texts_of) * len(self.inventory.resources)

    @property
    def partitions(self) -> int:
        """Over how many parts pairs are spread: one where they are few.

        So many that what a task sorts and groups, perhaps a quarter of its pairs, stays in memory.
        """
        by_pairs = self.pairs // _PAIRS_OF_A_PART
        by_patterns = len(self.texts.patterns) // _PATTERNS_OF_A_PART
        by_acls = self.acls // _ACLS_OF_A_PART
        some = max(1, min(_SOME_PARTS, max(by_pairs, by_patterns, by_acls)))
        return max(some, self.pairs // _MOST_PAIRS_OF_A_PART)

    @property
    def shuffled_over(self) -> int:
        """Over how many parts rulesets are spread, and all that goes by their contents."""
        return min(self.partitions, _MOST_SHUFFLED_PARTS)

    @property
    def is_large(self) -> bool:
        """Whether the pairs are too many to be kept in memory as rows."""
        return self.pairs > _PAIRS_IN_ROWS


_PAIRS_OF_A_PART: Final = 400_000
_PATTERNS_OF_A_PART: Final = 20_000
_ACLS_OF_A_PART: Final = 300_000
_SOME_PARTS: Final = 16
_MOST_PAIRS_OF_A_PART: Final = 4_000_000
_MOST_SHUFFLED_PARTS: Final = 64
_PAIRS_IN_ROWS: Final = 64_000_000
