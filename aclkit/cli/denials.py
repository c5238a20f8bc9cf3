"""The command denials: who is refused what, and why."""

from __future__ import annotations

import click

from aclkit.cli.context import Context, format_option, tell_state
from aclkit.cli.help import command
from aclkit.cli.options import option
from aclkit.errors import UsageError
from aclkit.questions.denials.answer import denials_answer
from aclkit.questions.denials.causes import PROBLEMS
from aclkit.questions.denials.read import ACCESS_DAY, NEEDED, read_denials


@command("denials")
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
    applies, no ACL allows it, or the topic does not exist. The answer has the smallest ACL that
    would allow it. DESCRIBE by Metadata, FindCoordinator and other listings only leaves something
    out: --all shows these, and what is allowed by now.
    """
    with context.open(NEEDED) as opened:
        if ACCESS_DAY not in opened.published.run.table_versions:
            raise UsageError(
                "No authorizer log has been read yet. Next: aclkit usage --authorizer-log PATH"
            )
        tell_state(opened.published, opened.run)
        found = read_denials(opened.tables, opened.run)
    shown = [
        each
        for each in found
        if (is_all or each.cause in PROBLEMS)
        and each.refused.lines >= min_lines
        and (each.refused.is_new or not only_new)
    ]
    hidden = len([each for each in found if each.cause not in PROBLEMS])
    notes = [f"--all shows {hidden:,} more: listings, or allowed by now."] if hidden else []
    context.write(denials_answer(shown, [] if is_all else notes))
