"""The command maintain: a warehouse in fewer files, without those that no kept run needs."""

from __future__ import annotations

import sys
from dataclasses import astuple, fields

import click

from aclkit.cli.options import FiniteRange, lock_timeout_option, option
from aclkit.cli.output import Format, format_option, write_rows
from aclkit.cli.session import command_session
from aclkit.errors import UsageError
from aclkit.maintenance import Maintained, continue_from_newest, maintain, vacuum
from aclkit.publish import MAINTAIN, begin_run, publish
from aclkit.settings import Settings


@click.command("maintain")
@option(
    "--retain-days",
    type=FiniteRange(min=0),
    default=30.0,
    show_default=True,
    metavar="DAYS",
    help="What was needed within so many days stays.",
)
@option(
    "--keep-runs",
    type=click.IntRange(min=1),
    default=14,
    show_default=True,
    metavar="N",
    help="The tables of so many published runs stay, however old they are.",
)
@click.option("--dry-run", is_flag=True, help="Say what there is, change nothing.")
@lock_timeout_option
@format_option
@click.pass_obj
def maintain_(
    settings: Settings,
    retain_days: float,
    keep_runs: int,
    lock_timeout: float,
    output_format: Format,
    *,
    dry_run: bool,
) -> None:
    """Write small files together, sort the pairs anew, and remove what no kept run needs.

    \b
    Example:
      aclkit --warehouse W maintain
      aclkit --warehouse W maintain --retain-days 7 --keep-runs 30
      aclkit --warehouse W maintain --dry-run

    It holds the warehouse's lock, and readers see it as one more run, whose rows are those of the
    run before. Delta removes a file that was replaced longer ago than retain_hours and by a
    version behind oldest_version, the oldest that a kept run names. diff, history and the state
    as of an offset need no old version: they read acl_history.
    """
    warehouse = settings.require_warehouse()
    with (
        command_session(settings, MAINTAIN) as spark,
        begin_run(spark, warehouse, MAINTAIN, lock_timeout=lock_timeout) as run,
    ):
        if not continue_from_newest(run):
            raise UsageError(f"nothing is published in {warehouse}: there is nothing to maintain")
        done = maintain(run, retain_days=retain_days, keep_runs=keep_runs, dry_run=dry_run)
        if not dry_run:
            publish(run)
            vacuum(run, done)
    columns = [field.name for field in fields(Maintained)]
    write_rows(columns, map(astuple, done), output_format, sys.stdout)
