"""A warehouse at a moment, or files of a team → the state. Reads only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from aclkit.model.acl import Acl
from aclkit.model.broker_settings import AUTHORIZER
from aclkit.model.brokers import NOT_TOLD, level_name
from aclkit.model.groups import grouped
from aclkit.model.phrases import number_of
from aclkit.model.resource import Resource
from aclkit.questions.state import Inventory, State
from aclkit.runtime.uri import shown

if TYPE_CHECKING:
    from aclkit.kafka.desired.read import Asked
    from aclkit.questions.preview.desired import Scope
    from aclkit.warehouse.duck import Tables
    from aclkit.warehouse.job_run import PublishedRun
    from aclkit.warehouse.published import Published

Moment = int | datetime | None
"""An offset or a time of a warehouse; None is what is published."""


class Warehouse(NamedTuple):
    """The published decisions on a cluster.

    Attributes:
        path: where the warehouse is.
        cluster: the cluster; None is the only one.
        option: by which option a command names the cluster.
    """

    path: str | None
    cluster: str | None = None
    option: str = "--cluster"


class Opened(NamedTuple):
    """A warehouse that is open, at a run: one that decided, or the newest of a cluster."""

    tables: Tables
    published: Published
    run: PublishedRun


class Files(NamedTuple):
    """Files of a team.

    Attributes:
        paths: files, folders, globs or ``-``.
        asked: what is read of them.
        scope: what files without a scope of their own replace.
        with_operator: Strimzi's User Operator runs; None where that is unknown.
        onto: the state that they are applied to; without one they are a whole state.
        replays: records are always replayed from an empty cluster; otherwise those that come
            alone, without a scope, add and remove in their order.
    """

    paths: Sequence[str]
    asked: Asked
    scope: Scope | None = None
    with_operator: bool | None = False
    onto: State | None = None
    replays: bool = False


Source = Warehouse | Opened | Files


def read_state(source: Source, at: Moment = None, *, with_names: bool = True) -> State:
    """Read what decides at one moment.

    Args:
        source: a warehouse, or files, which have no past.
        at: as of offset N, or as of a time, see ``find_moment``.
        with_names: read the inventory too; it is large, and some ask about ACLs alone.

    Raises:
        UsageError: no warehouse, no such cluster, nothing was decided yet, or what held then is
            not known; or files are not there, are too large, or need a scope.
        DataError: files are of no known format, or hold something that cannot be used.
    """
    if isinstance(source, Files):
        from aclkit.questions.preview.read_files import read_files

        paths, asked, scope, with_operator, onto, replays = source
        return read_files(paths, asked, scope, onto, with_operator=with_operator, replays=replays)
    (state,) = read_states(source, (at,), with_names=with_names)
    return state


def read_states(
    source: Warehouse | Opened, moments: Sequence[Moment], *, with_names: bool = True
) -> list[State]:
    """Read several moments of one warehouse, see ``read_state``; all know the same names."""
    if isinstance(source, Opened):
        return list(_of_tables(source, moments, with_names=with_names))
    # Here, as all that reads: two files need no engine, and a warehouse no parser of files.
    from aclkit.questions.query.as_of import PAST, STATE
    from aclkit.warehouse.duck import open_tables
    from aclkit.warehouse.published import deciding_run, resolve_cluster

    needed = STATE if set(moments) == {None} else PAST
    with open_tables(source.path, needed) as (published, tables):
        cluster_id = resolve_cluster(published, source.cluster, source.option)
        run = deciding_run(published, cluster_id)
        return read_states(Opened(tables, published, run), moments, with_names=with_names)


def _of_tables(source: Opened, moments: Sequence[Moment], *, with_names: bool) -> Iterator[State]:
    """Yield the state of each moment; an ACL that several have is one object.

    So comparing them costs nothing.
    """
    from aclkit.questions.query.as_of import find_moment, notes_on_moment, read_timeline
    from aclkit.warehouse.acls_in_force import acls_in_force

    tables, _, run = source
    published = _published(source)
    if with_names:
        published = replace(published, inventory=_inventory(tables, run.cluster_id))
    is_past = set(moments) != {None}
    timeline = read_timeline(*source) if is_past else None
    known: dict[str, Acl] = {}
    for at in moments:
        state = published
        if at is not None and timeline is not None:
            moment = find_moment(tables, timeline, run, at)
            state = replace(
                state,
                settings=moment.settings,
                offset=moment.offset,
                notes=notes_on_moment(moment, timeline),
            )
        found = acls_in_force(tables, replace(run, head_offset=state.offset))
        acls = sorted(found.values(), key=lambda acl: acl.acl_id)
        known |= {acl.acl_id: acl for acl in acls if known.get(acl.acl_id) != acl}
        yield state.with_only(known[acl.acl_id] for acl in acls)


def _published(source: Opened) -> State:
    """Return what is known of the state of a run, its ACLs and names aside."""
    from aclkit.warehouse.acls_in_force import (
        level_in_force,
        semantics_after_glob,
        semantics_in_force,
    )
    from aclkit.warehouse.published import as_of, notes_on_state, run_settings

    tables, published, run = source
    decided = published.last_materialize(run.cluster_id)
    is_decided = decided is not None and decided.run_number == run.run_number
    settings, semantics = run_settings(decided or run)
    if not is_decided:
        semantics = semantics_in_force(tables, published, run.cluster_id)
    return State(
        settings=settings,
        semantics=semantics,
        read_by=f"run {run.run_number} of the warehouse",
        place=shown(str(published.place)),
        label=run.cluster_id,
        cluster_id=run.cluster_id,
        run_id=run.run_id,
        run_number=run.run_number,
        offset=run.head_offset,
        as_of=as_of(published, run),
        notes=tuple(notes_on_state(published, run)),
        level=level_in_force(tables, published, run.cluster_id),
        after_glob=semantics_after_glob(run) if is_decided else None,
        versions=_versions(tables, run.cluster_id),
        authorizers=_authorizers(published, run.cluster_id),
    )


def _inventory(tables: Tables, cluster_id: str) -> Inventory:
    from aclkit.questions.query.names import read_hosts, read_principals, read_resources
    from aclkit.warehouse.duck import fetch

    topics = frozenset(name for (name,) in fetch(tables, _TOPICS, [cluster_id]))
    things = fetch(tables, _OF_RESOURCES, [cluster_id])
    return Inventory(
        principals=read_principals(tables, cluster_id),
        hosts=read_hosts(tables, cluster_id),
        resources=read_resources(tables, cluster_id),
        topics=topics or None,
        attributes={
            **dict(fetch(tables, _OF_PRINCIPALS, [cluster_id])),
            **{Resource(*named): attributes for *named, attributes in things},
        },
    )


def _versions(tables: Tables, cluster_id: str) -> str:
    """Write what the registered brokers support; empty where none is known."""
    from aclkit.warehouse.duck import fetch

    rows: list[tuple[int | None, int]] = list(fetch(tables, _BROKERS, [cluster_id]))
    words = [
        f"{number_of(len(ids), 'broker')} up to metadata.version {level_name(level)}"
        for level, ids in grouped(rows).items()
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
_OF_PRINCIPALS: Final = (
    "SELECT principal, attributes FROM principal "
    "WHERE cluster_id = ? AND cardinality(attributes) > 0"
)
_OF_RESOURCES: Final = (
    "SELECT resource_type, resource_name, attributes FROM resource "
    "WHERE cluster_id = ? AND cardinality(attributes) > 0"
)
