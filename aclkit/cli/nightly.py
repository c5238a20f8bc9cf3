"""The command run: the nightly job."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from aclkit.cli import materialize as decide
from aclkit.cli import replay as log
from aclkit.cli.options import (
    inventory_options,
    lock_timeout_option,
    option,
    replay_options,
    settings_options,
)
from aclkit.cli.principal_options import builder_of, principal_options
from aclkit.cli.session import command_session
from aclkit.findings import SEVERITIES
from aclkit.nightly import NEVER, NightlyOptions, run_nightly
from aclkit.publish import begin_run
from aclkit.settings import Settings


@click.command("run")
@replay_options
@inventory_options
@principal_options
@settings_options
@option(
    "--fail-on",
    type=click.Choice([*SEVERITIES, NEVER]),
    default="high",
    show_default=True,
    help="The least severity of a finding that ends the run with exit code 1.",
)
@option("--report", metavar="FILE.md", help="Write the page there too.")
@lock_timeout_option
@click.pass_obj
def run(
    settings: Settings,
    /,
    fail_on: str,
    report: str | None,
    lock_timeout: float,
    **chosen: Any,  # noqa: ANN401 -- the option groups name them
) -> None:
    """Do the nightly work: replay, decide, compare with last night, find what is wrong.

    \b
    Example:
      aclkit --config conf/demo.toml run
      aclkit --warehouse W run --source metadata-log:DIR --fail-on medium --report night.md

    Prints a Markdown page. Nothing of a run is visible before it has ended; with nothing new in
    the log it writes one row and ends quickly.
    """
    warehouse = settings.require_warehouse()
    intake = log.intake_of(chosen)
    broker = decide.broker_settings(chosen)
    builder = builder_of(chosen["principal_builder"], chosen["principal_builder_properties"])
    with command_session(settings, "run") as spark:
        options = NightlyOptions(
            cluster=settings.cluster,
            replay=log.options_of(chosen),
            materialize=decide.options_of(spark, chosen, broker, builder),
            fail_on=fail_on,
        )
        with begin_run(spark, warehouse, "run", lock_timeout=lock_timeout) as nightly:
            result = run_nightly(nightly, intake, options)
    click.echo(result.page, nl=False)
    if report:
        Path(report).write_text(result.page, encoding="utf-8")
        click.echo(f"wrote {report}", err=True)
    sys.exit(result.exit_code)
