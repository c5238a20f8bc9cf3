"""The commands changes and denials: access that runs changed, and access that brokers refused."""

from __future__ import annotations

from collections.abc import Sequence

import click

from aclkit.audit.reports.changes_answer import cells_answer, read_cells, read_run_changes
from aclkit.cli.asked import asks
from aclkit.cli.context import Context, format_option, tell_state
from aclkit.cli.help import question
from aclkit.cli.output import tell_all
from aclkit.errors import UsageError
from aclkit.questions.arguments import Changes, Denials
from aclkit.warehouse.published import unread_parts


@question("changes")
@asks(Changes)
@click.option("--cells", is_flag=True, help="Each changed access of the last run.")
@format_option
@click.pass_obj
def changes(context: Context, /, asked: Changes, *, cells: bool) -> None:
    """Show access gained and lost in the last run.

    \b
    Example:
      aclkit changes
      aclkit changes --since 2026-11-20T00:00:00Z --format jsonl
      aclkit changes --cells --format csv

    Each line names a principal (or several with the same ACLs), a resource, and the ACL that was
    added or removed. gained and lost count hosts × operations. Only names that both runs know are
    compared. A principal, host or resource that only one run knows has its own line, with the cause
    came or gone. With --since, all runs after a run number or a time are shown; runs without
    changes have no line.
    """
    if cells and asked.since is not None:
        raise UsageError("--cells is about the last run only. Leave out --since.")
    with context.open() as opened:
        newest = opened.run
        notes: Sequence[str] = ()
        if cells:
            answer = cells_answer(read_cells(opened.tables, newest))
        else:
            read = read_run_changes(opened.where, asked.since)
            answer, notes = read.answer, read.notes
        tell_state(opened.published, newest)
    tell_all(notes)
    context.write(answer)


@question("denials")
@asks(Denials)
@format_option
@click.pass_obj
def denials(context: Context, /, asked: Denials) -> None:
    """List refused accesses and why, from Kafka's log.

    \b
    Example:
      aclkit denials
      aclkit denials --new --min-lines 100
      aclkit denials --all --format csv

    The lines are those that aclkit usage read from the authorizer log. Each refused access is
    compared with the ACLs of today and of the past: an ACL that allowed it was removed, a DENY
    applies, no ACL allows it, or the topic does not exist. Hosts with different causes are listed
    apart. The answer has the smallest ACL with which the client can work: READ on a group instead
    of DESCRIBE, for example. ListTransactions and similar requests only leave out what is denied:
    --all shows these, and what is allowed by now.
    """
    # Here, because changes does without them.
    from aclkit.questions.denials.answer import selected_denials
    from aclkit.questions.denials.read import NEEDED, read_denials, require_log

    with context.open(NEEDED) as opened:
        require_log(opened.published)
        tell_state(opened.published, opened.run)
        found = read_denials(opened.tables, opened.run, unread_parts(opened.published, opened.run))
    context.write(selected_denials(found, asked))
