"""All that findings are made of, and what several of them need, worked out once. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from aclkit.audit.findings.containment import ContainmentIndex, PatternKey, pattern_of
from aclkit.audit.findings.never_matches import can_match
from aclkit.audit.findings.removable import (
    Covers,
    find_overridden_acls,
    find_removable,
    operations_left,
)
from aclkit.model.acl import Acl
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.rules.patterns.match import names_exactly
from aclkit.rules.patterns.trie import PatternIndex

BROAD_SHARE: Final = 0.5
"""An ALLOW that reaches more than this share of the topics is broad, unless told otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """From where to where in the log a topic or a user was there.

    Attributes:
        name: of the topic, or of the principal with its type.
        first_offset: where it came.
        last_offset: where it went; None for what is still there.
        topic_id: a topic's Uuid, by which two of one name are told apart.
    """

    name: str
    first_offset: int
    last_offset: int | None = None
    topic_id: str = ""


@dataclass(frozen=True, kw_only=True)
class AuditInput:
    """What an audit looks at: the ACLs alive, and what is known beside them.

    What is unknown is left empty, and no finding says anything about it.

    Attributes:
        acls: the ACLs alive.
        semantics: how they are read.
        settings: super users and allow.everyone.
        topics: lifetimes of topics; none where the cluster follows listings.
        users: lifetimes of SCRAM users.
        listed_topics: topics that the user's own inventory names.
        listed_principals: principals that the user's own inventory names.
        asked_principals: all principals that the run asked about.
        resource_count: how many resources the run asked about.
        added_offsets: id of an ACL → the offset where it was added.
        broad_share: the share of the topics that more than is broad.
    """

    acls: Sequence[Acl]
    semantics: Semantics
    settings: BrokerSettings = field(default_factory=BrokerSettings)
    topics: Sequence[Life] = ()
    users: Sequence[Life] = ()
    listed_topics: frozenset[str] = frozenset()
    listed_principals: frozenset[str] = frozenset()
    asked_principals: Sequence[str] = ()
    resource_count: int = 0
    added_offsets: Mapping[str, int] = field(default_factory=dict)
    broad_share: float = BROAD_SHARE

    @cached_property
    def containment(self) -> ContainmentIndex:
        """The ACLs by what contains them."""
        return ContainmentIndex.build(self.acls, self.semantics)

    @cached_property
    def overridden(self) -> Covers:
        """The ALLOWs that DENYs leave nothing of, each with those DENYs."""
        return find_overridden_acls(self.acls, self.containment)

    @cached_property
    def removable(self) -> Covers:
        """The ACLs that others of the same permission make unnecessary, each with those."""
        return find_removable(self.acls, self.containment, self.overridden, self.semantics)

    @cached_property
    def given(self) -> Mapping[str, frozenset[str]]:
        """Id of an ALLOW → the operations that it gives to somebody, if any.

        Those that a DENY takes wherever the ALLOW answers are not given; one that never matches
        gives none, nor does one for a super user, who needs no ACL.
        """
        return {
            acl.acl_id: left
            for acl in self.acls
            if acl.is_allow and can_match(acl, self.semantics) and not self._is_super(acl)
            if (left := operations_left(acl, self.containment))
        }

    def _is_super(self, acl: Acl) -> bool:
        is_one = names_exactly(acl.principal, self.semantics)
        return is_one and acl.principal in self.settings.super_users

    @cached_property
    def allows(self) -> list[Acl]:
        """The ALLOWs that give something to somebody."""
        return [acl for acl in self.acls if acl.acl_id in self.given]

    def gives(self, acl: Acl, operation: str) -> bool:
        """Whether an ACL is an ALLOW that gives an operation to somebody."""
        return operation in self.given.get(acl.acl_id, ())

    @cached_property
    def topics_alive(self) -> list[str]:
        """The topics that are there, as the log and the user's inventory say, sorted."""
        alive = {life.name for life in self.topics if life.last_offset is None}
        return sorted(alive | self.listed_topics)

    @cached_property
    def index(self) -> PatternIndex:
        """All resource patterns, each with its place in ``patterns``."""
        return PatternIndex.build(((n, *p) for n, p in enumerate(self.patterns)), self.semantics)

    @cached_property
    def patterns(self) -> list[PatternKey]:
        """The different resource patterns of the ACLs, sorted."""
        return sorted({pattern_of(acl) for acl in self.acls})

    @cached_property
    def reach(self) -> Mapping[PatternKey, int]:
        """How many of the topics alive each resource pattern matches."""
        hits = Counter(n for name in self.topics_alive for n in self.index.matches("TOPIC", name))
        return {self.patterns[number]: count for number, count in hits.items()}
