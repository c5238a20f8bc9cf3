"""Two clusters and rules for names → the decisions that differ, with the ACLs of both. Pure.

Everything is compared under the names of the second cluster. What decides for names without a
counterpart is made equal, a DENY in both; ``left_out.py`` finds their access. A principal that is
a super user of one cluster alone is reported as such, and is one of both for the comparison: it
could do everything in one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from aclkit.model.acl import ANY_OTHER_PRINCIPAL, Acl, Request
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.phrases import few
from aclkit.model.principal import WILDCARD_PRINCIPAL
from aclkit.model.resource import Resource
from aclkit.questions.clusters.difference import (
    AccessDifference,
    Cause,
    ClusterDifference,
    topic_images,
)
from aclkit.questions.clusters.left_out import find_left_out
from aclkit.questions.clusters.mapped_acls import FIRST, SECOND, AclMapper, Known, MappedAcls, Maps
from aclkit.questions.difference.access_change import DecisionChange, ResourceChanges
from aclkit.questions.difference.change import Change
from aclkit.questions.difference.compare import compare as compare_known
from aclkit.questions.difference.effect import Effect, sorted_parts
from aclkit.questions.state import Inventory, State
from aclkit.rules.decide.confirm import Comparison, Decider
from aclkit.rules.names.change_lines import ChangeLine, change_lines, hosts_words, where_words
from aclkit.rules.names.classes import NameClass
from aclkit.rules.names.compare import GAINED, LOST, Difference
from aclkit.rules.names.question import Budget
from aclkit.rules.names.region import RegionChange, openings, parties
from aclkit.rules.names.rows import is_plain
from aclkit.rules.patterns.match import LITERAL, PREFIXED


def compare_clusters(
    first: State, second: State, maps: Maps, budget: Budget | None = None
) -> ClusterDifference:
    """Compare who can do what in two clusters, for every name where that can be proven.

    Args:
        first: the one.
        second: the other; differences are written as what is more or less in this one.
        maps: which names of the first are which of the second.
        budget: the search limit.
    """
    budget = budget or Budget()
    if first.label == second.label:
        first = replace(first, label=f"{first.label} (first)")
        second = replace(second, label=f"{second.label} (second)")
    clusters = first, second
    asked = _asked(clusters, maps)
    mapped = [_mapped(cluster, at, maps, asked) for at, cluster in enumerate(clusters)]
    supers = [_supers(cluster, at, maps) for at, cluster in enumerate(clusters)]
    left_out = find_left_out(clusters, [each.left_out for each in mapped], budget)
    inexact = (*mapped[0].inexact, *mapped[1].inexact)
    is_partial = bool(inexact) or _has_gaps(clusters, maps)
    shut = () if is_partial else _shut(maps)
    change = _change(clusters, mapped, supers[0] | supers[1], shut)
    teller = _Teller(clusters, maps, change, (mapped[0], mapped[1]), asked)
    known = sorted_parts(compare_known(change, asked)) if is_partial else []
    comparison = _compare(change, budget, is_partial=is_partial)
    # What tells which names these are may take as much again; it is no part of the proof.
    telling = Budget(per_question=budget.per_question, total=budget.total)
    told = openings(comparison.difference, telling)
    lines = teller.of_known_names(known) if is_partial else teller.of_every_name(comparison, told)
    return ClusterDifference(
        change=change,
        asked=asked,
        effect=Effect(parts=known, acls={**change.before.acls, **change.after.acls}),
        comparison=comparison,
        openings=tuple(told),
        budget=budget,
        clusters=clusters,
        maps=maps,
        lines=tuple(lines),
        is_partial=is_partial,
        inexact=inexact,
        supers=(tuple(sorted(supers[0] - supers[1])), tuple(sorted(supers[1] - supers[0]))),
        left_out=left_out.lines,
        left_out_supers=(
            _left_out_supers(first, FIRST, maps),
            _left_out_supers(second, SECOND, maps),
        ),
        is_left_out_known=left_out.is_known,
    )


def _compare(change: Change, budget: Budget, *, is_partial: bool) -> Comparison:
    """Compare every name; nothing is found where known names alone can be compared."""
    rules = change.before.rules, change.after.rules
    if is_partial:
        return Comparison(Difference(changes=(), unknown=(), is_complete=True), *rules)
    return Comparison.of(*rules, budget)


def _has_gaps(clusters: Sequence[State], maps: Maps) -> bool:
    """Whether some names without a counterpart are more than ACLs can shut.

    They have others below them, or they are what is left where no name stays and a default allows.
    """
    used = maps.names, maps.principals
    if any(any(names.splits()) for names in used):
        return True
    first, second = (cluster.settings.allow_everyone for cluster in clusters)
    return first != second and any(all(rule.theirs for rule in names.rules) for names in used)


def _asked(clusters: Sequence[State], maps: Maps) -> Inventory:
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
    return Inventory(
        principals=tuple(sorted(principals)),
        hosts=tuple(sorted({host for each in clusters for host in each.inventory.hosts})),
        resources=tuple(sorted(resources)),
    )


def _mapped(cluster: State, side: int, maps: Maps, asked: Inventory) -> MappedAcls:
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
    ).apply(cluster.acls.values())


def _supers(cluster: State, side: int, maps: Maps) -> frozenset[str]:
    images = (maps.principal(name, side) for name in cluster.settings.super_users)
    return frozenset(image for image in images if image is not None)


def _left_out_supers(cluster: State, side: int, maps: Maps) -> tuple[str, ...]:
    names = cluster.settings.super_users
    return tuple(sorted(name for name in names if maps.principal(name, side) is None))


def _change(
    clusters: Sequence[State],
    mapped: Sequence[MappedAcls],
    supers: frozenset[str],
    shut: Iterable[Acl],
) -> Change:
    both = {acl.acl_id: acl for acl in shut}
    before, after = (
        replace(
            cluster,
            acls={**each.acls, **both},
            settings=replace(cluster.settings, super_users=supers),
        )
        for cluster, each in zip(clusters, mapped, strict=True)
    )
    return Change(before=before, after=after)


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


_Deciders = tuple[Decider, Decider]


class _Teller:
    """Writes what differs, with the names and the ACLs of both clusters."""

    def __init__(
        self,
        clusters: tuple[State, State],
        maps: Maps,
        change: Change,
        mapped: tuple[MappedAcls, MappedAcls],
        asked: Inventory,
    ) -> None:
        self._change, self._mapped, self._asked = change, mapped, asked
        self._known = grouped(asked.resources)
        topics = [_topics(maps, cluster, at) for at, cluster in enumerate(clusters)]
        self._topics = topics if None not in topics else None

    def of_every_name(
        self, comparison: Comparison, told: Sequence[RegionChange]
    ) -> list[AccessDifference]:
        """Return the lines of a proof."""
        deciders = comparison.deciders if told else None
        return [self._line(line, deciders) for line in change_lines(told)] if deciders else []

    def _line(self, line: ChangeLine, deciders: _Deciders) -> AccessDifference:
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
            causes=self._causes(request, deciders),
            only_in=self._only_in(resource) if is_one else None,
        )

    def of_known_names(self, parts: Sequence[ResourceChanges]) -> list[AccessDifference]:
        """Return the lines of known names alone: names with the same difference are one line."""
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
        deciders = Decider.of(self._change.before.rules), Decider.of(self._change.after.rules)
        found = [self._known_line(key, each, deciders) for key, each in places.items()]
        return sorted(found, key=lambda each: (each.kind != GAINED, each.principals[0].name))

    def _known_line(
        self,
        key: tuple[str, str, str, tuple[str, ...], int | None, tuple[str, ...]],
        resources: Sequence[Resource],
        deciders: _Deciders,
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
            causes=self._causes(request, deciders),
            only_in=only_in,
        )

    def _causes(self, request: Request, deciders: _Deciders) -> tuple[Cause, Cause]:
        """Decide a request in both clusters, and name the ACLs as these have them."""
        causes = []
        for decider, mapped in zip(deciders, self._mapped, strict=True):
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


def _is_access(change: DecisionChange) -> bool:
    return change.kind in (GAINED, LOST)


def _one(name: str) -> NameClass:
    return NameClass(name, frozenset({tuple(name)}))


def _topics(maps: Maps, cluster: State, side: int) -> frozenset[str] | None:
    is_known = cluster.inventory.topics is not None
    return frozenset(topic_images(maps, cluster, side)) if is_known else None
