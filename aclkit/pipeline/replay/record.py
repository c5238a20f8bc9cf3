"""The result of a replay → the row of its run, and the exit code of its command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aclkit.errors import DataError
from aclkit.model.phrases import number_of
from aclkit.pipeline.replay.history_plan import notes_on
from aclkit.pipeline.replay.intake import Intake, refused_lines
from aclkit.pipeline.replay.known import Replayed, ReplayOptions
from aclkit.pipeline.replay.known_tables import KnownTables
from aclkit.runtime.uri import shown
from aclkit.warehouse.job_run import HISTORY_WRITTEN, MATERIALIZING, REPLAYING, RunSettings
from aclkit.warehouse.run import INCOMPLETE, Run

BROKERS_KEPT: Final = "brokers_kept"
"""The count of a run after which everything read of its cluster has its records of brokers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """What a replay found.

    Attributes:
        head_offset: the state is known as of this offset (exclusive).
        holes: offsets that could not be read.
        bridged: offsets that a snapshot bridges: only what differs at their end is known.
        alive: ACLs alive at the head.
        facts: facts that were new.
        rejects: rows that could not be used, of this source and of the replay.
        exit_code: 0, or 3 for holes that were not accepted and rejects under ``strict``.
        is_listed_again: files went while they were read, so that another listing was read than
            the one at the beginning.
    """

    head_offset: int
    holes: tuple[tuple[int, int], ...]
    bridged: tuple[tuple[int, int], ...]
    alive: int
    facts: int
    rejects: int
    exit_code: int
    is_listed_again: bool = False


def enter(
    run: Run, tables: KnownTables, intake: Intake, done: Replayed[Any], options: ReplayOptions
) -> ReplayResult:
    """Tell in the run's row what a replay of sources came to, whose tables are written."""
    run.notes += [
        f"Skipped {number_of(count, 'record')} (see acl_reject): {reason}."
        for reason, count in tables.unknown_types()
    ]
    if intake.items:
        run.notes += _on_missing(tables, [shown(item.path) for item in intake.items])
    run.settings = run.settings.updated(intake.settings or RunSettings())
    if intake.listing is not None and refused_lines(intake.listing):
        run.status = INCOMPLETE
    return record(run, done, options, *tables.counts())


def _on_missing(tables: KnownTables, sources: Sequence[str]) -> Iterator[str]:
    """Yield the rejected rows of sources that are no longer read: no later run corrects them."""
    count, named = tables.rejects_elsewhere(sources, _MOST_NAMED + 1)
    if count:
        more = " and more" if len(named) > _MOST_NAMED else ""
        yield (
            f"{number_of(count, 'rejected row')} came from sources that this run did not read: "
            f"{', '.join(named[:_MOST_NAMED])}{more}. If these sources no longer exist: aclkit "
            "replay --forget SOURCE"
        )


_MOST_NAMED: Final = 3


def record(
    run: Run, done: Replayed[Any], options: ReplayOptions, alive: int, rejects: int
) -> ReplayResult:
    """Tell in the run's row what a replay came to."""
    way = done.plan.itinerary
    run.head_offset, run.high_watermark = way.head, options.high_watermark
    run.status = INCOMPLETE if way.holes else run.status
    run.notes += [*notes_on(done.plan, options.high_watermark), *done.notes]
    run.findings += done.findings
    run.counts |= {HISTORY_WRITTEN: 1} if done.tables or _is_undecided(run) else {}
    run.counts |= {BROKERS_KEPT: 1} if done.has_brokers else {}
    run.counts |= {"facts_added": done.fact_count, "acls_alive": alive, "rejects": rejects}
    if rejects and options.strict:
        rows = number_of(rejects, "row")
        run.notes.append(f"{rows} cannot be used (see acl_reject), and --strict is set.")
    is_unusable = (way.holes and not options.accept_holes) or (rejects and options.strict)
    return ReplayResult(
        head_offset=way.head,
        holes=way.holes,
        bridged=way.bridged,
        alive=alive,
        facts=done.fact_count,
        rejects=rejects,
        exit_code=DataError.exit_code if is_unusable else 0,
    )


def _is_undecided(run: Run) -> bool:
    """Whether a replay since the cluster was decided last wrote history."""
    read, decided = run.previous(REPLAYING), run.previous(MATERIALIZING)
    if read is None or (decided is not None and decided.run_number >= read.run_number):
        return False
    return bool(read.counts.get(HISTORY_WRITTEN))
