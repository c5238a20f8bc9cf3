"""Files of a log → when each broker speaks, and when too few do. Pure.

The files of one broker are one voice: its log may be rotated, or split into files that overlap.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from aclkit.questions.usage.coverage import GAP
from aclkit.questions.usage.known_log import Log, Needed, Stretch

Span = tuple[datetime, datetime]


def controllers_of(log: Log) -> set[str]:
    """Return the files of controllers that are no brokers."""
    served = {log.brokers.get(each.file, each.file) for each in log.days if each.served}
    beating = {each.file for each in log.days if each.heartbeats}
    return {file for file in beating if log.brokers.get(file, file) not in served}


def speakers_of(log: Log, needed: Needed, start: datetime) -> dict[str, str]:
    """Return whose voice each file is: those of one broker are one, and all if there is one."""
    of_controllers, is_one = controllers_of(log), needed.least(start) == 1
    found = {}
    for file in dict.fromkeys(each.file for each in log.stretches):
        original = _original(log, file)
        name = log.brokers.get(original) or log.brokers.get(file)
        if file not in of_controllers:
            found[file] = _ONLY if is_one else f"{_NAMED}{name}" if name else f"{_FILE}{original}"
    return found


def voices_of(
    log: Log, stretches: Iterable[Stretch], needed: Needed, start: datetime, last: datetime
) -> list[Span]:
    """Return when brokers speak, each of them once at a time.

    Files without a name count only if the user has said how many brokers they are of. A number as
    name is that of a registered broker, or counts for nothing.
    """
    required = {} if needed.brokers else {str(e.broker_id): e for e in needed.required(start)}
    served = {log.brokers.get(each.file) for each in log.days if each.served}
    speakers = speakers_of(log, needed, start)
    voices: dict[str, list[Span]] = {}
    for file, first, until in stretches:
        speaker = speakers.get(file, "")
        name = speaker.removeprefix(_NAMED) if speaker.startswith(_NAMED) else None
        is_counted = needed.brokers is not None or speaker == _ONLY
        if name is not None:
            is_counted = name in required or (
                name in served and not (required and name.isdecimal())
            )
        if is_counted and speaker:
            voices.setdefault(speaker, []).append((first, until))
    if speakers and _ONLY not in speakers.values():
        for name, broker in required.items():
            if broker.until is not None:
                voices.setdefault(f"{_NAMED}{name}", []).append((broker.until, last))
    return [span for spans in voices.values() for span in united(spans)]


def _original(log: Log, file: str) -> str:
    """Return the first of the files that are copies of each other."""
    known, ahead = {file}, [file]
    while ahead:
        one = ahead.pop()
        others = {b if a == one else a for a, b in log.copies if one in (a, b)} - known
        known |= others
        ahead += others
    return min(known)


def united(spans: Iterable[Span]) -> list[Span]:
    """Put spans together that overlap, or have no gap of more than an hour between them."""
    found: list[Span] = []
    for first, last in sorted(spans):
        if found and first - found[-1][1] <= GAP:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return found


def lacking(spans: Iterable[Span], start: datetime, end: datetime, least: int) -> list[Span]:
    """Return when fewer voices than there must be speak at the same time."""
    events = sorted(
        event
        for begin, until in spans
        if until > start and begin < end
        for event in ((max(begin, start), 1), (min(until, end), -1))
    )
    found: list[Span] = []
    at, count = start, 0
    for moment, step in [*events, (end, 0)]:
        if count < least and moment > at:
            if found and found[-1][1] == at:
                found[-1] = found[-1][0], moment
            else:
                found.append((at, moment))
        at, count = moment, count + step
    return found


_ONLY: Final = "the only broker"
_NAMED: Final = "broker "
_FILE: Final = "file "
