"""A published run and a receiver → an alert of what is new to it, sent once, and remembered.

``run``, ``alert`` and ``watch`` send by this alone. What a receiver knows is kept per cluster,
receiver and severity, in ``alerted_file``: read again, with its lock held, before each alert, and
written after it. Whatever is interrupted in between is sent once more, with the same ``alert_id``.
Before a first alert its beginning is written: the offset from which on changes of ACLs are news.

News is more than its noting. So a file that cannot be read or written stops no alert: what was
sent is kept in this process, written as soon as that is possible, and named as not noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from typing import Any, Final

from aclkit.audit.alerts.alert import (
    Alert,
    Alerted,
    Moved,
    alert_of_return,
    alert_of_silence,
    alert_since,
    alerted_by,
    begin_with,
    read_alerted,
)
from aclkit.audit.alerts.webhook import Courier, Webhook
from aclkit.audit.reports.data import NightlySummary
from aclkit.audit.reports.gather_past import read_moved
from aclkit.audit.reports.words import iso
from aclkit.errors import AclkitError, UnnotedError, first_line
from aclkit.model.facts import RECORD
from aclkit.warehouse.duck import fetch, open_tables
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.location import Location
from aclkit.warehouse.published import deciding_run, open_warehouse
from aclkit.warehouse.storage import newest_version
from aclkit.warehouse.watch_state import ALERTED, AlertedFile, Entry, alerted_file
from aclkit.warehouse.watched import FOLDER

TOLD: Final = "told"
"""The part of an entry that holds what each receiver was alerted."""
FAILING: Final = "failing"
"""The part that holds since when each receiver knows that the sources cannot be read."""

_Key = tuple[str, str, str]
"""The cluster, the part, and the receiver in it."""


@dataclass(kw_only=True)
class Notes:
    """Reads and writes what receivers know.

    Attributes:
        place: the warehouse.
        lock_timeout: seconds to wait for another process that sends.
    """

    place: Location
    lock_timeout: float
    _owed: dict[_Key, tuple[object, object]] = field(default_factory=dict)
    _file: AlertedFile | None = None
    _why: str = ""

    @property
    def name(self) -> str:
        """The file, for messages."""
        return f"{self.place}/{FOLDER}/{ALERTED}"

    @property
    def is_written(self) -> bool:
        """Whether the file has all that this process has noted."""
        return not self._owed

    @contextmanager
    def held(self) -> Iterator[None]:
        """Be the one process that sends; what is not in the file yet is written first.

        Raises:
            SurroundingsError: another process that sends does not end.
        """
        with alerted_file(self.place, self.lock_timeout) as self._file:
            try:
                for (cluster, part, key), (seen, value) in [*self._owed.items()]:
                    if part_of(self._in_file(cluster)[0], part).get(key) == seen:
                        self.write(cluster, part, key, value)
                    else:  # another process has written since
                        del self._owed[cluster, part, key]
                yield
            finally:
                self._file = None

    def read(self, cluster: str) -> tuple[Entry, str]:
        """Return what is known of a cluster, and what is wrong with the file."""
        entry, problem = self._in_file(cluster)
        for (owner, part, key), (seen, value) in self._owed.items():
            if owner == cluster and part_of(entry, part).get(key) == seen:
                entry = _with(entry, part, key, value)
        return entry, problem

    def write(self, cluster: str, part: str, key: str, value: object) -> None:
        """Note a value; where that fails it is kept here. The file has to be held."""
        file = self._file or AlertedFile(self.place)
        owed = self._owed.pop((cluster, part, key), None)
        seen = part_of(self._in_file(cluster)[0], part).get(key) if owed is None else owed[0]
        try:
            file.update(cluster, lambda entry: _with(entry, part, key, value))
        except (AclkitError, OSError) as error:
            self._owed[cluster, part, key] = (seen, value)
            self._why = first_line(error)

    def require_written(self, done: str) -> None:
        """Insist that all is in the file.

        Args:
            done: what was done all the same, as a sentence.

        Raises:
            UnnotedError: it is not.
        """
        if self._owed:
            why = self._why.rstrip(".")
            raise UnnotedError(
                f"{done} That could not be noted in {self.name}, so the next alert can have the "
                f"same again, or miss what was fixed and comes back: {why}."
            )

    def _in_file(self, cluster: str) -> tuple[Entry, str]:
        try:
            return (self._file or AlertedFile(self.place)).read().get(cluster, {}), ""
        except ValueError as error:
            return {}, f"is malformed ({error})"
        except OSError as error:
            return {}, f"cannot be read ({error.strerror or error})"


def part_of(entry: Entry, part: str) -> Mapping[str, Any]:
    """Return a part of an entry; an empty one where it has none."""
    found = entry.get(part)
    return found if isinstance(found, dict) else {}


def _with(entry: Entry, part: str, key: str, value: object) -> Entry:
    """Return an entry with one value set; of an older aclkit's nothing is kept."""
    kept = {name: part_of(entry, name) for name in (TOLD, FAILING)}
    return {**kept, part: {**kept[part], key: value}}


@dataclass(kw_only=True)
class Delivery:
    """Sends alerts about a warehouse to one receiver.

    Attributes:
        place: the warehouse.
        webhook: the receiver.
        least: the severity that is worth an alert, see ``alert_since``.
        lock_timeout: seconds to wait for another process that sends.
        warn: takes a line for who runs this.
        patience: see ``Courier``.
        told: cluster → what the receiver knows, as far as this process has read or written it.
    """

    place: Location
    webhook: Webhook
    least: str
    lock_timeout: float
    warn: Callable[[str], None]
    patience: float | None = None
    told: dict[str, Alerted] = field(default_factory=dict)
    _silences: dict[str, str] = field(default_factory=dict)

    @cached_property
    def _notes(self) -> Notes:
        return Notes(place=self.place, lock_timeout=self.lock_timeout)

    @cached_property
    def _courier(self) -> Courier:
        return Courier(webhook=self.webhook, patience=self.patience)

    def begin(self, cluster: str | None, noted: Mapping[str, Any] | None = None) -> None:
        """Write from where on changes are news, before a run publishes any, if that is unknown.

        That is the state which is published now. A run that is killed before it alerts loses
        nothing then.

        Args:
            cluster: its id; None is the only one, where the warehouse has but one.
            noted: what ``note`` returned when the receiver was alerted last, where that is known.

        Raises:
            UnnotedError: it is known to this process alone.
            SurroundingsError: another process that sends does not end.
        """
        if cluster in self.told or newest_version(self.place.files, JOB_RUN) is None:
            return
        clusters = open_warehouse(self.place.text).clusters
        cluster = clusters[0] if cluster is None and len(clusters) == 1 else cluster
        if cluster not in clusters:
            return
        known, _, _ = self._read(cluster)
        if known is None:
            with self._notes.held():
                known = self._known(cluster, noted)
                head = published_head(self.place, cluster)
                if known is None and head is not None:
                    epoch = newest_epoch(self.place, cluster)
                    known = Alerted(run_id=head[0], offset=head[1], epoch=epoch)
                    self._remember(cluster, known)
        if known is not None:
            self.told[cluster] = known
        self._notes.require_written("Changes are news from the run that is published now.")

    def send_new(self, newest: Callable[[], NightlySummary]) -> bool:
        """Alert what is new to the receiver; return whether there was anything.

        Args:
            newest: returns the newest run that decided; asked with the lock held.

        Raises:
            UnnotedError: all was sent, and it cannot be noted what.
            StillSendingError: an alert is under way.
            SurroundingsError: the alert was not delivered. It is sent with the next one.
        """
        with self._notes.held():
            has_landed = self._courier.settle()
            summary = newest()
            cluster = summary.cluster_id
            known, epoch = self._known(cluster), newest_epoch(self.place, cluster)
            if known is None:
                known = replace(begin_with(summary), epoch=epoch)
                self._remember(cluster, known)
            now = replace(alerted_by(summary, self.least, known), epoch=epoch)
            alert = self.alert(summary, known)
            note = partial(self._note_told, cluster, known, now)
            if alert is None:
                note()
            else:
                self._courier.send(alert, note)
        self._notes.require_written("The alert was sent." if alert else "No alert was due.")
        return has_landed or alert is not None

    def _note_told(self, cluster: str, known: Alerted, now: Alerted) -> None:
        """Note what the receiver knows now; another process may have told it more meanwhile."""
        if now != known and self._read(cluster)[0] in (known, None):
            self._remember(cluster, now)
        self.told[cluster] = now

    def peek(self, summary: NightlySummary) -> Alert | None:
        """Return the alert that would be sent, and change nothing."""
        return self.alert(summary, self._read(summary.cluster_id)[0])

    def knows(self, summary: NightlySummary) -> bool:
        """Whether the receiver knows all of a run, and that is noted."""
        known = self.told.get(summary.cluster_id)
        is_told = known is not None and alerted_by(summary, self.least, known) == known
        return is_told and self._notes.is_written

    def alert(self, summary: NightlySummary, known: Alerted | None) -> Alert | None:
        """Return the alert about what a receiver does not know; None where it knows all."""
        moved = Moved()
        if known is not None:
            cluster, head = summary.cluster_id, summary.head_offset
            start = min(head, _first_new(self.place, cluster, known))
            known = replace(known, offset=start)
            moved = moved_since(self.place, cluster, start) if start < head else moved
        return alert_since(summary, known, moved, self.least)

    def note(self, cluster: str) -> dict[str, Any] | None:
        """Return what tells ``begin`` that the receiver was alerted, and up to where."""
        known = self.told.get(cluster)
        return None if known is None else {"key": self._key, "offset": known.offset}

    def tell_silence(
        self, cluster: str | None, error: AclkitError, polls: int, since: datetime
    ) -> None:
        """Alert, unless that was done before, that the sources cannot be read."""
        name = cluster or ""
        with self._notes.held():
            self._courier.settle()
            if self._silence(name):
                return
            alert = alert_of_silence(cluster, error, polls, iso(since))
            self._courier.send(alert, partial(self._set_silence, name, iso(since)))
        self._notes.require_written("It was alerted that the sources cannot be read.")

    def tell_return(self, cluster: str | None) -> None:
        """Alert that the sources are read again, if it was alerted that they are not."""
        # The first failures may be those of a cluster whose id no source has told yet.
        names = dict.fromkeys((cluster or "", ""))
        if not any(self._silences.get(name, "unread") for name in names):
            return
        with self._notes.held():
            self._courier.settle()
            for name in names:
                if since := self._silence(name):
                    alert = alert_of_return(cluster, since)
                    self._courier.send(alert, partial(self._set_silence, name, ""))
        self._notes.require_written("It was alerted that the sources are read again.")

    @property
    def _key(self) -> str:
        return f"{self.webhook.receiver} {self.least}"

    def _known(self, cluster: str, noted: Mapping[str, Any] | None = None) -> Alerted | None:
        """Return what the receiver knows; None before a first alert.

        What was lost is said, and replaced as far as it is noted elsewhere: in this process all of
        it, else where it began.
        """
        known, entry, problem = self._read(cluster)
        if known is not None:
            return known
        before = self.told.get(cluster) or _beginning(noted, self._key) or _older(entry)
        if before is None and not problem:
            return None
        more = ""
        if cluster not in self.told:
            more = " The next alert has all findings in force, known ones too"
            more += f", and changes of ACLs since offset {before.offset}." if before else "."
        problem = problem or "does not hold what this receiver was alerted"
        self.warn(f"warning: {self._notes.name} {problem}.{more}")
        if before is not None:
            self._remember(cluster, before)
        return before

    def _read(self, cluster: str) -> tuple[Alerted | None, Entry, str]:
        """Read what the receiver knows; else the cluster's entry, and what is wrong with it."""
        entry, problem = self._notes.read(cluster)
        said = part_of(entry, TOLD).get(self._key)
        known = read_alerted(said) if isinstance(said, Mapping) else None
        is_bad = known is None and (said is not None or not isinstance(entry.get(TOLD, {}), dict))
        return known, entry, f"is malformed (cluster {cluster!r})" if is_bad else problem

    def _remember(self, cluster: str, known: Alerted) -> None:
        self._notes.write(cluster, TOLD, self._key, known.write())

    def _silence(self, name: str) -> str:
        """Read since when the receiver knows that sources cannot be read; empty where they can."""
        said = part_of(self._notes.read(name)[0], FAILING).get(self.webhook.receiver, "")
        self._silences[name] = str(said)
        return str(said)

    def _set_silence(self, name: str, since: str) -> None:
        self._notes.write(name, FAILING, self.webhook.receiver, since)
        self._silences[name] = since


def published_head(place: Location, cluster: str) -> tuple[str, int] | None:
    """Return the run whose decisions on a cluster are published, and its offset; None before."""
    run = open_warehouse(place.text).last_materialize(cluster)
    return None if run is None else (run.run_id, run.head_offset or 0)


def moved_since(place: Location, cluster: str, offset: int) -> Moved:
    """Read the ACLs that came and went from an offset on, up to the published decisions."""
    with open_tables(place.text, _HISTORY) as (published, tables):
        added, removed = read_moved(tables, deciding_run(published, cluster), offset)
    return Moved(added=added, removed=removed)


def newest_epoch(place: Location, cluster: str) -> int:
    """Return the highest epoch of the records that were read of a log; -1 without any."""
    with open_tables(place.text, _RANGES) as (_, tables):
        ((epoch,),) = fetch(tables, _NEWEST_EPOCH, [cluster, RECORD])
    return -1 if epoch is None else int(epoch)


def _first_new(place: Location, cluster: str, known: Alerted) -> int:
    """Return from which offset on records are news: an earlier one where the log was cut since.

    A log is cut by a leader of a higher epoch, who writes other records from there on.
    """
    if known.epoch < 0:
        return known.offset
    with open_tables(place.text, _RANGES) as (_, tables):
        ((start,),) = fetch(tables, _FIRST_ABOVE, [cluster, RECORD, known.epoch])
    return known.offset if start is None else min(known.offset, int(start))


def _beginning(noted: Mapping[str, Any] | None, key: str) -> Alerted | None:
    """Return the beginning that was noted elsewhere; None where that is of another receiver."""
    if not isinstance(noted, Mapping) or noted.get("key") != key:
        return None
    offset = noted.get("offset")
    return Alerted(offset=offset) if isinstance(offset, int) else None


def _older(entry: Entry) -> Alerted | None:
    """Return the beginning after an older aclkit, which did not tell receivers apart."""
    offset = entry.get("offset")
    return Alerted(offset=offset) if isinstance(offset, int) else None


_HISTORY: Final[Mapping[str, Mapping[str, str]]] = {"acl_history": {}}
_RANGES: Final[Mapping[str, Mapping[str, str]]] = {"log_range": {}}
_NEWEST_EPOCH: Final = "SELECT max(epoch) FROM log_range WHERE cluster_id = ? AND fact = ?"
_FIRST_ABOVE: Final = (
    "SELECT min(from_offset) FROM log_range WHERE cluster_id = ? AND fact = ? AND epoch > ?"
)
