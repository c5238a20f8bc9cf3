"""The commands maintain, jars and doctor: whether a warehouse and this machine are fit for runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import astuple, fields
from pathlib import Path
from typing import Final

import click

from aclkit.answer.document import Answer, Item, Items
from aclkit.audit.review.folder import load_all
from aclkit.cli.context import Context, format_option
from aclkit.cli.help import command, question
from aclkit.cli.options import FiniteRange, lock_timeout_option, option, timeout_option
from aclkit.cli.output import tell, tell_all
from aclkit.cli.review_start import reviews_next_to
from aclkit.cli.session import command_run
from aclkit.errors import UsageError
from aclkit.kafka.verify.jars import JARS_OF, NEWEST
from aclkit.nightly.checks import CHECKS, CheckContext, Outcome, run_checks
from aclkit.runtime.jars import Jars, fetch_jars
from aclkit.runtime.spark_release import delta_jars, s3_jars
from aclkit.warehouse.job_run import KEEP_DAYS, MAINTAIN
from aclkit.warehouse.maintenance import Maintained, maintain
from aclkit.warehouse.retention import Policy
from aclkit.warehouse.run import continue_from_newest

MOST_DAYS: Final = 36_500


@command("maintain")
@option(
    "--keep-days",
    type=FiniteRange(min=0, max=MOST_DAYS),
    default=KEEP_DAYS,
    show_default=f"{KEEP_DAYS:g}",
    metavar="DAYS",
    help="Keep runs that were published in the last DAYS days.",
)
@option(
    "--keep-runs",
    type=click.IntRange(min=1),
    default=14,
    metavar="N",
    help="Keep the N newest runs, however old they are.",
)
@option(
    "--reviews",
    metavar="DIR",
    help="Also keep what open reviews in DIR pin.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be removed. Change nothing.")
@lock_timeout_option
@format_option
@click.pass_obj
def maintain_(
    context: Context,
    keep_days: float,
    keep_runs: int,
    reviews: str | None,
    lock_timeout: float,
    *,
    dry_run: bool,
) -> None:
    """Compact the warehouse and remove old runs.

    \b
    Example:
      aclkit --warehouse W maintain
      aclkit --warehouse W maintain --keep-days 7 --keep-runs 30
      aclkit --warehouse W maintain --dry-run

    maintain merges small files and removes what no kept run needs. A kept
    run keeps its row of job_run, its findings, its access changes and its tables. Of older runs,
    aclkit keeps only what each cluster needs: the newest run of each job with its findings and
    changes, and the tables of the run that decided, of its previous run, and of the run that the
    next one continues from. The first occurrence of each finding is kept. If the log of a table no
    longer leads to a needed version, aclkit removes no file of that table and prints a note.

    The runs that open reviews are pinned to stay as they are. maintain looks into the folder of
    reviews next to a local warehouse, and into --reviews. If a review there cannot be read, nothing
    is removed (exit code 3 or 4).

    maintain holds the warehouse's lock. Readers see it as one more run, with the rows of the
    previous run. diff, history and why --at-offset need no old run: they read acl_history, which
    keeps everything.
    """
    warehouse = context.require_warehouse()
    with command_run(context, MAINTAIN, lock_timeout) as run:
        # With the lock held: a review that starts later is about a run that is still there.
        pinned = _pinned(warehouse, reviews)
        if not continue_from_newest(run):
            raise UsageError(
                f"Nothing is published in {warehouse}, so there is nothing to maintain."
            )
        policy = Policy(keep_days=keep_days, keep_runs=keep_runs)
        done = maintain(run, policy, dry_run=dry_run, pinned=pinned)
        notes = tuple(run.notes)
    columns = [field.name for field in fields(Maintained)]
    context.write(Answer(columns=columns, rows=map(astuple, done)))
    tell_all(f"note: {note}" for note in notes)


def _pinned(warehouse: str, given: str | None) -> frozenset[str]:
    """Return the runs that open reviews are pinned to.

    Raises:
        UsageError: a given folder does not exist.
        DataError, SurroundingsError: a review cannot be read, so it is unknown what it pins.
    """
    if given is not None and not Path(given).is_dir():
        raise UsageError(f"--reviews {given}: this folder does not exist.")
    own = reviews_next_to(warehouse)
    roots = {Path(given).resolve()} if given is not None else set()
    roots |= {own} if own is not None else set()
    opened = (each for root in roots for each in load_all(root) if not each.is_closed)
    return frozenset(each.review.pins.run_id for each in opened)


_OF_SPARK: Final[dict[str, Callable[[], Jars]]] = {"delta": delta_jars, "s3": s3_jars}
"""Those that depend on the Spark that is installed."""

_OF_KAFKA: Final[dict[str, Jars]] = {
    "kafka": JARS_OF[NEWEST],
    **{f"kafka:{version}": jars for version, jars in JARS_OF.items()},
}


@command("jars")
@click.argument("names", nargs=-1, metavar="[NAME]…", type=click.Choice([*_OF_SPARK, *_OF_KAFKA]))
@click.option("--folder", metavar="DIR", type=click.Path(path_type=Path), help="Target folder.")
def jars(names: tuple[str, ...], folder: Path | None) -> None:
    """Download the jars that Spark needs.

    \b
    Example:
      aclkit jars
      aclkit jars delta s3
      aclkit jars kafka:4.3.1 --folder /opt/kafka-jars

    After that, no command needs the network. delta (the default) is required to read and write
    tables; s3 is for Spark on s3:// and s3a://; kafka or kafka:VERSION is for verify. aclkit also
    downloads jars when they are first needed. Each jar is compared with its digest; no other jar is
    loaded.
    """
    for name in names or ("delta",):
        wanted = _OF_SPARK[name]() if name in _OF_SPARK else _OF_KAFKA[name]
        paths = fetch_jars(wanted, folder, tell)
        tell(f"{wanted.name} are in {paths[0].parent}.")


@question("doctor")
@option(
    "--source", metavar="KIND:PATH", multiple=True, help="Check this source too; see aclkit replay."
)
@option("--command-config", metavar="FILE", help="Kafka client .properties for a live source.")
@timeout_option("Time limit per check. Checks run in parallel.", 10.0)
@format_option
@click.pass_context
def doctor(
    ctx: click.Context, source: tuple[str, ...], command_config: str | None, timeout: float
) -> None:
    """Check that aclkit can run on this machine.

    \b
    Example:
      aclkit doctor
      aclkit doctor --config conf/nightly.toml
      aclkit --warehouse W doctor --source live:HOST:9093 --command-config client.properties
      aclkit doctor --format json

    It checks Java, memory, Delta's jars, disk space, the lock, the warehouse, the source of
    --source or of the run settings, and the brokers of a live source: each right that aclkit lacks
    there has a line, with what it costs and the command that grants it. doctor changes nothing. A
    warning has exit code 0: questions or smaller runs still work. A failed check has the exit code
    that a run would have (2, 3 or 4); the highest wins.
    """
    context: Context = ctx.obj
    nightly = (ctx.find_root().default_map or {}).get("run", {})
    around = CheckContext(
        warehouse=context.find_warehouse(),
        sources=source or nightly.get("source", ()),
        command_config=command_config or nightly.get("command_config"),
        seconds=timeout,
    )
    outcomes = [*run_checks(CHECKS, around)]
    context.write(
        Answer(
            title="What aclkit needs",
            columns=Outcome._fields,
            rows=outcomes,
            parts=lambda: [Items(map(_line, outcomes))],
        )
    )
    sys.exit(max(outcome.exit_code for outcome in outcomes))


def _line(outcome: Outcome) -> Item:
    under = [f"Next: {outcome.what_to_do}"] if outcome.what_to_do else []
    return Item(f"{outcome.state:<9}{outcome.check:<11}{outcome.found}", under=under)
