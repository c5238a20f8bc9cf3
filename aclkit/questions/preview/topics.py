"""Topics to come, and a state → which ACLs will govern them, and who will get what. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from aclkit.errors import UsageError
from aclkit.model.acl import Acl
from aclkit.model.groups import grouped
from aclkit.model.resource import Resource
from aclkit.model.semantics import Semantics
from aclkit.questions.query.decide_unlisted import Verdict, decide_outside
from aclkit.questions.query.other_reading import OthersOtherwise, decided_otherwise_for
from aclkit.questions.state import State
from aclkit.rules.decide.rules import ALLOWED
from aclkit.rules.patterns.match import pattern_specificity, reaches


class TopicAccess(NamedTuple):
    """What a principal can or cannot do to a planned topic, from hosts with the same decision."""

    principal: str
    hosts: tuple[str, ...]
    operation: str
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicToCome:
    """A topic that is to be created.

    Attributes:
        topic: the resource.
        is_known: the inventory has it already.
        governed_by: the ACLs that apply to it, for any principal, the most specific pattern first.
        accesses: every decision, allowed ones first, then by principal and operation.
        otherwise: the principals for whom the other reading of ACLs decides differently.
    """

    topic: Resource
    is_known: bool
    governed_by: tuple[Acl, ...]
    accesses: tuple[TopicAccess, ...]
    otherwise: OthersOtherwise | None = None

    def count(self, decision: str) -> int:
        """Return how many (principal, host, operation) are decided so."""
        return sum(len(a.hosts) for a in self.accesses if a.verdict.decision == decision)


def preview_topics(names: Sequence[str], state: State) -> list[TopicToCome]:
    """Return what governs each topic, decided for all principals and hosts.

    Raises:
        UsageError: no broker would create a topic of that name.
    """
    topics = [parse_topic(name) for name in dict.fromkeys(names)]
    return [_preview(topic, state) for topic in topics]


def parse_topic(name: str) -> Resource:
    """Check a topic's name as a broker does (Topic.validate).

    Raises:
        UsageError: it is empty, too long, ``.`` or ``..``, or holds another character.
    """
    if not _TOPIC.fullmatch(name) or name in (".", ".."):
        raise UsageError(
            f"Invalid topic name {name!r}: expected 1 to 249 ASCII letters, digits, '.', '_' "
            "or '-', and not '.' or '..'. Brokers create no other topics."
        )
    return Resource("TOPIC", name)


def _preview(topic: Resource, state: State) -> TopicToCome:
    inventory, semantics = state.inventory, state.semantics
    acls = list(state.acls.values())
    reaching = [a for a in acls if reaches(a, *topic, semantics)]
    decided = decide_outside(
        acls, inventory.principals, [topic], inventory.hosts, frozenset(), state.settings, semantics
    )
    accesses = [
        TopicAccess(principal, hosts, one.operation, verdict)
        for one in decided
        for hosts, verdict in _by_verdict(one.by_host)
        for principal in one.principals
    ]
    return TopicToCome(
        topic=topic,
        is_known=topic in inventory.resources,
        governed_by=tuple(sorted(reaching, key=lambda acl: _precedence(acl, semantics))),
        accesses=tuple(sorted(accesses, key=_order)),
        otherwise=decided_otherwise_for(
            acls, inventory.principals, topic, inventory.hosts, state.settings, semantics
        ),
    )


def _by_verdict(by_host: Mapping[str, Verdict]) -> Iterator[tuple[tuple[str, ...], Verdict]]:
    groups = grouped((verdict, host) for host, verdict in sorted(by_host.items()))
    for verdict, hosts in groups.items():
        yield tuple(hosts), verdict


def _precedence(acl: Acl, semantics: Semantics) -> tuple[Any, ...]:
    return pattern_specificity(*acl.pattern[1:], semantics), acl.binding, acl.acl_id


def _order(access: TopicAccess) -> tuple[Any, ...]:
    is_denied = access.verdict.decision != ALLOWED
    return is_denied, access.principal, access.operation, access.hosts


_TOPIC: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")
