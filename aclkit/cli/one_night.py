"""A located source and the user's options → one nightly run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from aclkit.cli.context import Context
from aclkit.cli.replay import asked
from aclkit.cli.session import late_session
from aclkit.nightly.nightly_run import NightlyOptions, NightlyResult, run_nightly
from aclkit.pipeline.replay.intake import Intake
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.warehouse.run import Rebuild, begin_run, hold

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OptionsOf = Callable[["Callable[[], SparkSession]", Intake], NightlyOptions]
"""Reads the user's files, once the lock is held, and with what."""


def do_night(
    context: Context,
    intake: Intake,
    replaying: ReplayOptions,
    options_of: OptionsOf,
    lock_timeout: float,
    rebuild: Rebuild | None = None,
) -> NightlyResult:
    """Do one nightly run: take the lock, ask a live cluster, begin; Spark starts if it is needed.

    Args:
        context: names the warehouse and the cluster.
        intake: what is read.
        replaying: how.
        options_of: returns the other options, from what starts Spark, and the intake.
        lock_timeout: how long to wait for another run.
        rebuild: make the tables anew, even if they exist.
    """
    warehouse = context.require_warehouse()
    with hold(warehouse, lock_timeout) as held:
        asked_now = asked(intake, replaying)
        with late_session(context, "run") as start:
            options = options_of(start, asked_now)
            with begin_run(
                start, warehouse, "run", lock_timeout=lock_timeout, held=held, rebuild=rebuild
            ) as run:
                return run_nightly(run, asked_now, options)
