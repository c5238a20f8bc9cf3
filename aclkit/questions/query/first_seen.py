"""Findings → since when each of them is true, as far as the log and the runs tell."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from aclkit.model.findings import EVERY_NAME, Finding
from aclkit.warehouse.reader import Tables
from aclkit.warehouse.sql import fetch


def first_seen(
    tables: Tables, cluster_id: str, findings: Iterable[Finding]
) -> dict[str, datetime | None]:
    """Return since when each finding is there, by fingerprint.

    What ACLs alone make true is there since the youngest of them: the log time of its record.
    What takes the inventory or the use of ACLs as well, or whose ACLs have no time, is there since
    the start of the first run that showed it. None where no run has published it yet. Of several
    findings with one fingerprint the earliest counts.
    """
    found = list(findings)
    ids = sorted({acl_id for finding in found for acl_id in finding.acl_ids})
    names = sorted({finding.fingerprint for finding in found})
    added = dict(fetch(tables, _ADDED, [cluster_id, ids]))
    shown = dict(fetch(tables, _SHOWN, [cluster_id, names]))
    seen: dict[str, datetime | None] = {}
    for finding in found:
        times = [added.get(acl_id) for acl_id in finding.acl_ids]
        if finding.holds_for == EVERY_NAME and times and None not in times:
            time = max(time for time in times if time is not None)
        else:
            time = shown.get(finding.fingerprint)
        other = seen.get(finding.fingerprint)
        utc = None if time is None else time.replace(tzinfo=UTC)
        seen[finding.fingerprint] = min(filter(None, (utc, other)), default=None)
    return seen


_ADDED = (
    "SELECT acl_id, CAST(max(added_at) AS TIMESTAMP) FROM acl_history WHERE cluster_id = ? "
    "AND acl_id IN (SELECT unnest(CAST(? AS VARCHAR[]))) GROUP BY acl_id"
)
_SHOWN = (
    "SELECT f.fingerprint, CAST(min(coalesce(f.first_seen, r.started_at)) AS TIMESTAMP) "
    "FROM finding f JOIN job_run r ON r.run_id = f.run_id AND r.cluster_id = f.cluster_id "
    "WHERE f.cluster_id = ? AND f.fingerprint IN (SELECT unnest(CAST(? AS VARCHAR[]))) "
    "GROUP BY f.fingerprint"
)
