"""Facts that were laid side by side → a refusal where they disagree; a source's error. Rules."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from aclkit.errors import DataError, GoneError, SurroundingsError, UsageError
from aclkit.pipeline.replay.engine import Conflict, Engine, Frame
from aclkit.pipeline.replay.ranges import Range


def raise_failures(engine: Engine[Frame], rows: Frame) -> None:
    """Raise the error with which a source could not be read, if one could not."""
    failure = engine.failure(rows)
    if failure is not None:
        known = {c.__name__: c for c in (UsageError, GoneError, SurroundingsError)}
        raise known.get(failure.error, DataError)(failure.reason)


def once(engine: Engine[Frame], facts: Frame) -> Frame:
    """Keep one of the equal facts of several sources."""
    return engine.new_facts(engine.compare(engine.rows("acl_log", []), facts))


def refuse_conflicts(
    engine: Engine[Frame], compared: Frame, known: Sequence[Range], incoming: Sequence[Range]
) -> None:
    """Refuse a source that contradicts what was read before.

    One offset of one epoch holds the same record forever, and one snapshot has one set of entries.
    Other content, or a record where there was none, means another log.

    Raises:
        DataError: naming the first offset that differs.
    """
    worst = engine.worst_conflict(compared, known, incoming)
    if worst is not None:
        raise DataError(_refusal(worst))


def _refusal(worst: Conflict) -> str:
    """Name what disagrees, and both ways on: this is another log, or what is known is wrong."""
    said, source = f"{worst.first}-{worst.last}", worst.source
    others = f", or --forget {shlex.quote(source)} for that whole source" if source else ""
    return (
        f"Offset {worst.first} ({worst.fact}) was read before with other "
        f"content{(f', from {source}' if source else '')}. This source is not the log that the "
        "rows of this cluster came from. Pass another --cluster or --warehouse. If the "
        "earlier rows are wrong, remove them and replay this source again: --forget "
        f"{said}{others}"
    )
