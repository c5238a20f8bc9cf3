"""The bytes of a log file → its record batches, and the damaged parts.

Every byte is accounted for. A batch counts only if its CRC is right, its records agree with its
header, and later batches do not contradict its place in the log. After anything else, reading
goes on at the next such batch. So one batch that lies is one batch that is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from aclkit.pipeline.sources.batch import (
    HEADER_SIZE,
    MAGIC_AT,
    MAY_BE_MAGIC,
    BadBatch,
    Header,
    Records,
    crc_holds,
    first_words,
    header_at,
    is_torn,
    read_records,
)
from aclkit.pipeline.sources.log_names import END_OF_OFFSETS


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A sound batch, data or control; ``position`` to ``end`` are its bytes."""

    position: int
    end: int
    base_offset: int
    last_offset: int
    epoch: int
    is_control: bool
    records: Records


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """Bytes that could not be used.

    ``from_offset`` ≤ o < ``to_offset`` are lost with them; both are None where nothing is: in the
    torn tail of a log, and between two batches that follow each other without a gap.
    """

    position: int
    size: int
    reason: str
    from_offset: int | None = None
    to_offset: int | None = None


class Neighbour(NamedTuple):
    """The known facts about the first batch after a file: its offset, and its epoch or -1."""

    offset: int
    epoch: int = -1

    @classmethod
    def of(cls, offset: int, start: bytes) -> Neighbour:
        """Make it of the offset that a file is named for, and of its first bytes if they fit."""
        said = first_words(start)
        return cls(offset, said[1] if said and said[0] == offset else -1)


def read_batches(
    data: bytes, first_offset: int | None = None, behind: Neighbour | None = None
) -> Iterator[Batch | Damage]:
    """Read all batches of a file in order.

    Zeros up to the end of the file are preallocated space and no batch. An incomplete batch at
    the end is the torn tail that a crash leaves. Kafka ignores it; here it is a ``Damage`` that
    loses nothing, unless the log is known to go on after it.

    Args:
        data: the file.
        first_offset: the offset in its name, if it has one.
        behind: the first batch of the log's next file, if there is one.
    """
    place = _Place(0, first_offset or 0, is_named=first_offset is not None)
    file = _File(data, behind)
    doubts: list[_Doubt] = []
    while place.position < len(data):
        header = header_at(data, place.position)
        if header is None and not _NOT_ZERO.search(data, place.position):
            break
        found = _judge(file, header, place)
        if isinstance(found, _Flaw):
            doubt, place = _pass_over(file, header, place, found)
            doubts.append(doubt)
            continue
        yield from _weigh(doubts, place.expected, found.base_offset)
        yield found
        doubts = []
        held = place.held + 1 if found.epoch == place.epoch else 1 + found.is_control
        place = _Place(
            found.end, found.last_offset + 1, found.epoch, held=held, doubted=place.doubted
        )
    yield from _weigh(doubts, place.expected, behind.offset if behind else None)


class _File(NamedTuple):
    data: bytes
    behind: Neighbour | None


class _Place(NamedTuple):
    """How far the file is read, and what must come next.

    Attributes:
        position: of the next byte.
        expected: no batch from here on begins below this offset.
        epoch: nor has a lower epoch.
        held: how many batches had this epoch; the control record that begins one counts twice.
        ahead: how many offsets the bytes skipped since the last sound batch claim to hold, at
            least.
        is_named: nothing was read yet, and the file's name has its first offset.
        has_doubts: something was skipped since the last sound batch.
        doubted: how many bytes were searched in vain.
    """

    position: int
    expected: int
    epoch: int = -1
    held: int = 0
    ahead: int = 0
    is_named: bool = False
    has_doubts: bool = False
    doubted: int = 0


class _Doubt(NamedTuple):
    """Skipped bytes; the next batch shows which offsets are lost with them.

    ``claim`` are the offsets that they claim to hold; their number is certain if ``is_whole``.
    ``loses`` is False for a torn tail.
    """

    position: int
    size: int
    reason: str
    claim: tuple[int, int] | None = None
    is_whole: bool = False
    loses: bool = True


_NOT_ZERO: Final = re.compile(rb"[^\0]")
_TORN: Final = "torn tail: the last batch is incomplete"
_GIVEN_UP: Final = "too much of the file looks like record batches but is none; reading stopped"
_TO_THE_END: Final = "no valid record batch from here to the end of the file"
_MOST_WITNESSES: Final = 32
_MOST_DOUBT: Final = 1_000
"""How often, on average, each byte of a file may be in a batch that only seems to be one."""


class _Flaw(NamedTuple):
    """What is wrong with a batch; ``is_whole`` where its length at least is right."""

    reason: str
    is_whole: bool = False


def _judge(file: _File, header: Header | None, place: _Place) -> Batch | _Flaw:
    """Read the batch that a header announces, or return what is wrong with it."""
    if header is None:
        return _Flaw("no valid record batch here; reading continues at the next one")
    if not crc_holds(file.data, header):
        return _Flaw("the batch's CRC is wrong")
    try:
        records = read_records(file.data, header)
    except BadBatch as error:
        return _Flaw(str(error))
    if problem := _misplaced(file, header, place):
        return _Flaw(problem, is_whole=True)
    return Batch(
        position=header.position,
        end=header.end,
        base_offset=header.base_offset,
        last_offset=header.next_offset - 1,
        epoch=header.epoch,
        is_control=header.is_control,
        records=records,
    )


def _misplaced(file: _File, header: Header, place: _Place) -> str | None:
    """Return what is wrong with offset and epoch, which no CRC covers.

    Neither decreases in a log. A batch that continues where the previous one ended is right. For a
    batch that leaps, the later ones show whether they continue from there.
    """
    if header.epoch < 0:
        return f"leader epoch {header.epoch}, which no leader has"
    if header.base_offset == place.expected and header.epoch == place.epoch:
        return None
    if not place.expected <= header.base_offset < END_OF_OFFSETS:
        return f"base offset {header.base_offset} where {place.expected} or more was expected"
    if header.epoch < place.epoch:
        return f"leader epoch {header.epoch} after {place.epoch}"
    witnesses = list(_witnesses(file, header))
    return _offset_refuted(file, header, place, witnesses) or _epoch_refuted(
        header, place, witnesses
    )


class _Follower(NamedTuple):
    """A batch after another: its offset, epoch, and how many offsets lie between, at least."""

    offset: int
    epoch: int
    between: int


def _witnesses(file: _File, header: Header) -> Iterator[_Follower]:
    """Yield the batches after one, as far as their lengths lead, and the first after the file."""
    between, at = 0, header.end
    for _ in range(_MOST_WITNESSES):
        seen = header_at(file.data, at)
        if seen is None:
            break
        yield _Follower(seen.base_offset, seen.epoch, between)
        between += seen.records_count if seen.counts_right and seen.has_room else 1
        at = seen.end
    if file.behind and not _NOT_ZERO.search(file.data, at):
        yield _Follower(file.behind.offset, file.behind.epoch, between)


def _offset_refuted(
    file: _File, header: Header, place: _Place, witnesses: Sequence[_Follower]
) -> str | None:
    """Return which offset after the batch leaves no room for its own.

    A log file has no gaps, so a witness that fits without the batch's leap speaks against it, and
    so does the file's name. Where what was passed over before accounts for the leap, that weighs
    as much as two witnesses.
    """
    leap = header.base_offset - place.expected
    if file.behind and header.next_offset > file.behind.offset:
        return f"base offset {header.base_offset} before {file.behind.offset}"
    if not leap:
        return None
    against = [
        seen
        for seen in witnesses
        if place.expected <= seen.offset < header.next_offset + seen.between
    ]
    support = len(witnesses) - len(against) + 2 * (leap == place.ahead)
    if against and len(against) >= support:
        return f"base offset {header.base_offset} before {against[0].offset}"
    if place.is_named and not support:
        return f"base offset {header.base_offset} in a file that begins at {place.expected}"
    return None


def _epoch_refuted(header: Header, place: _Place, witnesses: Sequence[_Follower]) -> str | None:
    """Return which epoch after the batch its own would forbid.

    An epoch begins with its leader's control record, which weighs as much as a witness. So does the
    absence of any known earlier epoch.
    """
    if header.epoch == place.epoch:
        return None
    known = [seen.epoch for seen in witnesses if seen.epoch >= max(place.epoch, 0)]
    against = [epoch for epoch in known if epoch < header.epoch]
    support = len(known) - len(against) + (header.is_control or place.epoch < 0)
    if against and len(against) >= support:
        return f"leader epoch {header.epoch} before {against[0]}"
    if not support and place.held > 1 and not place.has_doubts:
        return f"leader epoch {header.epoch} without the record that begins it"
    return None


def _pass_over(
    file: _File, header: Header | None, place: _Place, flaw: _Flaw
) -> tuple[_Doubt, _Place]:
    """Go from what is not sound to where reading goes on."""
    claim = (header.base_offset, header.next_offset) if header and _is_plausible(header) else None
    ahead = place.ahead + (claim[1] - claim[0] if claim else 0)
    beyond = place._replace(ahead=ahead, is_named=False, has_doubts=True)
    reason, loses = flaw.reason, True
    if header and flaw.is_whole:
        end: int | None = header.end
    else:
        end, beyond = _next_border(file, header, beyond)
    if end is None:
        end = len(file.data)
        if beyond.doubted > _MOST_DOUBT * end:
            reason = _GIVEN_UP
        elif header is None:
            is_tail = is_torn(file.data, place.position)
            reason, loses = (_TORN if is_tail else _TO_THE_END), not is_tail or bool(file.behind)
    size = end - place.position
    doubt = _Doubt(place.position, size, reason, claim, flaw.is_whole, loses)
    return doubt, beyond._replace(position=end)


def _is_plausible(header: Header) -> bool:
    return header.counts_right and header.has_room and 0 <= header.base_offset < END_OF_OFFSETS


def _next_border(file: _File, header: Header | None, place: _Place) -> tuple[int | None, _Place]:
    """Return where the next batch may begin, None if nothing sound follows.

    The length of a batch that contradicts itself may lie, so a sound batch within it is looked
    for first. If there is none, and a batch or the end of the log follows it, its length is right.
    """
    data, start = file.data, place.position + 1
    if header:
        place = place._replace(doubted=place.doubted + header.size)
        found, place = _next_sound(file, place, start, header.end)
        rest = data[header.end : header.end + HEADER_SIZE]
        if found or header_at(data, header.end) or not any(rest):
            return found.position if found else header.end, place
        start = header.end
    found, place = _next_sound(file, place, start, len(data))
    return found and found.position, place


def _next_sound(file: _File, place: _Place, start: int, stop: int) -> tuple[Header | None, _Place]:
    """Find the next batch that begins between two positions, can follow, and whose CRC holds.

    Headers made to seem sound could have every byte of the rest looked at for each of them: so
    no more is doubted than a few times the file.
    """
    doubted = place.doubted
    for magic in MAY_BE_MAGIC.finditer(file.data, start + MAGIC_AT):
        position = magic.start() - MAGIC_AT
        if position >= stop or doubted > _MOST_DOUBT * len(file.data):
            break
        header = header_at(file.data, position)
        if header is None or not _may_follow(header, place):
            continue
        if crc_holds(file.data, header) and not _misplaced(file, header, place):
            return header, place._replace(doubted=doubted)
        doubted += header.size
    return None, place._replace(doubted=doubted)


def _may_follow(header: Header, place: _Place) -> bool:
    """Check what is cheap before the CRC, so that garbage costs little."""
    return (
        place.expected <= header.base_offset < END_OF_OFFSETS
        and header.epoch >= place.epoch
        and header.counts_right
        and header.has_room
    )


def _weigh(doubts: Sequence[_Doubt], expected: int, limit: int | None) -> Iterator[Damage]:
    """Yield which offsets were lost with what was passed over, up to the limit that is known."""
    lost = _lost_at_the_end(doubts, expected) if limit is None else _lost(doubts, expected, limit)
    for doubt, (start, stop) in zip(doubts, lost, strict=True):
        is_lost = doubt.loses and start < stop
        yield Damage(
            position=doubt.position,
            size=doubt.size,
            reason=doubt.reason,
            from_offset=start if is_lost else None,
            to_offset=stop if is_lost else None,
        )


def _lost(doubts: Sequence[_Doubt], expected: int, limit: int) -> Iterator[tuple[int, int]]:
    """Give each doubt what it claims, where that fits, or else what is left for it."""
    claims = [
        d.claim if d.claim and expected <= d.claim[0] < d.claim[1] <= limit else None
        for d in doubts
    ]
    later, starts = limit, []
    for claim in reversed(claims):
        starts.append(later)
        later = claim[0] if claim else later
    cursor = expected
    for doubt, claim, start in zip(doubts, claims, reversed(starts), strict=True):
        stop = max(start, cursor)
        if claim and claim[0] == cursor:
            stop = claim[1]
        elif doubt.is_whole and doubt.claim and doubt is not doubts[-1]:
            stop = min(stop, cursor + doubt.claim[1] - doubt.claim[0])
        yield cursor, stop
        cursor = stop


def _lost_at_the_end(doubts: Sequence[_Doubt], expected: int) -> Iterator[tuple[int, int]]:
    """Give each doubt one offset: something was there, and no later batch shows how much."""
    for doubt in doubts:
        start = expected
        if doubt.claim and doubt.claim[0] == expected:
            expected = doubt.claim[1]
        yield start, start + 1
