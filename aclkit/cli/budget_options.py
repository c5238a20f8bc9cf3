"""The options for the search limit of exact answers about every name, and the end beyond it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from aclkit.cli.options import option
from aclkit.cli.output import tell
from aclkit.rules.names.question import STATES_OF_A_COMMAND, STATES_OF_A_QUESTION, Budget


def budget_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Hand a command a ``budget``: states, never seconds, so that machines agree."""

    @option(
        "--budget",
        type=click.IntRange(1),
        metavar="N",
        default=STATES_OF_A_QUESTION,
        help='Search limit per proof. Beyond it the result is "unknown".',
    )
    @option(
        "--budget-total",
        type=click.IntRange(1),
        metavar="N",
        default=STATES_OF_A_COMMAND,
        help="Search limit of all proofs together.",
    )
    @wraps(command)
    def with_budget(*args: Any, budget: int, budget_total: int, **given: Any) -> Any:  # noqa: ANN401 -- whatever the command takes
        return command(*args, budget=Budget(per_question=budget, total=budget_total), **given)

    return with_budget


def end_unproven(what: str, to_raise: str) -> None:
    """End with 1 and print no result: the search limit was reached before something was proven."""
    tell(
        f"The search limit was reached before it was proven {what}. Nothing is printed. Raise the "
        f"limit with {to_raise}."
    )
    click.get_current_context().exit(1)
