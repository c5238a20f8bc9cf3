"""What every command shares that shows an effect: options, the verdict, and the exit code."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from aclkit.cli.budget_options import budget_options
from aclkit.cli.context import Context, format_option
from aclkit.cli.options import GateOption, gathered, option, together
from aclkit.cli.output import tell
from aclkit.questions.difference.answer import difference_answer
from aclkit.questions.difference.change import Change
from aclkit.questions.difference.compared import preview as preview_change
from aclkit.questions.difference.verdict import (
    ANY,
    Demands,
    Form,
    Verdict,
    exit_code,
    judge,
    kinds_of,
)
from aclkit.questions.sides import first_glob_note
from aclkit.questions.state import Inventory
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.question import Budget

BOTH_KINDS = (GAINED, LOST)


@dataclass(frozen=True, slots=True)
class Gate:
    """What makes a command end with exit code 1, and what may be spent on finding out."""

    fail_on: str | None
    budget: Budget


effect_options: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    format_option,
    option(
        "--fail-on",
        cls=GateOption,
        type=click.Choice([*BOTH_KINDS, ANY]),
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


@contextmanager
def without_gc() -> Iterator[None]:
    """Let no garbage be collected: of millions of tuples none is in a cycle.

    To look for cycles among them takes half of the time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def write_effect(
    context: Context, change: Change, inventory: Inventory, title: str, gate: Gate
) -> None:
    """Preview a change and write it with its verdict; end with the exit code of it."""
    with without_gc():
        compared = preview_change(change, inventory, gate.budget)
        verdict = judge(compared, Demands(kinds=kinds_of(gate.fail_on, BOTH_KINDS)))
        context.write(difference_answer(compared, verdict, title))
    end_with(verdict, "shown" if gate.fail_on is None else "gate")


def end_with(verdict: Verdict, form: Form) -> None:
    """End with the exit code of a verdict, if that is not 0."""
    if code := exit_code(verdict, form):
        click.get_current_context().exit(code)
