"""The group prove, which other commands took the place of: diff, and for policies assert."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from aclkit.answer.formats import FORMATS, SARIF
from aclkit.cli.budget_options import budget_options
from aclkit.cli.context import Context, formats
from aclkit.cli.desired import DesiredOptions, desired_options
from aclkit.cli.diff import sides_options, write_sides
from aclkit.cli.gate_options import GateOptions
from aclkit.cli.help import Group
from aclkit.cli.options import together
from aclkit.cli.settings_options import settings_options
from aclkit.questions.difference.verdict import ANY, kinds_of
from aclkit.rules.names.compare import GAINED, LOST
from aclkit.rules.names.question import Budget

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
    """Prove your own policies, as aclkit assert does.

    \b
    Example:
      aclkit --warehouse W prove never conf/assertions.toml
      aclkit prove never conf/assertions.toml wanted.txt --format sarif

    Known names of a warehouse do not count: a policy that needs them is unknown.
    """
    # Here: what counts violations loads numpy.
    from aclkit.cli.assertions import read_assertions, read_side, write_policies

    assertions = read_assertions(file)
    side = context.require_warehouse(to_write=False) if a is None else a
    state = read_side(context, side, wanted, chosen, with_names=False)
    write_policies(context, assertions, state, budget, as_never=True)
