"""Sources, and the nightly run of them → what a watcher does in a turn: look, run, alert, note."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final, Protocol

from aclkit.audit.alerts.alert import Moved
from aclkit.audit.alerts.delivery import Delivery, moved_since
from aclkit.audit.alerts.webhook import StillSendingError
from aclkit.audit.reports.as_prometheus import render_prometheus
from aclkit.audit.reports.data import NightlySummary, RunReport
from aclkit.audit.reports.gather import gather
from aclkit.audit.reports.words import iso, verdict
from aclkit.errors import AclkitError, UnnotedError
from aclkit.model.acl import acl_words
from aclkit.model.visible import visible
from aclkit.nightly.nightly_run import NightlyResult
from aclkit.nightly.policies import Policies, newest_summary
from aclkit.nightly.watching import NotAloneError
from aclkit.pipeline.replay.following import Following, News
from aclkit.pipeline.replay.intake import Intake
from aclkit.warehouse.duck import open_tables
from aclkit.warehouse.job_run import JOB_RUN, PublishedRun
from aclkit.warehouse.location import Location
from aclkit.warehouse.published import Published, open_warehouse, reading_run
from aclkit.warehouse.storage import newest_version
from aclkit.warehouse.watch_state import replace_state, write_state
from aclkit.warehouse.watched import CHECKED, State, read_state


class Night(Protocol):
    """The nightly run that a watcher does, under options that stay."""

    @property
    def options(self) -> str:
        """A digest of the options that decide what a run does."""

    def intake(self) -> Intake:
        """Look at the sources; no broker is asked yet."""

    def policies(self) -> Policies:
        """Read the team's policies of today."""

    def run(self, intake: Intake, *, keeps_unchanged: bool) -> NightlyResult:
        """Do one run; see ``NightlyOptions``."""

    def write(self, result: NightlyResult) -> None:
        """Write the page and the reports of a run."""


@dataclass(kw_only=True)
class WatchWork:
    """What a watcher does; see ``nightly.watching.Work``.

    Attributes:
        place: where the warehouse lies.
        cluster: the cluster, where one is named.
        night: what a run is.
        delivery: sends alerts; None where nothing is sent.
        following: the sources.
        say: takes a line about what changed, or was checked.
        is_verbose: each check is a line.
        wants_report: metrics of the newest run are asked for.
        report: what that run looks like; None before the first turn, or where it is not wanted.
    """

    place: Location
    cluster: str | None
    night: Night
    delivery: Delivery | None
    following: Following
    say: Callable[[str], None]
    is_verbose: bool = False
    wants_report: bool = False
    report: RunReport | None = None
    watcher: str = field(default_factory=lambda: uuid.uuid4().hex)
    cluster_id: str | None = None
    _summary: NightlySummary | None = None
    _read: PublishedRun | None = None
    _version: int | None = None
    _day: str = ""
    _is_begun: bool = False
    _now: datetime = field(default_factory=lambda: datetime.now(UTC))

    @cached_property
    def _checks(self) -> dict[str, Mapping[str, Any]]:
        """What was noted of each cluster; no other process writes it meanwhile."""
        return dict(read_state(self.place, CHECKED))

    def look(self, now: datetime) -> News | None:
        """See ``Work.look``: the whole sources once a day, and where another run has come."""
        self._now = now
        if not self._is_begun and (news := self._begin()) is not None:
            return news
        self._is_begun = True
        version = newest_version(self.place.files, JOB_RUN)
        if version != self._version:
            before = self._read
            self._look_at_published()
            if before is not None and self._read is not None and self._read.run_id != before.run_id:
                self._is_begun = False
                return News(why="another run has read the sources")
        if self._day != f"{now:%Y-%m-%d}":
            return News(why="the first poll of the day")
        return self.following.look()

    def run(self, news: News) -> bool:
        """See ``Work.run``; the first run of a day is kept even if it changes nothing."""
        self._begin_alerts()
        intake = self._intake(news)
        today, known = f"{self._now:%Y-%m-%d}", self._summary
        days = {self._day, f"{self._read.began:%Y-%m-%d}" if self._read else ""}
        result = self.night.run(intake, keeps_unchanged=today not in days)
        self.following.end(is_listed_again=result.is_listed_again)
        self._is_begun = True
        self._day, self._summary = today, result.summary
        self.cluster_id = result.summary.cluster_id
        # The run of another process since is not known here, so the next look has to see it.
        self._read, self._version = result.read, None
        if result.is_kept:
            self._tell_changes(news, known)
            self.night.write(result)
        return result.is_kept

    def _intake(self, news: News) -> Intake:
        """Return what a run reads: the end of a log, or all of the sources."""
        if news.tail is None:
            return self.following.begin(self.night.intake)
        return replace(self.night.intake(), listings=(), tail=news.tail)

    def _begin_alerts(self) -> None:
        """Note from where on changes are news, before the first run that may publish some."""
        if self.delivery is not None and self.cluster_id is not None:
            noted = self._checks.get(self.cluster_id, {}).get("alerted")
            try:
                self.delivery.begin(self.cluster_id, noted)
            except UnnotedError as error:  # a run is worth more than the note
                self.delivery.warn(f"warning: {error}")

    def alert(self) -> bool:
        """See ``Work.alert``."""
        if self.delivery is None or self.cluster_id is None:
            return False
        if self.delivery.knows(self._newest()):
            return False
        with suppress(StillSendingError):  # the next turn sees to it
            return self.delivery.send_new(self._read_newest)
        return False

    def note(self, now: datetime) -> None:
        """See ``Work.note``."""
        if self.cluster_id is None or self._read is None:
            return
        said = {
            "checked_at": iso(now),
            "run_id": self._read.run_id,
            "offset": self.following.offset,
            "day": self._day,
            "watcher": self.watcher,
            "options": self.night.options,
            "source": self.following.state(),
        }
        if self.delivery is not None and (noted := self.delivery.note(self.cluster_id)):
            said["alerted"] = noted
        self._gather()
        known = dict(self._checks)
        self._checks[self.cluster_id] = said
        self._write_checks(known)
        if self.is_verbose:
            self.say(f"{_time(now)} checked, offset {self.following.offset or 'unknown'}\n")

    def _write_checks(self, known: State) -> None:
        """Write what was noted; in a bucket, where no lock is held, over what is known alone.

        Raises:
            NotAloneError: another watcher has written meanwhile.
        """
        if not self.place.is_remote:
            write_state(self.place, CHECKED, self._checks)
            return

        def is_known(found: State) -> bool:
            # A put of this watcher may have succeeded although its answer was lost.
            return found == known or self.watcher in {
                each.get("watcher") for each in found.values()
            }

        if not replace_state(self.place, CHECKED, self._checks, is_known):
            raise NotAloneError(another_watcher(self.place))

    def tell_silence(self, error: AclkitError, polls: int, since: datetime) -> None:
        """See ``Work.tell_silence``."""
        if self.delivery is not None:
            with suppress(StillSendingError):
                self.delivery.tell_silence(self._name(), error, polls, since)

    def tell_return(self) -> None:
        """See ``Work.tell_return``."""
        if self.delivery is not None:
            with suppress(StillSendingError):
                self.delivery.tell_return(self._name())

    def _begin(self) -> News | None:
        """Go on from an earlier watcher; where that is not possible, a run has to read all."""
        options = self.night.options
        mine = [(k, v) for k, v in self._checks.items() if v.get("options") == options]
        for cluster_id, said in mine:
            self.cluster_id = cluster_id
            self._look_at_published()
            is_same = self._read is not None and self._read.run_id == said.get("run_id")
            state = said.get("source")
            if is_same and isinstance(state, dict) and self.following.resume(state):
                self._day = str(said.get("day"))
                return None
        if self.cluster_id is None:
            self._look_at_published()
        return News(why="the first poll")

    def _look_at_published(self) -> None:
        """Note which run is the newest that read the sources, and what it looks like."""
        self._version = newest_version(self.place.files, JOB_RUN)
        if self._version is None:
            return
        published = open_warehouse(self.place.text)
        self.cluster_id = self.cluster_id or self._only_cluster(published)
        if self.cluster_id in published.clusters:
            self._read = reading_run(published, self.cluster_id)

    def _only_cluster(self, published: Published) -> str | None:
        wanted = self.cluster
        if wanted is not None:
            return wanted if wanted in published.clusters else None
        return published.clusters[0] if len(published.clusters) == 1 else None

    def _newest(self) -> NightlySummary:
        """Return what the newest run has found that this watcher knows of."""
        return self._summary or self._read_newest()

    def _read_newest(self) -> NightlySummary:
        """Return what the newest run that decided has found, judged as a run would judge it."""
        self._summary = newest_summary(
            self.place, self.cluster_id or "", self.night.policies, self._summary
        )
        return self._summary

    def _name(self) -> str | None:
        return self.cluster_id or self.cluster

    def _tell_changes(self, news: News, known: NightlySummary | None) -> None:
        """Print a line for each ACL that came or went, each new finding, and the run."""
        summary = self._summary
        if summary is None:
            return
        said = verdict(replace(summary, exit_code=None))
        lines = [f"{said} ({news.why}; offset {summary.head_offset})"]
        if known is not None:
            moved = moved_since(self.place, summary.cluster_id, known.head_offset)
            lines = [*_change_lines(moved, known, summary), *lines]
        time = _time(self._now)
        for line in lines:
            self.say(f"{time} {visible(line)}\n")

    def _gather(self) -> None:
        """Read what metrics show of the newest run: who asks for them waits for no table."""
        if not self.wants_report:
            return
        summary = self._newest()
        if self.report is None or self.report.summary is not summary:
            with open_tables(self.place.text) as (published, tables):
                self.report = gather(tables, published, summary, has_access=False)

    def metrics(self, now: float) -> str:
        """Return the numbers of the newest run in Prometheus' text format; none before it."""
        if (report := self.report) is None:
            return ""
        return render_prometheus(replace(report, made_at=datetime.fromtimestamp(now, UTC)))


def _change_lines(moved: Moved, known: NightlySummary, summary: NightlySummary) -> Iterator[str]:
    for how, acls in (("added", moved.added), ("removed", moved.removed)):
        yield from (f"{how}: {acl_words(acl)}" for acl in acls[:_MOST_LINES])
        if len(acls) > _MOST_LINES:
            yield f"{len(acls) - _MOST_LINES:,} more ACLs {how}"
    before = {found.fingerprint for found in known.findings}
    new = [found for found in summary.findings if found.fingerprint not in before]
    yield from (f"finding ({f.severity}) {f.finding}: {f.message}" for f in new[:_MOST_LINES])


def require_only_watcher(work: WatchWork, interval: float, sleep: Callable[[float], None]) -> None:
    """Insist that no other watcher notes checks in a bucket, where there is no lock to hold.

    One that did so lately is waited for: if it is alive it does so again.

    Raises:
        SurroundingsError: it did.
    """
    before = _newest_check(read_state(work.place, CHECKED))
    if before is None or (datetime.now(UTC) - before[0]).total_seconds() > 3 * interval:
        return
    sleep(interval + _MARGIN)
    if _newest_check(read_state(work.place, CHECKED)) != before:
        raise NotAloneError(another_watcher(work.place))


def another_watcher(place: Location) -> str:
    """Return the message of a watcher that is not the only one."""
    return f"Another watcher follows {place}. One is enough: stop it first, or let it do the work."


def _newest_check(state: Mapping[str, Mapping[str, Any]]) -> tuple[datetime, str] | None:
    found: list[tuple[datetime, str]] = []
    for said in state.values():
        try:
            time = datetime.fromisoformat(said["checked_at"])
            found.append((time.astimezone(UTC), str(said["watcher"])))
        except (KeyError, TypeError, ValueError):
            continue
    return max(found, default=None)


def _time(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"


_MOST_LINES: Final = 20
_MARGIN: Final = 5.0
