"""The commands can, why and history: one access → the answer, what it rests on, and since when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import click

from aclkit.cli.completion import complete_can, complete_request, complete_resource
from aclkit.cli.context import Context, tell_state
from aclkit.cli.help import question
from aclkit.cli.options import GateOption, flag, gathered, option, together
from aclkit.cli.output import tell
from aclkit.cli.questions import principal_argument, question_options, taken_principal, tell_unknown
from aclkit.cli.suggestions import (
    asked_resource,
    check_order,
    operation_or_request,
    possible_resource,
)
from aclkit.errors import UsageError
from aclkit.model.moment import parse_time
from aclkit.model.operation import parse_operation
from aclkit.model.resource import Resource
from aclkit.questions.query.as_of import PAST
from aclkit.questions.query.can import NEEDED, UNKNOWN, check_all
from aclkit.questions.query.can_answer import Asked, can_answer
from aclkit.questions.query.history import read_history
from aclkit.questions.query.tasks import TASKS, Need, TaskOptions, covers_of, needs_of
from aclkit.questions.query.why import explain_why
from aclkit.questions.query.why_answer import history_answer, why_answer
from aclkit.rules.decide.handlers import needs_words
from aclkit.rules.decide.rules import ALLOWED, DENIED

EXIT_CODES: Final = {ALLOWED: 0, DENIED: 1, UNKNOWN: 3}


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


def _access_arguments(**operation: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # noqa: ANN401 -- click's own keywords
    """Give a command the arguments that name an access, as its argument ``access``."""
    return together(
        principal_argument,
        click.argument("operation", **operation),
        click.argument("resource", shell_complete=complete_resource),
        option("--host", metavar="IP", help="Client IP address. Default: one that no ACL names."),
        partial(gathered, "access", AccessQuestion),
    )


@question("can")
@_access_arguments(metavar="OPERATION[,OPERATION...]", shell_complete=complete_can)
@option("--group", metavar="NAME", help="Consumer group, for consume and transact.")
@option("--transactional-id", metavar="ID", help="Transactional id, for produce and transact.")
@flag("--idempotent", "With produce: the producer is idempotent.")
@flag("--exactly-once", "With streams: the application uses exactly_once_v2.")
@click.option(
    "-q",
    "--quiet",
    cls=GateOption,
    is_flag=True,
    help="Print nothing. The exit code is the answer.",
)
@question_options
@partial(gathered, "options", TaskOptions)
def can(context: Context, /, access: AccessQuestion, options: TaskOptions, *, quiet: bool) -> None:
    """Check one access: yes or no, and the reason.

    \b
    Example:
      aclkit can User:alice READ topic:payments
      aclkit can User:alice READ,WRITE topic:payments --host 10.0.0.7
      aclkit can User:alice JoinGroup group:billing -q
      aclkit can User:alice consume topic:payments --group billing
      aclkit can User:alice produce topic:payments --idempotent
      aclkit can User:alice streams group:my-app

    The exit code is 0 for yes, 1 for no, and 3 if the answer is not known, because a broker
    setting that decides is unknown or the run is incomplete. With several operations it is 0 only
    if all are allowed.

    OPERATION is an operation such as READ, a request by Kafka's name such as InitProducerId, or a
    task. A task lists each access that it needs, and the ACLs that would grant the missing ones:

    \b
      consume topic:T [--group G]
      produce topic:T [--transactional-id ID] [--idempotent]
      transact topic:T --transactional-id ID [--group G], or transact transactional-id:ID
      streams group:APPLICATION_ID [--exactly-once]

    streams covers the group, the internal topics, whose names start with the application id, and
    with --exactly-once the transactional ids. Check its input and output topics with consume and
    produce. RESOURCE is written as for who-can. Neither the principal nor the resource needs to
    exist. A PRINCIPAL without a type is a User.
    """
    principal = taken_principal(access.principal, quiet=quiet)
    check_order("can", principal=principal, operation=access.operation, resource=access.resource)
    task = access.operation.lower() if access.operation.lower() in TASKS else None
    needs = _needs(task, access, options)
    with context.open(NEEDED) as opened:
        answer = check_all(opened.where, opened.run, principal, needs, access.host)
    asked = Asked(answer, task, access.resource, tuple(covers_of(task, options)) if task else ())
    if not quiet or context.known_only:
        tell_unknown(context, answer.unknown)
    if not quiet:
        tell_state(opened.published, opened.run)
        context.write(can_answer(asked))
    click.get_current_context().exit(EXIT_CODES[answer.decision])


def _needs(task: str | None, access: AccessQuestion, options: TaskOptions) -> list[Need]:
    """Read the accesses that the question is about.

    Raises:
        UsageError: a word is invalid.
    """
    if task == "streams" and ":" not in access.resource:
        raise UsageError(f"streams takes an application id. Did you mean group:{access.resource}?")
    if task is not None:
        return needs_of(task, asked_resource(access.resource), options)
    options.refuse_but(None)
    names = [name.strip() for name in access.operation.split(",") if name.strip()]
    for name in (name for name in names if name.lower() in TASKS):
        raise UsageError(f"{name} is a task. Ask about it alone.")
    if not names:
        raise UsageError("No operation given. Pass one such as READ, or a task.")
    resource = possible_resource(access.resource, names[0])
    return list(dict.fromkeys(need for name in names for need in _asked(name, resource)))


def _asked(name: str, resource: Resource) -> list[Need]:
    operation, sent = operation_or_request(name, resource.resource_type)
    if sent is not None:
        return [Need(operation, resource, sent)]
    return [Need(one, resource) for one in parse_operation(operation, resource.resource_type)]


@question("why")
@_access_arguments(shell_complete=complete_request)
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
    if at_offset is not None and at is not None:
        raise UsageError("Pass --at-offset or --at, not both.")
    moment = at_offset if at is None else parse_time(at)
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


@question("history")
@_access_arguments(shell_complete=complete_request)
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
