"""What a watcher knows of each cluster: a small file of JSON beside the tables of a warehouse.

``checked.json`` holds when sources were last found to hold nothing that the published run lacks;
the age of an answer counts from then. It is no table: a look every few seconds would leave a
version each. ``watch_state`` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from aclkit.errors import AclkitError
from aclkit.warehouse.location import Location

FOLDER: Final = "_aclkit"
CHECKED: Final = "checked.json"

State = Mapping[str, Mapping[str, Any]]
"""Cluster id → what is known of it."""


def read_state(place: Location, name: str) -> State:
    """Read one of the files; a missing or malformed one knows of no cluster.

    No question depends on it: an answer without it is as old as its run.
    """
    try:
        return parse_state(place.files.read(f"{FOLDER}/{name}"))
    except (OSError, ValueError, AclkitError):
        return {}


def parse_state(content: bytes) -> State:
    """Read the text of a file; what it says of each cluster is not looked at.

    Raises:
        ValueError: it is none that ``render_state`` writes.
    """
    found = json.loads(content)
    known = found.get("clusters") if isinstance(found, dict) else None
    if not isinstance(known, dict) or not all(isinstance(each, dict) for each in known.values()):
        raise ValueError("expected an object of clusters")
    return known


def checked_at(place: Location, cluster_id: str, run_id: str) -> datetime | None:
    """Return when a watcher last found nothing new since a run; None where none did.

    Args:
        place: the warehouse.
        cluster_id: the cluster.
        run_id: the newest run that read its sources: a check of an older one says nothing of it.
    """
    known = read_state(place, CHECKED).get(cluster_id, {})
    if known.get("run_id") != run_id:
        return None
    try:
        time = datetime.fromisoformat(known["checked_at"])
    except (KeyError, TypeError, ValueError):
        return None
    return time.astimezone(UTC) if time.tzinfo is not None else None
