"""Two clusters and rules for names → the decisions that differ, with the ACLs of both. Pure.

Everything is compared under the names of the second cluster. What decides for names without a
counterpart is made equal: a DENY in both. A principal that is a super user of one cluster alone is
reported as such, and is one of both for the comparison: it could do everything in one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple

from aclkit.model.acl import ANY_OTHER_PRINCIPAL, Acl, Request
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.phrases import few
from aclkit.model.principal import WILDCARD_PRINCIPAL
from aclkit.model.resource import Resource
from aclkit.model.semantics import Semantics
from aclkit.questions.clusters.mapped_acls import FIRST, SECOND, AclMapper, Known, MappedAcls, Maps
from aclkit.questions.preview.access_change import DecisionChange
from aclkit.questions.preview.compare import compare as compare_known
from aclkit.questions.preview.effect import sorted_parts
from aclkit.questions.preview.state import Asked, Change, State
from aclkit.rules.decide.confirm import Comparison, Decider
from aclkit.rules.names.change_lines import ChangeLine, change_lines, hosts_words, where_words
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.compare import GAINED, LOST, Difference
from aclkit.rules.names.question import Budget
from aclkit.rules.names.region import openings, parties
from aclkit.rules.names.rows import Rules, is_plain
from aclkit.rules.patterns.match import LITERAL, PREFIXED

MOST_REGIONS: Final = 200
"""For this many questions the names are listed; the others are shown by an example."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """One of two clusters.

    Attributes:
        label: what it is called in the answer.
        state: its ACLs and the settings of its brokers.
        semantics: how its ACLs are read.
        inventory: the names that it knows.
        topics: the topics that exist; None if its source does not list topics.
        versions: what its brokers are, in words.
        authorizers: the authorizers that its brokers report.
        notes: what is uncertain about it.
    """

    label: str
    state: State
    semantics: Semantics
    inventory: Asked
    topics: frozenset[str] | None = None
    versions: str = ""
    authorizers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


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
        causes: what decides it in the first and in the second cluster.
        only_in: the cluster in which alone the topic exists; None if that is not so.
    """

    kind: str
    resource_type: str
    principals: tuple[NameClass, ...]
    operations: tuple[str, ...]
    names: str
    hosts: str
    example: Request
    causes: tuple[Cause, Cause]
    only_in: int | None = None


@dataclass(frozen=True)
class ClusterDifference:
    """What differs between two clusters.

    Attributes:
        clusters: both.
        maps: the rules for names.
        lines: what differs in access; first what is more in the second cluster.
        difference: the proof for every name; None if only known names were compared.
        budget: how much of the search limit it took.
        inexact: ACLs of either cluster because of which only known names were compared.
        supers: the super users of one cluster alone, by cluster.
    """

    clusters: tuple[Cluster, Cluster]
    maps: Maps
    lines: tuple[AccessDifference, ...]
    difference: Difference | None
    budget: Budget
    inexact: tuple[Acl, ...]
    supers: tuple[tuple[str, ...], tuple[str, ...]]

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

    def has(self, kind: str) -> bool:
        """Whether access differs so, names of one cluster alone aside."""
        return bool(self.who(kind))

    @property
    def is_partial(self) -> bool:
        """Whether known names alone were compared."""
        return self.difference is None

    @property
    def is_known(self) -> bool:
        """Whether nothing was left open by the search limit."""
        return self.difference is None or self.difference.is_known

    @cached_property
    def only_topics(self) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """The topics that exist in one cluster alone, by its own names; None if unknown."""
        known = [cluster.topics for cluster in self.clusters]
        if None in known:
            return None
        images = [_topic_images(self.maps, self.clusters[at], at) for at in (FIRST, SECOND)]
        first, second = (
            tuple(sorted(own for image, own in images[at].items() if image not in images[1 - at]))
            for at in (FIRST, SECOND)
        )
        return first, second

    @cached_property
    def without_counterpart(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The known principals and resources of each cluster that the rules leave out."""
        first, second = (_left_out(self.maps, self.clusters[at], at) for at in (FIRST, SECOND))
        return first, second


def compare_clusters(
    first: Cluster, second: Cluster, maps: Maps, budget: Budget | None = None
) -> ClusterDifference:
    """Compare who can do what in two clusters, for every name where that can be proven.

    Args:
        first: the one.
        second: the other; differences are written as what is more or less in this one.
        maps: which names of the first are which of the second.
        budget: the search limit.
    """
    budget = budget or Budget()
    clusters = first, second
    asked = _asked(clusters, maps)
    mapped = [_mapped(cluster, at, maps, asked) for at, cluster in enumerate(clusters)]
    supers = [_supers(cluster, at, maps) for at, cluster in enumerate(clusters)]
    inexact = (*mapped[0].inexact, *mapped[1].inexact)
    is_partial = bool(inexact) or _has_gaps(clusters, maps)
    shut = () if is_partial else _shut(maps)
    change = _change(clusters, mapped, supers[0] | supers[1], shut)
    teller = _Teller(clusters, maps, change, (mapped[0], mapped[1]), asked)
    difference = None
    if is_partial:
        lines = teller.of_known_names()
    else:
        found = Comparison.of(change.rules_before, change.rules_after, budget)
        difference, lines = found.difference, teller.of_every_name(found.difference, budget)
    return ClusterDifference(
        clusters=clusters,
        maps=maps,
        lines=tuple(lines),
        difference=difference,
        budget=budget,
        inexact=inexact,
        supers=(tuple(sorted(supers[0] - supers[1])), tuple(sorted(supers[1] - supers[0]))),
    )


def _has_gaps(clusters: Sequence[Cluster], maps: Maps) -> bool:
    """Whether some names without a counterpart are more than ACLs can shut.

    They have others below them, or they are what is left where no name stays and a default allows.
    """
    used = maps.names, maps.principals
    if any(any(names.splits()) for names in used):
        return True
    first, second = (cluster.state.settings.allow_everyone for cluster in clusters)
    return first != second and any(all(rule.theirs for rule in names.rules) for names in used)


def _asked(clusters: Sequence[Cluster], maps: Maps) -> Asked:
    """Return the known names of both clusters that have a counterpart, as the second has them."""
    principals: set[str] = set()
    resources: set[Resource] = set()
    for side, cluster in enumerate(clusters):
        for name in cluster.inventory.principals:
            image = maps.principal(name, side)
            if name != ANY_OTHER_PRINCIPAL and image is not None:
                principals.add(image)
        for resource in cluster.inventory.resources:
            place = maps.resource(resource, side)
            if "<any-other>" not in resource.resource_name and place is not None:
                resources.add(place)
    return Asked(
        principals=tuple(sorted(principals)),
        hosts=tuple(sorted({host for each in clusters for host in each.inventory.hosts})),
        resources=tuple(sorted(resources)),
    )


def _mapped(cluster: Cluster, side: int, maps: Maps, asked: Asked) -> MappedAcls:
    """Write a cluster's ACLs with the names of the second."""

    def known(image: str, resource_type: str | None) -> Known:
        names = maps.principals if resource_type is None else maps.of_type(resource_type)
        return Known((names.back(image) or image) if side == FIRST else image, image)

    return AclMapper(
        maps=maps,
        side=side,
        semantics=cluster.semantics,
        principals=[known(name, None) for name in asked.principals],
        resources=grouped((kind, known(name, kind)) for kind, name in asked.resources),
    ).apply(cluster.state.acls.values())


def _supers(cluster: Cluster, side: int, maps: Maps) -> frozenset[str]:
    images = (maps.principal(name, side) for name in cluster.state.settings.super_users)
    return frozenset(image for image in images if image is not None)


def _change(
    clusters: Sequence[Cluster],
    mapped: Sequence[MappedAcls],
    supers: frozenset[str],
    shut: Iterable[Acl],
) -> Change:
    both = {acl.acl_id: acl for acl in shut}
    before, after = (
        State(
            acls={**each.acls, **both},
            settings=replace(cluster.state.settings, super_users=supers),
        )
        for cluster, each in zip(clusters, mapped, strict=True)
    )
    one, other = (cluster.semantics for cluster in clusters)
    return Change(before=before, after=after, semantics=one, semantics_after=other)


def _shut(maps: Maps) -> Iterator[Acl]:
    """Yield ACLs that decide alike in both clusters about names without a counterpart."""
    for kind in OPERATIONS_OF_TYPE:
        names = maps.of_type(kind)
        for prefix in dict.fromkeys(names.left_out()):
            yield _denied(kind, PREFIXED, prefix)
        for rule in names.rules:
            if rule.has_one_side:
                yield _denied(kind, LITERAL, rule.theirs)
                yield _denied(kind, PREFIXED, f"{rule.theirs}*")


def _denied(kind: str, pattern_type: str, name: str) -> Acl:
    acl = Acl(
        acl_id="", resource_type=kind, resource_name=name, pattern_type=pattern_type,
        principal=WILDCARD_PRINCIPAL, host="*", operation="ALL", permission_type="DENY",
    )  # fmt: skip
    return replace(acl, acl_id=f"no counterpart: {acl.binding!r}")


class _Teller:
    """Writes what differs, with the names and the ACLs of both clusters."""

    def __init__(
        self,
        clusters: tuple[Cluster, Cluster],
        maps: Maps,
        change: Change,
        mapped: tuple[MappedAcls, MappedAcls],
        asked: Asked,
    ) -> None:
        self._change, self._mapped, self._asked = change, mapped, asked
        self._known = grouped(asked.resources)
        topics = [_topics(maps, cluster, at) for at, cluster in enumerate(clusters)]
        self._topics = topics if None not in topics else None

    def of_every_name(self, difference: Difference, budget: Budget) -> list[AccessDifference]:
        """Return the lines of a proof."""
        # What tells which names these are may take as much again; it is no part of the proof.
        telling = Budget(per_question=budget.per_question, total=budget.total)
        found = openings(difference, telling, MOST_REGIONS)
        return [self._line(line) for line in change_lines(found)]

    def _line(self, line: ChangeLine) -> AccessDifference:
        party = line.party
        resource = Resource(line.resource_type, line.shortest)
        request = Request.of(
            party.principals[0].name, party.hosts[0].name, party.operations[0], resource
        )
        is_one = line.region is not None and is_plain(line.region.pattern)
        return AccessDifference(
            kind=line.kind,
            resource_type=line.resource_type,
            principals=party.principals,
            operations=party.operations,
            names=where_words(line, self._known.get(line.resource_type, ())),
            hosts=hosts_words(party.hosts),
            example=request,
            causes=self._causes(request),
            only_in=self._only_in(resource) if is_one else None,
        )

    def of_known_names(self) -> list[AccessDifference]:
        """Return the lines of known names alone: names with the same difference are one line."""
        parts = sorted_parts(compare_known(self._change, self._asked))
        same = grouped(
            (
                (change.kind, part.resource.resource_type, who, change.hosts, change.operation),
                part.resource,
            )
            for part in parts
            for principals, outcome in part.outcomes
            for change in outcome.changes
            if _is_access(change)
            for who in principals
        )
        lines = grouped(
            ((kind, resource_type, who, hosts, self._only_in(resource), resource), operation)
            for (kind, resource_type, who, hosts, operation), resources in same.items()
            for resource in resources
        )
        places = grouped(
            ((kind, resource_type, who, hosts, only_in, tuple(operations)), resource)
            for (kind, resource_type, who, hosts, only_in, resource), operations in lines.items()
        )
        found = [self._known_line(key, resources) for key, resources in places.items()]
        return sorted(found, key=lambda each: (each.kind != GAINED, each.principals[0].name))

    def _known_line(
        self,
        key: tuple[str, str, str, tuple[str, ...], int | None, tuple[str, ...]],
        resources: Sequence[Resource],
    ) -> AccessDifference:
        kind, resource_type, who, hosts, only_in, operations = key
        request = Request.of(who, hosts[0], operations[0], resources[0])
        is_any = len(hosts) == len(self._asked.hosts)
        ((party),) = parties([(_one(who), _one(hosts[0]), each) for each in operations])
        return AccessDifference(
            kind=kind,
            resource_type=resource_type,
            principals=party.principals,
            operations=party.operations,
            names=few(str(resource) for resource in resources),
            hosts="any host" if is_any else few(hosts),
            example=request,
            causes=self._causes(request),
            only_in=only_in,
        )

    @cached_property
    def _deciders(self) -> tuple[Decider, Decider]:
        return _decider(self._change.rules_before), _decider(self._change.rules_after)

    def _causes(self, request: Request) -> tuple[Cause, Cause]:
        """Decide a request in both clusters, and name the ACLs as these have them."""
        causes = []
        for decider, mapped in zip(self._deciders, self._mapped, strict=True):
            ruling = decider.index.decide(request, decider.settings)
            original = mapped.originals.get(ruling.acl_id or "")
            causes.append(Cause(ruling.decision, ruling.rule, original))
        return causes[0], causes[1]

    def _only_in(self, resource: Resource) -> int | None:
        """Return the cluster in which alone a topic exists."""
        if self._topics is None or resource.resource_type != "TOPIC":
            return None
        first, second = (resource.resource_name in (names or ()) for names in self._topics)
        return None if first == second else FIRST if first else SECOND


def _decider(rules: Rules) -> Decider:
    return Decider.of(rules)


def _is_access(change: DecisionChange) -> bool:
    return change.kind in (GAINED, LOST)


def _one(name: str) -> NameClass:
    return NameClass(name, frozenset({tuple(name)}))


def _topic_images(maps: Maps, cluster: Cluster, side: int) -> dict[str, str]:
    """Return the topics that exist in a cluster, as the second calls them → as it does."""
    owns = cluster.topics or ()
    images = ((maps.resource(Resource("TOPIC", own), side), own) for own in owns)
    return {image.resource_name: own for image, own in images if image is not None}


def _topics(maps: Maps, cluster: Cluster, side: int) -> frozenset[str] | None:
    return None if cluster.topics is None else frozenset(_topic_images(maps, cluster, side))


def _left_out(maps: Maps, cluster: Cluster, side: int) -> tuple[str, ...]:
    people: Iterable[str] = (
        name for name in cluster.inventory.principals if maps.principal(name, side) is None
    )
    places = (str(r) for r in cluster.inventory.resources if maps.resource(r, side) is None)
    return tuple(chain(people, places))
