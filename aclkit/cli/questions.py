"""The commands who-can, what-can and show, and what all questions about access share."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import Any, Final

import click

from aclkit.audit.reports.describe import describe_answer, describe_principal, describe_resource
from aclkit.cli.completion import (
    complete_operation,
    complete_principal,
    complete_resource,
    complete_subject,
)
from aclkit.cli.context import Context, format_option, kept, tell_state
from aclkit.cli.help import question
from aclkit.cli.options import option, together
from aclkit.cli.output import tell
from aclkit.cli.suggestions import (
    asked_type,
    check_order,
    looks_like_name,
    missing_resource,
    possible_resource,
    star_note,
)
from aclkit.errors import UsageError
from aclkit.model.operation import ANY_OPERATION
from aclkit.model.resource import TYPE_OF_WORD, WORD_OF_TYPE, Resource, likely_resource
from aclkit.questions.query import access
from aclkit.questions.query.access_answer import prefix_answer, what_can_answer, who_can_answer
from aclkit.questions.query.by_prefix import NEEDED as BY_PREFIX
from aclkit.questions.query.by_prefix import who_can_prefix
from aclkit.questions.query.names import Unknown, is_resource, not_known, unknown_note

question_options: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    kept("--known-only", "Exit with code 2 if a name does not exist.", is_flag=True),
    format_option,
    click.pass_obj,
)
"""What every question about an access takes."""

principal_argument: Callable[[Callable[..., Any]], Callable[..., Any]] = click.argument(
    "principal", shell_complete=complete_principal
)
"""Whose access a question is about; see ``taken_principal``."""


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


_narrowing_options: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    option("--host", metavar="IP", help="Only from this client IP address."),
    click.option("--denied", "decision", flag_value="DENIED", help="Show denied access instead."),
    click.option("--all", "decision", flag_value="ANY", help="Show allowed and denied access."),
)


@question("who-can")
@click.argument("operation", shell_complete=complete_operation)
@click.argument("resource", required=False, metavar="RESOURCE", shell_complete=complete_resource)
@_narrowing_options
@option(
    "--prefix",
    metavar="TEXT",
    help="All names that start with TEXT, future ones too. RESOURCE is a type then.",
)
@question_options
def who_can(
    context: Context,
    operation: str,
    resource: str | None,
    host: str | None,
    decision: str | None,
    prefix: str | None,
) -> None:
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
    decision = _decision(decision)
    if prefix is not None:
        kind = asked_type(resource)
        with context.open(BY_PREFIX) as at:
            found = who_can_prefix(at.where, operation, kind, prefix, host=host, decision=decision)
        tell_state(at.published, found.decided_by)
        context.write(prefix_answer(found, operation, decision))
        return
    if resource is None:
        raise missing_resource(operation)
    check_order("who-can", operation=operation, resource=resource)
    asked = possible_resource(resource, operation)
    near = {"resource_type": asked.resource_type, "resource_name": asked.resource_name}
    with context.open({**access.NEEDED, "explain_pair": near}) as at:
        answer = access.who_can(*at.where, operation, asked, host=host, decision=decision)
    if answer.unknown and (note := star_note(asked, operation)) is not None:
        tell(f"note: {note}")
    tell_unknown(context, answer.unknown)
    tell_state(at.published, answer.decided_by)
    context.write(who_can_answer(answer, operation, asked, decision))


@question("what-can")
@principal_argument
@click.argument(
    "resource", required=False, metavar="[TYPE[:NAME]]", shell_complete=complete_resource
)
@_narrowing_options
@question_options
def what_can(
    context: Context, principal: str, resource: str | None, host: str | None, decision: str | None
) -> None:
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
    if resource is not None:
        check_order("what-can", principal=principal, resource=resource)
    principal = taken_principal(principal)
    resource_type, about = _type_and_resource(resource, principal)
    name, decision = about.resource_name if about else None, _decision(decision)
    with context.open({**access.NEEDED, "explain_pair": {"principal": principal}}) as at:
        answer = access.what_can(
            *at.where, principal, resource_type=resource_type, resource_name=name,
            host=host, decision=decision,
        )  # fmt: skip
    tell_unknown(context, answer.unknown)
    tell_state(at.published, answer.decided_by)
    context.write(
        what_can_answer(answer, principal, decision, about=about, resource_type=resource_type)
    )


def _decision(given: str | None) -> str | None:
    """Return the decision to keep: ALLOWED unless told; None keeps both."""
    return None if given == "ANY" else given or "ALLOWED"


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
