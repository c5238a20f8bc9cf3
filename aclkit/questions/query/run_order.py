"""A sequence of events, and the times that a clock gave them → times in that order. Pure.

The order of runs is that of their numbers, and so it is for listings. A clock that was once fast or
slow gave one of them a time that contradicts the others; such a time is not believed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS
from aclkit.model.facts import LISTING
from aclkit.model.semantics import BrokerSettings
from aclkit.pipeline.replay.spans import Range


def believed(times: Sequence[datetime]) -> list[bool]:
    """Return which times are believed: the largest number of times that do not go back.

    Where that leaves a choice the earlier time is believed: clocks are fast rather than slow.

    >>> at = [datetime(year, 1, 1) for year in (2024, 2030, 2025, 2026)]
    >>> believed(at), believed(at[:2]), believed([at[1], at[0]])
    ([True, False, True, True], [True, True], [False, True])
    """
    tails: list[int] = []  # of each length the place where such a sequence can end earliest
    before: list[int] = []
    for place, time in enumerate(times):
        length = bisect_right(tails, time, key=lambda at: times[at])
        before.append(tails[length - 1] if length else -1)
        tails[length : length + 1] = [place]
    chosen, place = set[int](), tails[-1] if tails else -1
    while place >= 0:
        chosen.add(place)
        place = before[place]
    return [place in chosen for place in range(len(times))]


def in_order(times: Sequence[datetime], newest: datetime | None = None) -> list[datetime]:
    """Return times of which none goes back: one that is not believed is that of the next one.

    Args:
        times: of events in their order.
        newest: when the newest run began, which came after all of them.

    >>> at = [datetime(year, 1, 1) for year in (2024, 2030, 2025, 2026)]
    >>> [time.year for time in in_order(at)], [t.year for t in in_order(at[:2], newest=at[3])]
    ([2024, 2025, 2025, 2026], [2024, 2026])
    """
    every = [*times, *([] if newest is None else [newest])]
    good = believed(every)
    # An event after the last believed time cannot be earlier than that time.
    then = max((time for time, is_good in zip(every, good, strict=True) if is_good), default=None)
    found = list[datetime]()
    for time, is_good in zip(reversed(every), reversed(good), strict=True):
        then = time if is_good or then is None else then
        found.append(then)
    return found[::-1][: len(times)]


def settings_in_order(
    rows: Iterable[Sequence[Any]],
    newest: tuple[int, datetime | None],
    last_below: Callable[[int], datetime | None],
) -> list[tuple[datetime, BrokerSettings]]:
    """Return the settings that runs saw, each with when it was seen.

    A run came after the records that it read; where its clock was fast, nothing else is known.

    Args:
        rows: of ``setting``, in the order of their runs; see ``SETTING_COLUMNS``.
        newest: the number of the newest run, and when it began; where the last row has no number,
            it is from an older aclkit, and it is unknown which came later.
        last_below: the time of the newest record below an offset, if there is one.
    """
    held = list(rows)
    number = held[-1][3] if held else None
    later = newest[1] if number is not None and number < newest[0] else None
    known = [None if row[4] is None else last_below(row[4]) for row in held]
    # A record with a future time shows that a broker's clock was fast, and nothing about runs.
    known = [None if then and newest[1] and then > newest[1] else then for then in known]
    times = [max(row[0], then or row[0]) for row, then in zip(held, known, strict=True)]
    good = believed([*times, *([] if later is None else [later])])
    ordered = in_order(times, later)
    found: list[tuple[datetime, BrokerSettings]] = []
    for row, then, is_good, time in zip(held, known, good, ordered, strict=False):
        since = time if is_good or then is None else then
        said = {SUPER_USERS: row[1], ALLOW_EVERYONE: row[2]}
        broker = BrokerSettings(
            super_users=frozenset(row[1] or ()),
            allow_everyone=bool(row[2]),
            unknown=frozenset(key for key, value in said.items() if value is None),
        )
        found.append((max([since, *(seen for seen, _ in found[-1:])]), broker))
    return found


def last_seen_before(number: int | None, runs: Sequence[tuple[int, datetime]]) -> datetime | None:
    """Return when the last run before a run began; None where none is known.

    Args:
        number: the run's; None of an older aclkit.
        runs: number and time of the runs that saw settings, in order; a time that contradicts
            the others is not believed.

    >>> runs = [(0, datetime(2024, 1, 1)), (1, datetime(2030, 1, 1)), (2, datetime(2025, 1, 1))]
    >>> last_seen_before(2, runs)
    datetime.datetime(2024, 1, 1, 0, 0)
    """
    if number is None:
        return None
    good = believed([time for _, time in runs])
    earlier = (t for (n, t), is_good in zip(runs, good, strict=True) if is_good and n < number)
    return max(earlier, default=None)


SETTING_COLUMNS = ("since_time", "super_users", "allow_everyone", "run_number", "log_offset")


def has_our_times(ranges: Iterable[Range]) -> bool:
    """Whether machines that ran aclkit may have given the facts their times, and not brokers.

    Those of listings, and of ACLs that aclkit itself wrote, which have no epoch.
    """
    return all(item.fact == LISTING or item.epoch is None for item in ranges)
