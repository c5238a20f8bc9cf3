"""The command doctor: whether what aclkit needs is there, and what to do."""

from __future__ import annotations

import sys

import click

from aclkit.answer.document import Answer, Item, Items
from aclkit.cli.context import Context, format_option
from aclkit.cli.help import question
from aclkit.cli.options import option, timeout_option
from aclkit.nightly.checks import CHECKS, CheckContext, Outcome, run_checks


@question("doctor")
@option(
    "--source", metavar="KIND:PATH", multiple=True, help="Check this source too; see aclkit replay."
)
@option("--command-config", metavar="FILE", help="Kafka client .properties for a live source.")
@timeout_option("Time limit per check. Checks run in parallel.", 10.0)
@format_option
@click.pass_context
def doctor(
    ctx: click.Context, source: tuple[str, ...], command_config: str | None, timeout: float
) -> None:
    """Check that aclkit can run on this machine.

    \b
    Example:
      aclkit doctor
      aclkit doctor --config conf/nightly.toml
      aclkit --warehouse W doctor --source live:HOST:9093 --command-config client.properties
      aclkit doctor --format json

    It checks Java, memory, Delta's jars, disk space, the lock, the warehouse, the source of
    --source or of the run settings, and the brokers of a live source: each right that aclkit lacks
    there has a line, with what it costs and the command that grants it. doctor changes nothing. A
    warning has exit code 0: questions or smaller runs still work. A failed check has the exit code
    that a run would have (2, 3 or 4); the highest wins.
    """
    context: Context = ctx.obj
    nightly = (ctx.find_root().default_map or {}).get("run", {})
    around = CheckContext(
        warehouse=context.find_warehouse(),
        sources=source or nightly.get("source", ()),
        command_config=command_config or nightly.get("command_config"),
        seconds=timeout,
    )
    outcomes = [*run_checks(CHECKS, around)]
    context.write(
        Answer(
            title="What aclkit needs",
            columns=Outcome._fields,
            rows=outcomes,
            parts=lambda: [Items(map(_line, outcomes))],
        )
    )
    sys.exit(max(outcome.exit_code for outcome in outcomes))


def _line(outcome: Outcome) -> Item:
    under = [f"Next: {outcome.what_to_do}"] if outcome.what_to_do else []
    return Item(f"{outcome.state:<9}{outcome.check:<11}{outcome.found}", under=under)
