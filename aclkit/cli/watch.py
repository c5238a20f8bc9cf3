"""The command watch: sources, looked at again and again → runs and alerts, until a signal."""

from __future__ import annotations

import hashlib
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Final

import click

import aclkit
from aclkit.cli.context import Context
from aclkit.cli.help import command
from aclkit.cli.nightly import night, policies_of, report_formats, run_options, write_files
from aclkit.cli.options import FiniteRange, lock_timeout_option, option
from aclkit.cli.output import tell, write_lines
from aclkit.cli.replay import intake_of
from aclkit.cli.report import delivery_of
from aclkit.errors import UsageError
from aclkit.nightly.nightly_run import NightlyResult
from aclkit.nightly.policies import Policies
from aclkit.nightly.watch_work import WatchWork, require_only_watcher
from aclkit.nightly.watching import Pace, Watcher, health, watch_metrics
from aclkit.pipeline.replay.following import Following
from aclkit.pipeline.replay.intake import Intake
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
    place = Location(context.require_warehouse())
    options = _for_watching(chosen)
    pace = Pace(interval=options["interval"], silent_after=options["alert_after"])
    listen = None if options["listen"] is None else parse_loopback(options["listen"])
    work = WatchWork(
        place=place,
        cluster=context.cluster,
        night=_Night(context, options),
        say=lambda line: write_lines([line], sys.stdout),
        is_verbose=context.verbose,
        delivery=delivery_of(context, options, min(_PATIENCE, pace.interval / 2)),
        following=Following(
            intake_of(options), [*filter(None, map(options.get, _FILES)), *options["desired_paths"]]
        ),
        wants_report=listen is not None,
    )
    watcher = Watcher(
        work=work, pace=pace, chance=secrets.SystemRandom().random, warn=tell, sleep=time.sleep
    )
    quiet = nullcontext() if context.verbose else untold()
    followed, alone = closing(work.following), _alone(place, work, pace)
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


@dataclass(frozen=True, slots=True)
class _Night:
    """The nightly run of the options of ``run``; see ``watch_work.Night``."""

    context: Context
    chosen: dict[str, Any]

    @property
    def options(self) -> str:
        """Their digest, without those that decide nothing."""
        told = [(k, v) for k, v in sorted(self.chosen.items()) if not k.startswith(_OTHER)]
        text = repr((aclkit.__version__, self.context.cluster, told))
        return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()

    def intake(self) -> Intake:
        """Look at the sources."""
        return intake_of(self.chosen)

    def policies(self) -> Policies:
        """Read the team's policies."""
        return policies_of(self.chosen)

    def run(self, intake: Intake, *, keeps_unchanged: bool) -> NightlyResult:
        """Do one run."""
        policies = self.policies()
        return night(self.context, policies, self.chosen, intake, keeps_unchanged=keeps_unchanged)

    def write(self, result: NightlyResult) -> None:
        """Write the page and the reports."""
        forms = report_formats(self.chosen["report_formats"])
        for path in write_files(self.context.require_warehouse(), result, forms, self.chosen):
            if self.context.verbose:
                tell(f"wrote {path}")


_FILES: Final = (
    "principals", "hosts", "resources", "baseline", "mutes", "assertions", "server_properties",
    "automation", "leases", "command_config",
)  # fmt: skip
"""Options whose files decide what a run does, besides those of ``--desired``."""

_OTHER: Final = ("alert", "listen", "interval", "lock_timeout", "report")
"""How options begin that decide nothing."""


@contextmanager
def _alone(place: Location, work: WatchWork, pace: Pace) -> Iterator[None]:
    """Be the only watcher of a warehouse."""
    if place.is_remote:
        require_only_watcher(work, pace.interval, time.sleep)
        yield
        return
    with only_watcher(place.text):
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
