"""Two clusters and what differs between them: the values that are compared and written. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from aclkit.model.acl import Acl, Request
from aclkit.model.redpanda import has_unknown_members
from aclkit.model.resource import Resource
from aclkit.questions.clusters.mapped_acls import FIRST, SECOND, Maps
from aclkit.questions.difference.compared import Compared
from aclkit.questions.state import State
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.compare import GAINED


class Cause(NamedTuple):
    """What decides in one cluster, with its own ACL."""

    decision: str
    rule: str
    acl: Acl | None


class AccessDifference(NamedTuple):
    """Operations that some principals can do in one of two clusters alone.

    Attributes:
        kind: ``gained`` is more in the second cluster, ``lost`` is less.
        resource_type: of the names.
        principals: who, as the second cluster calls them.
        operations: which.
        names: on which names, in words.
        hosts: from where, in words.
        example: one such request, under the names of the second cluster.
        causes: what decides it in the first and in the second cluster; None where the request has
            no counterpart.
        only_in: the cluster in which alone the topic exists; None if that is not so.
    """

    kind: str
    resource_type: str
    principals: tuple[NameClass, ...]
    operations: tuple[str, ...]
    names: str
    hosts: str
    example: Request
    causes: tuple[Cause | None, Cause | None]
    only_in: int | None = None


@dataclass(frozen=True, kw_only=True)
class ClusterDifference(Compared):
    """What differs between two clusters, under the names of the second.

    Attributes:
        clusters: both, with their own names.
        maps: the rules for names.
        lines: what differs in access; first what is more in the second cluster.
        is_partial: known names alone were compared.
        inexact: ACLs of either cluster because of which only known names were compared.
        supers: the super users of one cluster alone, by cluster.
        left_out: access that has no counterpart, because the principal or the names have none; a
            line has the names of the cluster that allows it.
        left_out_supers: the super users of each cluster that have no counterpart.
        is_left_out_known: ``left_out`` is all of it.
    """

    clusters: tuple[State, State]
    maps: Maps
    lines: tuple[AccessDifference, ...]
    is_partial: bool
    inexact: tuple[Acl, ...]
    supers: tuple[tuple[str, ...], tuple[str, ...]]
    left_out: tuple[AccessDifference, ...] = ()
    left_out_supers: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    is_left_out_known: bool = True

    @property
    def shared(self) -> tuple[AccessDifference, ...]:
        """The differences that are not about a topic of one cluster alone."""
        return tuple(line for line in self.lines if line.only_in is None)

    @property
    def apart(self) -> tuple[AccessDifference, ...]:
        """The differences about topics of one cluster alone."""
        return tuple(line for line in self.lines if line.only_in is not None)

    def who(self, kind: str) -> set[str]:
        """Return the principals, by a name each, that can do more or less in the second cluster."""
        named = {each.name for line in self.shared if line.kind == kind for each in line.principals}
        return named | set(self.supers[SECOND if kind == GAINED else FIRST])

    @cached_property
    def known_one_by_one(self) -> frozenset[str]:
        """Those of ``who`` that are one principal; another name stands for all others."""
        lines = (each for line in self.shared for each in line.principals)
        return frozenset(chain((e.name for e in lines if e.is_single), *self.supers))

    def without_counterpart_who(self, kind: str) -> set[str]:
        """Return the principals, by a name each, whose access in one cluster has no counterpart."""
        lines = (line for line in self.left_out if line.kind == kind)
        named = {each.name for line in lines for each in line.principals}
        return named | set(self.left_out_supers[SECOND if kind == GAINED else FIRST])

    def has(self, kind: str) -> bool:
        """Whether access differs so, or has no counterpart; topics of one cluster alone aside."""
        return bool(self.who(kind) or self.without_counterpart_who(kind))

    @property
    def is_known(self) -> bool:
        """Whether nothing is open: the search limit was not reached, and all members are known."""
        return self.is_searched and not self.of_members

    @property
    def why_unknown(self) -> str:
        """Why not all is known, in words."""
        if self.is_searched:
            return "the members of roles and groups are not known here"
        return super().why_unknown

    @property
    def is_searched(self) -> bool:
        """Whether nothing was left open by the search limit."""
        return self.is_left_out_known and self.comparison.difference.is_known

    @cached_property
    def of_members(self) -> bool:
        """Whether ACLs of a cluster decide on members that are not known."""
        return any(
            has_unknown_members(acl.principal, each.semantics)
            for each in self.clusters
            for acl in each.acls.values()
        )

    @cached_property
    def only_topics(self) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """The topics that exist in one cluster alone, by its own names; None if unknown."""
        known = [cluster.inventory.topics for cluster in self.clusters]
        if None in known:
            return None
        images = [topic_images(self.maps, self.clusters[at], at) for at in (FIRST, SECOND)]
        first, second = (
            tuple(sorted(own for image, own in images[at].items() if image not in images[1 - at]))
            for at in (FIRST, SECOND)
        )
        return first, second

    @cached_property
    def _people(self) -> tuple[frozenset[str | None], frozenset[str | None]]:
        first, second = (
            frozenset(self.maps.principal(name, at) for name in cluster.inventory.principals)
            for at, cluster in enumerate(self.clusters)
        )
        return first, second

    def unknown_in(self, line: AccessDifference) -> int | None:
        """Return the cluster that knows none of the principals of a difference."""
        names = [each.name for each in line.principals]
        knowing = [not known.isdisjoint(names) for known in self._people]
        return None if knowing[0] == knowing[1] else SECOND if knowing[0] else FIRST

    @cached_property
    def without_counterpart(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The known principals and resources of each cluster that the rules leave out."""
        first, second = (_left_out(self.maps, self.clusters[at], at) for at in (FIRST, SECOND))
        return first, second


def topic_images(maps: Maps, cluster: State, side: int) -> dict[str, str]:
    """Return the topics that exist in a cluster, as the second calls them → as it does."""
    owns = cluster.inventory.topics or ()
    images = ((maps.resource(Resource("TOPIC", own), side), own) for own in owns)
    return {image.resource_name: own for image, own in images if image is not None}


def _left_out(maps: Maps, cluster: State, side: int) -> tuple[str, ...]:
    people: Iterable[str] = (
        name for name in cluster.inventory.principals if maps.principal(name, side) is None
    )
    places = (str(r) for r in cluster.inventory.resources if maps.resource(r, side) is None)
    return tuple(chain(people, places))
