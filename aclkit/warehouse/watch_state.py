"""What a watcher knows of each cluster (``watched``) → its file, beside the tables of a warehouse.

One watcher a warehouse writes it, whole or not at all, on a disk or in a bucket. What receivers of
alerts know is in ``alerted.json`` next to it, read and written by one process at a time. On a disk
a lock is held from the reading to the writing, so of two processes the later one knows what the
earlier one has sent. In a bucket, where there is no lock, a write is conditional on what was read:
none is lost, and two processes that send at the same moment may both send.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from aclkit.errors import AclkitError, SurroundingsError, UsageError
from aclkit.runtime.atomic_file import write_atomically
from aclkit.runtime.permissions import make_folder, writing_like
from aclkit.runtime.uri import child
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.location import Location
from aclkit.warehouse.lock import alert_lock
from aclkit.warehouse.watched import FOLDER, State, parse_state

if TYPE_CHECKING:
    from aclkit.warehouse.lease import Replaceable


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


ALERTED: Final = "alerted.json"

Entry = Mapping[str, Any]
"""What is known of one cluster."""


@dataclass(frozen=True)
class AlertedFile:
    """The file, for who may write it now.

    Attributes:
        place: the warehouse.
        refused: why nothing can be written there; None where that is not known.
    """

    place: Location
    refused: AclkitError | None = None

    def read(self) -> State:
        """Return what it holds; nothing where there is no such file.

        Raises:
            ValueError: it is malformed.
            OSError: it cannot be read.
        """
        try:
            return parse_state(self.place.files.read(_NAME))
        except FileNotFoundError:
            return {}

    def update(self, cluster: str, change: Callable[[Entry], Entry]) -> None:
        """Change what is known of a cluster; of a malformed file nothing is kept.

        Raises:
            OSError: it cannot be written.
            AclkitError: the place cannot be, or others change it again and again meanwhile.
        """
        if self.refused is not None:
            raise self.refused
        if not self.place.is_remote:
            write_beside(self.place, ALERTED, _text(_parsed(self.read), cluster, change))
            return
        files = cast("Replaceable", self.place.files)
        for _ in range(_MOST_TRIES):
            try:
                content, tag = files.read_tagged(_NAME)
            except FileNotFoundError:
                if files.create(_NAME, _text({}, cluster, change).encode()):
                    return
                continue
            text = _text(_parsed(partial(parse_state, content)), cluster, change)
            if files.replace(_NAME, text.encode(), tag):
                return
        raise SurroundingsError(f"Other processes change {self.place}/{_NAME} all the time.")


@contextmanager
def alerted_file(place: Location, lock_timeout: float) -> Iterator[AlertedFile]:
    """Be the one process that reads and writes what a warehouse's receivers know.

    A place that cannot be written is refused by ``AlertedFile.update``: who only reads gets on.

    Raises:
        SurroundingsError: another process does not end.
    """
    if not place.is_remote:
        with alert_lock(place.text, lock_timeout) as refused:
            yield AlertedFile(place, refused)
        return
    unwritten: AclkitError | None = None
    try:
        place.require_writable()
    except UsageError as error:
        unwritten = error
    yield AlertedFile(place, unwritten)


def _parsed(read: Callable[[], State]) -> State:
    try:
        return read()
    except ValueError:
        return {}


def _text(state: State, cluster: str, change: Callable[[Entry], Entry]) -> str:
    return render_state({**state, cluster: change(state.get(cluster, {}))})


_NAME: Final = f"{FOLDER}/{ALERTED}"
_MOST_TRIES: Final = 20
