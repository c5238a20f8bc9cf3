"""A warehouse that holds ACLs and nothing else, written without Spark."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from aclkit.model.acl import Acl
from tests.cli.running import Warehouse
from tests.questions.query import small_warehouse as small


def warehouse_of(
    path: Path, acls: Iterable[Acl], status: str = "complete", level: int | None = None
) -> Warehouse:
    """Write and publish ACLs as those of a cluster that follows a log; of a metadata.version."""
    rows = [
        asdict(acl)
        | {
            "cluster_id": small.CLUSTER,
            "added_offset": offset,
            "effective_offset": offset,
            "added_at": small.WHEN,
            "added_by": "record",
        }
        for offset, acl in enumerate(acls)
    ]
    ranges = [
        {
            "cluster_id": small.CLUSTER,
            "from_offset": 0,
            "to_offset": len(rows),
            "epoch": 1,
            "fact": "record",
        }
    ]
    versions = {
        "acl_history": small.write_table(path, "acl_history", rows),
        "log_range": small.write_table(path, "log_range", ranges),
    }
    if level is not None:
        versions["broker"] = small.write_brokers(path, level)
    small.publish(path, versions, head_offset=len(rows), job="replay", status=status)
    return Warehouse(path)
