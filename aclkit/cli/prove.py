"""The group prove, which other commands took the place of: diff, and for policies assert."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from aclkit.answer.render import FORMATS, SARIF
from aclkit.cli.budget_options import budget_options
from aclkit.cli.context import Context, formats
from aclkit.cli.desired import DesiredOptions, desired_options
from aclkit.cli.diff import sides_options, write_sides
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


@prove.command("same", hidden=True)
@_sides
def same(context: Context, /, a: str, b: str, **chosen: object) -> None:
    """Prove that A and B allow the same access.

    \b
    Example:
      aclkit diff before.txt after.txt --fail-on any
    """
    _claim(context, {GAINED: ANY, LOST: ANY}, (a, b), chosen)


@prove.command("no-more", hidden=True)
@_sides
def no_more(context: Context, /, a: str, b: str, **chosen: object) -> None:
    """Prove that B allows nothing that A denies.

    \b
    Example:
      aclkit diff before.txt after.txt --fail-on gained
    """
    _claim(context, {GAINED: GAINED}, (a, b), chosen)


@prove.command("no-less", hidden=True)
@_sides
def no_less(context: Context, /, a: str, b: str, **chosen: object) -> None:
    """Prove that B allows everything that A allows.

    \b
    Example:
      aclkit diff before.txt after.txt --fail-on lost
    """
    _claim(context, {LOST: LOST}, (a, b), chosen)


def _claim(
    context: Context,
    kinds: Mapping[str, str],
    texts: Sequence[str],
    chosen: Mapping[str, Any],
) -> None:
    """Prove a claim; with options of a gate both the claim and the gate must be content."""
    chosen["gate"].forget_summary()
    gate = {**kinds_of(chosen["gate"].fail_on), **kinds}
    write_sides(context, texts, gate, kinds, chosen)


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
