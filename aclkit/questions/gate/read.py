"""A published warehouse → the state from which a change starts. Reads only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from aclkit.model.resource import Resource
from aclkit.questions.assertions.check import read_world
from aclkit.questions.gate.start import Start
from aclkit.questions.preview.read import Base, base_of
from aclkit.questions.query.as_of import STATE
from aclkit.warehouse.job_run import PublishedRun
from aclkit.warehouse.published import deciding_run, resolve_cluster
from aclkit.warehouse.reader import Tables, open_tables

_More = TypeVar("_More")


def read_start(
    warehouse: str,
    cluster: str | None,
    needed: Mapping[str, Mapping[str, str]],
    read_more: Callable[[Tables, PublishedRun, Base], _More],
) -> tuple[Base, Start, _More]:
    """Read the published state of a cluster, its known names with their attributes, and more.

    Args:
        warehouse: the warehouse.
        cluster: the cluster, where it has several.
        needed: the tables that ``read_more`` asks.
        read_more: what else the caller reads while the tables are open.

    Raises:
        UsageError: no warehouse, no such cluster, or nothing was decided yet.
    """
    with open_tables(warehouse, {**STATE, **needed}) as (published, connection):
        run = deciding_run(published, resolve_cluster(published, cluster))
        base = base_of(connection, published, run)
        world = read_world(connection, run)
        more = read_more(connection, run, base)
    start = Start(
        state=base.state,
        semantics=base.semantics,
        after_glob=base.after_glob,
        inventory=base.inventory,
        where=f"cluster {run.cluster_id}",
        principals=world.principals,
        resources=dict[Resource, Mapping[str, str]](world.resources),
    )
    return base, start, more
