"""A few resources and the ACLs that reach them → their rows of the explain tables. Pure.

What Spark does for a whole cluster in ``pairing`` and ``rulings``, written out for what one
change affects: the same ids, because ids are hashes of content.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from aclkit.model.acl import ANY_OTHER, Acl
from aclkit.model.operation import OPERATIONS_OF_TYPE, coverage
from aclkit.model.semantics import Semantics
from aclkit.pipeline.explain.fixed import NONE, OTHER
from aclkit.rules.decide.order import Order, WildcardLast
from aclkit.rules.decide.rules import conclude

Key = tuple[str, str, str]
"""A principal or a principal class, and a resource: its type and name."""

Resource = tuple[str, str]


@dataclass(frozen=True, slots=True)
class AclGroup:
    """The ACLs with one pattern and one principal text: a row of ``ruleset_group``."""

    group_id: str
    acls: tuple[Acl, ...]

    @property
    def principal(self) -> str:
        """The principal text that they share."""
        return self.acls[0].principal


@dataclass(frozen=True, slots=True)
class Ruleset:
    """What applies to a pair: a row of ``ruleset``, and one of the resources that have it."""

    resource: Resource
    groups: tuple[AclGroup, ...]

    @property
    def group_ids(self) -> list[str]:
        """The ids of its groups, sorted: its content."""
        return sorted(group.group_id for group in self.groups)

    @property
    def steps(self) -> int:
        """How often an ACL is looked at where it is decided."""
        operations = len(OPERATIONS_OF_TYPE[self.resource[0]])
        return operations * sum(len(group.acls) for group in self.groups)

    @property
    def acls(self) -> list[Acl]:
        """The ACLs of its groups."""
        return [acl for group in self.groups for acl in group.acls]


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


def group_acls(acls: Iterable[Acl]) -> list[AclGroup]:
    """Put ACLs with the same pattern and principal text into groups.

    >>> [group.group_id for group in group_acls([])]
    []
    """
    found: defaultdict[tuple[str, ...], list[Acl]] = defaultdict(list)
    for acl in acls:
        found[acl.resource_type, acl.pattern_type, acl.resource_name, acl.principal].append(acl)
    return [
        AclGroup(content_id(acl.acl_id for acl in same), tuple(same)) for same in found.values()
    ]


def pair_on_driver(
    near: Mapping[Resource, Sequence[AclGroup]],
    principals_of: Mapping[Resource, frozenset[str] | None],
    subjects: Subjects,
) -> DecidedPairs:
    """Find the rulesets of resources: for every class, and for principals with groups of their own.

    Args:
        near: each resource with all groups whose pattern matches it.
        principals_of: the only principals to look at for a resource; None for all.
        subjects: who has pairs.
    """
    found = DecidedPairs()
    for resource, groups in near.items():
        by_text: defaultdict[str, list[AclGroup]] = defaultdict(list)
        for group in groups:
            by_text[group.principal].append(group)
        shared = {
            class_id: [group for text in texts for group in by_text.get(text, ())]
            for class_id, texts in subjects.texts_of.items()
        }
        for class_id, of_class in shared.items():
            fixed = f"{OTHER if groups else NONE}:{resource[0]}"
            known = _note(found, resource, of_class) if of_class else fixed
            found.class_pairs[class_id, *resource] = known
        only = principals_of[resource]
        for principal in by_text.keys() & subjects.own if only is None else only & subjects.own:
            if own := by_text.get(principal):
                both = [*own, *shared[subjects.class_of[principal]]]
                found.pairs[principal, *resource] = _note(found, resource, both)
    return found


def rule_on_driver(
    ruleset: Ruleset, named_hosts: Mapping[str, Sequence[str] | None], semantics: Semantics
) -> Iterator[RulingRow]:
    """Decide a ruleset: for any other host, and for each host that an ACL of it names.

    Of the ACLs for all hosts the best DENY and the best ALLOW stand for all of them.

    Args:
        ruleset: it holds an ACL.
        named_hosts: the hosts asked about that an ACL's host names; None where it is every host.
        semantics: names the deciding ACL.
    """
    resource_type, resource_name = ruleset.resource
    for operation in OPERATIONS_OF_TYPE[resource_type]:
        of_all: list[Acl] = []
        by_host: defaultdict[str, list[Acl]] = defaultdict(list)
        for acl in ruleset.acls:
            if coverage(acl.operation, acl.permission_type, operation) is None:
                continue
            hosts = named_hosts[acl.host]
            if hosts is None:
                of_all.append(acl)
            for host in hosts or ():
                by_host[host].append(acl)
        last = WildcardLast.of(resource_name, wildcard_is_last=False)
        order = Order(operation, semantics, last)
        best = (
            order.first(acl for acl in of_all if not acl.is_allow),
            order.first(acl for acl in of_all if acl.is_allow),
        )
        shared = [acl for acl in best if acl is not None]
        for host, named in [(ANY_OTHER, []), *by_host.items()]:
            ruling = conclude([*shared, *named], order, is_super=False, is_open=False)
            yield RulingRow(host, operation, ruling.decision, ruling.rule, ruling.acl_id)


def content_id(ids: Iterable[str]) -> str:
    """Hash ids as ``reach.content_id`` does in Spark: 32 hex digits of sha-256.

    >>> content_id(["b", "a"])[:8]
    '1eb7c54d'
    """
    content = ",".join(sorted(ids)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest()[:32]


def _note(found: DecidedPairs, resource: Resource, groups: Sequence[AclGroup]) -> str:
    ruleset = Ruleset(resource, tuple(groups))
    ruleset_id = content_id(ruleset.group_ids)
    found.rulesets.setdefault(ruleset_id, ruleset)
    return ruleset_id
