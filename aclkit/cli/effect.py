"""What every command shares that shows an effect: its options, answer and exit code."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import click

from aclkit.cli.budget_options import budget_options
from aclkit.cli.context import Context, format_option, retired_engine_option
from aclkit.cli.options import gathered, option, together
from aclkit.cli.output import tell
from aclkit.questions.preview.answer import preview_answer
from aclkit.questions.preview.globs import first_glob_note
from aclkit.questions.preview.preview import preview as preview_change
from aclkit.questions.preview.state import Asked, Change
from aclkit.questions.preview.words import PLANNED, Tense
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.question import Budget

ANY: Final = "any"


@dataclass(frozen=True, slots=True)
class Gate:
    """What makes a command end with exit code 1, and what may be spent on finding out."""

    fail_on: str | None
    budget: Budget


def gate_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Hand a command ``--fail-on`` and the budget of exact answers, as its ``gate``."""
    return together(
        option(
            "--fail-on",
            type=click.Choice([GAINED, LOST, ANY]),
            help="Exit code 1 where access is gained, lost, or either, of any name; or not known.",
        ),
        budget_options,
    )(gathered("gate", Gate, command))


effect_options: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    format_option, gate_options, retired_engine_option, click.pass_obj
)
"""What every command takes that shows an effect."""


def tell_first_glob(change: Change) -> None:
    """Warn where one of two states brings the first GLOB ACL: both are read alike."""
    sides = (("the first state", change.before), ("the second state", change.after))
    before, after = ((name, state.acls.values()) for name, state in sides)
    if note := first_glob_note(before, after, change.semantics):
        tell(note)


def write_effect(
    context: Context,
    change: Change,
    inventory: Asked,
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
    kinds = (GAINED, LOST) if gate.fail_on == ANY else (gate.fail_on,) if gate.fail_on else ()
    if any(preview.has(kind) for kind in kinds) or (kinds and not preview.is_known):
        click.get_current_context().exit(1)
