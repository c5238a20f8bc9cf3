"""The commands run and demo: the nightly job, of a cluster and of the packaged sample of one."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from aclkit.answer.document import Command, Facts, Heading, Part
from aclkit.answer.text import lay_out
from aclkit.audit.findings.audit_input import BROAD_SHARE
from aclkit.audit.reports.gather import gather
from aclkit.audit.reports.render import FORMATS, HTML, write_reports
from aclkit.audit.reports.summary_page import short_parts
from aclkit.audit.reports.words import severities
from aclkit.cli.assertions import read_assertions
from aclkit.cli.baseline_options import baseline_options, fail_on_option, read_baseline, read_mutes
from aclkit.cli.context import Context
from aclkit.cli.help import command
from aclkit.cli.materialize import deciding_options
from aclkit.cli.nightly_options import (
    automation_of,
    checking_options,
    controller_log,
    drift_files,
    leases_chosen,
)
from aclkit.cli.options import FiniteRange, flag, lock_timeout_option, option, picked, together
from aclkit.cli.output import is_terminal, tell, write_lines
from aclkit.cli.replay import asked, intake_of
from aclkit.cli.report import EVERY, alert_options, delivery_of, telling_failures
from aclkit.cli.run_options import inventory_options, rebuild_of, rebuild_options, replay_options
from aclkit.cli.session import late_session
from aclkit.cli.settings_options import (
    builder_of,
    given_settings,
    principal_options,
    reading_of,
    settings_options,
)
from aclkit.errors import AclkitError, UsageError
from aclkit.model.broker_settings import resolve
from aclkit.model.findings import NEVER
from aclkit.model.principal import parse_super_users
from aclkit.model.resource import Resource
from aclkit.model.semantics import AskedReading, BrokerSettings, asked_words
from aclkit.nightly.nightly_run import NightlyOptions, NightlyResult, run_nightly
from aclkit.nightly.policies import Policies, newest_summary
from aclkit.pipeline.explain.decided import MaterializeOptions
from aclkit.pipeline.inventory.survey import Given
from aclkit.pipeline.replay.intake import Intake, Source, look_at
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.questions.query import access
from aclkit.questions.query.access_answer import who_can_answer
from aclkit.rules.decide.rules import ALLOWED
from aclkit.runtime import memory
from aclkit.runtime.atomic_file import write_atomically
from aclkit.runtime.progress import tell_first
from aclkit.runtime.uri import child
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import Published, deciding_run, open_warehouse
from aclkit.warehouse.run import Rebuild, begin_run, hold

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_WAREHOUSE: Final = "warehouse/demo"
CLUSTER: Final = "sample"
SUPER_USERS: Final = "User:ANONYMOUS;User:admin"
TOPIC: Final = Resource("TOPIC", "payments.v1.events")
PAGE: Final = "nightly.md"
TO_TRY: Final = (
    ("why", "User:carol", "READ", "topic:orders.x"),
    ("who-can", "WRITE", str(TOPIC)),
    ("audit", "--kind", "escalation"),
)
"""Why not, who, and what is wrong: each in words of its own."""

OptionsOf = Callable[["Callable[[], SparkSession]", Intake], NightlyOptions]
"""Reads the user's files, once the lock is held, and with what."""


run_options = together(
    replay_options,
    inventory_options,
    principal_options,
    settings_options,
    fail_on_option("Exit with code 1 on findings of this severity or higher."),
    option(
        "--broad-share",
        type=FiniteRange(0, 1),
        default=BROAD_SHARE,
        metavar="SHARE",
        help="Report an ALLOW that applies to more than this share of topics.",
    ),
    baseline_options,
    option(
        "--assertions",
        metavar="FILE.toml",
        help="Policies to check; a failed one means exit code 1. See aclkit assert.",
    ),
    checking_options,
    option("--report", metavar="FILE.md", help="Also write the summary to this file."),
    option(
        "--report-dir", metavar="DIR", help="Write the reports of --report-formats to this folder."
    ),
    option(
        "--report-formats",
        metavar="A,B",
        default="html",
        help=f"Formats of the reports: {', '.join(FORMATS)}, or all.",
    ),
    alert_options,
)
"""Options of what does nightly runs, once or again and again."""


@command("run")
@run_options
@flag("--fail-on-new", "Of findings, count only those that the last published run did not have.")
@rebuild_options
@lock_timeout_option
@click.pass_obj
def run(context: Context, /, **chosen: Any) -> None:  # noqa: ANN401 -- the option groups name them
    """Run the nightly job: replay, decide, report.

    \b
    Example:
      aclkit --config conf/nightly.toml run
      aclkit --warehouse W run --source metadata-log:DIR --fail-on medium --report night.md
      aclkit --warehouse W run --source metadata-log:DIR --assertions conf/assertions.toml
      aclkit --warehouse W run --source metadata-log:DIR --report-dir R --report-formats html,junit

    A run reads the ACLs, computes every decision, compares them with the previous run, and reports
    findings. Readers see the result only after the run has ended. If the log has nothing new, the
    run ends quickly. The exit code is 1 if a finding with the severity of --fail-on is not in the
    baseline and not accepted, an acceptance has expired or a policy fails. Data and environment
    errors have higher exit codes. All written files are listed on stderr. An alert has what is new
    since the last alert to the same webhook at the same --alert-on.

    --desired compares the ACLs with the files in which you keep them: see aclkit desired show.

    --controller-log shows by whom ACLs changed (see history and changes), for changes with time and
    leader epoch. Pass the logs of all controllers, with kafka.authorizer.logger at DEBUG. A
    principal is certain only if the log of that time has no gap and names no other one.

    --leases names ACLs that are needed until a day only. Kafka knows no such end: an ACL that is
    still in force then is the finding grant-ended, and grant-ends-soon before. An annotation
    aclkit.io/until of a KafkaUser and a column until of a CSV do the same (with --desired).

    Use --rebuild if a warehouse has lost files. It computes again what can be computed, and does
    not compare with the previous run. If history would be lost, the run names it and stops; --force
    continues.
    """
    warehouse = context.require_warehouse()
    forms = report_formats(chosen["report_formats"])
    policies = replace(policies_of(chosen), only_new=chosen["fail_on_new"])
    delivery = delivery_of(context, chosen)
    rebuild = rebuild_of(chosen)
    with telling_failures(context.cluster, delivery):
        if delivery is not None:
            with suppress(AclkitError, OSError):  # the alert after the run meets it, and reports it
                delivery.begin(context.cluster)
        result = night(context, policies, chosen, intake_of(chosen), rebuild=rebuild)
    # A reader who has seen enough of the page keeps no report from being written. A terminal and
    # the log of a submitted job get a few lines, a file or a pipe the page.
    if is_terminal() or not memory.IS_OURS:
        write_lines(lay_out(short_parts(result.summary), context.layout), sys.stdout)
    else:
        write_lines([result.page], sys.stdout)
    for path in write_files(warehouse, result, forms, chosen):
        tell(f"wrote {path}")
    if chosen["baseline"] is None and result.summary.findings:
        tell(_no_baseline(context, warehouse))
    if delivery is not None:
        place, found = delivery.place, result.summary
        delivery.send_new(lambda: newest_summary(place, found.cluster_id, lambda: policies, found))
    sys.exit(result.exit_code)


def _no_baseline(context: Context, warehouse: str) -> str:
    """Write how to make a baseline."""
    which = [] if context.cluster is None else ["--cluster", context.cluster]
    words = ["aclkit", "--warehouse", warehouse, *which, "audit", "--write-baseline", _BASELINE]
    return (
        f"No baseline was passed, so no finding is in it. To write one: {shlex.join(words)}; then "
        f"pass --baseline {_BASELINE}."
    )


_BASELINE: Final = "baseline.json"


def night(
    context: Context,
    policies: Policies,
    chosen: dict[str, Any],
    intake: Intake,
    *,
    rebuild: Rebuild | None = None,
    keeps_unchanged: bool = True,
) -> NightlyResult:
    """Do one nightly run under the options of ``run_options``; see ``NightlyOptions``."""
    replaying = picked(ReplayOptions, chosen)
    given = given_settings(chosen)
    builder = builder_of(chosen, given.mapping_rules)
    tell_first(asked_words(reading_of(chosen)))
    desired, by_whom = drift_files(chosen), controller_log(chosen)
    automation, leases = automation_of(chosen), leases_chosen(chosen)

    def options_of(start: Callable[[], SparkSession], asked: Intake) -> NightlyOptions:
        resolved = resolve(given, asked.listing.brokers if asked.listing else ())
        return NightlyOptions(
            cluster=context.cluster,
            replay=replaying,
            materialize=deciding_options(start, chosen, resolved.settings, builder),
            policies=policies,
            resolved=resolved,
            broad_share=chosen["broad_share"],
            maps_names=given.mapping_rules is not None,
            desired=desired,
            by_whom=by_whom,
            automation=automation,
            leases=leases,
            keeps_unchanged=keeps_unchanged,
        )

    return do_night(context, intake, replaying, options_of, chosen["lock_timeout"], rebuild)


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


def policies_of(chosen: dict[str, Any]) -> Policies:
    """Read the files that the options name, before Spark is started."""
    return Policies(
        today=datetime.now(UTC).date(),
        fail_on=chosen["fail_on"],
        baseline=read_baseline(chosen["baseline"]),
        mutes=read_mutes(chosen["mutes"]),
        assertions=read_assertions(chosen["assertions"]) if chosen["assertions"] else (),
    )


def report_formats(text: str) -> tuple[str, ...]:
    """Read the list of ``--report-formats``.

    Raises:
        UsageError: an unknown one, or none.
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in (*FORMATS, EVERY)]
    if unknown or not names:
        raise UsageError(
            f"Unknown --report-formats {text!r}. Formats: {', '.join(FORMATS)}, or {EVERY}."
        )
    return FORMATS if EVERY in names else names


def write_files(
    warehouse: str, result: NightlyResult, forms: tuple[str, ...], chosen: dict[str, Any]
) -> Iterator[str]:
    """Write the page and the reports, and yield the path of each file."""
    if chosen["report"]:
        write_atomically(chosen["report"], result.page)
        yield chosen["report"]
    if chosen["report_dir"]:
        published = open_warehouse(warehouse)
        with connect(published) as connection:
            report = gather(connection, published, result.summary, has_access=HTML in forms)
        yield from write_reports(report, chosen["report_dir"], forms, chosen["fail_on"])


@command()
@click.pass_obj
def demo(context: Context, /) -> None:
    """Run a demo on the log of a real Kafka cluster.

    \b
    Example:
      aclkit demo
      aclkit --warehouse /tmp/demo demo

    The demo does a nightly run on the packaged log of a Kafka 4.1 cluster. It writes the report
    (report.html) and its summary (nightly.md) into the warehouse, and suggests questions.
    """
    place = context.warehouse or DEFAULT_WAREHOUSE
    warehouse = Context(warehouse=place).require_warehouse()
    with as_file(files("aclkit.cli.data") / "sample") as sample:
        intake = look_at([Source("metadata-log", str(sample))])
        chosen = replace(context, warehouse=warehouse, cluster=CLUSTER)
        result = do_night(chosen, intake, _REPLAYING, _demo_options, lock_timeout=60.0)
    write_atomically(child(warehouse, PAGE), result.page)
    published = open_warehouse(warehouse)
    with connect(published) as connection:
        report = gather(connection, published, result.summary)
        (written,) = write_reports(report, warehouse, [HTML], NEVER)
        done = Facts([*_done(published, result), ("Report", written)])
        answer = access.who_can(connection, published, CLUSTER, "READ", TOPIC)
        asked_of = who_can_answer(answer, "READ", TOPIC, ALLOWED)
        parts = [done, *asked_of.for_people(), *_next(place)]
    lines = lay_out(parts, replace(context.layout, limit=None))
    write_lines(lines, sys.stdout)


_REPLAYING: Final = ReplayOptions()


def _demo_options(_: Callable[[], SparkSession], __: Intake) -> NightlyOptions:
    return NightlyOptions(
        cluster=CLUSTER,
        replay=_REPLAYING,
        materialize=MaterializeOptions(
            settings=BrokerSettings(super_users=parse_super_users(SUPER_USERS)),
            reading=AskedReading(),
            given=Given(),
            auto_ranges=True,
        ),
        policies=Policies(today=datetime.now(UTC).date(), fail_on=NEVER),
    )


def _done(published: Published, result: NightlyResult) -> Iterator[tuple[str, str]]:
    """Yield what was done, in three lines."""
    counts, done = deciding_run(published, CLUSTER).counts, result.summary
    yield "Read", f"the log of a real Kafka 4.1 cluster up to offset {done.head_offset:,}"
    yield (
        "Decided",
        f"{done.rows_decided:,} accesses of {done.principals} principals by {done.acls} ACLs; "
        f"checked {counts['cells_checked']:,} again",
    )
    yield "Found", severities(result.findings)


def _next(place: str) -> Iterator[Part]:
    """Yield what to ask next."""
    program = Path(sys.argv[0])
    if program.is_absolute() and program.is_relative_to(Path.cwd()):
        program = program.relative_to(Path.cwd())
    is_module = program.name == "__main__.py"
    ask = click.get_current_context().find_root().info_name if is_module else program
    yield Heading("Three questions to try")
    yield Command(f"export ACLKIT_WAREHOUSE={shlex.quote(place)}")
    yield from (Command(f"{ask} {shlex.join(words)}") for words in TO_TRY)
