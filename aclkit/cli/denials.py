"""The command denials: who is refused what, and why."""

from __future__ import annotations

import click

from aclkit.cli.context import Context, format_option, tell_state
from aclkit.cli.help import question
from aclkit.cli.options import option
from aclkit.questions.denials.answer import Selection, selected_denials
from aclkit.questions.denials.read import NEEDED, read_denials, require_log
from aclkit.warehouse.published import unread_parts


@question("denials")
@click.option("--new", "only_new", is_flag=True, help="Only what the last usage run saw first.")
@click.option("--all", "is_all", is_flag=True, help="Also listings and what is allowed by now.")
@option("--min-lines", type=click.IntRange(1), default=1, metavar="N", help="Fewest log lines.")
@format_option
@click.pass_obj
def denials(context: Context, min_lines: int, *, only_new: bool, is_all: bool) -> None:
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
    with context.open(NEEDED) as opened:
        require_log(opened.published)
        tell_state(opened.published, opened.run)
        found = read_denials(opened.tables, opened.run, unread_parts(opened.published, opened.run))
    context.write(selected_denials(found, Selection(only_new, is_all, min_lines)))
