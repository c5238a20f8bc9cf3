"""A source or offsets → the facts and ranges to forget, and the text that reports it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from aclkit.errors import UsageError
from aclkit.model.facts import COMMITTED, RECORD, SNAPSHOT, UNREADABLE
from aclkit.model.phrases import number_of
from aclkit.pipeline.replay.conditions import Offsets, Origin
from aclkit.pipeline.replay.history_plan import describe_spans
from aclkit.pipeline.replay.spans import END, Range
from aclkit.pipeline.sources.source_kinds import SOURCE_KINDS


def parse_forget(text: str) -> Offsets | Origin:
    """Read what is to be forgotten: ``FROM-TO`` (both included), ``FROM-`` or a source.

    Raises:
        UsageError: it is empty, or the offsets make no range.

    >>> parse_forget("12-19"), parse_forget("metadata-log:/kafka/0.log")
    (Offsets(start=12, stop=20), Origin(source='/kafka/0.log'))
    """
    if found := _OFFSETS.fullmatch(text):
        start, stop = int(found[1]), int(found[2]) + 1 if found[2] else END
        if not start < stop <= END:
            raise UsageError(f"Invalid --forget {text!r}: expected FROM-TO with FROM not above TO")
        return Offsets(start, stop)
    source = _KIND.sub("", text)
    if not source:
        raise UsageError("Invalid --forget: expected a source or offsets FROM-TO, found nothing")
    return Origin(source)


def extent_of(item: Offsets, known: Sequence[Range]) -> tuple[list[tuple[int, int]], set[int]]:
    """Return the offsets whose records are forgotten, and the end offsets of snapshots."""
    end = max((r.to_offset for r in known if r.fact in (RECORD, UNREADABLE)), default=0)
    span = (item.start, min(item.stop, end))
    ends = {r.to_offset for r in known if r.fact == SNAPSHOT}
    proven = {r.to_offset for r in known if r.fact == COMMITTED and _overlaps(r, item)}
    ends = {n for n in ends if item.start <= n < item.stop} | proven
    return [span] if span[0] < span[1] else [], ends


def _overlaps(proven: Range, item: Offsets) -> bool:
    """Whether a snapshot whose end offset is forgotten may have proven this."""
    return proven.from_offset + 1 < item.stop and proven.to_offset >= item.start


def note_on(
    item: Offsets | Origin, facts: int, rejects: int, spans: Sequence[tuple[int, int]]
) -> str:
    """Write what was forgotten."""
    told = (
        f"Forgot {number_of(facts, 'fact')} and {number_of(rejects, 'reject')} of {_named(item)}."
    )
    return told + (f" Offsets {describe_spans(spans)} count as not read." if spans else "")


def nothing_of(item: Offsets | Origin, sources: Sequence[str]) -> UsageError:
    """Return the refusal to forget what was never read; it lists up to ``MOST_NAMED`` sources."""
    more = " and more" if len(sources) > MOST_NAMED else ""
    some = ", ".join(sources[:MOST_NAMED]) + more
    told = f"The sources are {some}." if sources else "Nothing was read at all."
    return UsageError(f"Nothing was read of {_named(item)}. {told}")


def _named(item: Offsets | Origin) -> str:
    if isinstance(item, Origin):
        return item.source
    return f"offsets {item.start}" + (" and above" if item.stop == END else f"-{item.stop - 1}")


_OFFSETS: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,18})?")
_KIND: Final = re.compile(
    f"(?:{'|'.join(kind.name for kind in SOURCE_KINDS.values() if kind.is_file)}):"
)
MOST_NAMED: Final = 10
"""Sources that a refusal names."""
