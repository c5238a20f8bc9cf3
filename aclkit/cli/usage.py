"""The command usage: Kafka's authorizer log, checked and joined with the grants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from datetime import timedelta
from operator import attrgetter
from typing import Any, Final

import click

from aclkit.cli.context import Context, format_option
from aclkit.cli.materialize import choose_cluster
from aclkit.cli.options import FiniteRange, lock_timeout_option, option
from aclkit.cli.output import as_objects
from aclkit.cli.replay import tell_notes
from aclkit.cli.session import command_run
from aclkit.cli.table import Table
from aclkit.model.acl_words import acl_words
from aclkit.pipeline.explain.materialize import continue_from_replay
from aclkit.pipeline.replay.known_tables import read_clusters
from aclkit.questions.usage.clock import parse_zone
from aclkit.questions.usage.command import UsageOptions, UsageResult, check_usage
from aclkit.questions.usage.coverage import Coverage, shown_gaps
from aclkit.questions.usage.grants import Grant
from aclkit.questions.usage.log_file import find_log_files
from aclkit.warehouse.run import publish
from aclkit.warehouse.views import USAGE

COLUMNS: Final = (
    "usage", "principal", "operation", "resource_type", "resource_name", "pattern_type", "host",
    "last_used_at", "last_matched_at", "used_lines", "added_at", "acl_id",
)  # fmt: skip


@click.command()
@option(
    "--authorizer-log",
    multiple=True,
    metavar="PATH",
    help="File, plain or gzipped, directory or glob; may be given again.",
)
@click.argument("more_paths", nargs=-1, metavar="[PATH]...")
@option(
    "--log-timezone",
    default="UTC",
    show_default=True,
    metavar="ZONE",
    help="Time zone of the brokers' logs: Europe/Berlin, +01:00.",
)
@option(
    "--skew",
    type=FiniteRange(min=0, max=86_400),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="A line so close to a change that would alter it is undetermined.",
)
@option(
    "--unused-days",
    type=FiniteRange(min=0, max=36_500),
    default=90.0,
    show_default=True,
    metavar="DAYS",
    help="A grant that was not used for so long is unused; younger ones are not judged.",
)
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
    lock_timeout: float,
) -> None:
    """Check Kafka's authorizer log against the ACLs, and show which grants are not used.

    \b
    Example:
      aclkit --warehouse W usage --authorizer-log /var/log/kafka/kafka-authorizer.log
      aclkit --warehouse W usage --authorizer-log logs/*.gz --log-timezone Europe/Berlin
      aclkit --warehouse W usage --authorizer-log logs --unused-days 30 --format json

    Each line must follow from the ACLs and settings of its time, in decision, rule and deciding
    ACL, as Kafka itself decides; a mismatch is a finding. Lines are kept in the table access_log,
    so that a log may be read night by night. The broker's own time is the last one before
    "Principal = "; JSON with one object per line is read too. If no line can be read, the exit
    code is 3 and the message has the reason. Brokers write ALLOWED lines only while
    kafka.authorizer.logger is at DEBUG: without any it is unknown what is used. Hosts of ACLs that
    are ranges (10.0.0.0/8) are read for the whole past as the newest decisions read them.
    """
    warehouse = context.require_warehouse()
    if not (authorizer_log or more_paths):
        raise click.UsageError("expected --authorizer-log PATH")
    parse_zone(log_timezone)
    paths, others = find_log_files([*authorizer_log, *more_paths])
    options = UsageOptions(
        paths=paths,
        others=others,
        zone=log_timezone,
        skew=timedelta(seconds=skew),
        days=unused_days,
    )
    with command_run(context, USAGE, lock_timeout) as run:
        run.cluster_id = choose_cluster(read_clusters(run.store), warehouse, context.cluster)
        continue_from_replay(run)
        result = check_usage(run, options)
        publish(run)
    rows = [_row(grant) for grant in result.grants]
    counts = f"{_counts(result)}\n"
    context.write(
        COLUMNS,
        rows,
        [counts],
        json=lambda: _as_object(run.cluster_id, run.notes, result, rows),
        table=lambda: [counts, _table(result.grants, rows)],
    )
    tell_notes(run.notes, run.findings)


def _table(grants: Sequence[Grant], rows: Sequence[Sequence[object]]) -> Table:
    """Return the grants for people: whose they are, what they say, and when one was last used."""
    few = [
        (
            grant.usage,
            grant.acl.principal,
            acl_words(grant.acl, grant.acl.principal),
            None if grant.last_used_at is None else f"{grant.last_used_at:%Y-%m-%d %H:%M}",
            grant.used_lines,
        )
        for grant in grants
    ]
    return Table(("usage", "principal", "acl", "last_used", "lines"), few, Table(COLUMNS, rows))


def _counts(result: UsageResult) -> str:
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in result.counts.items())
    return f"{result.lines:,} lines: {told}"


_row: Final = attrgetter(
    "usage", "acl.principal", "acl.operation", "acl.resource_type", "acl.resource_name",
    "acl.pattern_type", "acl.host", "last_used_at", "last_matched_at", "used_lines", "added_at",
    "acl.acl_id",
)  # fmt: skip


def _as_object(
    cluster_id: str, notes: Sequence[str], result: UsageResult, rows: Sequence[Sequence[object]]
) -> dict[str, Any]:
    """Return one object: the counts, what is covered, lines to look at, and the grants as rows."""
    return {
        "cluster": cluster_id,
        "lines": result.lines,
        **result.counts,
        "coverage": _covered(result.coverage, next(iter(result.grants), None)),
        **{f"{verdict}_lines": lines for verdict, lines in result.examples.items()},
        "notes": notes,
        "rows": as_objects(COLUMNS, rows),
    }


def _covered(coverage: Coverage, window: Grant | None) -> dict[str, Any]:
    """Return what the log covers, and the window in which grants are judged."""
    return {
        "from": coverage.first,
        "to": coverage.last,
        "lines": coverage.lines,
        "allowed_lines": coverage.allowed_lines,
        "allowed_from": coverage.allowed_from,
        "gaps": shown_gaps(coverage.gaps),
        "files": [
            dict(zip(("source", "lines", "allowed_lines", "from", "to"), file, strict=True))
            for file in map(astuple, coverage.files)
        ],
        "window_from": window and window.window_from,
        "window_to": window and window.window_to,
        "covered": window and window.covered,
    }
