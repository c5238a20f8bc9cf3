"""The command diff, and what every command shares that shows an effect: options and exit code."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import click

from aclkit.cli.budget_options import budget_options
from aclkit.cli.context import Context, format_option
from aclkit.cli.help import question
from aclkit.cli.options import GateOption, gathered, option, together
from aclkit.cli.output import tell, tell_all
from aclkit.cli.side_by_side import Other, other_options, write_side_by_side
from aclkit.errors import UsageError
from aclkit.model.moment import parse_moment
from aclkit.questions.difference.answer import preview_answer
from aclkit.questions.difference.change import Change
from aclkit.questions.difference.compared import preview as preview_change
from aclkit.questions.difference.words import PAST, PLANNED, Tense
from aclkit.questions.read_state import Warehouse, read_states
from aclkit.questions.sides import first_glob_note
from aclkit.questions.state import Inventory
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.question import Budget

ANY: Final = "any"


@dataclass(frozen=True, slots=True)
class Gate:
    """What makes a command end with exit code 1, and what may be spent on finding out."""

    fail_on: str | None
    budget: Budget

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of change that make the exit code 1."""
        if self.fail_on == ANY:
            return GAINED, LOST
        return () if self.fail_on is None else (self.fail_on,)


effect_options: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    format_option,
    option(
        "--fail-on",
        cls=GateOption,
        type=click.Choice([GAINED, LOST, ANY]),
        help="Exit code 1 where access is gained, lost, or either, of any name; or not known.",
    ),
    budget_options,
    partial(gathered, "gate", Gate),
    click.pass_obj,
)
"""What every command takes that shows an effect."""


def tell_first_glob(change: Change, clean: Callable[[str], str] = str) -> None:
    """Warn where one of two states brings the first GLOB ACL and both are read alike.

    Args:
        change: the two states.
        clean: hides sensitive values.
    """
    if len(set(change.readings)) > 1:
        return
    sides = (("the first state", change.before), ("the second state", change.after))
    before, after = ((name, state.acls.values()) for name, state in sides)
    if note := first_glob_note(before, after, change.before.semantics):
        tell(clean(note))


def write_effect(
    context: Context,
    change: Change,
    inventory: Inventory,
    title: str,
    gate: Gate,
    tense: Tense = PLANNED,
) -> None:
    """Preview a change and write it; end with exit code 1 where the gate asks for it.

    What is not known is a failure as well: a gate that guesses is none.
    """
    # Millions of tuples, none in a cycle: to look for cycles among them takes half of the time.
    gc.disable()
    try:
        preview = preview_change(change, inventory, gate.budget)
        context.write(preview_answer(preview, title, tense))
    finally:
        gc.enable()
    if any(map(preview.has, gate.kinds)) or (gate.kinds and not preview.is_known):
        click.get_current_context().exit(1)


@question("diff")
@click.argument("start", metavar="[FROM]", required=False)
@click.argument("end", metavar="[TO]", required=False)
@other_options
@effect_options
def diff(context: Context, start: str | None, end: str | None, other: Other, gate: Gate) -> None:
    """Compare access at two times, or in two clusters.

    \b
    Example:
      aclkit diff 900 1020
      aclkit diff 2026-11-20T00:00:00Z 2026-11-21T00:00:00Z --format markdown
      aclkit diff --cluster stage --with prod --map stage.=prod.

    FROM and TO are log offsets or ISO 8601 times (UTC without a zone). The state at an offset
    includes all records before it. Each state is decided with the broker settings of its time, for
    the names that the newest run knows.

    With --with, two clusters are compared: the newest run of each, or both at the time FROM, or
    the first at FROM and the other at TO. "Gained" is then what the other cluster allows in
    addition. Topics that only one cluster has are listed apart, and no --fail-on counts them.
    """
    moments = [each for each in (start, end) if each is not None]
    if other.is_given:
        write_side_by_side(context, other, moments, gate.budget, gate.kinds)
        return
    if len(moments) != _BOTH:
        raise UsageError("Pass FROM and TO: two offsets or times. Or pass --with CLUSTER.")
    then, now = map(parse_moment, moments)
    source = Warehouse(context.asked_warehouse(), context.cluster)
    before, after = read_states(source, (then, now))
    context.stand_on_states(after)
    tell_all(dict.fromkeys((*before.notes, *after.notes)))
    title = f"Offset {before.offset} to {after.offset}, cluster {after.cluster_id}"
    change = Change(before=before, after=after)
    if change.changes_settings:
        tell("The settings of the brokers differ too.")
    tell_first_glob(change)
    write_effect(context, change, after.inventory, title, gate, PAST)


_BOTH: Final = 2
