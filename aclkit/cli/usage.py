"""The command usage: Kafka's authorizer log, checked and joined with the grants."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import click

from aclkit.cli.context import Context, format_option
from aclkit.cli.help import command
from aclkit.cli.materialize import choose_cluster
from aclkit.cli.options import FiniteRange, flag, lock_timeout_option, option
from aclkit.cli.replay import tell_notes
from aclkit.cli.run_options import decide_with_option
from aclkit.cli.session import command_run
from aclkit.cli.use_options import log_options
from aclkit.pipeline.explain.materialize import continue_from_replay
from aclkit.pipeline.plan import DecideWith
from aclkit.pipeline.replay.known_tables import read_clusters
from aclkit.questions.denials.answer import LEAST_LINES
from aclkit.questions.usage.answer import usage_answer
from aclkit.questions.usage.clock import parse_zone
from aclkit.questions.usage.command import UsageOptions, check_usage
from aclkit.questions.usage.log_file import find_log_files
from aclkit.questions.usage.read_use import LogOptions, split_name
from aclkit.warehouse.run import publish
from aclkit.warehouse.views import USAGE


@command()
@option(
    "--authorizer-log",
    multiple=True,
    metavar="[NAME=]PATH",
    help="File, directory or glob, and the broker's name. Repeatable.",
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
@log_options
@option(
    "--refused-lines",
    type=click.IntRange(1),
    default=LEAST_LINES,
    metavar="N",
    help="Report accesses refused in this many lines.",
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
    of_log: LogOptions,
    refused_lines: int,
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
      aclkit --warehouse W usage --authorizer-log 1=/logs/a --authorizer-log 2=/logs/b
      aclkit --warehouse W usage --authorizer-log logs --unused-days 30 --format json

    Each line of the log is checked: decision, rule and deciding ACL must follow from the ACLs and
    settings of its time. A mismatch is a finding. The table access_day keeps what was asked, how it
    was decided and how often, day by day. Only new lines of a file are read, also after it was
    rotated, renamed or packed, so pass the same folder every night. The time of a line is the last
    one before "Principal = "; JSON with one object per line works too. If no line can be read, the
    exit code is 3 and the message has the reason. Brokers log allowed access only while
    kafka.authorizer.logger is at DEBUG; without such lines, usage is unknown. A grant is unused
    only if the log has the whole window, all brokers and every line. Which broker wrote a file is
    known from NAME=PATH, or from a path with broker or node and the id, such as broker-1. Without
    that, pass --brokers N if the logs are of all N brokers. Ranges as hosts
    (10.0.0.0/8) are read for the whole past as in the newest decisions.
    """
    warehouse = context.require_warehouse()
    if not (authorizer_log or more_paths):
        raise click.UsageError("Pass --authorizer-log PATH.")
    parse_zone(log_timezone)
    paths, others, names = _find([*authorizer_log, *more_paths])
    options = UsageOptions(
        paths=paths,
        others=others,
        zone=log_timezone,
        skew=timedelta(seconds=skew),
        log=of_log,
        names=names,
        decide_with=decide_with,
        is_anew=read_again,
        refused_lines=refused_lines,
    )
    with command_run(context, USAGE, lock_timeout) as run:
        run.cluster_id = choose_cluster(read_clusters(run.store), warehouse, context.cluster)
        continue_from_replay(run)
        result = check_usage(run, options)
        publish(run)
    context.write(usage_answer(run.cluster_id, run.notes, result))
    tell_notes(run.notes, run.findings)


def _find(given: Sequence[str]) -> tuple[list[str], list[str], dict[str, str]]:
    """Return the files to read, those of directories that are other logs, and names of brokers."""
    by_name: dict[str | None, list[str]] = {}
    for text in given:
        name, path = (None, text) if Path(text).exists() else split_name(text)
        by_name.setdefault(name, []).append(path)
    paths, others, names = dict[str, None](), dict[str, None](), dict[str, str]()
    for name, some in by_name.items():
        logs, more = find_log_files(some)
        paths |= dict.fromkeys(logs)
        others |= dict.fromkeys(more)
        names |= dict.fromkeys(logs, name) if name else {}
    return [*paths], [each for each in others if each not in paths], names
