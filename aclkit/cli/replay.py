"""The command replay: sources → the ACL history of a cluster."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

import click

from aclkit.answer.document import Answer
from aclkit.cli.context import Context, format_option
from aclkit.cli.help import command
from aclkit.cli.options import lock_timeout_option, option, picked
from aclkit.cli.output import tell, tell_all
from aclkit.cli.run_options import decide_with_option, replay_options
from aclkit.cli.session import late_session
from aclkit.model.findings import Finding, sort_findings
from aclkit.model.moment import parse_time
from aclkit.pipeline.replay.forget import parse_forget
from aclkit.pipeline.replay.history_plan import describe_spans
from aclkit.pipeline.replay.intake import Intake, ask_live, imprint_of, look_at, parse_source
from aclkit.pipeline.replay.job import replay as replay_into
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.warehouse.run import begin_run, hold, publish

SUMMARY = (
    "cluster", "head_offset", "acls_alive", "facts_added", "rejects", "holes", "bridged", "status"
)  # fmt: skip


@command()
@replay_options
@decide_with_option
@option(
    "--forget",
    multiple=True,
    metavar="SOURCE|FROM-TO",
    help=("First forget a source (a file or folder, as in acl_log.source) or offsets. Repeatable."),
)
@lock_timeout_option
@format_option
@click.pass_obj
def replay(
    context: Context,
    /,
    forget: tuple[str, ...],
    lock_timeout: float,
    **chosen: object,
) -> None:
    """Read a cluster's ACLs into the warehouse.

    \b
    Example:
      aclkit --warehouse W replay --source metadata-log:/var/kafka/__cluster_metadata-0
      aclkit --warehouse W replay --source dump-log:dump.txt
      aclkit --warehouse W --cluster prod replay --source acls-list:acls.txt --at 2026-11-21T02:00Z
      aclkit --warehouse W replay --source metadata-log:DIR --forget 1200-1229

    ACL records are replayed in log order. Reading the same offsets again, from other files or in
    another order, changes nothing. Rows that cannot be used go to the table acl_reject, with the
    reason.

    After replaying a damaged copy, or the log of another cluster, aclkit rejects the correct log.
    --forget removes those rows and offsets. With --source, the same run reads the correct log.
    """
    warehouse = context.require_warehouse()
    wrong = [parse_forget(text) for text in forget]
    intake = intake_of(chosen, may_be_none=bool(wrong))
    options = picked(ReplayOptions, chosen)
    with hold(warehouse, lock_timeout) as held:
        intake = asked(intake, options)
        with (
            late_session(context, "replay") as start,
            begin_run(start, warehouse, "replay", lock_timeout=lock_timeout, held=held) as run,
        ):
            result = replay_into(run, intake, context.cluster, options, wrong)
            publish(run)
    row = (
        run.cluster_id, result.head_offset, result.alive, result.facts, result.rejects,
        describe_spans(result.holes) or None, describe_spans(result.bridged) or None, run.status,
    )  # fmt: skip
    context.write(Answer(columns=SUMMARY, rows=[row]))
    tell_notes(run.notes, run.findings)
    if result.holes and result.exit_code:
        tell(
            f"offsets {describe_spans(result.holes)} could not be read: the state is as of offset "
            f"{result.head_offset}. Give the missing segments or a later snapshot, or go on with "
            "--accept-holes"
        )
    sys.exit(result.exit_code)


def asked(intake: Intake, options: ReplayOptions) -> Intake:
    """Ask a live source, and take the imprint of what sources hold; the lock is held."""
    intake = ask_live(intake)
    return replace(intake, imprint=imprint_of(intake, options))


def intake_of(chosen: dict[str, Any], *, may_be_none: bool = False) -> Intake:
    """Look at the sources that the options name; no broker is asked yet."""
    intake = look_at(
        [parse_source(text) for text in chosen["source"]],
        at=parse_time(chosen["at"]) if chosen["at"] else None,
        command_config=chosen["command_config"],
        timeout=chosen["timeout"],
        allow_empty=chosen["allow_empty"],
        accept_holes=chosen["accept_holes"],
        may_be_none=may_be_none,
    )
    if intake.not_honoured:
        keys = ", ".join(map(repr, intake.not_honoured))
        tell(f"note: not honoured of {chosen['command_config']}: {keys}")
    return intake


def tell_notes(notes: Iterable[str], findings: Iterable[Finding]) -> None:
    """Print on stderr what a reader of the result must know: of many findings the worst."""
    tell_all(f"note: {note}" for note in notes)
    known = sort_findings(findings)
    shown = known[:_MOST_FINDINGS]
    tell_all(f"finding ({each.severity}) {each.finding}: {each.message}" for each in shown)
    if more := len(known) - len(shown):
        tell(f"and {more:,} more findings, in the table finding")


_MOST_FINDINGS: Final = 20
