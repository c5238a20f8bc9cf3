"""The command doctor: what aclkit needs around it → what is there, and what to do."""

from __future__ import annotations

import sys

import click

from aclkit.answer.document import Answer, Item, Items
from aclkit.cli.checks import CHECKS
from aclkit.cli.context import Context, format_option
from aclkit.cli.examine import Around, Outcome, examine
from aclkit.cli.found import find
from aclkit.cli.options import option, timeout_option
from aclkit.cli.output import tell
from aclkit.runtime.object_store import storage_said


@click.command("doctor")
@option("--source", metavar="KIND:PATH", multiple=True, help="Look at it too; see aclkit replay.")
@option("--command-config", metavar="FILE", help="Kafka client .properties for a live source.")
@timeout_option("How long a check may take; all are done at once.", 10.0)
@format_option
@click.pass_context
def doctor(
    ctx: click.Context, source: tuple[str, ...], command_config: str | None, timeout: float
) -> None:
    """Look at what aclkit needs around it, and say what to do where it will not do.

    \b
    Example:
      aclkit doctor
      aclkit doctor --config conf/nightly.toml
      aclkit --warehouse W doctor --source live:HOST:9093 --command-config client.properties
      aclkit doctor --format json

    Java, memory, Delta's jars, room on the disks, the lock, the warehouse, the source of --source
    or of the settings of run, and the brokers of a live one. Nothing is changed. A warning ends
    with 0: questions, or smaller runs, work all the same. What failed ends with the exit code that
    a run would end with: 2, 3 or 4, the highest wins.
    """
    context: Context = ctx.obj
    warehouse = context.warehouse
    if warehouse is None and (found := find(ctx)) is not None:
        ctx.with_resource(storage_said(found.storage, found.where))
        warehouse = found.warehouse
        tell(f"looking at {found.place}, for {found.where} is here; another: --warehouse DIR")
    nightly = (ctx.find_root().default_map or {}).get("run", {})
    around = Around(
        warehouse=warehouse,
        sources=source or nightly.get("source", ()),
        command_config=command_config or nightly.get("command_config"),
        seconds=timeout,
    )
    outcomes = [*examine(CHECKS, around)]
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
