"""The command demo: the whole of aclkit on the packaged sample of a real cluster."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

import click

from aclkit.cli.context import Context
from aclkit.cli.output import write_rows
from aclkit.cli.session import command_run
from aclkit.model.findings import NEVER
from aclkit.model.principal import parse_super_users
from aclkit.model.resource import Resource
from aclkit.model.semantics import KIP_1042, BrokerSettings
from aclkit.nightly.night import run_nightly
from aclkit.nightly.policies import Policies
from aclkit.nightly.quiet import NightlyOptions, NightlyResult
from aclkit.pipeline.explain.decided import MaterializeOptions
from aclkit.pipeline.inventory.survey import Given
from aclkit.pipeline.replay.intake import Source, look_at
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.questions.query import access
from aclkit.runtime.whole_file import write_whole
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.run import Run

DEFAULT_WAREHOUSE: Final = "warehouse/demo"
CLUSTER: Final = "sample"
SUPER_USERS: Final = "User:ANONYMOUS;User:admin"
TOPIC: Final = Resource("TOPIC", "payments.v1.events")
PAGE: Final = "nightly.md"
_LOCK_TIMEOUT: Final = 60.0


@click.command()
@click.pass_obj
def demo(context: Context, /) -> None:
    """Run the nightly job on the packaged log of a real Kafka 4.1 cluster, and show the result.

    \b
    Example:
      aclkit demo
      aclkit --warehouse /tmp/demo demo
    """
    warehouse = Context(warehouse=context.warehouse or DEFAULT_WAREHOUSE).require_warehouse()
    with as_file(files("aclkit.cli.data") / "sample") as sample:
        intake = look_at([Source("metadata-log", str(sample))]).read_early()
        chosen = replace(context, warehouse=warehouse)
        with command_run(chosen, "run", _LOCK_TIMEOUT, length="tiny") as run:
            result = run_nightly(run, intake, _options())
    write_whole(Path(warehouse) / PAGE, result.page)
    _tell(run, result)
    _show_topic(warehouse)
    _point_on(context.warehouse or DEFAULT_WAREHOUSE)


def _options() -> NightlyOptions:
    return NightlyOptions(
        cluster=CLUSTER,
        replay=ReplayOptions(),
        materialize=MaterializeOptions(
            settings=BrokerSettings(super_users=parse_super_users(SUPER_USERS)),
            semantics=KIP_1042,
            given=Given(),
            auto_ranges=True,
        ),
        policies=Policies(today=datetime.now(UTC).date(), fail_on=NEVER),
    )


def _tell(run: Run, result: NightlyResult) -> None:
    counts = run.counts
    severities = Counter(finding.severity for finding in result.findings)
    found = ", ".join(f"{number} {severity}" for severity, number in severities.items())
    click.echo(
        f"""
The metadata log of a real Kafka 4.1 cluster was replayed up to offset {run.head_offset:,}, and
every principal × host × operation × resource was decided:

  ACLs alive      {counts["acls"]:>9,}
  principals      {counts["principal"]:>9,}   one of them stands for any other
  hosts           {counts["host"]:>9,}
  resources       {counts["resource"]:>9,}
  decisions       {counts["rows_decided"]:>9,}   of {counts["rows_expected"]:,} expected
  checked again   {counts["cells_checked"]:>9,}   decisions of every kind, by the rule itself
  findings        {len(result.findings):>9,}   {found}
"""
    )


def _show_topic(warehouse: str) -> None:
    """Print who may read one topic, in words for a first reader."""
    published = open_warehouse(warehouse)
    with connect(published) as connection:
        answer = access.who_can(connection, published, CLUSTER, "READ", TOPIC)
        told = connection.execute(_ACLS, [CLUSTER]).fetchall()
    click.echo(f"Who may READ {TOPIC}, from where, and because of which ACL:\n")
    acls: dict[str | None, str] = dict(told)
    rows = []
    for row in answer.rows:
        cells = dict(zip(answer.columns, row, strict=True))
        hosts = cells["host"] or ""
        shown = hosts if hosts.count(",") < _FEW_HOSTS else f"{hosts.count(',') + 1} hosts"
        rows.append((cells["principal"], shown, acls.get(cells["acl_id"]) or cells["rule"]))
    write_rows(("who", "from", "because of"), rows, "table", sys.stdout)


_FEW_HOSTS: Final = 3
_ACLS: Final = """
SELECT acl_id, concat(permission_type, ' ', operation, ' on ', pattern_type, ' ', resource_name,
              ' for ', principal, ' from ', CASE host WHEN '*' THEN 'any host' ELSE host END)
FROM acl_current WHERE cluster_id = ?"""
"""Each ACL in words."""
_FINDINGS: Final = "SELECT severity, finding, subject FROM finding"


def _point_on(warehouse: str) -> None:
    program = Path(sys.argv[0])
    if program.is_absolute() and program.is_relative_to(Path.cwd()):
        program = program.relative_to(Path.cwd())
    ask = f"{program} --warehouse {shlex.quote(warehouse)}"
    click.echo(
        "\n".join(
            (
                "",
                "Where to look next:",
                f"  {warehouse}/{PAGE}   the page of the nightly run",
                f"  {ask} who-can ANY {TOPIC} --all",
                f"  {ask} what-can User:alice topic",
                f"  {ask} sql {shlex.quote(_FINDINGS)}",
            )
        )
    )
