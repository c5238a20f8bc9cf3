"""A warehouse → the published state and inventory, or two states of its past."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from aclkit.model.acl import Acl
from aclkit.model.semantics import BrokerSettings, Semantics
from aclkit.questions.preview.state import Asked, Change, State
from aclkit.questions.query.as_of import PAST, STATE, find_moment, note_on_hole, read_timeline
from aclkit.questions.query.names import read_hosts, read_principals, read_resources
from aclkit.warehouse.acls_in_force import (
    acls_in_force,
    level_in_force,
    semantics_after_glob,
)
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import (
    AsOf,
    Published,
    as_of,
    deciding_run,
    notes_on_state,
    resolve_cluster,
    run_settings,
)
from aclkit.warehouse.reader import Tables, open_tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What a preview starts from.

    Attributes:
        published: the warehouse.
        run: the run whose decisions are published.
        state: the ACLs and settings by which it decided.
        semantics: how it read them.
        inventory: what it decided about.
        level: the metadata.version in force, where it is known.
        after_glob: how the next run reads ACLs once the cluster has had a GLOB.
    """

    published: Published
    run: PublishedRun
    state: State
    semantics: Semantics
    inventory: Asked
    level: int | None
    after_glob: Semantics


def read_base(warehouse: str | None, cluster: str | None) -> Base:
    """Read the published state of a cluster.

    Raises:
        UsageError: no warehouse, no such cluster, or nothing was decided yet.
    """
    with _opened(warehouse, cluster, STATE) as (connection, published, run):
        return base_of(connection, published, run)


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """Two states of a cluster's past.

    Attributes:
        base: the published state: its inventory is asked about, and its way of reading ACLs is
            that of both.
        change: from the one to the other.
        offsets: of both (exclusive).
        notes: what is unsure about them.
    """

    base: Base
    change: Change
    offsets: tuple[int, int]
    notes: tuple[str, ...]


def read_past(
    warehouse: str | None,
    cluster: str | None,
    start: int | datetime,
    end: int | datetime,
) -> Past:
    """Read the states at two offsets or times, each under the settings of that time.

    Raises:
        UsageError: a state is not known, or as in ``read_base``.
    """
    with _opened(warehouse, cluster, PAST) as (connection, published, run):
        base = base_of(connection, published, run)
        timeline = read_timeline(connection, base.published, base.run)
        moments = [find_moment(connection, timeline, base.run, at) for at in (start, end)]
        before, after = (
            acls_in_force(connection, replace(base.run, head_offset=at.offset)) for at in moments
        )
    then = {acl.acl_id: acl for acl in before.values()}
    # One object for one ACL: comparing what is the same object costs nothing.
    now = {acl.acl_id: _same(then.get(acl.acl_id), acl) for acl in after.values()}
    change = Change(
        before=State(acls=then, settings=moments[0].settings),
        after=State(acls=now, settings=moments[1].settings),
        semantics=base.semantics,
    )
    offsets = moments[0].offset, moments[1].offset
    holes = (note_on_hole(*hole) for hole in timeline.holes if hole[1] <= max(offsets))
    notes = (moment.note for moment in moments if moment.note)
    return Past(
        base=base, change=change, offsets=offsets, notes=tuple(dict.fromkeys((*notes, *holes)))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The state of a warehouse at one moment.

    Attributes:
        place: the warehouse.
        cluster_id: the cluster.
        run_number: the run whose decisions are published.
        acls: those in force at that moment.
        settings: those of that moment.
        semantics: how that run reads ACLs.
        offset: the state is as of it (exclusive), where it is known.
        notes: what is uncertain about it.
        as_of: what it is based on.
    """

    place: str
    cluster_id: str
    run_number: int
    acls: tuple[Acl, ...]
    settings: BrokerSettings
    semantics: Semantics
    offset: int | None
    notes: tuple[str, ...]
    as_of: AsOf


def read_moment(
    warehouse: str | None,
    cluster: str | None,
    at: int | datetime | None,
) -> Standing:
    """Read what is published, or what held at an offset or a time.

    Raises:
        UsageError: what held then is not known, or as in ``read_base``.
    """
    needed = STATE if at is None else PAST
    with _opened(warehouse, cluster, needed) as (connection, published, run):
        settings, semantics = run_settings(run)
        offset, notes = run.head_offset, tuple(notes_on_state(published, run))
        if at is not None:
            timeline = read_timeline(connection, published, run)
            moment = find_moment(connection, timeline, run, at)
            offset, settings = moment.offset, moment.settings
            holes = (note_on_hole(*hole) for hole in timeline.holes if hole[1] <= offset)
            notes = (*([moment.note] if moment.note else ()), *holes)
        return Standing(
            place=str(published.place),
            cluster_id=run.cluster_id,
            run_number=run.run_number,
            acls=tuple(acls_in_force(connection, replace(run, head_offset=offset)).values()),
            settings=settings,
            semantics=semantics,
            offset=offset,
            notes=notes,
            as_of=as_of(published, run),
        )


def _same(one: Acl | None, other: Acl) -> Acl:
    return one if one is not None and one == other else other


@contextmanager
def _opened(
    warehouse: str | None,
    cluster: str | None,
    needed: Mapping[str, Mapping[str, str]],
) -> Iterator[tuple[Tables, Published, PublishedRun]]:
    """Open a warehouse at the run whose decisions on a cluster are published."""
    with open_tables(warehouse, needed) as (published, connection):
        run = deciding_run(published, resolve_cluster(published, cluster))
        yield connection, published, run


def base_of(connection: Tables, published: Published, run: PublishedRun) -> Base:
    """Read the state and inventory by which a run of an open warehouse decided."""
    settings, semantics = run_settings(run)
    acls = {acl.acl_id: acl for acl in acls_in_force(connection, run).values()}
    return Base(
        published=published,
        run=run,
        state=State(acls=acls, settings=settings),
        semantics=semantics,
        inventory=Asked(
            principals=read_principals(connection, run.cluster_id),
            hosts=read_hosts(connection, run.cluster_id),
            resources=read_resources(connection, run.cluster_id),
        ),
        level=level_in_force(connection, published, run.cluster_id),
        after_glob=semantics_after_glob(run),
    )
