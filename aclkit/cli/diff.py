"""The command diff: two moments, two sides or two clusters → what differs, with a verdict."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import click
from click.core import ParameterSource

from aclkit.answer.document import Answer
from aclkit.answer.formats import FORMATS, SARIF
from aclkit.answer.masked import masked, masker
from aclkit.audit.reports.verdict_sarif import difference_sarif
from aclkit.cli.budget_options import budget_options
from aclkit.cli.context import Context, formats
from aclkit.cli.desired import DesiredOptions, desired_options
from aclkit.cli.effect import BOTH_KINDS, end_with, tell_first_glob, without_gc
from aclkit.cli.gate_options import GateOptions, gate_options, write_summary
from aclkit.cli.help import question
from aclkit.cli.options import flag, option, together
from aclkit.cli.output import tell, tell_all
from aclkit.cli.settings_options import settings_options
from aclkit.cli.side_arguments import given_reading, is_there, read_sides
from aclkit.cli.side_by_side import Other, other_options, read_clusters
from aclkit.errors import UsageError
from aclkit.kafka.desired.documents import STDIN
from aclkit.model.moment import parse_moment
from aclkit.questions.difference.answer import as_comment, difference_answer, sides_answer
from aclkit.questions.difference.change import Change
from aclkit.questions.difference.compared import Compared, preview, prove
from aclkit.questions.difference.demands import read_demands
from aclkit.questions.difference.verdict import Demands, Form, Verdict, judge, kinds_of
from aclkit.questions.difference.words import PAST
from aclkit.questions.read_state import Moment, Warehouse, read_states
from aclkit.questions.sides import notes_of, read_alike
from aclkit.questions.state import names_in

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

sides_options: _Decorator = together(
    flag("--compare-settings", "Use the own broker settings of A and of B, even if they differ."),
    option(
        "--limit",
        type=click.IntRange(1),
        default=20,
        metavar="N",
        help="Number of examples of each kind, in every format.",
    ),
    option("--all", "is_all", is_flag=True, help="Show all examples."),
    gate_options,
    desired_options,
    settings_options,
    budget_options,
    formats(
        *FORMATS,
        SARIF,
        text="How it is printed: for people, for programs, for a merge request, for code scanners.",
    ),
    click.pass_obj,
)
"""What a comparison of two sides takes."""

_OF_SIDES: Final = frozenset(
    (
        *("compare_settings", "limit", "is_all", "form", "of_cluster", "allow_empty"),
        *("scope", "operator", "super_users", "no_super_users", "allow_everyone", "semantics"),
        *("glob_patterns", "identity_globs", "deciding_acl", "wildcard_defect", "cidr_hosts"),
        *("authorizer", "server_properties"),
    )
)
"""Parameters that moments and clusters do not have: their warehouse knows the settings."""
_BOTH: Final = 2


@question("diff")
@click.argument("a", metavar="[A]", required=False)
@click.argument("b", metavar="[B]", required=False)
@other_options
@sides_options
def diff(
    context: Context,
    /,
    a: str | None,
    b: str | None,
    other: Other,
    gate: GateOptions,
    **chosen: object,
) -> None:
    """Compare access at two times, states or clusters.

    \b
    Example:
      aclkit diff 900 1020
      aclkit diff 2026-11-20T00:00:00Z 2026-11-21T00:00:00Z --format markdown
      aclkit diff before.txt after.txt --fail-on gained
      aclkit diff --cluster stage --with prod --map stage.=prod.

    A and B are each one of these, and what they allow is compared for every name that a broker
    could be asked about:

    \b
      900                a log offset of --warehouse, with all records before it
      2026-11-20T00:00Z  a time, UTC without a zone
      WAREHOUSE          a folder: its published state
      WAREHOUSE@900      its state at an offset or a time; @900 is one of --warehouse
      PATH               files in any format that aclkit desired show reads; as B they
                         are applied to A: a plan makes its change, CSV needs --scope

    Two offsets or times are each decided with the broker settings of their time, and the names
    that the newest run knows are counted. Two files need no warehouse: a file takes the broker
    settings of the other side, or of the options.

    With --with, two clusters are compared: the newest run of each, or both at the time A, or the
    first at A and the other at B. "Gained" is then what the other cluster allows in addition.
    Topics that only one cluster has are listed apart, and no --fail-on counts them.

    The verdict is fail if an option is broken or something is unknown, needs approval if access
    differs otherwise, else pass. With --fail-on or another demand the exit code of fail is 1, and
    with --strict that of needs approval.
    """
    texts = [each for each in (a, b) if each is not None]
    chosen["gate"] = gate
    gate.forget_summary()
    if other.is_given:
        _refuse_sides()
        _write_clusters(context, other, texts, chosen)
        return
    if len(texts) != _BOTH:
        raise UsageError(
            "Pass FROM and TO: offsets, times, warehouses or files. Or pass --with CLUSTER."
        )
    moments = [*map(_moment, texts)]
    if None not in moments:
        _refuse_sides()
        _write_moments(context, moments, chosen)
        return
    kinds = kinds_of(gate.fail_on, BOTH_KINDS)
    write_sides(context, _named(texts, moments), kinds, kinds, chosen)


def _named(texts: Sequence[str], moments: Sequence[Moment]) -> list[str]:
    """Return sides as ``find_meant`` reads them: a moment beside a file is of --warehouse.

    Raises:
        UsageError: what stands beside a moment is neither another one nor a side.
    """
    if any(at is not None for at in moments):
        for text, at in zip(texts, moments, strict=True):
            if at is None and not ("@" in text or text == STDIN or is_there(text)):
                parse_moment(text)
    return [text if at is None else f"@{text}" for text, at in zip(texts, moments, strict=True)]


def write_sides(
    context: Context,
    texts: Sequence[str],
    kinds: Mapping[str, str],
    claimed: Collection[str],
    chosen: Mapping[str, Any],
) -> None:
    """Compare two sides for every name, judge them, and end with the exit code of the verdict.

    Args:
        context: the shared options.
        texts: what A and B are.
        kinds: of ``Demands``.
        claimed: of gained and lost what must not be at all, and is shown; both where none is.
        chosen: the options.
    """
    gate, budget = chosen["gate"], chosen["budget"]
    given = given_reading(chosen)
    sides = read_sides(context, texts, chosen["wanted"], given)
    one, other = read_alike(sides, given, each_own=chosen["compare_settings"])
    notes, limit = notes_of((one, other)), None if chosen["is_all"] else chosen["limit"]
    names = names_in((*one.acls.values(), *other.acls.values()), one.semantics)
    change = Change(before=one, after=other)
    compared = prove(
        change,
        [kind for kind in BOTH_KINDS if kind in claimed] or BOTH_KINDS,
        budget,
        limit,
        names if gate.is_asked else None,
    )
    clean = masker(change.hidden)
    verdict = judge(compared, read_demands(gate.files, kinds, compared)).said(clean)
    answer = _with_sarif(sides_answer(compared, verdict, limit, notes), compared, verdict, notes)
    if gate.is_asked:
        answer = as_comment(answer, verdict)
    _write(context, masked(answer, clean), compared, verdict, chosen, is_gate=bool(claimed))


def _write_moments(context: Context, moments: Sequence[Moment], chosen: Mapping[str, Any]) -> None:
    """Compare two moments of a warehouse, each under the settings of its time."""
    gate, source = chosen["gate"], Warehouse(context.asked_warehouse(), context.cluster)
    before, after = read_states(source, moments)
    context.stand_on_states(after)
    tell_all(dict.fromkeys((*before.notes, *after.notes)))
    change = Change(before=before, after=after)
    if change.changes_settings:
        tell("The settings of the brokers differ too.")
    tell_first_glob(change)
    title = f"Offset {before.offset} to {after.offset}, cluster {after.cluster_id}"
    with without_gc():
        compared = preview(change, after.inventory, chosen["budget"])
        demands = read_demands(gate.files, kinds_of(gate.fail_on, BOTH_KINDS), compared)
        verdict = judge(compared, demands, PAST)
        answer = difference_answer(compared, verdict, title, PAST)
        _write(context, _with_sarif(answer, compared, verdict, ()), compared, verdict, chosen)


def _write_clusters(
    context: Context, other: Other, moments: Sequence[str], chosen: Mapping[str, Any]
) -> None:
    """Compare two clusters under the names of the second."""
    # Here: two files wait for none of it.
    from aclkit.questions.clusters.answer import clusters_answer, judge_clusters
    from aclkit.questions.clusters.compare import compare_clusters

    gate, maps = chosen["gate"], other.maps
    if gate.has_files:
        raise UsageError("With --with pass --fail-on only: policies are about one cluster.")
    found = compare_clusters(*read_clusters(context, other, moments), maps, chosen["budget"])
    verdict = judge_clusters(found, Demands(kinds=kinds_of(gate.fail_on, BOTH_KINDS)))
    answer = clusters_answer(found, context.standing, verdict=verdict)
    _write(context, _with_sarif(answer, found, verdict, ()), found, verdict, chosen)


def _with_sarif(
    answer: Answer, compared: Compared, verdict: Verdict, notes: Sequence[str]
) -> Answer:
    return replace(answer, sarif=partial(difference_sarif, compared, verdict, notes))


def _write(
    context: Context,
    answer: Answer,
    compared: Compared,
    verdict: Verdict,
    chosen: Mapping[str, Any],
    *,
    is_gate: bool = False,
) -> None:
    """Write an answer and the summary, and end with the exit code of the verdict."""
    gate: GateOptions = chosen["gate"]
    wanted: DesiredOptions = chosen["wanted"]
    context.write(answer)
    if gate.summary_env:
        write_summary(gate.summary_env, compared, verdict)
    form: Form = "gate" if gate.is_asked or is_gate else "shown"
    is_strict = wanted.strict and (gate.is_asked or not is_gate)
    end_with(verdict, "strict" if is_strict else form)


def _moment(text: str) -> Moment:
    try:
        return parse_moment(text)
    except UsageError:
        return None


def _refuse_sides() -> None:
    """Refuse options of sides where there are none.

    Raises:
        UsageError: one was passed.
    """
    context = click.get_current_context()
    for param in context.command.params:
        source = context.get_parameter_source(param.name or "")
        if param.name in _OF_SIDES and source == ParameterSource.COMMANDLINE:
            raise UsageError(f"{param.opts[0]} goes with two sides of which one is files.")
