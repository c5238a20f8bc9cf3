"""A warehouse and a team's policies → what its newest run has found, judged as a run would."""

from __future__ import annotations

from collections.abc import Callable

from aclkit.audit.reports.data import NightlySummary
from aclkit.audit.reports.gather import read_summary
from aclkit.nightly.policies import Policies, conclude
from aclkit.warehouse.location import Location
from aclkit.warehouse.published import deciding_run
from aclkit.warehouse.reader import open_tables


def newest_summary(
    place: Location,
    cluster_id: str,
    policies: Callable[[], Policies],
    known: NightlySummary | None = None,
) -> NightlySummary:
    """Return what the newest run that decided on a cluster has found.

    Args:
        place: the warehouse.
        cluster_id: the cluster.
        policies: returns the team's policies.
        known: returned where it is of the newest run still.
    """
    with open_tables(place.text) as (published, tables):
        run = deciding_run(published, cluster_id)
        if known is not None and known.run_id == run.run_id:
            return known
        found = read_summary(tables, run)
    return conclude(found, 0, policies(), published)
