"""The oracle: what the kernel decides, written out with dictionaries, one pair after the other.

The same ids, because ids are hashes of content. It knows no name below ``*`` for which a broker
meets the wildcard last; these are held against the plain rule.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from aclkit.model.acl import ANY_OTHER, Acl
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE, coverage
from aclkit.model.semantics import Semantics
from aclkit.pipeline.explain.rows import (
    NONE,
    OTHER,
    default_rulesets,
    default_rulings,
)
from aclkit.pipeline.explain.scope import Scope, match_hosts
from aclkit.rules.decide.order import Order, WildcardLast
from aclkit.rules.decide.rules import conclude
from aclkit.rules.patterns.match import names_exactly, reaches

Key = tuple[str, str, str]
"""A principal or a principal class, and a resource: its type and name."""

Resource = tuple[str, str]


@dataclass(frozen=True, slots=True)
class AclGroup:
    """The ACLs with one pattern and one principal text: a row of ``ruleset_group``."""

    group_id: str
    principal: str
    acls: tuple[Acl, ...]


@dataclass(frozen=True, slots=True)
class Ruleset:
    """What applies to a pair: a row of ``ruleset``, and one of the resources that have it."""

    resource: Resource
    groups: tuple[AclGroup, ...]

    @property
    def group_ids(self) -> list[str]:
        """The ids of its groups, sorted: its content."""
        return sorted(group.group_id for group in self.groups)


class RulingRow(NamedTuple):
    """A row of ``explain_ruling``, its ruleset aside."""

    host: str
    operation: str
    decision: str
    rule: str
    deciding_acl_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subjects:
    """Who has pairs.

    Attributes:
        own: principals that may have pairs of their own: an ACL can name them exactly, and they
            are neither super users nor any other.
        class_of: the class of each principal.
        texts_of: the principal texts of ACLs that stand for each class.
    """

    own: frozenset[str]
    class_of: Mapping[str, str]
    texts_of: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class DecidedPairs:
    """Rows of ``explain_pair`` and ``explain_class_pair``, and the rulesets that they name."""

    pairs: dict[Key, str] = field(default_factory=dict)
    class_pairs: dict[Key, str] = field(default_factory=dict)
    rulesets: dict[str, Ruleset] = field(default_factory=dict)
    _ids: dict[tuple[str, ...], str] = field(default_factory=dict)

    def note(self, resource: Resource, groups: Sequence[AclGroup]) -> str:
        """Return the id of the ruleset of some groups, and keep it when it is new."""
        met = tuple([group.group_id for group in groups])
        ruleset_id = self._ids.get(met)
        if ruleset_id is None:
            ruleset_id = self._ids[met] = content_id(met)
            self.rulesets.setdefault(ruleset_id, Ruleset(resource, tuple(groups)))
        return ruleset_id


def group_acls(acls: Iterable[Acl]) -> list[AclGroup]:
    """Put ACLs with the same pattern and principal text into groups.

    >>> [group.group_id for group in group_acls([])]
    []
    """
    found = grouped(((acl.pattern, acl.principal), acl) for acl in acls)
    return [
        AclGroup(content_id(acl.acl_id for acl in same), principal, tuple(same))
        for (_, principal), same in found.items()
    ]


def pair(near: Mapping[Resource, Sequence[AclGroup]], subjects: Subjects) -> DecidedPairs:
    """Find the rulesets of resources: for every class, and for principals with groups of their own.

    Args:
        near: each resource with all groups whose pattern matches it.
        subjects: who has pairs.
    """
    found = DecidedPairs()
    texts = subjects.own.union(*subjects.texts_of.values())
    for resource, groups in near.items():
        by_text = grouped((group.principal, group) for group in groups if group.principal in texts)
        shared = {
            class_id: [group for text in texts_of for group in by_text.get(text, ())]
            for class_id, texts_of in subjects.texts_of.items()
        }
        for class_id, of_class in shared.items():
            fixed = f"{OTHER if groups else NONE}:{resource[0]}"
            known = found.note(resource, of_class) if of_class else fixed
            found.class_pairs[class_id, *resource] = known
        for principal in by_text.keys() & subjects.own:
            if own := by_text.get(principal):
                both = [*own, *shared[subjects.class_of[principal]]]
                found.pairs[principal, *resource] = found.note(resource, both)
    return found


@dataclass(frozen=True, slots=True)
class _Answers:
    """What a group answers an operation with.

    Attributes:
        of_all: of its ACLs for all hosts the best DENY and the best ALLOW, which stand for all.
        of_hosts: its ACLs for each host that one of them names.
    """

    of_all: list[Acl]
    of_hosts: Mapping[str, list[Acl]]


@dataclass(frozen=True, slots=True)
class Ruler:
    """Decides rulesets; what a group answers is worked out once for all rulesets that hold it.

    Attributes:
        named_hosts: the hosts asked about that an ACL's host names; None where it is every host.
        semantics: names the deciding ACL.
    """

    named_hosts: Mapping[str, Sequence[str] | None]
    semantics: Semantics
    _known: dict[tuple[str, WildcardLast], tuple[Order, dict[str, _Answers]]] = field(
        default_factory=dict
    )

    def rule(self, ruleset: Ruleset) -> Iterator[RulingRow]:
        """Decide a ruleset that holds an ACL: for any other host, and each host that one names."""
        resource_type, resource_name = ruleset.resource
        last = WildcardLast.of(resource_name, wildcard_is_last=False)
        for operation in OPERATIONS_OF_TYPE[resource_type]:
            order, known = self._order(operation, last)
            of_all: list[Acl] = []
            by_host: defaultdict[str, list[Acl]] = defaultdict(list)
            for group in ruleset.groups:
                answers = known.get(group.group_id)
                if answers is None:
                    answers = known[group.group_id] = self._answers(group, order)
                of_all += answers.of_all
                for host, acls in answers.of_hosts.items():
                    by_host[host] += acls
            for host, named in [(ANY_OTHER, []), *by_host.items()]:
                ruling = conclude([*of_all, *named], order, is_super=False, is_open=False)
                yield RulingRow(host, operation, ruling.decision, ruling.rule, ruling.acl_id)

    def _order(self, operation: str, last: WildcardLast) -> tuple[Order, dict[str, _Answers]]:
        known = self._known.get((operation, last))
        if known is None:
            known = self._known[operation, last] = (Order(operation, self.semantics, last, {}), {})
        return known

    def _answers(self, group: AclGroup, order: Order) -> _Answers:
        of_all: list[Acl] = []
        of_hosts: defaultdict[str, list[Acl]] = defaultdict(list)
        for acl in group.acls:
            if coverage(acl.operation, acl.permission_type, order.operation) is None:
                continue
            hosts = self.named_hosts[acl.host]
            if hosts is None:
                of_all.append(acl)
            for host in hosts or ():
                of_hosts[host].append(acl)
        if len(of_all) > 1:
            sides = ([acl for acl in of_all if acl.is_allow is side] for side in (False, True))
            of_all = [acl for acl in map(order.first, sides) if acl is not None]
        return _Answers(of_all, of_hosts)


def content_id(ids: Iterable[str]) -> str:
    """Hash ids: 32 hex digits of sha-256.

    >>> content_id(["b", "a"])[:8]
    '1eb7c54d'
    """
    content = ",".join(sorted(ids)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest()[:32]


def decide_all(
    scope: Scope, acls: Sequence[Acl], *, allow_everyone: bool = False
) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of the tables that deciding writes, lists as tuples."""
    cluster, semantics = scope.cluster_id, scope.semantics
    groups = group_acls(acls)
    near = {
        entry.key: [g for g in groups if reaches(g.acls[0], *entry.key, semantics)]
        for entry in scope.inventory.resources
    }
    own = frozenset(
        entry.name
        for entry in scope.inventory.principals
        if not entry.is_any_other and names_exactly(entry.name, semantics)
    )
    classes = scope.classes
    subjects = Subjects(
        own=own - scope.super_users, class_of=classes.class_of, texts_of=classes.texts_of
    )
    found = pair(near, subjects)
    ruler = Ruler(_named_hosts(scope), semantics)
    held = sorted(found.rulesets.items())
    return {
        "explain_pair": [(cluster, *key, ruleset) for key, ruleset in found.pairs.items()],
        "explain_class_pair": [(cluster, *k, ruleset) for k, ruleset in found.class_pairs.items()],
        "ruleset_group": [_group_row(cluster, group) for group in groups],
        "ruleset": [
            *((cluster, r, one.resource[0], tuple(one.group_ids), None) for r, one in held),
            *((cluster, r, kind, tuple(ids), last) for r, kind, ids, last in default_rulesets()),
        ],
        "explain_ruling": [
            *((cluster, ruleset, *row) for ruleset, one in held for row in ruler.rule(one)),
            *((cluster, *row) for row in default_rulings(allow_everyone=allow_everyone)),
        ],
    }


def _group_row(cluster: str, group: AclGroup) -> tuple[Any, ...]:
    resource_type, pattern_type, name = group.acls[0].pattern
    ids = tuple(sorted(acl.acl_id for acl in group.acls))
    return cluster, group.group_id, resource_type, name, pattern_type, group.principal, ids


def _named_hosts(scope: Scope) -> dict[str, list[str] | None]:
    """Return which hosts asked about each ACL host names: None where it is every host."""
    named: dict[str, list[str] | None] = {text: [] for text in scope.texts.hosts}
    for text, host in match_hosts(scope.texts.hosts, scope.host_names, scope.semantics):
        if host == ANY_OTHER:
            named[text] = None
        elif (hosts := named[text]) is not None:
            hosts.append(host)
    return named
