"""The command narrow: what clients used, and the ACLs → a narrower set for each principal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import click

from aclkit.answer.formats import FORMATS
from aclkit.answer.masked import masked, masker
from aclkit.cli.acls import KAFKA_ACLS, tell_left_out
from aclkit.cli.budget_options import budget_options, end_unproven
from aclkit.cli.completion import complete_principal
from aclkit.cli.context import Context, formats
from aclkit.cli.help import question
from aclkit.cli.options import option
from aclkit.cli.output import tell, tell_all
from aclkit.cli.questions import taken_principal
from aclkit.cli.use_options import keep_option, log_options
from aclkit.kafka.acls.exports import render_kafka_users, render_terraform
from aclkit.kafka.acls.script import render_changes
from aclkit.kafka.desired.read import Asked as AskedOfFiles
from aclkit.model.acl import Acl
from aclkit.model.phrases import few, listed, number_of
from aclkit.questions.denials.read import require_log
from aclkit.questions.narrow.answer import Result, narrow_answer, summary
from aclkit.questions.narrow.keep import read_kept
from aclkit.questions.narrow.narrowing import shared_owners
from aclkit.questions.narrow.pieces import Names
from aclkit.questions.narrow.propose import Asked, notes_on, propose_narrow
from aclkit.questions.read_state import read_state
from aclkit.questions.usage.read_use import USE_TABLES, LogOptions, read_use
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules
from aclkit.runtime.progress import step

STRIMZI: Final = "strimzi"
TERRAFORM: Final = "terraform"
_WHOLE: Final[dict[str, Callable[[Iterable[Acl]], tuple[list[str], list[Acl]]]]] = {
    STRIMZI: render_kafka_users,
    TERRAFORM: render_terraform,
}
"""Forms that hold the whole new set of each principal, not the change."""


@question("narrow")
@click.argument("principals", nargs=-1, metavar="[PRINCIPAL]…", shell_complete=complete_principal)
@option(
    "--names",
    type=click.Choice(["keep", "prefix", "literal"]),
    default="keep",
    help="Keep patterns, or narrow them to used prefixes or names.",
)
@keep_option
@log_options
@budget_options
@formats(
    *FORMATS,
    KAFKA_ACLS,
    *_WHOLE,
    text="Output format; kafka-acls is a script, strimzi and terraform hold the new set.",
)
@click.pass_obj
def narrow(
    context: Context,
    /,
    principals: tuple[str, ...],
    names: Names,
    keep: tuple[str, ...],
    of_log: LogOptions,
    budget: Budget,
) -> None:
    """Propose ACLs that allow only what was used.

    \b
    Example:
      aclkit narrow User:app
      aclkit narrow --keep yearly.toml --format kafka-acls > narrow.sh
      aclkit narrow User:app --names prefix --format strimzi

    Without PRINCIPAL, every principal in the log is narrowed. An own ALLOW that decided nothing is
    removed; one for ALL becomes the operations that were used. Patterns stay, unless you pass
    --names. DENYs stay, and so do ACLs that apply to other principals too, such as those for
    User:*. The answer lists exactly what the principal loses, for future names too. It is proven
    that it gains nothing, and that each request of the log is decided as before.

    Only a complete log shows what is unused. So narrow proposes nothing and exits with code 3 if
    days, brokers or lines are missing, or if the log was not written at DEBUG. ACLs that were
    added within the window stay. Without the log of the active controller, access that only
    controllers check stays.

    --keep FILE is a file with ACLs, in a format that aclkit desired show reads, or a TOML file with
    tables [[keep]]: principal, operation, resource, and optionally host and why.
    """
    principals = tuple(map(taken_principal, principals))
    kept = read_kept(keep, AskedOfFiles(allows_empty=True))
    asked, cluster_id = _read(context, principals, of_log)
    asked = replace(asked, keep=kept.acls, names=names)
    chosen = principals or asked.chosen
    with step(f"Narrowing {number_of(len(chosen), 'principal')}"):
        proven = propose_narrow(asked, chosen, budget)
    result = Result(
        cluster_id=cluster_id,
        judgeable=asked.judgeable,
        proven=proven,
        days=of_log.unused_days,
        notes=(*kept.notes, *notes_on(asked, chosen)),
    )
    _check(result, budget)
    clean = masker(kept.hidden)
    if context.output_format not in (KAFKA_ACLS, *_WHOLE):
        context.write(masked(narrow_answer(result), clean))
    elif not result.judgeable.missing:
        _write_acls(context, result, asked.rules, clean)
    if result.judgeable.missing:
        if context.output_format in (KAFKA_ACLS, *_WHOLE):
            tell_all(narrow_answer(result).beside_rows())
        click.get_current_context().exit(_NOT_COVERED)


def _read(context: Context, principals: Sequence[str], of_log: LogOptions) -> tuple[Asked, str]:
    """Read what decides, what was used, and what the log covers; and return the cluster's id."""
    with context.open({name: {} for name in USE_TABLES}) as opened:
        require_log(opened.published)
        state = read_state(opened.source, with_names=False)
        tell_all(state.notes)
        asked = Asked(use=read_use(*opened.source, state.rules, of_log, principals))
        return asked, opened.cluster_id


def _check(result: Result, budget: Budget) -> None:
    """End where a proof is not known."""
    unknown = [each.narrowed.principal for each in result.proven if not each.is_known]
    if unknown:
        end_unproven(f"what {few(unknown)} would lose", f"{budget.to_raise}, or name a principal")


def _write_acls(
    context: Context, result: Result, rules: Rules, clean: Callable[[str], str]
) -> None:
    """Write a script, or the whole new sets; end with 1 where the form cannot hold all of it."""
    shared: Mapping[str, Sequence[str]] = {}
    if context.output_format == KAFKA_ACLS:
        lines, unsaid = render_changes(result.added, [result.removed])
    else:
        sets = [each.narrowed for each in result.proven]
        shared = shared_owners(sets, rules) if context.output_format == STRIMZI else {}
        refused = {principal for some in shared.values() for principal in some}
        own = [acl for each in sets if each.principal not in refused for acl in each.own]
        if empty := [each.principal for each in sets if not each.own]:
            tell(clean(f"No ACL of its own is left, so nothing is written: {few(empty)}."))
        lines, unsaid = _WHOLE[context.output_format](own)
    context.deliver(f"{line}\n" for line in lines)
    tell(summary(result))
    for name, principals in shared.items():
        tell(
            clean(
                f"Not written: a KafkaUser {name} owns {listed(principals)}, but can hold the ACLs "
                "of one of them only. The others would lose theirs. Use --format kafka-acls."
            )
        )
    tell_left_out(unsaid, clean)
    if unsaid:
        acls = number_of(len(unsaid), "ACL")
        tell(f"{acls} are comments: the format cannot express them, or they wait for one of them.")
    if unsaid or shared:
        click.get_current_context().exit(1)


_NOT_COVERED: Final = 3
