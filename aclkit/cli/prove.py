"""The group prove: two states, or a state and assertions → what is proven for every name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from aclkit.answer.formats import FORMATS, SARIF
from aclkit.answer.masked import masked, masker
from aclkit.audit.reports.prove_sarif import answers_sarif, comparison_sarif
from aclkit.cli.budget_options import budget_options
from aclkit.cli.context import Context, formats
from aclkit.cli.desired_options import DesiredOptions, desired_options
from aclkit.cli.gate_options import end_with, gate_options, limits_of, write_summary
from aclkit.cli.help import Group
from aclkit.cli.options import flag, option, together
from aclkit.cli.settings_options import settings_options
from aclkit.cli.side_arguments import given_reading, read_sides
from aclkit.questions.assertions.parse import parse_assertions
from aclkit.questions.gate.verdict import Planned, Verdict, judge
from aclkit.questions.preview.change import Change
from aclkit.questions.prove.answer import answers_answer, comparison_answer
from aclkit.questions.prove.claim import HOLDS, NO_LESS, NO_MORE, SAME, hold_sides
from aclkit.questions.prove.never import hold_assertions
from aclkit.questions.prove.proof_settings import notes_of, read_alike
from aclkit.questions.state import State, names_in
from aclkit.rules.names.question import Budget
from aclkit.runtime.safe_read import read_text

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_format_option = formats(
    *FORMATS,
    SARIF,
    text="How it is printed: for people, for programs, for a merge request, for code scanners.",
)
_shared_options: _Decorator = together(
    settings_options, desired_options, budget_options, _format_option
)
_comparison_options: _Decorator = together(
    click.argument("a", metavar="A"),
    click.argument("b", metavar="B"),
    flag("--compare-settings", "Use the own broker settings of A and of B, even if they differ."),
    option(
        "--limit",
        type=click.IntRange(1),
        default=20,
        metavar="N",
        help="Number of counterexamples of each kind, in every format.",
    ),
    option("--all", "is_all", is_flag=True, help="Show all counterexamples."),
    gate_options,
    _shared_options,
    click.pass_obj,
)


@click.group(cls=Group)
def prove() -> None:
    """Prove statements about access, for every name.

    \b
    Example:
      aclkit prove no-more before.txt after.txt
      aclkit prove same WAREHOUSE wanted.txt --format markdown
      aclkit prove never assertions.toml wanted.txt

    A proof holds for every principal, host and resource name that a broker could be asked about,
    not only for known names. A and B are each one of:

    \b
      WAREHOUSE          a folder: its published state
      WAREHOUSE@900      its state at an offset; @900 is one of --warehouse
      WAREHOUSE@2026-11-20T00:00:00Z
      PATH               files in any format that aclkit desired show reads; as B they
                         are applied to A: a plan makes its change, CSV needs --scope

    Two files need no warehouse, no Spark and no Java. A warehouse has the broker settings of its
    runs. A file takes those of the other side, or of the options. The exit code is 1 if the
    statement is false, or unknown because the proof exceeds the search limit.
    """


@prove.command("same")
@_comparison_options
def same(context: Context, /, a: str, b: str, **chosen: object) -> None:
    """Prove that A and B allow the same access.

    \b
    Example:
      aclkit prove same before.txt after.txt
      aclkit --warehouse W prove same @900 @1020 --compare-settings

    The exit code is 0 only if it is proven for every name that no access is gained or lost. Which
    ACL decides does not matter.
    """
    _compare(context, SAME, (a, b), chosen)


@prove.command("no-more")
@_comparison_options
def no_more(context: Context, /, a: str, b: str, **chosen: object) -> None:
    """Prove that B allows nothing that A denies.

    \b
    Example:
      aclkit prove no-more before.txt after.txt --super-users User:admin
      aclkit prove no-more WAREHOUSE wanted.txt --format sarif

    The exit code is 0 only if it is proven for every name that B grants no new access.
    """
    _compare(context, NO_MORE, (a, b), chosen)


@prove.command("no-less")
@_comparison_options
def no_less(context: Context, /, a: str, b: str, **chosen: object) -> None:
    """Prove that B allows everything that A allows.

    \b
    Example:
      aclkit prove no-less before.txt after.txt --allow-everyone
      aclkit prove no-less WAREHOUSE@900 wanted.txt --all --format json

    The exit code is 0 only if it is proven for every name that B revokes no access.
    """
    _compare(context, NO_LESS, (a, b), chosen)


@prove.command("never")
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
    context.write(masked(answer, _clean(read)))
    _end(found.outcome)


def _compare(context: Context, claim: str, texts: Sequence[str], chosen: Mapping[str, Any]) -> None:
    chosen["gate"].forget_summary()
    given = given_reading(chosen)
    sides = read_sides(context, texts, chosen["wanted"], given)
    read = read_alike(sides, given, each_own=chosen["compare_settings"])
    notes = notes_of(read)
    limit = None if chosen["is_all"] else chosen["limit"]
    found = hold_sides(claim, read[0], read[1], chosen["budget"], limit)
    answer = comparison_answer(found, read, notes, limit)
    answer = replace(answer, sarif=lambda: comparison_sarif(found, read, notes))
    answer = masked(answer, _clean(read))
    verdict = _verdict(read, chosen) if chosen["gate"].is_asked else None
    if verdict is not None:
        from aclkit.questions.gate.answer import with_verdict

        answer = with_verdict(answer, verdict)
    context.write(answer)
    _end(found.outcome)
    if verdict is not None:
        end_with(verdict, is_strict=chosen["wanted"].strict)


def _verdict(read: Sequence[State], chosen: Mapping[str, Any]) -> Verdict:
    """Judge the change from A to B as ``preview apply`` does."""
    one, other = read
    gate, budget = chosen["gate"], chosen["budget"]
    names = names_in((*one.acls.values(), *other.acls.values()), one.semantics)
    planned = Planned.of(Change(before=one, after=other), names, other.applied, budget)
    verdict = judge(planned, limits_of(gate, planned, budget), budget)
    verdict = verdict.said(_clean(read))
    if gate.summary_env:
        write_summary(gate.summary_env, planned, verdict)
    return verdict


def _clean(read: Sequence[State]) -> Callable[[str], str]:
    """Return what hides the sensitive values of both sides."""
    return masker([each for one in read for each in one.hidden])


def _end(outcome: str) -> None:
    if outcome != HOLDS:
        click.get_current_context().exit(1)
