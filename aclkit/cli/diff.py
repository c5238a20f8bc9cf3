"""The command diff: two offsets or times → whose access differs."""

from __future__ import annotations

import click

from aclkit.cli.context import Context
from aclkit.cli.effect import Gate, effect_options, tell_first_glob, write_effect
from aclkit.cli.help import command
from aclkit.cli.options import parse_moment
from aclkit.cli.output import tell, tell_all
from aclkit.questions.preview.read import read_past
from aclkit.questions.preview.words import PAST


@command("diff")
@click.argument("start", metavar="FROM")
@click.argument("end", metavar="TO")
@effect_options
def diff(context: Context, start: str, end: str, gate: Gate) -> None:
    """Compare access at two points in time.

    \b
    Example:
      aclkit diff 900 1020
      aclkit diff 2026-11-20T00:00:00Z 2026-11-21T00:00:00Z --format markdown

    FROM and TO are log offsets or ISO 8601 times (UTC without a zone). The state at an offset
    includes all records before it. Each state is decided with the broker settings of its time, for
    the names that the newest run knows.
    """
    moments = parse_moment(start), parse_moment(end)
    past = read_past(context.asked_warehouse(), context.cluster, *moments)
    context.stand_on(past.base.published, past.base.run)
    tell_all(past.notes)
    before, after = past.offsets
    title = f"Offset {before} to {after}, cluster {past.base.run.cluster_id}"
    if past.change.changes_settings:
        tell("The settings of the brokers differ too.")
    tell_first_glob(past.change)
    write_effect(context, past.change, past.base.inventory, title, gate, PAST)
