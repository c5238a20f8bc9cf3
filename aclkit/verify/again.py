"""ACLs and requests → what the pure rule says under ``--semantics kafka``, each decided now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from aclkit.decide.rules import Ruling, decide
from aclkit.decide.second_search import SecondSearch
from aclkit.model.acl import Acl, Request
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.patterns.match import principal_matches
from aclkit.patterns.trie import PatternIndex

_MOST = 200_000
"""So many principals × resources are remembered."""


@dataclass(slots=True)
class Decider:
    """Decides requests one by one, each by the few ACLs that the index finds for it.

    Only the requester's own ACLs are looked at, so whether anybody's reach the resource is told
    by ``allow_everyone``.
    """

    acls: Sequence[Acl]
    settings: BrokerSettings
    index: PatternIndex
    search: SecondSearch
    principals: frozenset[str]
    near: dict[tuple[str, str, str], tuple[list[Acl], BrokerSettings]] = field(default_factory=dict)
    own: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, acls: Sequence[Acl], settings: BrokerSettings) -> Decider:
        """Build the index over the ACLs' patterns."""
        patterns = [
            (number, acl.resource_type, acl.pattern_type, acl.resource_name)
            for number, acl in enumerate(acls)
        ]
        search = SecondSearch.of(pattern[1:] for pattern in patterns)
        index = PatternIndex.build(patterns, KAFKA)
        return cls(acls, settings, index, search, frozenset(acl.principal for acl in acls))

    def decide(self, request: Request) -> Ruling:
        """Return the decision on a request."""
        key = request.principal, request.resource_type, request.resource_name
        if key not in self.near:
            if len(self.near) >= _MOST:
                self.near.clear()
            self.near[key] = self._near(*key)
        acls, settings = self.near[key]
        is_last = self.search.wildcard_is_last(request.resource_type, request.resource_name)
        return decide(acls, request, settings, KAFKA, wildcard_is_last=is_last)

    def _near(
        self, principal: str, resource_type: str, name: str
    ) -> tuple[list[Acl], BrokerSettings]:
        """Return the ACLs that reach a resource and match a principal, and what else counts."""
        reaching = [self.acls[number] for number in self.index.matches(resource_type, name)]
        own = self._own(principal)
        is_open = self.settings.allow_everyone and not reaching
        return (
            [acl for acl in reaching if acl.principal in own],
            replace(self.settings, allow_everyone=is_open),
        )

    def _own(self, principal: str) -> set[str]:
        """Return the principals of ACLs that match a requester's."""
        if principal not in self.own:
            self.own[principal] = {
                text for text in self.principals if principal_matches(text, principal, KAFKA)
            }
        return self.own[principal]
