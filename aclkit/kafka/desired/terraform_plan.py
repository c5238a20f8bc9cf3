"""A plan of Terraform or OpenTofu, as ``show -json`` writes it → the changes of its ACLs.

A plan holds what it does: ``before`` and ``after`` of each resource. Its configuration is read for
two things only: which created resource makes an unknown principal, and which cluster a resource
is for. Variables and attributes of other resources are never shown: secrets stand there in clear
text.

Source: Terraform's "JSON Output Format", and files of OpenTofu 1.12.6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from aclkit.kafka.desired.formats import Format, PartBuilder
from aclkit.kafka.desired.model import (
    DesiredAcl,
    Document,
    Part,
    Place,
    Problem,
    ResourceChange,
)
from aclkit.kafka.desired.plan_effect import plan_notes
from aclkit.kafka.desired.terraform_config import Configuration
from aclkit.kafka.desired.terraform_files import HOW, holds_plan, read_json
from aclkit.kafka.desired.terraform_kinds import (
    CONFLUENT,
    Kind,
    Side,
    as_list,
    as_mapping,
    as_text,
    cluster_of,
    kind_of,
    read_acl,
)
from aclkit.model.phrases import few, number_of

NAME: Final = "terraform-plan"

_KEEPS: Final = (("no-op",), ("read",), ("update",))
_CREATES: Final = (("create",), ("create", "forget"), ("forget", "create"))
_DELETES: Final = (("delete",),)
_REPLACES: Final = (("delete", "create"), ("create", "delete"))
_FORGETS: Final = (("forget",), ("create", "forget"), ("forget", "create"))
_ACTIONS: Final = frozenset((*_KEEPS, *_CREATES, *_DELETES, *_REPLACES, *_FORGETS))


@dataclass(slots=True)
class _Plans(PartBuilder):
    """What is read of the plans of one document.

    Attributes:
        moving: kinds of resources that may hold ACLs, are not read, and change.
        unclear: the addresses of deferred changes of ACLs with unknown fields.
    """

    moving: Counter[str] = field(default_factory=Counter)
    unclear: list[str] = field(default_factory=list)


def read_plan(document: Document) -> Part:
    """Read all plans of a document; each resource that holds an ACL is one change."""
    found = read_json(document, "plan", HOW)
    reading = _Plans(document, problems=list(found.problems))
    if not found.problems:
        for plan in found.objects:
            _read_one(reading, plan)
    reading.notes += _unnamed(reading.changes)
    changes = _with_doubt(reading.changes)
    reading.notes += dict.fromkeys(plan_notes(changes))
    return replace(
        reading.part(NAME, "change"),
        acls=list(_after(changes)),
        changes=changes,
        unjudged=_unjudged(reading.moving),
        unknown=_unknown(reading.unclear),
    )


FORMATS: Final[tuple[Format, ...]] = (
    Format(
        name=NAME,
        title="Terraform or OpenTofu plan (show -json)",
        holds=holds_plan,
        read=read_plan,
    ),
)


def _after(changes: Sequence[ResourceChange]) -> Iterator[DesiredAcl]:
    """Yield the ACLs that the resources hold after the plan."""
    for change in changes:
        held = change.creates or change.keeps
        if held is not None and not change.is_deferred:
            yield held


def _read_one(reading: _Plans, plan: Mapping[str, object]) -> None:
    if plan.get("errored") is True:
        text = "This plan ended with an error, so it lacks resources. Correct the error, plan again"
        reading.refuse(0, text)
        return
    resources = plan.get("resource_changes")
    if resources is None and not _OTHERWISE_A_PLAN & plan.keys():
        reading.refuse(0, f"This plan has no changes in it. Run: {HOW}")
    elif resources is not None and not isinstance(resources, list):
        reading.refuse(0, f"resource_changes is no list. Run: {HOW}")
    _read_resources(reading, plan, as_list(resources))
    reading.notes += _notes(plan)


_OTHERWISE_A_PLAN: Final = frozenset(("planned_values", "resource_drift", "deferred_changes"))


def _read_resources(
    reading: _Plans, plan: Mapping[str, object], resources: Sequence[object]
) -> None:
    configuration = Configuration(plan)
    deferred = [as_mapping(each).get("resource_change") for each in _deferred(plan)]
    clusters = _Clusters(configuration, [*resources, *deferred])
    _read_deferred(reading, configuration, clusters, deferred)
    for at, value in enumerate(resources):
        resource = as_mapping(value)
        kind, unread = kind_of(resource)
        if kind is not None:
            address = resource.get("address")
            if isinstance(address, str) and address:
                reader = _Reader(reading.document, resource, kind, configuration, clusters)
                reading.changes += reader.changes()
                reading.problems += reader.problems
            else:
                reading.refuse(0, f"It has no address. Run: {HOW}", f"resource_changes[{at}]")
        elif unread:
            reading.unread[unread] += 1
            reading.moving[unread] += _moves(resource)
        elif not isinstance(resource.get("type"), str):
            reading.refuse(
                0, f"It is no change of a resource. Run: {HOW}", f"resource_changes[{at}]"
            )


def _deferred(plan: Mapping[str, object]) -> list[object]:
    return as_list(plan.get("deferred_changes"))


def _read_deferred(
    reading: _Plans,
    configuration: Configuration,
    clusters: _Clusters,
    resources: Iterable[object],
) -> None:
    """Read the changes that the plan leaves for a later one; their fields may be unknown."""
    for resource in map(as_mapping, resources):
        kind, unread = kind_of(resource)
        address = as_text(resource.get("address"))
        if kind is not None and address:
            reader = _Reader(reading.document, resource, kind, configuration, clusters)
            found = reader.changes()
            if reader.problems:
                reading.unclear.append(address)
            reading.changes += [replace(each, is_deferred=True) for each in found]
        elif unread:
            reading.unread[unread] += 1
            reading.moving[unread] += 1


def _moves(resource: Mapping[str, object]) -> bool:
    """Whether a resource changes."""
    actions = tuple(map(as_text, as_list(as_mapping(resource.get("change")).get("actions"))))
    return actions not in (("no-op",), ("read",))


def _unjudged(moving: Counter[str]) -> list[str]:
    kinds = [f"{number} {kind}" for kind, number in sorted(moving.items()) if number]
    return [f"{few(kinds)}, which the plan changes and aclkit does not read"] if kinds else []


def _unknown(addresses: Sequence[str]) -> list[str]:
    if not addresses:
        return []
    what = number_of(len(addresses), "deferred change")
    return [f"{what} with unknown fields ({few(addresses)})"]


def _with_doubt(changes: Sequence[ResourceChange]) -> list[ResourceChange]:
    """Mark what may be for another cluster, because the plan is for several."""
    named = {change.cluster for change in changes if change.cluster is not None}
    return [
        replace(change, is_elsewhere_perhaps=change.cluster is None and bool(named))
        for change in changes
    ]


class _Clusters:
    """The clusters of the ACLs of one plan, as far as the plan names them.

    A provider's configuration has no name but its alias. So the configuration names the cluster
    where it has an alias, and where the ACLs of a plan use several configurations.
    """

    def __init__(self, configuration: Configuration, resources: Sequence[object]) -> None:
        self._configuration = configuration
        used = set[tuple[str, str]]()
        for resource in map(as_mapping, resources):
            kind, _ = kind_of(resource)
            key = configuration.provider_key(resource) if kind is not None else ""
            # A resource that left the configuration has no provider there.
            used.update([(kind.name, key)] if kind is not None and key else [])
        self._are_several = len(used) > 1

    def of(self, resource: Mapping[str, object], kind: Kind, side: Side) -> str | None:
        """Return the cluster of an ACL; None where nothing names it."""
        named = cluster_of(kind, side)
        if named is not None:
            return named
        if kind is CONFLUENT and self._is_unknown(side):
            made = self._configuration.creator(resource, ("kafka_cluster", 0, "id"))
            return f"<known after apply: {made or as_text(resource.get('address'))}>"
        key = self._configuration.provider_key(resource)
        return key if key and (self._are_several or "." in key.rpartition(":")[2]) else None

    def _is_unknown(self, side: Side) -> bool:
        unknown = as_mapping(side.unknown).get("kafka_cluster")
        block = (as_list(unknown) or [None])[0]
        return unknown is True or block is True or as_mapping(block).get("id") is True


@dataclass(slots=True)
class _Reader:
    """Reads the change of one resource."""

    document: Document
    resource: Mapping[str, object]
    kind: Kind
    configuration: Configuration
    clusters: _Clusters
    problems: list[Problem] = field(default_factory=list)

    @property
    def place(self) -> Place:
        """The address; an object that waits for its deletion has the name that plans print."""
        address, deposed = self.resource["address"], self.resource.get("deposed")
        more = f" (deposed object {deposed[:60]})" if isinstance(deposed, str) else ""
        return self.document.place(address=f"{address}{more}")

    def changes(self) -> list[ResourceChange]:
        """Return the change; two where an ACL moves from one cluster to another one."""
        change = as_mapping(self.resource.get("change"))
        names = as_list(change.get("actions"))
        actions = tuple(map(as_text, names))
        if actions not in _ACTIONS:
            self._wrong(
                f"Unknown actions '{', '.join(actions)[:60]}'. Make the plan with a released "
                "Terraform or OpenTofu, or update aclkit"
            )
            return []
        before = Side(change.get("before"), None, change.get("before_sensitive"))
        after = Side(
            change.get("after"), change.get("after_unknown"), change.get("after_sensitive")
        )
        if actions in _KEEPS:
            return self._kept(actions, before, after)
        has_old = actions in (*_DELETES, *_REPLACES, *_FORGETS)
        old = self._acl(before) if has_old else None
        new = self._acl(after) if actions in (*_CREATES, *_REPLACES) else None
        return [] if self.problems else self._changed(actions, old, new)

    def _changed(
        self, actions: tuple[str, ...], old: DesiredAcl | None, new: DesiredAcl | None
    ) -> list[ResourceChange]:
        either = new or old
        whole = ResourceChange(
            place=self.place,
            actions=actions,
            deletes=None if actions in _FORGETS else old,
            creates=new,
            forgets=old if actions in _FORGETS else None,
            is_create_first=actions[0] == "create" and len(actions) > 1,
            cluster=either.cluster if either else None,
        )
        if old is None or new is None or old.cluster == new.cluster:
            return [whole]
        return [
            replace(whole, creates=None, cluster=old.cluster),
            replace(whole, deletes=None, forgets=None),
        ]

    def _kept(self, actions: tuple[str, ...], before: Side, after: Side) -> list[ResourceChange]:
        """Return the change of a resource that keeps its ACL."""
        old = self._acl(before) if before.values is not None else None
        new = self._acl(after) if not self.problems else None
        if new is None:
            return []
        if old is not None and (old.binding, old.cluster) != (new.binding, new.cluster):
            self._wrong(
                f"The action is {actions[0]}, but the ACL changes. The provider replaces an ACL. "
                f"Make the file again: {HOW}"
            )
            return []
        marked = new.sensitive | (old.sensitive if old else frozenset())
        return [
            ResourceChange(
                place=self.place,
                actions=actions,
                keeps=replace(new, sensitive=marked),
                cluster=new.cluster,
            )
        ]

    def _acl(self, side: Side) -> DesiredAcl | None:
        if not isinstance(side.values, dict):
            self._wrong(f"The attributes of the ACL are missing. Make the file again: {HOW}")
            return None
        cluster = self.clusters.of(self.resource, self.kind, side)
        found = read_acl(self.kind, side, self.place, cluster, self._source)
        if isinstance(found, DesiredAcl):
            return found
        self.problems += [each for each in found if each not in self.problems]
        return None

    def _source(self) -> str | None:
        return self.configuration.creator(self.resource, (self.kind.attributes["principal"],))

    def _wrong(self, text: str) -> None:
        self.problems.append(Problem(self.place, text))


def _unnamed(changes: Sequence[ResourceChange]) -> list[str]:
    """Return the note on resources whose cluster is unknown in a plan for several."""
    unnamed = [change.place.address for change in changes if change.cluster is None]
    if not unnamed or len(unnamed) == len(changes):
        return []
    return [
        f"{number_of(len(unnamed), 'resource')} without a provider in the configuration "
        f"({few(unnamed)}): the cluster is unknown, so each cluster counts."
    ]


def _notes(plan: Mapping[str, object]) -> Iterator[str]:
    """Yield what a reader must know about a plan, in addition to its changes."""
    drifted = [
        as_text(resource.get("address"))
        for resource in map(as_mapping, as_list(plan.get("resource_drift")))
        if kind_of(resource)[0] is not None
    ]
    if drifted:
        yield (
            f"{number_of(len(drifted), 'ACL')} changed outside Terraform since the last apply, "
            f"as resource_drift lists: {few(drifted)}. The plan's own changes count."
        )
    if plan.get("complete") is False:
        yield "This plan is not complete (-target, or deferred changes): more changes can follow."
    literal = [
        as_text(resource.get("address"))
        for resource in map(as_mapping, as_list(plan.get("resource_changes")))
        if _has_asterisk(resource)
    ]
    if literal:
        yield (
            f"{number_of(len(literal), 'prefixed ACL')} with a name that ends in an asterisk "
            f"({few(literal)}): Kafka takes the asterisk as a letter. Remove it to cover all "
            "names with the prefix."
        )


def _has_asterisk(resource: Mapping[str, object]) -> bool:
    """Whether a resource holds a prefixed ACL whose name looks like a pattern."""
    kind, _ = kind_of(resource)
    if kind is None:
        return False
    after = as_mapping(as_mapping(resource.get("change")).get("after"))
    name = after.get("resource_name")
    return (
        after.get(kind.attributes["pattern_type"]) in ("Prefixed", "PREFIXED")
        and isinstance(name, str)
        and name.endswith("*")
    )
