"""A located source and the user's options → one nightly run; Spark starts only if there is news."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from aclkit.cli.amount import length_of_run
from aclkit.cli.context import Context
from aclkit.cli.replay import asked
from aclkit.cli.unchanged import without_spark
from aclkit.nightly.unchanged_run import NightlyOptions, NightlyResult, quiet_night
from aclkit.pipeline.replay.intake import Intake
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.pipeline.replay.unchanged import replay_unchanged
from aclkit.warehouse.run import Rebuild, Run, begin_run, hold

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OptionsOf = Callable[["Callable[[], SparkSession] | None", Intake], NightlyOptions]
"""Reads the user's files, once it is known that they are needed, and with what."""


def do_night(
    context: Context,
    intake: Intake,
    replaying: ReplayOptions,
    options_of: OptionsOf,
    lock_timeout: float,
    named: Iterable[str] = (),
    rebuild: Rebuild | None = None,
) -> NightlyResult:
    """Do one nightly run: take the lock, ask a live cluster, then start Spark if it is needed.

    Args:
        context: names the warehouse and the cluster.
        intake: what is read.
        replaying: how.
        options_of: returns the other options, from what starts Spark, if it may, and the intake.
        lock_timeout: how long to wait for another run.
        named: inventory files.
        rebuild: make the tables anew, even if they exist.
    """
    warehouse = context.require_warehouse()
    with hold(warehouse, lock_timeout) as held:
        asked_now = asked(intake, replaying)

        def quietly(run: Run) -> NightlyResult | None:
            replayed = replay_unchanged(run, asked_now, context.cluster, replaying)
            if replayed is None:
                return None
            return quiet_night(run, replayed, options_of(None, asked_now))

        if rebuild is None and (
            night := without_spark(context, "run", lock_timeout, held, quietly)
        ):
            return night
        # Imported here, so that a run without Spark does not load pyspark.
        from aclkit.cli.session import late_session
        from aclkit.nightly.nightly_run import run_nightly

        early = asked_now.read_early()
        length = length_of_run(warehouse, early, named)
        with late_session(context, "run", length=length) as start:
            options = options_of(start, early)
            with begin_run(
                start, warehouse, "run", lock_timeout=lock_timeout, held=held, rebuild=rebuild
            ) as run:
                return run_nightly(run, early, options)
