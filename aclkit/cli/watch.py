"""The command watch: sources, looked at again and again → runs and alerts, until a signal."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from typing import Any, Final

import click

from aclkit.cli.alerting import delivery_of
from aclkit.cli.context import Context
from aclkit.cli.help import command
from aclkit.cli.nightly import policies_of, report_formats, run_options
from aclkit.cli.options import FiniteRange, lock_timeout_option, option
from aclkit.cli.output import tell
from aclkit.cli.replay import intake_of
from aclkit.cli.watch_work import WatchWork, option_files, require_only_watcher
from aclkit.errors import UsageError
from aclkit.nightly.watch_health import health, watch_metrics
from aclkit.nightly.watching import Pace, Watcher
from aclkit.pipeline.replay.following import Following
from aclkit.runtime.loopback import Reply, answering, parse_loopback
from aclkit.runtime.progress import untold
from aclkit.warehouse.location import Location
from aclkit.warehouse.lock import only_watcher


@command("watch")
@option(
    "--interval",
    type=FiniteRange(min=1, max=86_400),
    default=30.0,
    metavar="SECONDS",
    help="Time between the beginnings of two polls.",
)
@option(
    "--listen",
    metavar="ADDRESS:PORT",
    help="Serve health and metrics on the loopback.",
)
@option(
    "--alert-after",
    type=click.IntRange(min=1),
    default=3,
    metavar="N",
    help="Send an alert after this many failed polls in a row.",
)
@run_options
@lock_timeout_option
@click.pass_obj
def watch(context: Context, /, **chosen: object) -> None:
    """Follow a cluster: run and alert on each change.

    \b
    Example:
      aclkit watch --config aclkit.toml
      aclkit --warehouse W watch --source live:HOST:9092 --alert-webhook-file FILE

    Each poll looks at the sources. If they hold anything new, it does what run does, and sends an
    alert with what is new since the last alert. A poll that finds nothing writes no table and takes
    no lock: it notes the time, from which the age of answers counts. In a TOML file, watch takes
    the options in [run] too.

    The metadata log is read from where the last poll ended. Once a day, and if the log was cut,
    the sources are read as a whole. Only one watcher can follow a warehouse. SIGTERM ends it after
    the run in progress. After a failed poll the pauses grow, up to 15 minutes.
    """
    warehouse = context.require_warehouse()
    options = _for_watching(chosen)
    pace = Pace(interval=options["interval"], silent_after=options["alert_after"])
    listen = None if options["listen"] is None else parse_loopback(options["listen"])
    work = WatchWork(
        context=context,
        chosen=options,
        delivery=delivery_of(context, options, min(_PATIENCE, pace.interval / 2)),
        following=Following(intake_of(options), option_files(options)),
        wants_report=listen is not None,
    )
    watcher = Watcher(
        work=work, pace=pace, chance=secrets.SystemRandom().random, warn=tell, sleep=time.sleep
    )
    quiet = nullcontext() if context.verbose else untold()
    followed, alone = closing(work.following), _alone(warehouse, work, pace)
    with quiet, followed, alone, _served(listen, watcher, work):
        watcher.watch()


def _for_watching(chosen: dict[str, object]) -> dict[str, Any]:
    """Check the options before the first poll: a mistake must not wait for a change.

    Raises:
        UsageError: one of them makes no sense here, or its file cannot be read.
    """
    for name, why in _FIXED.items():
        if chosen[name]:
            raise UsageError(f"--{name.replace('_', '-')} is not for watch: {why}")
    options: dict[str, Any] = dict(chosen)
    if options["decide_with"] == "auto":
        options["decide_with"] = "local"
    report_formats(options["report_formats"])
    policies_of(options)
    return options


_FIXED: Final = {
    "high_watermark": "nothing after the offset would ever be seen.",
    "at": "each poll has a time of its own.",
    "full": "each change is decided with all that it touches.",
}
"""Options of ``run`` that fix what changes while it is watched: help lists none of them."""

for _option in watch.params:
    if isinstance(_option, click.Option) and _option.name in _FIXED:
        _option.hidden = True


@contextmanager
def _alone(warehouse: str, work: WatchWork, pace: Pace) -> Iterator[None]:
    """Be the only watcher of a warehouse."""
    if Location(warehouse).is_remote:
        require_only_watcher(work, pace.interval, time.sleep)
        yield
        return
    with only_watcher(warehouse):
        yield


@contextmanager
def _served(listen: tuple[str, int] | None, watcher: Watcher, work: WatchWork) -> Iterator[None]:
    """Serve what a watcher does, where that is wanted."""
    if listen is None:
        yield
        return

    def healthz() -> Reply:
        return Reply(*_json(health(watcher.tally, watcher.pace, time.time())))

    def metrics() -> Reply:
        now = time.time()
        own = watch_metrics(watcher.tally, watcher.pace, work.cluster_id or "", now)
        return Reply(200, _PROMETHEUS, own + work.metrics(now))

    with answering(*listen, {"/healthz": healthz, "/metrics": metrics}) as port:
        tell(f"Serving /healthz and /metrics on {listen[0]} port {port}.")
        yield


def _json(found: tuple[int, str]) -> tuple[int, str, str]:
    status, text = found
    return status, "application/json", text


_PATIENCE: Final = 5.0
"""Seconds that a poll waits for the receiver of an alert."""

_PROMETHEUS: Final = "text/plain; version=0.0.4; charset=utf-8"
