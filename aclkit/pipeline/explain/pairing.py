"""A slice of the resources → which set of groups applies to each subject at each of them. Pure.

Resources are cut into slices that are decided one by one.

Resources that the same *common* patterns match are one *kind*: patterns that stand for a class, or
that match several resources and grant something to several principals. What these grant is found
once for a kind. The other patterns, LITERAL ones mostly, add to it at single resources. A set of
groups is told apart by its fingerprint alone; its *content* is looked up once, where it is first
met.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from aclkit.pipeline.explain.arrays import (
    Fingerprints,
    Flags,
    Lists,
    Numbers,
    concat_fingerprints,
    order_of,
    ranges_of,
    runs_of,
)
from aclkit.pipeline.explain.prepared import Grants, Matched, Prepared
from aclkit.pipeline.explain.ranked_acls import TYPES

NO_SET: Final = -1

Slice = tuple[int, int]
"""The places of the first resource and of the one behind the last."""

_FEW_SUBJECTS: Final = 8
"""A pattern that grants something to fewer principals costs less as an addition than as a kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sets:
    """Different sets of groups, each with the groups that are its own and those of a class.

    Attributes:
        resource_type: of each, a place in ``TYPES``.
        met_last: where a broker meets the wildcard last at its resources: the same groups are
            another ruleset there.
        own: the rows of each in ``own_group``.
        own_group: groups of principals.
        of_class: which of the class sets is part of it, or ``NO_SET``.
        class_met_last: of each class set, as ``met_last``.
        shared: the rows of each class set in ``shared_group``.
        shared_group: groups of classes.
    """

    resource_type: Numbers
    met_last: Numbers
    own: Lists
    own_group: Numbers
    of_class: Numbers
    class_met_last: Numbers
    shared: Lists
    shared_group: Numbers

    def __len__(self) -> int:
        """How many sets there are."""
        return len(self.resource_type)

    def groups(self, which: Numbers) -> tuple[Numbers, Numbers]:
        """Return all groups of some sets: the set's place in ``which``, and the group."""
        row, at = self.own.elements(which)
        holds_class = np.flatnonzero(self.of_class[which] != NO_SET)
        class_row, class_at = self.shared.elements(self.of_class[which][holds_class])
        groups = np.concatenate([self.own_group[at], self.shared_group[class_at]])
        return np.concatenate([row, holds_class[class_row]]), groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """The pairs of a slice.

    Attributes:
        resources: the slice.
        resource_type: of each resource, a place in ``TYPES``.
        kind: of each resource.
        of_kind: the rows of each kind in ``subject`` and ``set``.
        subject: whom common patterns grant something.
        set: the set that applies to it where no other pattern adds to it.
        added: the rows of each resource in the columns that follow.
        added_subject: whom other patterns grant something there.
        added_to: the row of its kind that it takes the place of, or -1.
        added_set: the set that applies.
        class_set: [resource, class] → the set of groups that stand for the class, or ``NO_SET``.
        sets: the sets.
    """

    resources: Matched
    resource_type: Numbers
    kind: Numbers
    of_kind: Lists
    subject: Numbers
    set: Numbers
    added: Lists
    added_subject: Numbers
    added_to: Numbers
    added_set: Numbers
    class_set: Numbers
    sets: Sets

    @property
    def counts(self) -> Numbers:
        """How many pairs each resource has."""
        fresh = self.added.owners()[self.added_to < 0]
        return self.of_kind.counts[self.kind] + np.bincount(fresh, minlength=len(self.resources))

    def pairs(self, most: int) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
        """Yield the pairs of ranges of resources: subject, resource and set, sorted by these two.

        Args:
            most: about how many a range has at most, at least one resource.
        """
        every = np.arange(len(self.resources))
        for part in ranges_of(self.counts, most):
            yield self.pairs_of(every[part])

    def pairs_of(self, which: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return the pairs of resources next to each other: subject, resource and set."""
        kind = self.kind[which]
        row, at = self.of_kind.elements(kind)
        sets = self.set[at]
        added_row, added_at = self.added.elements(which)
        base = self.added_to[added_at]
        takes = base >= 0
        counts = self.of_kind.counts[kind]
        starts = np.cumsum(counts) - counts - self.of_kind.starts[kind]
        sets[starts[added_row[takes]] + base[takes]] = self.added_set[added_at[takes]]
        fresh = added_at[~takes]
        subject = np.concatenate([self.subject[at], self.added_subject[fresh]])
        row = np.concatenate([row, added_row[~takes]])
        sets = np.concatenate([sets, self.added_set[fresh]])
        order = order_of([subject, row])
        return subject[order], row[order] + which[0], sets[order]


@dataclass(frozen=True, slots=True)
class _Union:
    """The groups of some owners, laid end to end; an owner and its groups are a run.

    Attributes:
        owners: resource or kind × subject, as one number, sorted.
        groups: the groups of each.
        lists: its rows in ``groups``.
        fingerprints: of its groups.
    """

    owners: Numbers
    groups: Numbers
    lists: Lists
    fingerprints: Fingerprints

    @classmethod
    def of(
        cls, grants: Grants, places: Numbers, patterns: Numbers, size: int, of_groups: Fingerprints
    ) -> _Union:
        """Unite what patterns grant at places; there are so many subjects."""
        row, at = grants.of_pattern.elements(patterns)
        key, groups = places[row] * size + grants.subject[at], grants.group[at]
        order = np.argsort(key, kind="stable")
        key, groups = key[order], groups[order]
        first, counts, _ = runs_of(key)
        return cls(key[first], groups, Lists(first, counts), of_groups.take(groups).of_runs(first))


def pair_up(prepared: Prepared, resources: Matched) -> Paired:
    """Find the sets of groups of a slice."""
    p, size, classes = prepared, len(resources), len(prepared.classes)
    resource, pattern = resources.resource, resources.pattern
    shared = _Union.of(p.shared, resource, pattern, classes, p.of_groups)
    met_last = resources.met_last
    of_class = p.of_met_last.take(met_last[shared.owners // max(1, classes)])
    class_set, class_first = shared.fingerprints.joined(of_class).numbered()
    class_set_of = np.full(size * classes, NO_SET)
    class_set_of[shared.owners] = class_set

    is_common = common_patterns(p, pattern)
    common = is_common[pattern]
    kind, example = kinds_of(p, resources, common)
    row, at = resources.lists.elements(example)
    of_kinds = is_common[pattern[at]]
    subjects = len(p.principals)
    base = _Union.of(p.own, row[of_kinds], pattern[at][of_kinds], subjects, p.of_groups)
    added = _Union.of(p.own, resource[~common], pattern[~common], subjects, p.of_groups)
    base_kind, base_subject = np.divmod(base.owners, max(1, subjects))
    added_resource, added_subject = np.divmod(added.owners, max(1, subjects))
    added_to = _places_of(kind[added_resource] * subjects + added_subject, base.owners)
    takes = np.flatnonzero(added_to >= 0)
    of_added = added.fingerprints.joined_at(takes, base.fingerprints.take(added_to[takes]))

    # What is added to at every resource of its kind applies to none as it is.
    resources_of_kind = np.bincount(kind, minlength=len(example))[base_kind]
    added_times = np.bincount(added_to[takes], minlength=len(base.owners))
    used = np.flatnonzero(resources_of_kind > added_times)
    place = np.concatenate([example[base_kind[used]], added_resource])
    subject = np.concatenate([base_subject[used], added_subject])
    set_of_class = class_set_of[place * classes + p.class_of[subject]]
    fingerprints = concat_fingerprints([base.fingerprints.take(used), of_added])
    holds = np.flatnonzero(set_of_class != NO_SET)
    bare = shared.fingerprints.take(class_first)
    fingerprints = fingerprints.joined_at(holds, bare.take(set_of_class[holds]))
    class_place = shared.owners[class_first] // max(1, classes)
    place = np.concatenate([place, class_place])
    set_of_class = np.concatenate([set_of_class, np.arange(len(class_first))])
    fingerprints = concat_fingerprints([fingerprints, bare])
    fingerprints = fingerprints.joined(p.of_met_last.take(met_last[place]))
    number, first = fingerprints.numbered()

    set_of_base = np.full(len(base.owners), NO_SET)
    set_of_base[used] = number[: len(used)]
    paired = len(used) + len(added.owners)
    own, own_group = _own_groups(base, added, used, added_to, first)
    class_row, class_at = shared.lists.elements(class_first)
    types = np.array([TYPES.index(of_type) for of_type, _ in resources.keys], np.int64)
    return Paired(
        resources=resources,
        resource_type=types,
        kind=kind,
        of_kind=Lists.of(base_kind, len(example)),
        subject=base_subject,
        set=set_of_base,
        added=Lists.of(added_resource, size),
        added_subject=added_subject,
        added_to=added_to,
        added_set=number[len(used) : paired],
        class_set=np.append(number[paired:], NO_SET)[class_set_of].reshape(size, classes),
        sets=Sets(
            resource_type=types[place[first]],
            met_last=met_last[place[first]],
            own=own,
            own_group=own_group,
            of_class=set_of_class[first],
            class_met_last=met_last[class_place],
            shared=Lists.of(class_row, len(class_first)),
            shared_group=shared.groups[class_at],
        ),
    )


def cut(prepared: Prepared, resources: Matched, most: int, parts: int = 1) -> list[Slice]:
    """Cut resources into ranges, each of about so many entries at most and at least one resource.

    There are at least ``parts`` ranges, if there are so many resources.

    An entry is a row that ``pairing`` holds in memory: what a pattern grants to a subject, once
    for each kind of a range and for each other resource; and a pair of a class.
    """
    if not len(resources):
        return [(0, 0)]
    of_resource, of_kind, kind = _entries(prepared, resources)
    longest = -(-len(resources) // parts)
    slices, start, held = [], 0, 0
    known: set[int] = set()
    for place, (own, shared, number) in enumerate(
        zip(of_resource.tolist(), of_kind.tolist(), kind.tolist(), strict=True)
    ):
        more = own + (0 if number in known else shared)
        if place > start and (held + more > most or place - start >= longest):
            slices.append((start, place))
            start, held, more = place, 0, own + shared
            known.clear()
        held += more
        known.add(number)
    return [*slices, (start, len(resources))]


def entries_of(p: Prepared, resources: Matched) -> Numbers:
    """Return how many entries each resource has at most, for a first cut of very many.

    Kinds are told apart by what matches all resources of a slice, so here each is its own.
    """
    grants = p.own.of_pattern.counts + p.shared.of_pattern.counts
    weights, size = grants[resources.pattern], len(resources)
    return np.bincount(resources.resource, weights=weights, minlength=size).astype(np.int64) + len(
        p.classes
    )


def _entries(p: Prepared, resources: Matched) -> tuple[Numbers, Numbers, Numbers]:
    """Return how many entries each resource has, how many its kind, and its kind."""
    common = common_patterns(p, resources.pattern)[resources.pattern]
    own = p.own.of_pattern.counts[resources.pattern]
    shared = p.shared.of_pattern.counts[resources.pattern]
    size = len(resources)

    def total(values: Numbers) -> Numbers:
        found = np.bincount(resources.resource, weights=values, minlength=size)
        return found.astype(np.int64)

    kind, _ = kinds_of(p, resources, common)
    return total(own * ~common + shared) + len(p.classes), total(own * common), kind


def common_patterns(p: Prepared, matching: Numbers) -> Flags:
    """Return which patterns make kinds of resources; ``matching`` are those that match them."""
    matched = np.bincount(matching, minlength=len(p.patterns))
    return (p.shared.of_pattern.counts > 0) | (
        (p.own.of_pattern.counts >= _FEW_SUBJECTS) & (matched > 1)
    )


def kinds_of(p: Prepared, resources: Matched, common: Flags) -> tuple[Numbers, Numbers]:
    """Return the kind of each resource, and one resource of each kind.

    Two resources with the same common patterns are still told apart by where a broker meets the
    wildcard last; those without a pattern have no pairs, so their types do not matter.

    Args:
        p: what the slices share.
        resources: the resources.
        common: which of their rows of ``pattern`` are of common patterns.
    """
    resource, pattern = resources.resource[common], resources.pattern[common]
    first, _, _ = runs_of(resource)
    kinds = p.of_met_last.take(resources.met_last)
    kinds = kinds.joined_at(resource[first], p.of_patterns.take(pattern).of_runs(first))
    return kinds.numbered()


def _own_groups(
    base: _Union, added: _Union, used: Numbers, added_to: Numbers, first: Numbers
) -> tuple[Lists, Numbers]:
    """Return the groups of principals of each set, by the first pair that has it.

    Args:
        base: what common patterns grant.
        added: what others add.
        used: the rows of ``base`` that are pairs.
        added_to: of each row of ``added`` the one of ``base`` that it adds to, or -1.
        first: of each set its first pair: of ``used``, then of ``added``, then of classes.
    """
    of_base = np.flatnonzero(first < len(used))
    of_added = np.flatnonzero((first >= len(used)) & (first < len(used) + len(added.owners)))
    added_row = first[of_added] - len(used)
    adds = added_to[added_row] >= 0
    owners, groups = [], []
    for sets, union, which in (
        (of_base, base, used[first[of_base]]),
        (of_added, added, added_row),
        (of_added[adds], base, added_to[added_row[adds]]),
    ):
        row, at = union.lists.elements(which)
        owners.append(sets[row])
        groups.append(union.groups[at])
    owner, group = np.concatenate(owners), np.concatenate(groups)
    return Lists.of(owner, len(first)), group[np.argsort(owner, kind="stable")]


def _places_of(wanted: Numbers, sorted_keys: Numbers) -> Numbers:
    """Return the place of each key among sorted ones, -1 where it is not there."""
    if not len(sorted_keys):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(sorted_keys, wanted), len(sorted_keys) - 1)
    return np.where(sorted_keys[at] == wanted, at, -1)
