"""The command can: one access, several, or those of a task → yes or no, and the reason."""

from __future__ import annotations

from functools import partial
from typing import Final

import click

from aclkit.cli.asked import asks
from aclkit.cli.context import Context, tell_state
from aclkit.cli.help import question
from aclkit.cli.options import GateOption, flag, gathered, option
from aclkit.cli.questions import question_options, taken_principal, tell_unknown
from aclkit.cli.suggestions import (
    asked_resource,
    check_order,
    operation_or_request,
    possible_resource,
)
from aclkit.errors import UsageError
from aclkit.model.operation import parse_operation
from aclkit.model.resource import Resource
from aclkit.questions.arguments import Can
from aclkit.questions.query.can import NEEDED, UNKNOWN, check_all
from aclkit.questions.query.can_answer import Asked, can_answer
from aclkit.questions.query.tasks import TASKS, Need, TaskOptions, covers_of, needs_of
from aclkit.rules.decide.rules import ALLOWED, DENIED

EXIT_CODES: Final = {ALLOWED: 0, DENIED: 1, UNKNOWN: 3}


@question("can")
@asks(Can)
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
def can(context: Context, /, asked: Can, options: TaskOptions, *, quiet: bool) -> None:
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
    principal = taken_principal(asked.principal, quiet=quiet)
    check_order("can", principal=principal, operation=asked.operation, resource=asked.resource)
    task = asked.operation.lower() if asked.operation.lower() in TASKS else None
    needs = _needs(task, asked, options)
    with context.open(NEEDED) as opened:
        answer = check_all(opened.where, opened.run, principal, needs, asked.host)
    if not quiet or context.known_only:
        tell_unknown(context, answer.unknown)
    if not quiet:
        tell_state(opened.published, opened.run)
        covers = tuple(covers_of(task, options)) if task else ()
        context.write(can_answer(Asked(answer, task, asked.resource, covers)))
    click.get_current_context().exit(EXIT_CODES[answer.decision])


def _needs(task: str | None, asked: Can, options: TaskOptions) -> list[Need]:
    """Read the accesses that the question is about.

    Raises:
        UsageError: a word is invalid.
    """
    if task == "streams" and ":" not in asked.resource:
        raise UsageError(f"streams takes an application id. Did you mean group:{asked.resource}?")
    if task is not None:
        return needs_of(task, asked_resource(asked.resource), options)
    options.refuse_but(None)
    names = [name.strip() for name in asked.operation.split(",") if name.strip()]
    for name in (name for name in names if name.lower() in TASKS):
        raise UsageError(f"{name} is a task. Ask about it alone.")
    if not names:
        raise UsageError("No operation given. Pass one such as READ, or a task.")
    resource = possible_resource(asked.resource, names[0])
    return list(dict.fromkeys(need for name in names for need in _each_need(name, resource)))


def _each_need(name: str, resource: Resource) -> list[Need]:
    operation, sent = operation_or_request(name, resource.resource_type)
    if sent is not None:
        return [Need(operation, resource, sent)]
    return [Need(one, resource) for one in parse_operation(operation, resource.resource_type)]
