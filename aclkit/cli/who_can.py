"""The command who-can: a resource, or names with a prefix → who can do an operation to it."""

from __future__ import annotations

from typing import Any

from aclkit.cli.asked import asks
from aclkit.cli.context import Context, tell_state
from aclkit.cli.help import question
from aclkit.cli.output import tell
from aclkit.cli.questions import question_options, tell_unknown
from aclkit.cli.suggestions import (
    asked_type,
    check_order,
    missing_resource,
    possible_resource,
    star_note,
)
from aclkit.questions.arguments import DECISIONS, WhoCan
from aclkit.questions.query import access
from aclkit.questions.query.access_answer import who_can_answer


def _with_resource(given: dict[str, Any]) -> None:
    """Complete who-can: with a prefix RESOURCE is a type, that of topics where none is named."""
    if given["resource"] is None:
        if given["prefix"] is None:
            raise missing_resource(given["operation"])
        given["resource"] = "topic"


@question("who-can")
@asks(WhoCan, _with_resource)
@question_options
def who_can(context: Context, /, asked: WhoCan) -> None:
    """List who can perform OPERATION on RESOURCE.

    \b
    Example:
      aclkit who-can READ topic:payments --host 10.0.0.7
      aclkit who-can ANY group:billing --all --format csv
      aclkit who-can READ topic --prefix payments.

    RESOURCE is topic:NAME, group:NAME, transactional-id:NAME, delegation-token:NAME, user:NAME
    or cluster. OPERATION is one of Kafka's, or ANY for all. If the resource does not exist, the
    answer is what would apply to it, with a warning and similar names. Hosts with the same answer
    share a line; * is all hosts. The table groups operations and ends with what every principal
    can do. --wide and the other formats list every operation and host.

    With --prefix, RESOURCE is a type. Each principal is allowed all, some or none of the names that
    start with TEXT. Known names are counted; the result for all other names is proven or unknown.
    """
    if asked.prefix is not None:
        _answer_prefix(context, asked, asked.prefix)
        return
    operation, host, decision = asked.operation, asked.host, DECISIONS[asked.decision]
    check_order("who-can", operation=operation, resource=asked.resource)
    resource = possible_resource(asked.resource, operation)
    near = {"resource_type": resource.resource_type, "resource_name": resource.resource_name}
    with context.open({**access.NEEDED, "explain_pair": near}) as at:
        answer = access.who_can(*at.where, operation, resource, host=host, decision=decision)
    if answer.unknown and (note := star_note(resource, operation)) is not None:
        tell(f"note: {note}")
    tell_unknown(context, answer.unknown)
    tell_state(at.published, answer.decided_by)
    context.write(who_can_answer(answer, operation, resource, decision))


def _answer_prefix(context: Context, asked: WhoCan, prefix: str) -> None:
    # Here: names that may come are another question, with a search of its own.
    from aclkit.questions.query.by_prefix import NEEDED, who_can_prefix
    from aclkit.questions.query.prefix_answer import prefix_answer

    kind, decision = asked_type(asked.resource), DECISIONS[asked.decision]
    with context.open(NEEDED) as at:
        found = who_can_prefix(
            at.where, asked.operation, kind, prefix, host=asked.host, decision=decision
        )
    tell_state(at.published, found.decided_by)
    context.write(prefix_answer(found, asked.operation, decision))
