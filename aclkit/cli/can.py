"""The command can: one access, several, or a task → yes, no or not known, as the exit code too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import click

from aclkit.cli.completers import complete_can, complete_resource
from aclkit.cli.context import Context, tell_state
from aclkit.cli.help import command
from aclkit.cli.options import flag, gathered, option
from aclkit.cli.question_options import (
    principal_argument,
    question_options,
    taken_principal,
    tell_unknown,
)
from aclkit.cli.suggestions import (
    asked_resource,
    check_order,
    operation_or_request,
    possible_resource,
)
from aclkit.errors import UsageError
from aclkit.model.operation import parse_operation
from aclkit.model.resource import Resource
from aclkit.questions.query.can import NEEDED, UNKNOWN, check_all
from aclkit.questions.query.can_answer import Asked, can_answer
from aclkit.questions.query.decisions import Where
from aclkit.questions.query.tasks import TASKS, Need, TaskOptions, covers_of, needs_of
from aclkit.rules.decide.rules import ALLOWED, DENIED

EXIT_CODES: Final = {ALLOWED: 0, DENIED: 1, UNKNOWN: 3}


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of the command line."""

    principal: str
    operations: str
    resource: str


def _in_records(function: Callable[..., None]) -> Callable[..., None]:
    return gathered("words", _Words, gathered("options", TaskOptions, function))


@command("can")
@principal_argument
@click.argument("operations", metavar="OPERATION[,OPERATION...]", shell_complete=complete_can)
@click.argument("resource", shell_complete=complete_resource)
@option("--host", metavar="IP", help="Client IP address. Default: one that no ACL names.")
@option("--group", metavar="NAME", help="Consumer group, for consume and transact.")
@option("--transactional-id", metavar="ID", help="Transactional id, for produce and transact.")
@flag("--idempotent", "With produce: the producer is idempotent.")
@flag("--exactly-once", "With streams: the application uses exactly_once_v2.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing. The exit code is the answer.")
@question_options
@_in_records
def can(
    context: Context, /, words: _Words, options: TaskOptions, host: str | None, *, quiet: bool
) -> None:
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
    principal = taken_principal(words.principal, quiet=quiet)
    check_order("can", principal=principal, operation=words.operations, resource=words.resource)
    task = words.operations.lower() if words.operations.lower() in TASKS else None
    needs = _needs(task, words, options)
    with context.open(NEEDED) as opened:
        answer = check_all(Where(*opened.where), opened.run, principal, needs, host)
    asked = Asked(answer, task, words.resource, tuple(covers_of(task, options)) if task else ())
    if not quiet or context.known_only:
        tell_unknown(context, answer.unknown)
    if not quiet:
        tell_state(opened.published, opened.run)
        context.write(can_answer(asked))
    click.get_current_context().exit(EXIT_CODES[answer.decision])


def _needs(task: str | None, words: _Words, options: TaskOptions) -> list[Need]:
    """Read the accesses that the question is about.

    Raises:
        UsageError: a word is invalid.
    """
    if task == "streams" and ":" not in words.resource:
        raise UsageError(f"streams takes an application id. Did you mean group:{words.resource}?")
    if task is not None:
        return needs_of(task, asked_resource(words.resource), options)
    options.refuse_but(None)
    names = [name.strip() for name in words.operations.split(",") if name.strip()]
    for name in (name for name in names if name.lower() in TASKS):
        raise UsageError(f"{name} is a task. Ask about it alone.")
    if not names:
        raise UsageError("No operation given. Pass one such as READ, or a task.")
    resource = possible_resource(words.resource, names[0])
    return list(dict.fromkeys(need for name in names for need in _asked(name, resource)))


def _asked(name: str, resource: Resource) -> list[Need]:
    operation, sent = operation_or_request(name, resource.resource_type)
    if sent is not None:
        return [Need(operation, resource, sent)]
    return [Need(one, resource) for one in parse_operation(operation, resource.resource_type)]
