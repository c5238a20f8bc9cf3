"""A warehouse → one of its clusters, as it is compared with another: now or at a moment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from aclkit.errors import UsageError
from aclkit.model.broker_settings import AUTHORIZER
from aclkit.model.brokers import NOT_TOLD, level_name
from aclkit.model.groups import grouped
from aclkit.model.phrases import number_of
from aclkit.questions.clusters.difference import Cluster
from aclkit.questions.preview.read import base_of
from aclkit.questions.preview.state import State
from aclkit.questions.query.as_of import PAST, find_moment, note_on_hole, read_timeline
from aclkit.warehouse.acls_in_force import acls_in_force
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import (
    AsOf,
    Published,
    as_of,
    deciding_run,
    notes_on_state,
    resolve_cluster,
)
from aclkit.warehouse.reader import Tables, open_tables
from aclkit.warehouse.sql import fetch


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCluster:
    """A cluster of a warehouse.

    Attributes:
        cluster: what is compared.
        place: the warehouse.
        time: when its run read the sources.
        offset: the log offset of its state (exclusive), where it is known.
    """

    cluster: Cluster
    place: str
    time: datetime | None
    offset: int | None

    @property
    def as_of(self) -> AsOf:
        """Which state of which cluster this is."""
        return AsOf(self.time, self.offset, of=self.cluster.label)


def read_cluster(
    warehouse: str | None,
    cluster: str | None,
    at: int | datetime | None = None,
    option: str = "--cluster",
) -> ReadCluster:
    """Read a cluster's published state, or what held at an offset or a time.

    Args:
        warehouse: where it is.
        cluster: its id; None is the only one of the warehouse.
        at: the moment; None is what is published.
        option: by which option a command names it.

    Raises:
        UsageError: no warehouse, no such cluster, nothing was decided yet, or what held then is
            not known.
    """
    with open_tables(warehouse, PAST) as (published, connection):
        run = deciding_run(published, resolve_cluster(published, cluster, option))
        return cluster_of(connection, published, run, at)


def cluster_of(
    tables: Tables, published: Published, run: PublishedRun, at: int | datetime | None = None
) -> ReadCluster:
    """Read the same of an open warehouse."""
    base = base_of(tables, published, run)
    state, offset, notes = base.state, run.head_offset, tuple(notes_on_state(published, run))
    if at is not None:
        timeline = read_timeline(tables, published, run)
        moment = find_moment(tables, timeline, run, at)
        offset = moment.offset
        acls = acls_in_force(tables, replace(run, head_offset=offset)).values()
        state = State(acls={acl.acl_id: acl for acl in acls}, settings=moment.settings)
        holes = (note_on_hole(*hole) for hole in timeline.holes if hole[1] <= offset)
        notes = (*([moment.note] if moment.note else ()), *holes)
    return ReadCluster(
        cluster=Cluster(
            label=run.cluster_id,
            state=state,
            semantics=base.semantics,
            inventory=base.inventory,
            topics=_topics(tables, run.cluster_id),
            versions=_versions(tables, run.cluster_id),
            authorizers=_authorizers(published, run.cluster_id),
            notes=notes,
        ),
        place=str(published.place),
        time=as_of(published, run).time,
        offset=offset,
    )


def told_apart(first: ReadCluster, second: ReadCluster) -> tuple[ReadCluster, ReadCluster]:
    """Return two clusters with labels that tell them apart: by moment or warehouse if need be.

    Raises:
        UsageError: both are one and the same state.
    """
    if (first.place, first.as_of) == (second.place, second.as_of):
        raise UsageError(
            f"{first.cluster.label!r} would be compared with itself. Name another cluster, or "
            "pass two offsets."
        )
    if first.cluster.label != second.cluster.label:
        return first, second
    is_alike = first.place == second.place
    one, other = (
        replace(
            each,
            cluster=replace(
                each.cluster,
                label=f"{each.cluster.label} "
                + (f"at offset {each.offset}" if is_alike else f"of {each.place}"),
            ),
        )
        for each in (first, second)
    )
    return one, other


def _topics(tables: Tables, cluster_id: str) -> frozenset[str] | None:
    """Read which topics exist; None where no source lists them."""
    names = frozenset(name for (name,) in fetch(tables, _TOPICS, [cluster_id]))
    return names or None


def _versions(tables: Tables, cluster_id: str) -> str:
    """Write what the registered brokers support; empty where none is known."""
    rows: list[tuple[int | None, int]] = list(fetch(tables, _BROKERS, [cluster_id]))
    levels = grouped(rows)
    words = [
        f"{number_of(len(ids), 'broker')} up to metadata.version {level_name(level)}"
        for level, ids in levels.items()
        if level is not None and level != NOT_TOLD
    ]
    return ", ".join(words)


def _authorizers(published: Published, cluster_id: str) -> tuple[str, ...]:
    """Return the authorizers that the brokers of a live cluster reported last."""
    mine = (run.settings.told for run in published.standing if run.cluster_id == cluster_id)
    told = [each for each in mine if each is not None]
    values = {broker.values.get(AUTHORIZER) for broker in told[-1].brokers} if told else set()
    return tuple(sorted(value for value in values if value))


_TOPICS: Final = (
    "SELECT resource_name FROM resource WHERE cluster_id = ? AND resource_type = 'TOPIC' "
    "AND origin = 'log' AND NOT is_any_other"
)
_BROKERS: Final = (
    "SELECT max_level, broker_id FROM broker WHERE cluster_id = ? AND is_registered "
    "ORDER BY max_level, broker_id"
)
