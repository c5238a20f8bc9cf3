"""The command demo: the whole of aclkit on the packaged sample of a real cluster."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import duckdb

from aclkit.answer.document import Command, Facts, Heading, Part
from aclkit.answer.text import lay_out
from aclkit.audit.reports.gather import gather
from aclkit.audit.reports.render import HTML, write_reports
from aclkit.audit.reports.words import severities
from aclkit.cli.context import Context
from aclkit.cli.help import command
from aclkit.cli.nightly import do_night
from aclkit.cli.output import write_lines
from aclkit.model.findings import NEVER
from aclkit.model.principal import parse_super_users
from aclkit.model.resource import Resource
from aclkit.model.semantics import AskedReading, BrokerSettings
from aclkit.nightly.policies import Policies
from aclkit.nightly.unchanged_run import NightlyOptions, NightlyResult
from aclkit.pipeline.explain.decided import MaterializeOptions
from aclkit.pipeline.inventory.survey import Given
from aclkit.pipeline.replay.intake import Intake, Source, look_at
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.questions.query import access
from aclkit.questions.query.access_answer import who_can_answer
from aclkit.rules.decide.rules import ALLOWED
from aclkit.runtime.atomic_file import write_atomically
from aclkit.runtime.uri import child
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import Published, deciding_run, open_warehouse

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

_LOCK_TIMEOUT: Final = 60.0


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
        result = do_night(chosen, intake, _REPLAYING, _options, _LOCK_TIMEOUT)
    write_atomically(child(warehouse, PAGE), result.page)
    published = open_warehouse(warehouse)
    with connect(published) as connection:
        report = gather(connection, published, result.summary)
        (written,) = write_reports(report, warehouse, [HTML], NEVER)
        done = Facts([*_done(published, result), ("Report", written)])
        parts = [done, *_access(connection, published), *_next(place)]
    lines = lay_out(parts, replace(context.layout, limit=None))
    write_lines(lines, sys.stdout)


_REPLAYING: Final = ReplayOptions()


def _options(_: Callable[[], SparkSession], __: Intake) -> NightlyOptions:
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


def _access(connection: duckdb.DuckDBPyConnection, published: Published) -> Iterator[Part]:
    """Yield who can read one topic."""
    answer = access.who_can(connection, published, CLUSTER, "READ", TOPIC)
    found = who_can_answer(answer, "READ", TOPIC, ALLOWED)
    yield from found.for_people()


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
