"""The command usage: Kafka's authorizer log, checked and joined with the grants."""

from __future__ import annotations

from datetime import timedelta

import click

from aclkit.cli.context import Context, format_option
from aclkit.cli.help import command
from aclkit.cli.materialize import choose_cluster
from aclkit.cli.options import FiniteRange, decide_with_option, flag, lock_timeout_option, option
from aclkit.cli.replay import tell_notes
from aclkit.cli.session import command_run
from aclkit.pipeline.explain.materialize import continue_from_replay
from aclkit.pipeline.plan import DecideWith
from aclkit.pipeline.replay.known_tables import read_clusters
from aclkit.questions.usage.answer import usage_answer
from aclkit.questions.usage.clock import parse_zone
from aclkit.questions.usage.command import UsageOptions, check_usage
from aclkit.questions.usage.log_file import find_log_files
from aclkit.warehouse.run import publish
from aclkit.warehouse.views import USAGE


@command()
@option(
    "--authorizer-log",
    multiple=True,
    metavar="PATH",
    help="File (plain or gzipped), directory or glob. Repeatable.",
)
@click.argument("more_paths", nargs=-1, metavar="[PATH]...")
@option(
    "--log-timezone",
    default="UTC",
    metavar="ZONE",
    help="Time zone of the brokers' logs, such as Europe/Berlin or +01:00.",
)
@option(
    "--skew",
    type=FiniteRange(min=0, max=86_400),
    default=1.0,
    metavar="SECONDS",
    help="A line this close to a change that affects it is not judged.",
)
@option(
    "--unused-days",
    type=FiniteRange(min=0, max=36_500),
    default=90.0,
    metavar="DAYS",
    help="Report grants unused for this many days.",
)
@flag("--read-again", "Read known files from their beginning, not only what is new.")
@decide_with_option
@lock_timeout_option
@format_option
@click.pass_obj
def usage(
    context: Context,
    /,
    authorizer_log: tuple[str, ...],
    more_paths: tuple[str, ...],
    log_timezone: str,
    skew: float,
    unused_days: float,
    decide_with: DecideWith,
    lock_timeout: float,
    *,
    read_again: bool,
) -> None:
    """List unused grants, from Kafka's authorizer log.

    \b
    Example:
      aclkit --warehouse W usage --authorizer-log /var/log/kafka/kafka-authorizer.log
      aclkit --warehouse W usage --authorizer-log logs/*.gz --log-timezone Europe/Berlin
      aclkit --warehouse W usage --authorizer-log logs --unused-days 30 --format json

    Each line of the log is checked: decision, rule and deciding ACL must follow from the ACLs and
    settings of its time. A mismatch is a finding. The table access_day keeps what was asked, how it
    was decided and how often, day by day. Only new lines of a file are read, also after it was
    rotated, renamed or packed, so pass the same folder every night. The time of a line is the last
    one before "Principal = "; JSON with one object per line works too. If no line can be read, the
    exit code is 3 and the message has the reason. Brokers log allowed access only while
    kafka.authorizer.logger is at DEBUG; without such lines, usage is unknown. Ranges as hosts
    (10.0.0.0/8) are read for the whole past as in the newest decisions.
    """
    warehouse = context.require_warehouse()
    if not (authorizer_log or more_paths):
        raise click.UsageError("Pass --authorizer-log PATH.")
    parse_zone(log_timezone)
    paths, others = find_log_files([*authorizer_log, *more_paths])
    options = UsageOptions(
        paths=paths,
        others=others,
        zone=log_timezone,
        skew=timedelta(seconds=skew),
        days=unused_days,
        decide_with=decide_with,
        is_anew=read_again,
    )
    with command_run(context, USAGE, lock_timeout) as run:
        run.cluster_id = choose_cluster(read_clusters(run.store), warehouse, context.cluster)
        continue_from_replay(run)
        result = check_usage(run, options)
        publish(run)
    context.write(usage_answer(run.cluster_id, run.notes, result))
    tell_notes(run.notes, run.findings)
