"""The commands why and history: one access → what it rests on, and since when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import click

from aclkit.cli.completers import complete_request, complete_resource
from aclkit.cli.context import Context, tell_state
from aclkit.cli.help import command
from aclkit.cli.options import gathered, option, parse_time, together
from aclkit.cli.output import tell
from aclkit.cli.question_options import (
    principal_argument,
    question_options,
    taken_principal,
    tell_unknown,
)
from aclkit.cli.suggestions import check_order, operation_or_request, possible_resource
from aclkit.errors import UsageError
from aclkit.model.resource import Resource
from aclkit.questions.query.as_of import PAST
from aclkit.questions.query.history import read_history
from aclkit.questions.query.why import explain_why
from aclkit.questions.query.why_answer import history_answer, why_answer
from aclkit.rules.decide.handlers import needs_words


@dataclass(frozen=True, slots=True)
class AccessQuestion:
    """The access that is asked about, as it was written."""

    principal: str
    operation: str
    resource: str
    host: str | None

    def about(self, command: str) -> Resource:
        """Read the resource, the words being in their order."""
        check_order(
            command, principal=self.principal, operation=self.operation, resource=self.resource
        )
        return possible_resource(self.resource, self.operation)

    @property
    def of_whom(self) -> str:
        """The principal; a note is printed where only its name was given."""
        return taken_principal(self.principal)


def _access_arguments(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the arguments that name an access, as its argument ``access``."""
    return together(
        principal_argument,
        click.argument("operation", shell_complete=complete_request),
        click.argument("resource", shell_complete=complete_resource),
        option("--host", metavar="IP", help="Client IP address. Default: one that no ACL names."),
    )(gathered("access", AccessQuestion, command))


@command("why")
@_access_arguments
@option("--at-offset", type=click.IntRange(min=0), metavar="N", help="State at this log offset.")
@option("--at", metavar="TIME", help="State at this ISO 8601 time.")
@question_options
def why(context: Context, access: AccessQuestion, at_offset: int | None, at: str | None) -> None:
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
    moment = _moment(at_offset, at)
    resource = access.about("why")
    operation, sent = operation_or_request(access.operation, resource.resource_type)
    principal, request = access.of_whom, sent.request if sent else None
    with context.open(PAST) as opened:
        answer = explain_why(
            *opened.where, principal, operation, resource,
            host=access.host, moment=moment, sent=request,
        )  # fmt: skip
    tell_unknown(context, answer.unknown)
    if not answer.moment.is_past:
        tell_state(opened.published, answer.run)
    if request is not None:
        tell(f"{request.title} needs {needs_words(request)}.")
    context.write(why_answer(answer))


@command("history")
@_access_arguments
@question_options
def history(context: Context, access: AccessQuestion) -> None:
    """Show how one access changed over time.

    \b
    Example:
      aclkit history User:alice READ topic:payments
      aclkit history User:alice READ topic:payments --host 10.0.0.7 --format csv

    Each line is a period in which the same rule and ACL decided, the newest first: its first log
    offset, its time in UTC, and the change that began it. `why --at-offset` with that offset gives
    the same decision. The start of a period that is known from a snapshot only is unknown.
    """
    resource = access.about("history")
    with context.open(PAST) as opened:
        answer = read_history(
            *opened.where, access.of_whom, access.operation, resource, host=access.host
        )
    tell_unknown(context, answer.unknown)
    tell_state(opened.published, answer.run)
    context.write(history_answer(answer))


def _moment(at_offset: int | None, at: str | None) -> int | datetime | None:
    """Return the moment that is asked about."""
    if at_offset is not None and at is not None:
        raise UsageError("Pass --at-offset or --at, not both.")
    return at_offset if at is None else parse_time(at)
