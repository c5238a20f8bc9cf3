"""What was read of an authorizer log, and what is asked of it, as values. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple

from aclkit.model.phrases import few


class FileDay(NamedTuple):
    """The readable lines of one file on one day.

    Attributes:
        file: its number.
        day: in UTC.
        allowed: how many are ALLOWED.
        heartbeats: how many are heartbeats of brokers, which only the active controller gets.
        served: how many are of requests that only brokers serve.
    """

    file: str
    day: date
    allowed: int
    heartbeats: int
    served: int


class Stretch(NamedTuple):
    """A time in which a file has lines of a kind without a gap of more than an hour."""

    file: str
    first: datetime
    last: datetime


class Unread(NamedTuple):
    """Lines of the authorizer that could not be read, of one file and day; None without a time."""

    file: str
    day: date | None
    lines: int


class Broker(NamedTuple):
    """A broker of the cluster, and until when it was one: None where it still is."""

    broker_id: int
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """What was read of the authorizer log of one cluster.

    Attributes:
        days: its lines, by file and day.
        stretches: when files speak.
        allowed: when they have ALLOWED lines.
        beats: when they have heartbeats of brokers.
        unread: lines of it that could not be read.
        sources: number of a file → where it was read.
        copies: numbers of files that hold lines of the same broker at the same time.
        brokers: number of a file → the broker whose log it is, where that is sure.
    """

    days: Sequence[FileDay] = ()
    stretches: Sequence[Stretch] = ()
    allowed: Sequence[Stretch] = ()
    beats: Sequence[Stretch] = ()
    unread: Sequence[Unread] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    copies: Collection[tuple[str, str]] = ()
    brokers: Mapping[str, str] = field(default_factory=dict)

    def words(self, files: Iterable[str]) -> str:
        """Write where some files were read."""
        return few(sorted({self.sources.get(each, each) for each in files}))

    @property
    def first(self) -> datetime | None:
        """When the first line was written."""
        return min((each.first for each in self.stretches), default=None)

    @property
    def last(self) -> datetime | None:
        """When the last line was written."""
        return max((each.last for each in self.stretches), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """What a log must have.

    Attributes:
        days: length of the window, up to the newest line.
        registered: the brokers that the cluster registered; none where that is not known.
        brokers: the logs are of so many brokers, and that is all of them: the user's word.
        read_at: when the ACLs were read; None where that is not known.
        most_unread: so many lines may be unreadable.
        may_be_old: the log may end long before the ACLs were read.
    """

    days: float
    registered: Sequence[Broker] = ()
    brokers: int | None = None
    read_at: datetime | None = None
    most_unread: int = 0
    may_be_old: bool = False

    def required(self, start: datetime) -> list[Broker]:
        """Return the registered brokers of a window."""
        return [each for each in self.registered if each.until is None or each.until > start]

    def least(self, start: datetime) -> int | None:
        """Return of how many brokers the log must be; None where that is not known."""
        return self.brokers or len(self.required(start)) or None
