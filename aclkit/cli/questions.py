"""The questions about access: can, who-can, what-can, why, history and show."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import click

from aclkit.audit.reports.describe import describe_answer, describe_principal, describe_resource
from aclkit.cli.asked import asks
from aclkit.cli.completion import complete_subject
from aclkit.cli.context import Context, format_option, kept, tell_state
from aclkit.cli.help import question
from aclkit.cli.options import GateOption, flag, gathered, option, together
from aclkit.cli.output import tell
from aclkit.cli.suggestions import (
    asked_resource,
    asked_type,
    check_order,
    looks_like_name,
    missing_resource,
    operation_or_request,
    possible_resource,
    star_note,
)
from aclkit.errors import UsageError
from aclkit.model.moment import parse_moment, parse_time
from aclkit.model.operation import ANY_OPERATION, parse_operation
from aclkit.model.resource import TYPE_OF_WORD, WORD_OF_TYPE, Resource, likely_resource
from aclkit.questions.arguments import DECISIONS, Can, History, WhatCan, WhoCan, Why
from aclkit.questions.query import access
from aclkit.questions.query.access_answer import prefix_answer, what_can_answer, who_can_answer
from aclkit.questions.query.as_of import PAST
from aclkit.questions.query.by_prefix import NEEDED as BY_PREFIX
from aclkit.questions.query.by_prefix import who_can_prefix
from aclkit.questions.query.can import NEEDED, UNKNOWN, check_all
from aclkit.questions.query.can_answer import Asked, can_answer
from aclkit.questions.query.history import read_history
from aclkit.questions.query.names import Unknown, is_resource, not_known, unknown_note
from aclkit.questions.query.tasks import TASKS, Need, TaskOptions, covers_of, needs_of
from aclkit.questions.query.why import explain_why
from aclkit.questions.query.why_answer import history_answer, why_answer
from aclkit.rules.decide.handlers import needs_words
from aclkit.rules.decide.rules import ALLOWED, DENIED

question_options: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    kept("--known-only", "Exit with code 2 if a name does not exist.", is_flag=True),
    format_option,
    click.pass_obj,
)
"""What every question about an access takes."""


def taken_principal(text: str, *, quiet: bool = False) -> str:
    """Return the principal that a person means; note that a word without a type became a user.

    No ACL and no client has a principal without a colon, so the word can mean nothing else. A word
    that is an operation or a resource is no principal: then the words are in the wrong order.
    """
    if not 0 < len(text) <= _LONGEST_NAME or not looks_like_name(text):
        return text
    if not quiet:
        tell(f"Taking {text!r} as User:{text}.")
    return f"User:{text}"


_LONGEST_NAME: Final = 1_000


def tell_unknown(context: Context, unknown: Sequence[Unknown]) -> None:
    """Warn about unknown names.

    Raises:
        UsageError: only known names are accepted.
    """
    if not unknown:
        return
    if context.known_only:
        raise UsageError(f"{not_known(unknown)} --known-only accepts only known names.")
    tell(f"warning: {unknown_note(unknown)}")


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
    operation, host, decision = asked.operation, asked.host, DECISIONS[asked.decision]
    if asked.prefix is not None:
        kind = asked_type(asked.resource)
        with context.open(BY_PREFIX) as at:
            found = who_can_prefix(
                at.where, operation, kind, asked.prefix, host=host, decision=decision
            )
        tell_state(at.published, found.decided_by)
        context.write(prefix_answer(found, operation, decision))
        return
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


@question("what-can")
@asks(WhatCan)
@question_options
def what_can(context: Context, /, asked: WhatCan) -> None:
    """List what PRINCIPAL can do, and by which ACL.

    \b
    Example:
      aclkit what-can User:alice
      aclkit what-can User:alice topic --denied
      aclkit what-can User:alice topic:payments --all

    Hosts with the same answer share a line; * is all hosts. The table groups operations and ends
    with what applies to all resources of a type. --wide and the other formats list every operation
    and host. A PRINCIPAL without a type is a User.
    """
    if asked.resource is not None:
        check_order("what-can", principal=asked.principal, resource=asked.resource)
    principal = taken_principal(asked.principal)
    resource_type, about = _type_and_resource(asked.resource, principal)
    name, decision = about.resource_name if about else None, DECISIONS[asked.decision]
    with context.open({**access.NEEDED, "explain_pair": {"principal": principal}}) as at:
        answer = access.what_can(
            *at.where, principal, resource_type=resource_type, resource_name=name,
            host=asked.host, decision=decision,
        )  # fmt: skip
    tell_unknown(context, answer.unknown)
    tell_state(at.published, answer.decided_by)
    context.write(
        what_can_answer(answer, principal, decision, about=about, resource_type=resource_type)
    )


def _type_and_resource(text: str | None, principal: str) -> tuple[str | None, Resource | None]:
    """Read ``TYPE`` or ``TYPE:NAME``."""
    if text is None:
        return None, None
    if text in TYPE_OF_WORD and text != "cluster":
        return TYPE_OF_WORD[text], None
    if ":" not in text and text != "cluster":
        meant = likely_resource(text).removesuffix(":NAME")
        raise UsageError(
            f"{text!r} is no resource type. Did you mean {meant}? Types: "
            f"{', '.join(TYPE_OF_WORD)}; alone, or as TYPE:NAME."
        )
    word = text.partition(":")[0]
    every = f"For every {word}: aclkit what-can {shlex.quote(principal)} {word}"
    resource = possible_resource(text, ANY_OPERATION, every)
    return resource.resource_type, resource


@question("show")
@click.argument("name", metavar="PRINCIPAL|RESOURCE", shell_complete=complete_subject)
@question_options
def show(context: Context, name: str) -> None:
    """Show everything about one principal or resource.

    \b
    Example:
      aclkit show User:bob
      aclkit show topic:payments.v1.events
      aclkit show User:bob -o json

    A page of sections: what is known, findings, access with its reasons, and ACLs. Without a type
    a name is a user: bob is User:bob. A name that does not exist is answered too, with a warning.
    """
    like: list[Resource] = []
    with context.open() as opened:
        if name.partition(":")[0] in TYPE_OF_WORD:
            found = describe_resource(opened.where, possible_resource(name, ANY_OPERATION))
        else:
            found = describe_principal(opened.where, taken_principal(name))
            if found.access.unknown:
                named = (Resource(kind, name) for kind in WORD_OF_TYPE)
                like = [r for r in named if is_resource(opened.tables, opened.cluster_id, r)]
    tell_unknown(context, found.access.unknown)
    tell_state(opened.published, found.access.decided_by)
    for resource in like:
        again = shlex.join(["aclkit", "show", str(resource)])
        tell(f"There is a resource of this name: {again}")
    context.write(describe_answer(found))


EXIT_CODES: Final = {ALLOWED: 0, DENIED: 1, UNKNOWN: 3}


def _resource_of(command: str, asked: History) -> Resource:
    """Read the resource that an access is about, the words being in their order."""
    principal, resource = asked.principal, asked.resource
    check_order(command, principal=principal, operation=asked.operation, resource=resource)
    return possible_resource(resource, asked.operation)


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
    resource = _resource_of("why", asked)
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
    resource = _resource_of("history", asked)
    with context.open(PAST) as opened:
        answer = read_history(
            *opened.where, taken_principal(asked.principal), asked.operation, resource,
            host=asked.host,
        )  # fmt: skip
    tell_unknown(context, answer.unknown)
    tell_state(opened.published, answer.run)
    context.write(history_answer(answer))
