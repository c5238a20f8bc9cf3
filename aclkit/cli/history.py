"""The command history: an access → how it changed over time."""

from __future__ import annotations

from aclkit.cli.asked import asks
from aclkit.cli.context import Context, tell_state
from aclkit.cli.help import question
from aclkit.cli.questions import question_options, resource_of, taken_principal, tell_unknown
from aclkit.questions.arguments import History
from aclkit.questions.query.as_of import PAST
from aclkit.questions.query.history import read_history
from aclkit.questions.query.history_answer import history_answer
from aclkit.questions.query.lifetimes import ACL_CHANGE_BY


@question("history")
@asks(History)
@question_options
def history(context: Context, /, asked: History) -> None:
    """Show how one access changed over time.

    \b
    Example:
      aclkit history User:alice READ topic:payments
      aclkit history User:alice READ topic:payments --host 10.0.0.7 --format csv

    Each line is a period in which the same rule and ACL decided, the newest first: its first log
    offset, its time in UTC, and the change that began it. `why --at-offset` with that offset gives
    the same decision. The start of a period that is known from a snapshot only is unknown.
    """
    resource = resource_of("history", asked)
    with context.open({**PAST, ACL_CHANGE_BY: {}}) as opened:
        answer = read_history(
            *opened.where, taken_principal(asked.principal), asked.operation, resource,
            host=asked.host,
        )  # fmt: skip
    tell_unknown(context, answer.unknown)
    tell_state(opened.published, answer.run)
    context.write(history_answer(answer))
