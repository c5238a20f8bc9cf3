"""The command maintain: a warehouse in fewer files, without what no kept run needs."""

from __future__ import annotations

from dataclasses import astuple, fields
from typing import Final

import click

from aclkit.answer.document import Answer
from aclkit.cli.context import Context, format_option
from aclkit.cli.options import FiniteRange, lock_timeout_option, option
from aclkit.cli.output import tell_all
from aclkit.cli.session import command_run
from aclkit.errors import UsageError
from aclkit.warehouse.maintenance import Maintained, maintain
from aclkit.warehouse.retention import Policy
from aclkit.warehouse.run import continue_from_newest
from aclkit.warehouse.standing import KEEP_DAYS, MAINTAIN

MOST_DAYS: Final = 36_500


@click.command("maintain")
@option(
    "--keep-days",
    type=FiniteRange(min=0, max=MOST_DAYS),
    show_default=f"{KEEP_DAYS:g}",
    metavar="DAYS",
    help="Keep every run that readers saw within so many days.",
)
# What it was called first, in schedules that run.
@option("--retain-days", type=FiniteRange(min=0, max=MOST_DAYS), hidden=True)
@option(
    "--keep-runs",
    type=click.IntRange(min=1),
    default=14,
    metavar="N",
    help="Keep so many of the newest runs, however old they are.",
)
@click.option(
    "--dry-run", is_flag=True, help="Say what there is and what would go, change nothing."
)
@lock_timeout_option
@format_option
@click.pass_obj
def maintain_(
    context: Context,
    keep_days: float | None,
    retain_days: float | None,
    keep_runs: int,
    lock_timeout: float,
    *,
    dry_run: bool,
) -> None:
    """Write small files together, sort the pairs anew, and remove what no kept run needs.

    \b
    Example:
      aclkit --warehouse W maintain
      aclkit --warehouse W maintain --keep-days 7 --keep-runs 30
      aclkit --warehouse W maintain --dry-run

    A run that is kept keeps its row of job_run, its findings, its access changes, and its tables
    as they were. Of older runs stays only what is needed, of each cluster: the newest run of each
    job with its findings and changes, and with their tables the run that decided, the one before
    it, and the one that the next run goes on from. Since when a finding is there stays known. If
    the log of a table no longer leads to a version that is needed, no file of that table is
    removed, and a note says so. It holds the warehouse's lock, and readers see it as
    one more run, whose rows are those of the run before. diff, history and the state as of an
    offset need no old run: they read acl_history, which keeps everything.
    """
    warehouse = context.require_warehouse()
    with command_run(context, MAINTAIN, lock_timeout) as run:
        if not continue_from_newest(run):
            raise UsageError(f"nothing is published in {warehouse}: there is nothing to maintain")
        days = next((days for days in (keep_days, retain_days) if days is not None), KEEP_DAYS)
        policy = Policy(keep_days=days, keep_runs=keep_runs)
        done = maintain(run, policy, dry_run=dry_run)
        notes = tuple(run.notes)
    columns = [field.name for field in fields(Maintained)]
    context.write(Answer(columns=columns, rows=map(astuple, done)))
    tell_all(f"note: {note}" for note in notes)
