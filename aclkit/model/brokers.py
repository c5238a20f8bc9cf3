"""The brokers of a cluster → whether ranges (CIDR) in hosts of ACLs decide there. Pure.

A broker's binary decides, whatever metadata.version is in force: from Kafka 4.4 on a host such as
``10.0.0.0/8`` is a range, before it a text that no client's address equals. The highest supported
metadata.version identifies the binary: the broker's registration in the log contains it, and a live
broker reports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from aclkit.errors import DataError
from aclkit.model.cidr import has_unknown_zone, parse_range
from aclkit.model.groups import grouped
from aclkit.model.semantics import OFF, ON
from aclkit.model.values import dataclass

CIDR_LEVEL: Final = 32
"""A binary that supports this metadata.version reads ranges; they are made where it is in force."""

NOT_TOLD: Final = -1
"""The levels of a live broker that did not report which ones it supports."""

DIFFER: Final = "differ"
UNKNOWN: Final = "unknown"

LEVEL_NAMES: Final = {
    **{26: "4.1-IV0", 27: "4.1-IV1", 28: "4.2-IV0", 29: "4.2-IV1", 30: "4.3-IV0"},
    **{31: "4.4-IV0", 32: "4.4-IV1", 33: "4.4-IV2"},
}
"""What Kafka calls these levels of metadata.version (MetadataVersion)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A broker, as the log or a live cluster last reported it.

    Attributes:
        broker_id: its number.
        is_registered: nothing has unregistered it; a fenced broker is registered. A live cluster
            registers those that it lists.
        min_level: the lowest metadata.version that it supports; None where it supports none,
            ``NOT_TOLD`` where that is not known.
        max_level: the highest, in the same way.
        since_offset: from where on this is so.
        since_time: the time of that record.
    """

    broker_id: int
    is_registered: bool
    min_level: int | None
    max_level: int | None
    since_offset: int
    since_time: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Brokers:
    """The brokers of a cluster, and the metadata.version in force.

    Attributes:
        brokers: sorted by number; empty where nothing is known.
        finalized_level: the metadata.version in force; None where it is not known.
        finalized_offset: since which offset.
    """

    brokers: tuple[Broker, ...] = ()
    finalized_level: int | None = None
    finalized_offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RangesByBroker:
    """Whether ranges decide, according to the registered brokers' binaries.

    Attributes:
        state: ``on`` where they do on all that are known, ``off`` where all are known and they do
            on none, ``differ``, or ``unknown`` where no broker is registered, or none is known to
            read ranges and not all are known.
        with_ranges: the brokers where they decide.
        without: those where they do not.
        words: the same in one sentence, for people.
    """

    state: str
    with_ranges: tuple[int, ...]
    without: tuple[int, ...]
    words: str

    @property
    def newest_decides(self) -> bool:
        """Whether ranges decide on the newest of them; where none is known, not."""
        return bool(self.with_ranges)


def ranges_by_broker(brokers: Iterable[Broker]) -> RangesByBroker:
    """Return whether ranges decide; brokers that are unregistered do not count."""
    registered = sorted((b for b in brokers if b.is_registered), key=lambda b: b.broker_id)
    silent = [b.broker_id for b in registered if b.max_level == NOT_TOLD]
    reading = [b for b in registered if reads_ranges(b)]
    others = [b for b in registered if not reads_ranges(b) and b.max_level != NOT_TOLD]
    as_ranges = f"as address ranges: {_told(reading)}"
    as_text = f"as text: {_told(others)}"
    if not registered:
        state, words = UNKNOWN, f"{_UNKNOWN_HOW}, because no registered broker is known"
    elif silent and not reading:
        state, words = UNKNOWN, f"{_UNKNOWN_HOW}, because {_silent(silent)}"
    elif not others:
        state, words = ON, f"Brokers read {_RANGES} {as_ranges}"
    elif not reading:
        state, words = OFF, f"Brokers compare {_RANGES} {as_text}"
    else:
        state, words = DIFFER, f"Brokers read {_RANGES} differently, {as_ranges}; {as_text}"
    if silent and reading:
        words = f"{words}; {_silent(silent)}"
    return RangesByBroker(
        state=state,
        with_ranges=tuple(b.broker_id for b in reading),
        without=tuple(b.broker_id for b in others),
        words=words,
    )


_RANGES: Final = "hosts such as 10.0.0.0/8"
_UNKNOWN_HOW: Final = f"It is unknown how brokers read {_RANGES}"


def may_be_range(host: str) -> bool:
    """Whether an ACL's host is a range to a broker of 4.4, on this machine or on another.

    >>> may_be_range("10.0.0.0/8"), may_be_range("10.0.0.0/33"), may_be_range("fe80::%bond0/10")
    (True, False, True)
    """
    return parse_range(host) is not None or has_unknown_zone(host)


_OPTION: Final = (
    "Pass --cidr-hosts on for Kafka 4.4 and later, or --cidr-hosts off for older brokers."
)


def require_known_reading(
    known: RangesByBroker, acl_hosts: Iterable[str], fix: str = _OPTION
) -> None:
    """Insist that it is known how the brokers read the hosts of ACLs: as ranges or as text.

    ``fix``: what to pass where it is not.

    Raises:
        DataError: a host is a range from Kafka 4.4 on, and no broker reports its Kafka version.
    """
    ranges = sorted(filter(may_be_range, acl_hosts)) if known.state == UNKNOWN else []
    if ranges:
        shown = ", ".join(ranges[:_MOST_SHOWN]) + (", …" if len(ranges) > _MOST_SHOWN else "")
        raise DataError(
            f"ACLs have an address range (CIDR) as their host: {shown}. Brokers of Kafka 4.4 "
            "and later read it as a range; older ones compare it as text, which matches no "
            f"client. {known.words}. {fix}"
        )


def note_on_ranges(known: RangesByBroker, *, decide: bool, is_auto: bool) -> str:
    """Return whether ranges decide in a run, and the reason; for ACLs with a ``/`` in the host.

    Args:
        known: what the registered brokers do.
        decide: what the run does.
        is_auto: it follows the brokers; otherwise the options decide.
    """
    if not is_auto:
        as_given = "match as address ranges" if decide else "are compared as text"
        differs = known.with_ranges if not decide else known.without
        although = f" This differs from the brokers. {known.words}." if differs else ""
        return (
            f"Hosts such as 10.0.0.0/8 {as_given} (--cidr-hosts {ON if decide else OFF}).{although}"
        )
    if known.state == DIFFER:
        return f"{known.words}. aclkit decides as the brokers that read them as address ranges."
    return f"{known.words}."


def reads_ranges(broker: Broker) -> bool:
    """Whether ranges decide on a broker; one that names no metadata.version is older than 4.4."""
    return broker.max_level is not None and broker.max_level >= CIDR_LEVEL


def level_name(level: int) -> str:
    """Return a level of metadata.version, with Kafka's name for it where that is known.

    >>> level_name(29), level_name(40)
    ('29 (4.2-IV1)', '40')
    """
    return f"{level} ({LEVEL_NAMES[level]})" if level in LEVEL_NAMES else str(level)


def _told(brokers: Iterable[Broker]) -> str:
    """Describe what brokers support, grouped by level."""
    by_level = grouped((broker.max_level, broker.broker_id) for broker in brokers)
    return ", ".join(
        f"{named_brokers(numbers)} {_supported(level, is_one=len(numbers) == 1)}"
        for level, numbers in sorted(by_level.items(), key=lambda item: item[1])
    )


def named_brokers(numbers: Sequence[int]) -> str:
    """Name brokers, the first few of many.

    >>> named_brokers([2]), named_brokers([1, 3])
    ('broker 2', 'brokers 1, 3')
    """
    shown = ", ".join(map(str, numbers[:_MOST_NAMED]))
    more = f" and {len(numbers) - _MOST_NAMED} more" if len(numbers) > _MOST_NAMED else ""
    return f"{'broker' if len(numbers) == 1 else 'brokers'} {shown}{more}"


def _silent(numbers: Sequence[int]) -> str:
    do = "does" if len(numbers) == 1 else "do"
    return (
        f"{named_brokers(numbers)} {do} not report the metadata.version that "
        f"{('it supports' if len(numbers) == 1 else 'they support')}"
    )


def _supported(level: int | None, *, is_one: bool) -> str:
    if level is None:
        return f"{('reports' if is_one else 'report')} no metadata.version"
    return f"{'supports' if is_one else 'support'} metadata.version up to {level_name(level)}"


_MOST_NAMED: Final = 20
_MOST_SHOWN: Final = 3
