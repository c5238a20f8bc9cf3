"""What a watcher knows of each cluster: a small file of JSON beside the tables of a warehouse.

``checked.json`` holds when sources were last found to hold nothing that the published run lacks;
the age of an answer counts from then. It is no table: a look every few seconds would leave a
version each. One watcher a warehouse writes it, whole or not at all, on a disk or in a bucket. What
receivers of alerts know is in a file next to it, see ``alerted_file``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, cast

from aclkit.errors import AclkitError
from aclkit.runtime.atomic_file import write_atomically
from aclkit.runtime.permissions import make_folder, writing_like
from aclkit.runtime.uri import child
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.location import Location

if TYPE_CHECKING:
    from aclkit.warehouse.lease import Replaceable

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


def write_state(place: Location, name: str, state: State) -> None:
    """Put the content of one of the files in the place of what it held.

    Raises:
        OSError: it cannot be written.
    """
    write_beside(place, name, render_state(state))


def replace_state(
    place: Location, name: str, state: State, is_known: Callable[[State], bool]
) -> bool:
    """Put the content of a file of a bucket in the place of one that is known.

    Of several writers who know the same content one succeeds, because the put has a condition.

    Args:
        place: the warehouse, in a bucket.
        name: the file.
        state: the new content.
        is_known: whether what the file holds now may be replaced; it is asked about no lost file.

    Returns:
        Whether it was written.

    Raises:
        OSError: it cannot be written.
    """
    files, path = cast("Replaceable", place.files), f"{FOLDER}/{name}"
    text = render_state(state).encode()
    try:
        content, tag = files.read_tagged(path)
    except FileNotFoundError:
        return files.create(path, text)
    try:
        found = parse_state(content)
    except ValueError:
        found = {}
    return is_known(found) and files.replace(path, text, tag)


def render_state(state: State) -> str:
    """Return the text of a file."""
    return json.dumps({"clusters": state}, sort_keys=True) + "\n"


def write_beside(place: Location, name: str, text: str) -> None:
    """Write a file beside the tables, whole or not at all."""
    with nullcontext() if place.is_remote else writing_like(place.folder / JOB_RUN):
        if not place.is_remote:
            make_folder(place.folder / FOLDER)
        write_atomically(child(place.text, f"{FOLDER}/{name}"), text, is_ours=True)


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
