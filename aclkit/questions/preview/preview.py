"""A change and an inventory → verdict, what differs, and what it opens or closes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from aclkit.model.resource import Resource
from aclkit.questions.preview.access_change import (
    GAINED,
    KINDS,
    LOST,
    PrincipalChanges,
    ResourceChanges,
)
from aclkit.questions.preview.compare import compare
from aclkit.questions.preview.effect import (
    MORE,
    ChangedCell,
    ChangedLine,
    Effect,
    sorted_parts,
    verdict_of,
)
from aclkit.questions.preview.proof import prove
from aclkit.questions.preview.state import Asked, Change, with_named
from aclkit.questions.preview.witness import Witness, find_witnesses


@dataclass(frozen=True, slots=True, kw_only=True)
class ToCome:
    """What differs for a name that stands for names to come."""

    witness: Witness
    effect: Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The effect of a change.

    Attributes:
        change: what was compared.
        asked: the inventory, and what the change's ACLs name beyond it.
        named: how many principals, hosts and resources stand in no inventory.
        witnesses: names that stand for those to come.
        effect: what differs among what is asked about.
        to_come: what differs for witnesses that are not asked about, and, of patterns that reach
            every name, for the inventory's own "any other".
        verdict: equivalent, more, less or incomparable, by all of these.
        proof: which part of the verdict is proven for every name; None where none is.
    """

    change: Change
    asked: Asked
    named: int
    witnesses: tuple[Witness, ...]
    effect: Effect
    to_come: tuple[ToCome, ...]
    verdict: str
    proof: str | None

    def has(self, kind: str) -> bool:
        """Whether anything became so, names to come included."""
        return any(_has(effect.parts, kind) for effect in self.effects)

    @property
    def effects(self) -> list[Effect]:
        """What differs, in the inventory and beyond."""
        return [self.effect, *(coming.effect for coming in self.to_come)]

    @property
    def example(self) -> ChangedCell | None:
        """A decision that shows the verdict; of an incomparable change one that is lost."""
        return next((cell for effect in self.effects for cell in effect.cells(self._shown)), None)

    @property
    def example_line(self) -> tuple[ChangedLine, Effect] | None:
        """The same decision, as the line that it stands in."""
        lines = ((line, effect) for effect in self.effects for line in effect.lines(self._shown))
        return next(lines, None)

    @property
    def _shown(self) -> str:
        return GAINED if self.verdict == MORE else LOST


def preview(change: Change, inventory: Asked) -> Preview:
    """Compare two states on an inventory and on witnesses of the names to come.

    Asked about are the inventory, whatever the affected ACLs name letter by letter, and for each
    affected pattern its any-other witness and one of each overlap with one other pattern.
    """
    asked = with_named(inventory, change)
    witnesses = find_witnesses(change, asked)
    known, to_come = _compare(change, asked, witnesses)
    gained, lost = (
        any(_has(parts, kind) for parts in (known, *to_come)) for kind in (GAINED, LOST)
    )
    acls = {**change.before.acls, **change.after.acls}
    return Preview(
        change=change,
        asked=asked,
        named=_size(asked) - _size(inventory),
        witnesses=tuple(witnesses),
        effect=Effect(parts=sorted_parts(known), acls=acls),
        to_come=tuple(
            ToCome(witness=witness, effect=Effect(parts=sorted_parts(parts), acls=acls))
            for witness, parts in zip(witnesses, to_come, strict=True)
            if parts
        ),
        verdict=verdict_of(gained=gained, lost=lost),
        proof=_prove(change, gained=gained, lost=lost),
    )


def _compare(
    change: Change, asked: Asked, witnesses: Sequence[Witness]
) -> tuple[list[ResourceChanges], list[list[ResourceChanges]]]:
    """Compare everything at once: what is asked about, and apart what each witness shows."""
    everything = asked.with_more(
        (w.principal for w in witnesses if w.principal),
        (w.host for w in witnesses if w.host),
        (w.resource for w in witnesses if w.resource),
    )
    shows = _Shows.of(asked, witnesses)
    known: list[ResourceChanges] = []
    to_come: list[list[ResourceChanges]] = [[] for _ in witnesses]
    for part in compare(change, everything):
        for number, piece in shows.pieces(part):
            (known if number is None else to_come[number]).append(piece)
    return known, to_come


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shows:
    """Which names are witnesses, by their numbers, and which of these are not asked about."""

    resources: Mapping[Resource, int]
    principals: Mapping[str, int]
    hosts: Mapping[str, int]
    new_resources: frozenset[Resource]
    new_principals: frozenset[str]
    new_hosts: frozenset[str]

    @classmethod
    def of(cls, asked: Asked, witnesses: Sequence[Witness]) -> _Shows:
        resources = {w.resource: n for n, w in enumerate(witnesses) if w.resource}
        principals = {w.principal: n for n, w in enumerate(witnesses) if w.principal}
        hosts = {w.host: n for n, w in enumerate(witnesses) if w.host}
        return cls(
            resources=resources,
            principals=principals,
            hosts=hosts,
            new_resources=frozenset(resources.keys() - {*asked.resources}),
            new_principals=frozenset(principals.keys() - {*asked.principals}),
            new_hosts=frozenset(hosts.keys() - {*asked.hosts}),
        )

    def pieces(self, part: ResourceChanges) -> Iterator[tuple[int | None, ResourceChanges]]:
        """Cut a part into what is asked about (None) and what each witness shows.

        A cell that several new names meet in is shown by its resource, else by its principal. What
        the any-other resource of the inventory shows is asked about, too.
        """
        if part.resource in self.resources:
            yield self.resources[part.resource], part
        if part.resource in self.new_resources:
            return
        if not (self.new_principals or self.new_hosts):
            yield None, part
            return
        kept: list[tuple[tuple[str, ...], PrincipalChanges]] = []
        for principals, outcome in part.outcomes:
            for name in self.new_principals.intersection(principals):
                yield self.principals[name], ResourceChanges(part.resource, [((name,), outcome)])
            names = tuple(name for name in principals if name not in self.new_principals)
            for host in self.new_hosts if names else ():
                here = outcome.at_host(host)
                if here.changes:
                    yield self.hosts[host], ResourceChanges(part.resource, [(names, here)])
            rest = outcome.without_hosts(self.new_hosts)
            if names and rest.changes:
                kept.append((names, rest))
        if kept:
            yield None, ResourceChanges(part.resource, kept)


def _prove(change: Change, *, gained: bool, lost: bool) -> str | None:
    """Return what containment proves beyond what was looked at."""
    if gained and lost:
        return None
    no_gain, no_loss = prove(change)
    if no_loss and no_gain:
        return "nothing is gained or lost"
    if no_loss or no_gain:
        return "nothing is lost" if no_loss else "nothing is gained"
    return None


def _has(parts: Iterable[ResourceChanges], kind: str) -> bool:
    at = KINDS.index(kind)
    return any(outcome.weights[at] for part in parts for _, outcome in part.outcomes)


def _size(asked: Asked) -> int:
    return len(asked.principals) + len(asked.hosts) + len(asked.resources)
