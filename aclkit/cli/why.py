"""The command why: an access → why it is allowed or denied."""

from __future__ import annotations

from typing import Any

from aclkit.cli.asked import asks
from aclkit.cli.context import Context, tell_state
from aclkit.cli.help import question
from aclkit.cli.output import tell
from aclkit.cli.questions import question_options, resource_of, taken_principal, tell_unknown
from aclkit.cli.suggestions import (
    operation_or_request,
)
from aclkit.errors import UsageError
from aclkit.model.moment import parse_moment, parse_time
from aclkit.questions.arguments import Why
from aclkit.questions.query.as_of import PAST
from aclkit.questions.query.why import explain_why
from aclkit.questions.query.why_answer import why_answer
from aclkit.rules.decide.handlers import needs_words


def _with_moment(given: dict[str, Any]) -> None:
    """Complete why: a moment is an offset or a time."""
    offset, time = given.pop("at_offset"), given["at"]
    if offset is not None and time is not None:
        raise UsageError("Pass --at-offset or --at, not both.")
    if time is not None:
        parse_time(time)
    given["at"] = time if offset is None else str(offset)


@question("why")
@asks(Why, _with_moment)
@question_options
def why(context: Context, /, asked: Why) -> None:
    """Explain why an access is allowed or denied.

    \b
    Example:
      aclkit why User:alice READ topic:payments
      aclkit why User:alice READ topic:payments --host 10.0.0.7 --format json
      aclkit why User:alice READ topic:payments --at 2026-11-20T18:00:00Z
      aclkit why User:alice JoinGroup group:billing

    OPERATION is an operation such as READ, or a request by Kafka's name, such as Fetch or
    InitProducerId. RESOURCE is written as for who-can. Neither the principal nor the resource needs
    to exist. A PRINCIPAL without a type is a User.

    The answer lists the ACLs that match in the order in which Kafka prefers them, and whether the
    decision would change without each. --wide shows how each ACL matches. ACLs without a rank are
    near misses: they apply to the principal and the resource, but to another host or operation. If
    no ACL allows the access, the answer shows the smallest ACL that would. It also shows which
    requests need more than this access, which brokers decide differently, and whether KIP-1042
    would decide differently.
    """
    resource = resource_of("why", asked)
    operation, sent = operation_or_request(asked.operation, resource.resource_type)
    principal, request = taken_principal(asked.principal), sent.request if sent else None
    with context.open(PAST) as opened:
        answer = explain_why(
            *opened.where, principal, operation, resource, host=asked.host,
            moment=None if asked.at is None else parse_moment(asked.at), sent=request,
        )  # fmt: skip
    tell_unknown(context, answer.unknown)
    if not answer.moment.is_past:
        tell_state(opened.published, answer.run)
    if request is not None:
        tell(f"{request.title} needs {needs_words(request)}.")
    context.write(why_answer(answer))
