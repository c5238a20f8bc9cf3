"""A published warehouse → the metadata.version that is in force in a cluster."""

from __future__ import annotations

from typing import Final

from aclkit.warehouse.published import Published
from aclkit.warehouse.reader import Tables
from aclkit.warehouse.sql import fetch


def level_in_force(tables: Tables, published: Published, cluster_id: str) -> int | None:
    """Return what the log finalized, or what a live cluster told; None where neither is known."""
    ((level,),) = fetch(tables, _FINALIZED, [cluster_id])
    if level is not None:
        return int(level)
    told = (r.settings.told for r in published.standing if r.cluster_id == cluster_id)
    levels = [each.metadata_version for each in told if each is not None]
    return levels[-1] if levels else None


_FINALIZED: Final = "SELECT max(finalized_level) FROM broker WHERE cluster_id = ?"
"""Each broker's row says it."""
