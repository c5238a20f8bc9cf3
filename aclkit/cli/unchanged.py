"""A run that may bring nothing new → done without Spark, where it takes none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from aclkit.cli.context import Context
from aclkit.warehouse.run import Held, Run, begin_run
from aclkit.warehouse.store import NeedsSparkError

T = TypeVar("T")


def without_spark(
    context: Context,
    job: str,
    lock_timeout: float,
    held: Held,
    work: Callable[[Run], T | None],
) -> T | None:
    """Begin a run without a session, and do its work; None where that takes one.

    What a killed run left is taken back first, as before every run; the run that is begun anew for
    None takes back what this one may have left.

    Args:
        context: names the warehouse.
        job: the command.
        lock_timeout: of the command; the lock is held already.
        held: what ``hold`` has handed out.
        work: publishes the run and returns what it came to, or None.
    """
    warehouse = context.require_warehouse()
    try:
        with begin_run(None, warehouse, job, lock_timeout=lock_timeout, held=held) as run:
            return work(run)
    except NeedsSparkError:
        return None
