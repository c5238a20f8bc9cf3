"""The group prove, which other commands took the place of: diff, and for policies assert."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import click

from aclkit.answer.masked import masked, masker
from aclkit.answer.render import FORMATS, SARIF
from aclkit.audit.reports.verdict_sarif import answers_sarif
from aclkit.cli.budget_options import budget_options
from aclkit.cli.context import Context, formats
from aclkit.cli.desired_options import DesiredOptions, desired_options
from aclkit.cli.diff import sides_options, write_sides
from aclkit.cli.gate_options import GateOptions
from aclkit.cli.help import Group
from aclkit.cli.options import together
from aclkit.cli.settings_options import settings_options
from aclkit.cli.side_arguments import given_reading, read_sides
from aclkit.questions.assertions.parse import parse_assertions
from aclkit.questions.difference.verdict import ANY, kinds_of
from aclkit.questions.prove.answer import answers_answer
from aclkit.questions.prove.never import HOLDS, hold_assertions
from aclkit.questions.sides import notes_of, read_alike
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.question import Budget
from aclkit.runtime.safe_read import read_text

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_shared_options: _Decorator = together(
    settings_options,
    desired_options,
    budget_options,
    formats(*FORMATS, SARIF, text="Output format."),
)
_sides: _Decorator = together(
    click.argument("a", metavar="A"), click.argument("b", metavar="B"), sides_options
)


@click.group(cls=Group, hidden=True)
def prove() -> None:
    """Prove statements about access, for every name.

    Of two states: aclkit diff A B --fail-on any, gained or lost.

    \b
    Example:
      aclkit diff before.txt after.txt --fail-on gained
      aclkit prove never assertions.toml wanted.txt
    """


def _alias(name: str, kinds: Mapping[str, str], text: str) -> None:
    """Add an older name of diff: what must not be gained or lost, and by which ``--fail-on``."""
    (fail_on,) = {*kinds.values()}
    line = f"aclkit diff before.txt after.txt --fail-on {fail_on}"

    @prove.command(name, hidden=True, help=f"{text}\n\n\b\nExample:\n  {line}")
    @_sides
    def alias(context: Context, /, a: str, b: str, gate: GateOptions, **chosen: object) -> None:
        # With options of a gate both must be content: what the name claims, and the gate.
        gate.forget_summary()
        demanded = {**kinds_of(gate.fail_on), **kinds}
        write_sides(context, (a, b), demanded, kinds, {**chosen, "gate": gate})


_alias("same", {GAINED: ANY, LOST: ANY}, "Prove that A and B allow the same access.")
_alias("no-more", {GAINED: GAINED}, "Prove that B allows nothing that A denies.")
_alias("no-less", {LOST: LOST}, "Prove that B allows everything that A allows.")


@prove.command("never", hidden=True)
@click.argument("file", metavar="FILE.toml")
@click.argument("a", metavar="[A]", required=False)
@_shared_options
@click.pass_obj
def never(
    context: Context,
    /,
    file: str,
    a: str | None,
    wanted: DesiredOptions,
    budget: Budget,
    **chosen: object,
) -> None:
    """Prove your own policies for every name.

    \b
    Example:
      aclkit --warehouse W prove never conf/assertions.toml
      aclkit prove never conf/assertions.toml wanted.txt --format sarif

    The policies of FILE.toml (see aclkit assert) are proven against A, or against --warehouse. The
    exit code is 0 only if each is proven for every name. A policy about known names only is
    unknown; so is [[always]], unless it sets inventory_only = false.
    """
    assertions = parse_assertions(read_text(file), file)
    side = context.require_warehouse(to_write=False) if a is None else a
    given = given_reading(chosen)
    read = read_alike(read_sides(context, [side], wanted, given), given)
    notes = notes_of(read)
    bounds = () if read[0].is_exact else (read[0].most, read[0].least)
    found = hold_assertions(assertions, read[0].rules, budget, bounds)
    answer = answers_answer(found, read, notes)
    answer = replace(answer, sarif=lambda: answers_sarif(found, read, notes))
    clean = masker([each for one in read for each in one.hidden])
    context.write(masked(answer, clean))
    if found.outcome != HOLDS:
        click.get_current_context().exit(1)
