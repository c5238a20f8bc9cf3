"""A scope and its ACLs → all that is the same for every slice of the resources. Pure.

A *subject* is whom a group is about: a principal that its text names exactly, or a principal class
that its text stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from aclkit.pipeline.explain.arrays import Fingerprints, Flags, Lists, Numbers
from aclkit.pipeline.explain.groups import Groups, NamedHosts, group_acls, sign_of_allows
from aclkit.pipeline.explain.ranked_acls import Pattern, rank_acls
from aclkit.pipeline.explain.scope import Scope
from aclkit.rules.decide.order import BrokerRescan
from aclkit.rules.patterns.match import names_exactly
from aclkit.rules.patterns.trie import PatternIndex

NEVER: Final = 0
AMONG_DENIES: Final = 1
AMONG_ALL: Final = 2
"""Where a broker meets LITERAL ``*`` after all other ACLs that reach a resource: nowhere, among
DENYs, or among ALLOWs too (``rules/decide/order.py``, ``WildcardLast``)."""


@dataclass(frozen=True, slots=True)
class Grants:
    """What each pattern grants or denies: a row for each of its groups and subjects.

    Attributes:
        of_pattern: the rows of each pattern.
        subject: whom the group is about.
        group: the group.
    """

    of_pattern: Lists
    subject: Numbers
    group: Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What the slices of one decision share. It is pickled once for all processes and tasks.

    Attributes:
        cluster_id: the cluster.
        principals: those asked about; a subject is a place among them.
        hosts: those asked about.
        classes: the ids of the principal classes.
        class_of: principal → its class.
        patterns: resource type, pattern type and name.
        acl_principals: the principals of ACLs.
        groups: the groups.
        acl_ids: the ids of ACLs by their numbers.
        own: what patterns grant to principals by name.
        shared: what they grant to classes.
        met_last: [``NEVER``, ``AMONG_DENIES``, ``AMONG_ALL``] → of each group whether its ACLs of
            that side are met last.
        sign: see ``groups.sign_of_allows``.
        of_groups: their fingerprints.
        of_patterns: those of patterns.
        of_met_last: those of the ways in which a broker meets the wildcard last.
        index: finds the patterns that match a name.
    """

    cluster_id: str
    principals: Sequence[str]
    hosts: Sequence[str]
    classes: Sequence[str]
    class_of: Numbers
    patterns: Sequence[Pattern]
    acl_principals: Sequence[str]
    groups: Groups
    acl_ids: pa.Array
    own: Grants
    shared: Grants
    met_last: tuple[Flags, Flags]
    sign: np.int64
    of_groups: Fingerprints
    of_patterns: Fingerprints
    of_met_last: Fingerprints
    index: PatternIndex


def prepare(scope: Scope, acls: pa.Table) -> Prepared:
    """Rank and group the ACLs of a scope, and find whom each group is about.

    Raises:
        DataError: there are more ACLs than can be distinguished.
    """
    semantics, texts = scope.semantics, scope.texts
    ranked = rank_acls(acls, texts, semantics)
    named = NamedHosts.of(texts.hosts, scope.host_names, semantics)
    groups = group_acls(ranked, len(texts.principals), named, semantics)
    classes = {class_id: place for place, class_id in enumerate(scope.classes.texts_of)}
    is_wildcard = [pattern[1:] == ("LITERAL", "*") for pattern in texts.patterns]
    is_late = [is_one or not p[2] for is_one, p in zip(is_wildcard, texts.patterns, strict=True)]
    of_met_last = Fingerprints.draw(3)
    of_met_last.high[NEVER] = of_met_last.low[NEVER] = 0
    return Prepared(
        cluster_id=scope.cluster_id,
        principals=scope.principal_names,
        hosts=scope.host_names,
        classes=list(classes),
        class_of=_numbers(classes[scope.classes.class_of[p]] for p in scope.principal_names),
        patterns=texts.patterns,
        acl_principals=texts.principals,
        groups=groups,
        acl_ids=ranked.ids_by_number,
        own=_own(scope, groups),
        shared=_shared(scope, groups),
        met_last=(
            np.array(is_wildcard, bool)[groups.pattern],
            np.array(is_late, bool)[groups.pattern],
        ),
        sign=sign_of_allows(semantics),
        of_groups=Fingerprints.draw(len(groups.pattern)),
        of_patterns=Fingerprints.draw(len(texts.patterns)),
        of_met_last=of_met_last,
        index=PatternIndex.build(((n, *p) for n, p in enumerate(texts.patterns)), semantics),
    )


def _own(scope: Scope, groups: Groups) -> Grants:
    """Return what patterns grant to principals that a text names exactly, super users aside."""
    named = {
        entry.name: number
        for number, entry in enumerate(scope.inventory.principals)
        if not entry.is_any_other and entry.name not in scope.super_users
    }
    subjects = _numbers(
        named.get(text, -1) if names_exactly(text, scope.semantics) else -1
        for text in scope.texts.principals
    )
    subject = subjects[groups.principal]
    group = np.flatnonzero(subject >= 0)
    # Groups lie by pattern.
    lists = Lists.of(groups.pattern[group], len(scope.texts.patterns))
    return Grants(lists, subject[group], group)


def _shared(scope: Scope, groups: Groups) -> Grants:
    """Return what patterns grant to the classes that a text stands for."""
    text_no = {text: number for number, text in enumerate(scope.texts.principals)}
    stands_for = sorted(
        (text_no[text], class_no)
        for class_no, texts in enumerate(scope.classes.texts_of.values())
        for text in texts
    )
    owners, classes = np.array(stands_for, np.int64).reshape(-1, 2).T
    row, at = Lists.of(owners, len(text_no)).elements(groups.principal)
    lists = Lists.of(groups.pattern[row], len(scope.texts.patterns))
    return Grants(lists, classes[at], row)


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources asked about: their types and names, and where a broker meets the wildcard last."""

    keys: Sequence[tuple[str, str]]
    met_last: Numbers

    @classmethod
    def of(cls, scope: Scope) -> Resources:
        """Return those of a scope, by type and name."""
        keys = sorted(entry.key for entry in scope.inventory.resources)
        if not scope.may_meet_wildcard_last:
            return cls(keys, np.zeros(len(keys), np.int64))
        rescan = BrokerRescan.of(scope.texts.patterns)
        found = (rescan.wildcard_last(*key) for key in keys)
        return cls(
            keys,
            _numbers(AMONG_ALL if x.allows else AMONG_DENIES if x.denies else NEVER for x in found),
        )

    def __len__(self) -> int:
        """How many there are."""
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class Matched:
    """Resources with the patterns that match each.

    Attributes:
        keys: their types and names.
        met_last: where a broker meets the wildcard last.
        lists: the rows of each in ``pattern``.
        pattern: places among the patterns of the texts.
    """

    keys: Sequence[tuple[str, str]]
    met_last: Numbers
    lists: Lists
    pattern: Numbers

    @classmethod
    def of(cls, resources: Resources, found: Iterable[Sequence[int]]) -> Matched:
        """Take the patterns that were found for each resource."""
        found = list(found)
        counts = np.fromiter(map(len, found), np.int64, len(found))
        pattern = np.fromiter((n for one in found for n in one), np.int64, int(counts.sum()))
        lists = Lists(np.cumsum(counts) - counts, counts)
        return cls(resources.keys, resources.met_last, lists, pattern)

    def __len__(self) -> int:
        """How many resources there are."""
        return len(self.keys)

    @property
    def resource(self) -> Numbers:
        """The resource of each row of ``pattern``."""
        return self.lists.owners()

    def part(self, start: int, end: int) -> Matched:
        """Return the resources from one place to another."""
        counts = self.lists.counts[start:end]
        first = int(self.lists.starts[start]) if len(counts) else 0
        lists = Lists(np.cumsum(counts) - counts, counts)
        pattern = self.pattern[first : first + int(counts.sum())]
        return Matched(self.keys[start:end], self.met_last[start:end], lists, pattern)


def _numbers(values: Iterable[int]) -> Numbers:
    return np.fromiter(values, np.int64)
