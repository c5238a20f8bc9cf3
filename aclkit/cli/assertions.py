"""The command assert: a file of policies and a state → which hold, and an example of each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import click
from click.core import ParameterSource

from aclkit.answer.formats import FORMATS, SARIF
from aclkit.answer.masked import masked, masker
from aclkit.audit.reports.verdict_sarif import policies_sarif
from aclkit.cli.budget_options import budget_options
from aclkit.cli.context import Context, formats
from aclkit.cli.desired import DesiredOptions, reading_options
from aclkit.cli.help import command
from aclkit.cli.options import option
from aclkit.cli.settings_options import settings_options
from aclkit.cli.side_arguments import given_reading, read_sides
from aclkit.errors import UsageError
from aclkit.questions.assertions.answer import as_prove_never, policies_answer
from aclkit.questions.assertions.check import check
from aclkit.questions.assertions.model import PASSED, Assertion, verdict_of
from aclkit.questions.assertions.parse import parse_assertions
from aclkit.questions.read_state import Warehouse, read_state
from aclkit.questions.sides import notes_of, read_alike
from aclkit.questions.state import State
from aclkit.rules.names.question import Budget
from aclkit.runtime.safe_read import read_text

FAILED_EXIT = 1


@command("assert")
@click.argument("file", metavar="FILE.toml")
@option(
    "--acls",
    metavar="PATH|WAREHOUSE",
    envvar=None,
    help="Check these ACLs: files in any format of desired show, or a moment of a warehouse.",
)
@settings_options
@reading_options
@budget_options
@formats(*FORMATS, SARIF, text="Output format.")
@click.pass_obj
def assert_(
    context: Context,
    /,
    file: str,
    acls: str | None,
    wanted: DesiredOptions,
    budget: Budget,
    **chosen: object,
) -> None:
    """Check ACLs against your own policies.

    \b
    Example:
      aclkit assert conf/assertions.toml
      aclkit assert conf/assertions.toml --format json
      aclkit assert conf/assertions.toml --acls wanted.txt --super-users User:admin
      aclkit assert conf/assertions.toml --acls @2026-11-20T00:00:00Z

    FILE.toml states who can do what, in the tables [[never]], [[always]], [[only]], [[at_most]] and
    [[separate]]; see conf/assertions.toml. Each policy is checked for all known names and proven
    for every other possible name. A failed policy shows a decision that violates it, [[separate]]
    two. The exit code is 1 if a policy fails or is unknown, because its proof exceeds the search
    limit.

    --acls is a side of aclkit prove: files, WAREHOUSE, WAREHOUSE@OFFSET, WAREHOUSE@TIME, or @OFFSET
    and @TIME of --warehouse. Files need no warehouse; the options give the brokers' settings. Files
    hold no known names: a policy that needs them is unknown. [[always]] does, unless it sets
    inventory_only = false.
    """
    assertions = read_assertions(file)
    if acls is None:
        _refuse_settings(chosen)
        state = read_state(Warehouse(context.asked_warehouse(), context.cluster))
        context.stand_on_states(state)
    else:
        state = read_side(context, acls, wanted, chosen, with_names=True)
    write_policies(context, assertions, state, budget)


def read_assertions(path: str) -> list[Assertion]:
    """Read a file of assertions.

    Raises:
        UsageError: no such file, or it is invalid.
    """
    return parse_assertions(read_text(path), path)


def read_side(
    context: Context,
    text: str,
    wanted: DesiredOptions,
    chosen: Mapping[str, Any],
    *,
    with_names: bool,
) -> State:
    """Read the state that a text names, under the settings that are given."""
    given = given_reading(chosen)
    sides = read_sides(context, [text], wanted, given, with_names=with_names)
    return read_alike(sides, given)[0]


def write_policies(
    context: Context,
    assertions: Sequence[Assertion],
    state: State,
    budget: Budget,
    *,
    as_never: bool = False,
) -> None:
    """Check policies on a state and write what came out; exit code 1 unless all pass.

    Args:
        context: the shared options.
        assertions: the policies.
        state: what they are checked on.
        budget: the search limit.
        as_never: rows and objects are those of ``prove never``.
    """
    notes = notes_of([state])
    found = check(state, assertions, budget)
    answer = policies_answer(found, state, notes)
    if as_never:
        answer = as_prove_never(answer, found, state, notes, budget)
    answer = replace(answer, sarif=lambda: policies_sarif(found, state, notes))
    context.write(masked(answer, masker(state.hidden)))
    if verdict_of(found) != PASSED:
        click.get_current_context().exit(FAILED_EXIT)


def _refuse_settings(chosen: Mapping[str, Any]) -> None:
    """Refuse settings that are typed without ``--acls``: a warehouse has those of its runs."""
    source = click.get_current_context().get_parameter_source
    for name in chosen:
        if source(name) == ParameterSource.COMMANDLINE:
            raise UsageError(
                f"--{name.replace('_', '-')} goes with --acls only: a warehouse has the settings "
                "of its runs."
            )
